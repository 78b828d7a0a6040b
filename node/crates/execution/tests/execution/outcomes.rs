// SPDX-License-Identifier: Apache-2.0
//! What becomes of transfers and receipts, and the sums.

use crate::{Case, LAYOUT, PROTOCOL, delivery, id, transfer};
use shardnode_execution::{ApplyError, ExecutionError, Failure, Outcome, apply, execute};
use shardnode_primitives::{Congestion, ShardId, ShardTotals, Transaction};
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

#[test]
fn every_outcome_has_its_rule() {
    let cases = [
        (
            "within the shard",
            transfer(1, 2, 100, 6),
            Outcome::Executed,
        ),
        ("to itself", transfer(1, 1, 100, 6), Outcome::Executed),
        ("to a new account", transfer(1, 25, 1, 6), Outcome::Executed),
        (
            "to another shard",
            transfer(1, 3, 1, 900),
            Outcome::Executed,
        ),
        (
            "used nonce",
            transfer(1, 2, 1, 5),
            Outcome::Failed(Failure::StaleNonce),
        ),
        (
            "too much",
            transfer(1, 2, 101, 6),
            Outcome::Failed(Failure::InsufficientBalance),
        ),
        (
            "foreign signer",
            transfer(3, 1, 1, 6),
            Outcome::Failed(Failure::WrongShard),
        ),
        (
            "unknown signer",
            transfer(25, 1, 1, 6),
            Outcome::Failed(Failure::NoAccount),
        ),
        (
            "reserved signer",
            transfer(0, 1, 1, 6),
            Outcome::Failed(Failure::NoAccount),
        ),
        (
            "reserved receiver",
            transfer(1, 0, 1, 6),
            Outcome::Failed(Failure::ReservedReceiver),
        ),
        (
            "to a congested shard",
            transfer(1, 5, 1, 6),
            Outcome::Failed(Failure::Congested),
        ),
    ];
    let mut seen = Vec::new();
    for (name, transaction, want) in cases {
        let mut case = shard_zero(vec![transaction]);
        let totals = case.totals();
        let mut state = std::mem::take(&mut case.state);
        let before = state.root();
        let applied = apply(&mut state, case.input(), &totals).unwrap();
        assert_eq!(applied.outcomes[0].1, want, "{name}");
        assert_eq!(
            applied.result.state_root == before,
            want != Outcome::Executed,
            "{name}"
        );
        assert_eq!(applied.totals.balance, state.balance(), "{name}");
        seen.push(want);
    }
    for outcome in Outcome::ALL {
        assert!(seen.contains(&outcome), "{outcome:?} is not tested");
    }
}

#[test]
fn outcomes_have_codes_of_their_own() {
    let codes = Outcome::ALL.map(Outcome::code);
    assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6]);
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

#[test]
fn sums_that_cannot_be_are_an_error() {
    let case = shard_zero(vec![transfer(1, 3, 10, 6)]);
    let with = |change: Change| {
        let mut totals = case.totals();
        change(&mut totals);
        let mut state = case.state.clone();
        let error = apply(&mut state, case.input(), &totals).unwrap_err();
        assert_eq!(state.root(), case.state.root());
        error
    };
    let cases: [(&str, Change); 4] = [
        ("balance", |totals| totals.balance = 9),
        ("value sent", |totals| totals.sent = u64::MAX),
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
