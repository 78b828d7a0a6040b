// SPDX-License-Identifier: Apache-2.0
//! The model against a few blocks that are worked out by hand.

#![allow(clippy::unwrap_used)]

use ed25519_consensus::SigningKey;
use shardnode_reference_ledger::{
    Account, Chunk, Id, Model, Outcome, Place, Rules, Transfer, Value, difference,
};
use std::collections::BTreeMap;

const BALANCE: u64 = 100;

fn rules() -> Rules {
    Rules {
        network: "test".to_owned(),
        genesis: [0xab; 32],
        shards: 2,
        lag: 1,
        most_transactions: 200,
        congestion_control: true,
        fee: 0,
        least_balance: 0,
    }
}

/// Two keys of each shard: those of shard 0 first.
fn keys() -> Vec<SigningKey> {
    let keys = (1..=u8::MAX).map(|seed| SigningKey::from([seed; 32]));
    let (zero, one): (Vec<_>, Vec<_>) = keys.partition(|key| rules().shard_of(&id(key)) == 0);
    zero.into_iter()
        .take(2)
        .chain(one.into_iter().take(2))
        .collect()
}

fn id(key: &SigningKey) -> Id {
    key.verification_key().to_bytes()
}

fn model() -> Model {
    model_of(rules())
}

fn model_of(rules: Rules) -> Model {
    let account = Account {
        balance: BALANCE,
        nonce: 0,
    };
    let accounts: BTreeMap<Id, Account> = keys().iter().map(|key| (id(key), account)).collect();
    Model::new(rules, &accounts)
}

fn transfer(signer: usize, receiver: Id, amount: u64, nonce: u64) -> Transfer {
    until(signer, receiver, amount, nonce, 0)
}

fn until(signer: usize, receiver: Id, amount: u64, nonce: u64, expires_at: u64) -> Transfer {
    let key = &keys()[signer];
    let mut content = vec![1];
    content.extend(id(key));
    content.extend(receiver);
    content.extend(amount.to_be_bytes());
    content.extend(nonce.to_be_bytes());
    content.extend(expires_at.to_be_bytes());
    let namespace = format!("test/{}/transaction", "ab".repeat(32));
    assert_eq!(namespace.len(), 0x51);
    let message = [b"\x51", namespace.as_bytes(), &content[..]].concat();
    Transfer {
        signer: id(key),
        receiver,
        amount,
        nonce,
        expires_at,
        signature: key.sign(&message).to_bytes(),
    }
}

fn value(balances: u64, in_flight: u64, burnt: u64) -> Value {
    Value {
        balances,
        in_flight,
        burnt,
    }
}

fn chunk(shard: u16, transfers: Vec<Transfer>) -> Chunk {
    Chunk { shard, transfers }
}

fn balances(model: &Model) -> Vec<u64> {
    let account = |key: &SigningKey| {
        let shard = rules().shard_of(&id(key));
        model.accounts(shard, u64::MAX)[&id(key)].balance
    };
    keys().iter().map(account).collect()
}

#[test]
fn a_transfer_crosses_with_the_header_that_commits_to_it() {
    let (mut model, ids) = (model(), keys().iter().map(id).collect::<Vec<_>>());
    let across = transfer(0, ids[2], 30, 7);
    model.next_block(&[chunk(0, vec![across]), chunk(1, vec![])]);
    assert_eq!(balances(&model), [70, 100, 100, 100]);
    assert_eq!((model.value(), model.in_flight()), (value(370, 30, 0), 1));

    let header = model.next_header(0);
    assert_eq!(header.sequence, 2);
    assert_eq!(header.uncommitted, [2]);
    assert_eq!(header.results[0].height, 1);
    assert_eq!(
        (header.results[0].transfers, header.results[0].credits),
        (1, 0)
    );
    assert_eq!((header.totals.cross_shard, header.totals.sent), (1, 30));

    // Shard 1 has no chunk at height 2, and credits with its next one.
    model.next_block(&[chunk(0, vec![])]);
    assert_eq!(balances(&model), [70, 100, 100, 100]);
    model.next_block(&[chunk(1, vec![])]);
    assert_eq!(balances(&model), [70, 100, 130, 100]);
    assert_eq!((model.value(), model.in_flight()), (value(400, 0, 0), 0));
    let totals = model.next_header(1).totals;
    assert_eq!((totals.height, totals.received, totals.credits), (3, 30, 1));
    let next = Place {
        block: 4,
        source: 0,
    };
    assert_eq!(totals.next_due, next);
}

#[test]
fn what_fails_moves_nothing() {
    let (mut model, ids) = (model(), keys().iter().map(id).collect::<Vec<_>>());
    let transfers = vec![
        transfer(0, ids[1], 60, 5),
        transfer(0, ids[1], 1, 5),
        transfer(0, ids[1], 41, 6),
        transfer(2, ids[0], 1, 1),
        until(0, ids[0], 41, 7, 1),
        transfer(0, ids[0], 41, (1 << 20) + 1),
        transfer(0, [0; 32], 1, 7),
        transfer(0, ids[0], 40, 7),
        until(0, ids[0], 40, 8, 2),
    ];
    model.next_block(&[chunk(0, transfers)]);
    let outcomes = model.outcomes(0, 1).iter().map(|(_, outcome)| *outcome);
    assert_eq!(
        outcomes.collect::<Vec<_>>(),
        [
            Outcome::Executed,
            Outcome::StaleNonce,
            Outcome::InsufficientBalance,
            Outcome::WrongShard,
            Outcome::Expired,
            Outcome::HighNonce,
            Outcome::ReservedReceiver,
            // The one before has used the nonce.
            Outcome::StaleNonce,
            Outcome::Executed,
        ]
    );
    assert_eq!(balances(&model), [40, 160, 100, 100]);
}

/// Of two accounts with 100 each: a fee of 2, and 3 at least.
#[test]
fn who_has_too_little_goes_and_what_is_left_is_burnt() {
    let rules = Rules {
        fee: 2,
        least_balance: 3,
        ..rules()
    };
    let (mut model, ids) = (model_of(rules), keys().iter().map(id).collect::<Vec<_>>());
    let transfers = vec![
        transfer(0, ids[1], 95, 1),
        transfer(0, ids[1], 2, 2),
        transfer(0, ids[1], 3, 3),
        transfer(1, ids[0], 194, 1),
    ];
    model.next_block(&[chunk(0, transfers)]);
    let outcomes = model.outcomes(0, 1).iter().map(|(_, outcome)| *outcome);
    assert_eq!(
        outcomes.collect::<Vec<_>>(),
        [
            Outcome::Executed,
            // Costs the fee, and so the account, which had 3.
            Outcome::LittleAmount,
            Outcome::NoAccount,
            Outcome::InsufficientBalance,
        ]
    );
    let left = model.accounts(0, 1);
    assert_eq!(left.len(), 1);
    assert_eq!(left[&ids[1]].balance, 193);
    assert_eq!(model.value(), value(393, 0, 7));
    // Made again, it begins above all that it can have signed.
    model.next_block(&[chunk(0, vec![transfer(1, ids[0], 191, 2)])]);
    let left = model.accounts(0, 2);
    let made = Account {
        balance: 191,
        nonce: 2 << 20,
    };
    assert_eq!(left, &BTreeMap::from([(ids[0], made)]));
    assert_eq!(model.value(), value(391, 0, 9));
    let header = model.next_header(0);
    assert_eq!((header.totals.balance, header.totals.burnt), (191, 9));
}

/// A false signature makes the whole chunk one without transfers.
#[test]
fn what_is_not_signed_is_not_executed() {
    let (mut model, ids) = (model(), keys().iter().map(id).collect::<Vec<_>>());
    let signed = transfer(0, ids[1], 60, 5);
    let mut unsigned = transfer(0, ids[1], 1, 6);
    unsigned.amount += 1;
    model.next_block(&[chunk(0, vec![signed, unsigned])]);
    assert!(model.outcomes(0, 1).is_empty());
    assert_eq!(balances(&model), [100; 4]);
}

/// One shard makes no chunks; the other one pays it until it is five blocks
/// behind.
#[test]
fn a_shard_that_is_behind_is_congested() {
    let (mut model, ids) = (model(), keys().iter().map(id).collect::<Vec<_>>());
    let mut executed = Vec::new();
    for height in 1..=10 {
        model.next_block(&[chunk(0, vec![transfer(0, ids[2], 1, height)])]);
        if model.outcomes(0, height)[0].1 == Outcome::Executed {
            executed.push(height);
        }
    }
    // Block 6 is the first that shows it five blocks behind: its header still
    // says that it goes on at block 1, where one that keeps up says 6.
    assert_eq!(executed, [1, 2, 3, 4, 5, 6]);
    // Everything comes with its next chunk, and with the one after that its
    // header says so.
    model.next_block(&[chunk(0, vec![]), chunk(1, vec![])]);
    assert_eq!(balances(&model), [94, 100, 106, 100]);
    model.next_block(&[chunk(0, vec![transfer(0, ids[2], 1, 12)]), chunk(1, vec![])]);
    assert_eq!(model.outcomes(0, 12)[0].1, Outcome::Congested);
    model.next_block(&[chunk(0, vec![transfer(0, ids[2], 1, 13)])]);
    assert_eq!(model.outcomes(0, 13)[0].1, Outcome::Executed);
}

#[test]
fn the_first_difference_is_named() {
    let mut model = model();
    model.next_block(&[chunk(0, vec![]), chunk(1, vec![])]);
    let own = model.next_header(0);
    assert_eq!(difference(&own, &own), None);
    let mut other = own.clone();
    other.results[0].credits = 1;
    let words = "credits: the chain says 1, the model 0".to_owned();
    assert_eq!(difference(&other, &own), Some((Some(1), words)));
    let mut other = own.clone();
    other.totals.balance += 1;
    let words = "balance: the chain says 201, the model 200".to_owned();
    assert_eq!(difference(&other, &own), Some((None, words)));
}
