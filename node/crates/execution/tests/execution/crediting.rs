// SPDX-License-Identifier: Apache-2.0
//! How much a chunk credits.

use crate::{Case, PROTOCOL, case, delivery};
use proptest::prelude::*;
use shardnode_execution::{Crediting, Delivery, ExecutionError, Failure, Outcome, execute};
use shardnode_primitives::{
    DuePosition, Receipt, ReceiptBucket, ShardId,
    genesis::{CongestionControl, Protocol},
    hash::ZERO,
    witness_size::{self, Counts},
};

/// So many receipts of `source`, due at `block`.
fn receipts(block: u64, source: u16, count: u32) -> Delivery {
    let account = shardnode_primitives::AccountId(ZERO.0);
    let receipt = Receipt {
        sender: account,
        nonce: 1,
        receiver: account,
        amount: 1,
    };
    Delivery {
        block,
        source: ShardId(source),
        buckets: vec![ReceiptBucket {
            source: ShardId(source),
            height: block - 1,
            destination: ShardId(0),
            receipts: vec![receipt; count as usize],
        }],
    }
}

/// How many deliveries of so many receipts each a chunk credits.
fn credited(protocol: Protocol, transactions: usize, leaves: u32, each: u32) -> u32 {
    let mut crediting = Crediting::new(protocol, transactions, leaves);
    let mut count = 0;
    while crediting.wants_more() && count < 1_000_000 {
        crediting.credit(&receipts(1, 1, each));
        count += 1;
    }
    count
}

/// Of a network without a least balance.
const FULL: Protocol = Protocol {
    max_transactions_per_chunk: 30_000,
    transfer_fee: 0,
    least_balance: 0,
    ..PROTOCOL
};

#[test]
fn what_a_chunk_credits_is_bounded_and_never_nothing() {
    for least_balance in [0, 1] {
        let most = witness_size::most_transactions(1, least_balance > 0);
        let largest = Protocol {
            max_transactions_per_chunk: most,
            least_balance,
            ..PROTOCOL
        };
        assert_eq!(credited(largest, most as usize, u32::MAX, most), 1);
    }
    // 70 shards under full load: all that 69 others send is credited at once.
    assert!(credited(FULL, 30_000, 1 << 20, 30_000 / 70) > 2 * 69);
    // Empty buckets count: each has a proof.
    assert!(credited(FULL, 0, 1 << 20, 0) < 200_000);
}

/// The most receipts with which something holds that does with none.
fn most_receipts(holds: impl Fn(u32) -> bool) -> u32 {
    let (mut most, mut too_many) = (0, 1 << 20);
    while too_many - most > 1 {
        let middle = most + (too_many - most) / 2;
        if holds(middle) {
            most = middle;
        } else {
            too_many = middle;
        }
    }
    most
}

/// Levels of a state of [`LEAVES`].
const LEVELS: u32 = 20;
const LEAVES: u32 = 1 << LEVELS;

/// Whether a chunk without transactions that has credited so many buckets, with
/// so many receipts together, wants more.
fn wants_more(protocol: Protocol, buckets: u32, count: u32) -> bool {
    let mut crediting = Crediting::new(protocol, 0, LEAVES);
    let mut delivery = receipts(1, 1, 0);
    delivery.buckets = vec![delivery.buckets[0].clone(); buckets as usize];
    delivery.buckets[0] = receipts(1, 1, count).buckets[0].clone();
    crediting.credit(&delivery);
    crediting.wants_more()
}

/// What the witness of that shows.
fn shown(protocol: Protocol, buckets: u32, receipts: u32) -> Counts {
    Counts {
        most_transactions: protocol.max_transactions_per_chunk,
        transactions: 0,
        buckets: buckets.into(),
        receipts: receipts.into(),
        depth: LEVELS,
        removes_accounts: false,
    }
}

#[test]
fn a_chunk_that_has_credited_half_of_its_budget_wants_no_more() {
    // Bodies of so few transactions that the next delivery would always fit, and
    // that all sizes are multiples of four: some buckets come to half exactly.
    let protocol = Protocol {
        max_transactions_per_chunk: 4,
        ..FULL
    };
    let half = witness_size::budget(1) / 2;
    let (buckets, receipts) = (1..100)
        .map(|buckets| {
            let fits = |receipts| shown(protocol, buckets, receipts).bytes() <= half;
            (buckets, most_receipts(fits))
        })
        .find(|(buckets, receipts)| shown(protocol, *buckets, *receipts).bytes() == half)
        .unwrap();
    assert!(!wants_more(protocol, buckets, receipts));
    assert!(wants_more(protocol, buckets, receipts - 1));
}

#[test]
fn a_chunk_wants_no_more_than_the_largest_delivery_leaves_room_for() {
    // The largest deliveries, of two results each, take most of the budget.
    let protocol = Protocol {
        max_transactions_per_chunk: 45_000,
        execution_lag: 2,
        ..FULL
    };
    let with_next = |receipts| shown(protocol, 3 + 2, receipts + 2 * 45_000).bytes();
    let receipts = most_receipts(|receipts| with_next(receipts) <= witness_size::budget(2));
    assert!(receipts > 0 && shown(protocol, 3, receipts).bytes() < witness_size::budget(2) / 2);
    assert!(wants_more(protocol, 3, receipts));
    assert!(!wants_more(protocol, 3, receipts + 1));
}

#[test]
fn without_congestion_control_everything_is_credited() {
    let unlimited = Protocol {
        congestion_control: CongestionControl::Disabled,
        ..FULL
    };
    let mut crediting = Crediting::new(unlimited, 30_000, u32::MAX);
    for _ in 0..50 {
        crediting.credit(&receipts(1, 1, 30_000));
        assert!(crediting.wants_more());
    }
    assert_eq!(crediting.next_due(9), DuePosition::at(10));
}

#[test]
fn crediting_goes_on_where_it_stopped() {
    let mut crediting = Crediting::new(FULL, 30_000, u32::MAX);
    assert_eq!(crediting.next_due(9), DuePosition::at(10));
    crediting.credit(&receipts(4, 2, 30_000));
    assert!(!crediting.wants_more());
    assert_eq!(crediting.next_due(9), DuePosition::after(4, ShardId(2)));
}

#[test]
fn more_than_a_chunk_credits_is_an_error() {
    // More than a network can have: every chunk credits one delivery.
    let protocol = Protocol {
        max_transactions_per_chunk: 1 << 20,
        ..PROTOCOL
    };
    let case = Case {
        shard: ShardId(0),
        state: shardnode_state::StateTree::genesis([]).unwrap(),
        transactions: Vec::new(),
        incoming: vec![delivery(ShardId(0), 3, &[]), delivery(ShardId(0), 4, &[])],
        congestion: shardnode_primitives::Congestion::default(),
        protocol,
    };
    let error = ExecutionError::TooMuch {
        source_shard: ShardId(1),
        block: 5,
    };
    assert_eq!(execute(&case.state, case.input()), Err(error));
}

proptest! {
    /// The witness of whatever is credited fits into its budget.
    #[test]
    fn what_is_credited_can_be_shown(
        lag in 1u8..=4,
        part in 0u32..=100,
        transactions in 0u32..=100,
        leaves in any::<u32>(),
        least_balance in 0u64..2,
        sizes in proptest::collection::vec(0u32..=100, 1..40),
    ) {
        let removes_accounts = least_balance > 0;
        let max = (witness_size::most_transactions(lag, removes_accounts) * part / 100).max(1);
        let protocol = Protocol {
            execution_lag: lag,
            max_transactions_per_chunk: max,
            least_balance,
            ..PROTOCOL
        };
        let transactions = max * transactions / 100;
        let mut crediting = Crediting::new(protocol, transactions as usize, leaves);
        let (mut buckets, mut credited) = (0, 0);
        for size in sizes {
            if !crediting.wants_more() {
                break;
            }
            let one = receipts(1, 1, max * size / 100);
            let all = Delivery { buckets: vec![one.buckets[0].clone(); usize::from(lag)], ..one };
            credited += all.buckets.iter().map(|one| one.receipts.len() as u64).sum::<u64>();
            buckets += u64::from(lag);
            crediting.credit(&all);
        }
        let shown = Counts {
            most_transactions: max,
            transactions,
            buckets,
            receipts: credited,
            depth: witness_size::depth(leaves),
            removes_accounts,
        };
        prop_assert!(shown.bytes() <= witness_size::budget(lag));
    }

    #[test]
    fn what_is_held_back_changes_nothing(case in case()) {
        let mut without = case.clone();
        let all = execute(&case.state, case.input()).unwrap();
        let congested = Outcome::Failed(Failure::Congested);
        let mut outcomes = all.outcomes.iter();
        without.transactions.retain(|_| outcomes.next().is_none_or(|(_, one)| *one != congested));
        let some = execute(&without.state, without.input()).unwrap();
        prop_assert_eq!(all.changes, some.changes);
        prop_assert_eq!(all.buckets, some.buckets);
        prop_assert_eq!((all.transfers, all.sent), (some.transfers, some.sent));
    }
}
