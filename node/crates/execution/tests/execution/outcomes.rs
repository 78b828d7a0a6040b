// SPDX-License-Identifier: Apache-2.0
//! What becomes of transfers and receipts, and the sums.

use crate::{Case, HEIGHT, LAYOUT, PROTOCOL, delivery, expiring, id, transfer};
use shardnode_execution::{
    ApplyError, Execution, ExecutionError, Failure, Outcome, apply, execute,
};
use shardnode_primitives::{
    Congestion, DuePosition, ExecutionResult, ProvenBucket, Receipt, ReceiptBucket, ShardId,
    ShardTotals, Transaction, genesis::Protocol, highest_nonce, merkle, outcome,
};
use shardnode_state::{Account, StateTree};

/// Shard 0 has accounts 1 and 2, of shard 1 is 3, of shard 2 is 5; 25 is of
/// shard 0 and does not exist. Shards 0 and 2 are congested.
fn shard_zero(transactions: Vec<Transaction>) -> Case {
    assert_eq!(
        [1, 2, 3, 5, 25].map(|number| LAYOUT.shard_of(&id(number)).0),
        [0, 0, 1, 2, 0]
    );
    let account = Account {
        balance: 100,
        nonce: 5,
    };
    Case {
        shard: ShardId(0),
        state: StateTree::genesis([(id(1), account), (id(2), account)]).unwrap(),
        transactions,
        incoming: Vec::new(),
        congestion: Congestion::of([ShardId(0), ShardId(2)]),
        protocol: PROTOCOL,
    }
}

fn executed(case: &Case) -> Execution {
    execute(&case.state, case.input()).unwrap()
}

/// What the signer has afterwards, and what is burnt.
fn left(case: &Case, signer: u8) -> (Option<Account>, u64) {
    let execution = executed(case);
    let before = case.state.get(&id(signer));
    let changed = execution.changes.get(&id(signer)).copied();
    (changed.unwrap_or(before), execution.burnt)
}

#[test]
fn every_outcome_has_its_rule() {
    let (unchanged, charged, removed) = ((100, 5), (98, 6), (0, 0));
    let failed = Outcome::Failed;
    let cases = [
        (
            "within the shard",
            transfer(1, 2, 90, 6),
            Outcome::Executed,
            (8, 6),
        ),
        (
            "all but the least",
            transfer(1, 2, 95, 6),
            Outcome::Executed,
            (3, 6),
        ),
        (
            "more than that",
            transfer(1, 2, 96, 6),
            Outcome::Executed,
            removed,
        ),
        (
            "everything",
            transfer(1, 2, 98, 6),
            Outcome::Executed,
            removed,
        ),
        (
            "to itself",
            transfer(1, 1, 90, 6),
            Outcome::Executed,
            (98, 6),
        ),
        (
            "to a new account",
            transfer(1, 25, 3, 6),
            Outcome::Executed,
            (95, 6),
        ),
        (
            "to another shard",
            transfer(1, 3, 3, 900),
            Outcome::Executed,
            (95, 900),
        ),
        (
            "used nonce",
            transfer(1, 2, 3, 5),
            failed(Failure::StaleNonce),
            unchanged,
        ),
        (
            "highest nonce",
            transfer(1, 2, 3, highest_nonce(HEIGHT)),
            Outcome::Executed,
            (95, highest_nonce(HEIGHT)),
        ),
        (
            "higher nonce",
            transfer(1, 2, 3, highest_nonce(HEIGHT) + 1),
            failed(Failure::HighNonce),
            unchanged,
        ),
        (
            "too much",
            transfer(1, 2, 99, 6),
            failed(Failure::InsufficientBalance),
            charged,
        ),
        (
            "far too much",
            transfer(1, 2, u64::MAX, 6),
            failed(Failure::InsufficientBalance),
            charged,
        ),
        (
            "too little",
            transfer(1, 2, 2, 6),
            failed(Failure::LittleAmount),
            charged,
        ),
        (
            "foreign signer",
            transfer(3, 1, 3, 6),
            failed(Failure::WrongShard),
            unchanged,
        ),
        (
            "unknown signer",
            transfer(25, 1, 3, 6),
            failed(Failure::NoAccount),
            unchanged,
        ),
        (
            "reserved signer",
            transfer(0, 1, 3, 6),
            failed(Failure::NoAccount),
            unchanged,
        ),
        (
            "reserved receiver",
            transfer(1, 0, 3, 6),
            failed(Failure::ReservedReceiver),
            charged,
        ),
        (
            "to a congested shard",
            transfer(1, 5, 3, 6),
            failed(Failure::Congested),
            unchanged,
        ),
        (
            "too much to a congested shard",
            transfer(1, 5, 99, 6),
            failed(Failure::InsufficientBalance),
            charged,
        ),
        (
            "in time",
            expiring(transfer(1, 2, 3, 6), HEIGHT + 1),
            Outcome::Executed,
            (95, 6),
        ),
        (
            "expired now",
            expiring(transfer(1, 2, 3, 6), HEIGHT),
            failed(Failure::Expired),
            unchanged,
        ),
        (
            "expired long ago",
            expiring(transfer(1, 0, 99, 5), 1),
            failed(Failure::Expired),
            unchanged,
        ),
    ];
    let mut seen = Vec::new();
    for (name, transaction, want, (balance, nonce)) in cases {
        let case = shard_zero(vec![transaction]);
        let execution = executed(&case);
        assert_eq!(execution.outcomes[0].1, want, "{name}");
        let account = Some(Account { balance, nonce }).filter(|_| balance > 0);
        assert_eq!(left(&case, 1).0, account, "{name}");
        if let Outcome::Failed(failure) = want {
            assert_eq!(
                execution.burnt,
                if failure.is_charged() { 2 } else { 0 },
                "{name}"
            );
            assert_eq!(
                execution.changes.is_empty(),
                !failure.is_charged(),
                "{name}"
            );
        }
        let mut state = case.state.clone();
        let applied = apply(&mut state, execution, HEIGHT, &case.totals()).unwrap();
        assert_eq!(applied.totals.balance, state.balance(), "{name}");
        seen.push(want);
    }
    for outcome in Outcome::ALL {
        assert!(seen.contains(&outcome), "{outcome:?} is not tested");
    }
}

#[test]
fn who_has_less_than_the_fee_pays_what_it_has_and_goes() {
    let account = |balance| Account { balance, nonce: 5 };
    let mut case = shard_zero(vec![transfer(1, 2, 50, 6), transfer(1, 2, 50, 7)]);
    case.state = StateTree::genesis([(id(1), account(4)), (id(2), account(3))]).unwrap();
    // Four, less two, are below the least of three: the rest goes as well.
    assert_eq!(left(&case, 1), (None, 4));
    let outcomes: Vec<_> = executed(&case)
        .outcomes
        .iter()
        .map(|(_, one)| *one)
        .collect();
    let failed = [Failure::InsufficientBalance, Failure::NoAccount].map(Outcome::Failed);
    assert_eq!(outcomes, failed);

    case.protocol = Protocol {
        transfer_fee: 9,
        ..PROTOCOL
    };
    assert_eq!(left(&case, 1), (None, 4));
    // Where nothing is asked for, nothing is taken.
    case.protocol = Protocol {
        transfer_fee: 0,
        least_balance: 0,
        ..PROTOCOL
    };
    assert_eq!(
        left(&case, 1),
        (
            Some(Account {
                balance: 4,
                nonce: 7
            }),
            0
        )
    );
}

#[test]
fn an_account_that_is_made_again_begins_above_all_that_it_signed() {
    let nonce = highest_nonce(HEIGHT);
    // Emptied, made again by a transfer, and asked once more with all that it
    // has signed until now.
    let case = shard_zero(vec![
        transfer(1, 2, 98, nonce),
        transfer(2, 1, 50, 6),
        transfer(1, 2, 10, nonce),
        transfer(1, 2, 10, 6),
        transfer(1, 2, 10, nonce + 1),
    ]);
    let execution = executed(&case);
    let outcomes: Vec<_> = execution.outcomes.iter().map(|(_, one)| *one).collect();
    let stale = Outcome::Failed(Failure::StaleNonce);
    let high = Outcome::Failed(Failure::HighNonce);
    assert_eq!(
        outcomes,
        [Outcome::Executed, Outcome::Executed, stale, stale, high]
    );
    assert_eq!(left(&case, 1), (Some(Account { balance: 50, nonce }), 4));
}

#[test]
fn a_new_account_signs_nothing_before_the_next_height() {
    let case = shard_zero(vec![
        transfer(1, 25, 10, 6),
        transfer(25, 1, 8, highest_nonce(HEIGHT)),
    ]);
    let execution = executed(&case);
    assert_eq!(
        execution.outcomes[1].1,
        Outcome::Failed(Failure::StaleNonce)
    );
    let made = Account {
        balance: 10,
        nonce: highest_nonce(HEIGHT),
    };
    assert_eq!(execution.changes[&id(25)], Some(made));
}

#[test]
fn outcomes_have_codes_of_their_own() {
    let codes = Outcome::ALL.map(Outcome::code);
    assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for code in codes {
        assert_eq!(Outcome::from_code(code).map(Outcome::code), Some(code));
    }
    assert_eq!(Outcome::from_code(10), None);
}

#[test]
fn failures_have_reasons_of_their_own() {
    let reasons = Outcome::ALL.map(|outcome| match outcome {
        Outcome::Failed(failure) => failure.reason(),
        Outcome::Executed => "",
    });
    assert_eq!(
        reasons[1..],
        [
            "nonce",
            "balance",
            "shard",
            "no_account",
            "receiver",
            "congested",
            "amount",
            "expired",
            "high_nonce",
        ]
    );
}

#[test]
fn what_happened_is_counted_and_committed_to() {
    let mut case = shard_zero(vec![
        transfer(1, 2, 10, 6),
        transfer(1, 3, 20, 7),
        transfer(2, 3, 30, 6),
        transfer(2, 1, 40, 5),
    ]);
    case.incoming = vec![delivery(ShardId(0), 3, &[(1, 7), (25, 8)])];
    let execution = executed(&case);
    let counts = (
        execution.transfers,
        execution.cross_shard,
        execution.credits,
    );
    assert_eq!(counts, (3, 2, 3));
    assert_eq!(
        (execution.sent, execution.received, execution.burnt),
        (50, 15, 6)
    );
    let bucket = |destination: ShardId| {
        let receipt = |sender, nonce, amount| Receipt {
            sender: id(sender),
            nonce,
            receiver: id(3),
            amount,
        };
        let receipts = vec![receipt(1, 7, 20), receipt(2, 6, 30)];
        ReceiptBucket {
            source: ShardId(0),
            height: HEIGHT,
            destination,
            receipts: if destination.0 == 1 {
                receipts
            } else {
                Vec::new()
            },
        }
    };
    let buckets: Vec<_> = LAYOUT.iter().map(bucket).collect();
    assert_eq!(execution.buckets, buckets);
    let leaves = case
        .transactions
        .iter()
        .zip([0, 0, 0, 1])
        .map(|(transaction, code)| outcome::leaf(&transaction.hash(), code));
    let outcomes_root = merkle::root(leaves.collect());
    assert_eq!(execution.outcomes_root, outcomes_root);

    let (receipts_root, proven) = ProvenBucket::prove_all(buckets);
    let mut state = case.state.clone();
    let applied = apply(&mut state, execution, HEIGHT, &case.totals()).unwrap();
    assert_eq!(applied.buckets, proven);
    let result = ExecutionResult {
        height: HEIGHT,
        state_root: state.root(),
        outcomes_root,
        receipts_root,
        transfers: 3,
        credits: 3,
    };
    assert_eq!(applied.result, result);
    let totals = ShardTotals {
        height: HEIGHT,
        state_root: state.root(),
        transfers: 13,
        cross_shard: 6,
        credits: 12,
        balance: 200 + 15 - 50 - 6,
        burnt: 106,
        sent: 1_000_050,
        received: 1_000_015,
        next_due: DuePosition::at(HEIGHT + 1),
    };
    assert_eq!(applied.totals, totals);
}

#[test]
fn value_that_cannot_exist_is_an_error() {
    let mut rich = shard_zero(Vec::new());
    rich.incoming = vec![delivery(ShardId(0), 1, &[(1, u64::MAX)])];
    let overflow = ExecutionError::Overflow {
        account: id(1),
        amount: u64::MAX,
    };
    assert_eq!(execute(&rich.state, rich.input()), Err(overflow));

    let mut both = shard_zero(Vec::new());
    both.incoming = vec![delivery(ShardId(0), 1, &[(25, u64::MAX), (7, u64::MAX)])];
    assert_eq!(both.incoming[0].buckets[0].receipts.len(), 2);
    assert_eq!(
        execute(&both.state, both.input()),
        Err(ExecutionError::Value)
    );

    let mut misrouted = shard_zero(Vec::new());
    misrouted.incoming = vec![delivery(ShardId(1), 4, &[(3, 1)])];
    let error = ExecutionError::Misrouted {
        source_shard: ShardId(2),
        height: 4,
        account: id(3),
    };
    assert_eq!(execute(&misrouted.state, misrouted.input()), Err(error));
}

type Change = fn(&mut ShardTotals);

/// Twice the whole supply crosses the shards' boundary, and again: sums of what
/// moved have room for that.
#[test]
fn value_can_go_to_and_fro_for_ever() {
    let case = shard_zero(vec![transfer(1, 3, 10, 6)]);
    let totals = ShardTotals {
        sent: u128::from(u64::MAX),
        received: u128::from(u64::MAX),
        ..case.totals()
    };
    let applied = apply(&mut case.state.clone(), executed(&case), HEIGHT, &totals).unwrap();
    assert_eq!(applied.totals.sent, u128::from(u64::MAX) + 10);
}

#[test]
fn sums_that_cannot_be_are_an_error() {
    let case = shard_zero(vec![transfer(1, 3, 10, 6)]);
    let with = |change: Change| {
        let mut totals = case.totals();
        change(&mut totals);
        let mut state = case.state.clone();
        let error = apply(&mut state, executed(&case), HEIGHT, &totals).unwrap_err();
        assert_eq!(state.root(), case.state.root());
        error
    };
    let cases: [(&str, Change); 5] = [
        ("balance", |totals| totals.balance = 9),
        ("value burnt", |totals| totals.burnt = u64::MAX),
        ("value sent", |totals| totals.sent = u128::MAX),
        ("transfers", |totals| totals.transfers = u64::MAX),
        ("cross-shard transfers", |totals| {
            totals.cross_shard = u64::MAX;
        }),
    ];
    for (name, change) in cases {
        assert_eq!(with(change), ApplyError::Totals(name));
    }
}

#[test]
fn a_transfer_that_was_held_back_can_be_included_again() {
    let mut case = shard_zero(vec![transfer(1, 5, 10, 6)]);
    let execution = execute(&case.state, case.input()).unwrap();
    assert!(execution.changes.is_empty() && execution.transfers == 0);
    case.congestion = Congestion::default();
    let execution = execute(&case.state, case.input()).unwrap();
    assert_eq!(execution.outcomes[0].1, Outcome::Executed);
    assert_eq!(execution.sent, 10);
}
