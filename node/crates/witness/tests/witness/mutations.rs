// SPDX-License-Identifier: Apache-2.0
//! Every field of a witness and of what is expected, changed one at a time.

use crate::world::{Case, World};
use shardnode_execution::body::Shown;
use shardnode_primitives::{
    AccountId, ChunkBody, Digest, ReceiptBucket, ShardId, Transaction, hash::ZERO,
};
use shardnode_state::{Changes, StateTree};
use shardnode_witness::{Transition, WitnessError};
use std::{collections::BTreeSet, error::Error};

/// A case with more than one transition, in the first of which there are
/// transactions and receipts in more than one bucket, two of them in one.
fn rich() -> Case {
    let fits = |case: &Case| {
        let [first, _, ..] = &case.witness.transitions[..] else {
            return false;
        };
        let buckets = first.incoming.iter();
        let receipts: Vec<_> = buckets.map(|one| one.bucket.receipts.clone()).collect();
        // Its account is there for nothing else.
        let alone = |signer: &AccountId| {
            let mut leaves = first.pre_state.leaves().iter();
            leaves.any(|(_, leaf)| leaf.id == *signer)
                && receipts.iter().flatten().all(|one| one.receiver != *signer)
        };
        let signers = transactions(first);
        signers.len() > 1
            && signers.iter().any(|one| alone(one.signer()))
            && receipts.iter().any(|all| all.len() > 1 && all[0] != all[1])
            && receipts.iter().filter(|all| !all.is_empty()).count() > 1
            && case.expected.header.content.results[0].transfers > 0
    };
    (0..)
        .find_map(|seed| World::play(seed).1.into_iter().find(fits))
        .unwrap()
}

fn flip(digest: &mut Digest) {
    digest.0[7] ^= 4;
}

fn first(case: &mut Case) -> &mut Transition {
    &mut case.witness.transitions[0]
}

/// What its body holds, if that is known and decodes.
fn transactions(transition: &Transition) -> Vec<Transaction> {
    let body = transition.body.body();
    body.and_then(|body| body.transactions().ok())
        .unwrap_or_default()
}

/// The bucket with the most receipts.
fn largest(case: &mut Case) -> &mut ReceiptBucket {
    let buckets = first(case).incoming.iter_mut();
    let largest = buckets.max_by_key(|one| one.bucket.receipts.len());
    &mut largest.unwrap().bucket
}

fn words(error: &WitnessError) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        words = format!("{words}: {error}");
        source = error.source();
    }
    words
}

type Mutation = (&'static str, fn(&mut Case), &'static str);

fn refuse(case: &Case, mutations: &[Mutation]) {
    for (name, mutate, want) in mutations {
        let mut mutated = case.clone();
        mutate(&mut mutated);
        let error = mutated.check().expect_err(name);
        assert!(words(&error).contains(want), "{name}: {}", words(&error));
    }
}

#[test]
fn no_field_of_a_witness_can_differ() {
    let case = rich();
    assert!(case.check().is_ok());
    refuse(
        &case,
        &[
            (
                "shard",
                |case| case.witness.shard.0 += 1,
                "witness of shard",
            ),
            (
                "height",
                |case| case.witness.height += 1,
                "witness of height",
            ),
            (
                "no transition",
                |case| case.witness.transitions.clear(),
                "0 transitions for",
            ),
            (
                "missing transition",
                |case| drop(case.witness.transitions.pop()),
                "transitions for",
            ),
            (
                "transition twice",
                |case| {
                    let again = case.witness.transitions[0].clone();
                    case.witness.transitions.push(again);
                },
                "transitions for",
            ),
            (
                "order",
                |case| case.witness.transitions.swap(0, 1),
                "transition 0 is of height",
            ),
            (
                "transition height",
                |case| first(case).height += 1,
                "transition 0 is of height",
            ),
            (
                "dropped transaction",
                |case| {
                    let mut transactions = transactions(first(case));
                    transactions.pop();
                    first(case).body = Shown::Body(ChunkBody::of(&transactions));
                },
                "body has hash",
            ),
            (
                "reordered transactions",
                |case| {
                    let mut transactions = transactions(first(case));
                    transactions.reverse();
                    first(case).body = Shown::Body(ChunkBody::of(&transactions));
                },
                "body has hash",
            ),
            (
                "dropped bucket",
                |case| drop(first(case).incoming.pop()),
                "receipt buckets instead of",
            ),
            (
                "bucket twice",
                |case| {
                    let again = first(case).incoming[0].clone();
                    first(case).incoming.push(again);
                },
                "receipt buckets instead of",
            ),
            (
                "reordered buckets",
                |case| first(case).incoming.reverse(),
                "are not those that fell due",
            ),
            (
                "reordered receipts",
                |case| largest(case).receipts.swap(0, 1),
                "are not those that fell due",
            ),
            (
                "dropped receipt",
                |case| largest(case).receipts.truncate(1),
                "are not those that fell due",
            ),
            (
                "receipt twice",
                |case| {
                    let again = largest(case).receipts[0];
                    largest(case).receipts.push(again);
                },
                "are not those that fell due",
            ),
            (
                "amount",
                |case| largest(case).receipts[0].amount += 1,
                "are not those that fell due",
            ),
            (
                "receiver",
                |case| largest(case).receipts[0].receiver.0[31] ^= 1,
                "are not those that fell due",
            ),
            (
                "bucket source",
                |case| largest(case).source.0 ^= 1,
                "are not those that fell due",
            ),
            (
                "bucket height",
                |case| largest(case).height += 1,
                "are not those that fell due",
            ),
            (
                "bucket destination",
                |case| largest(case).destination.0 ^= 1,
                "are not those that fell due",
            ),
            (
                "another bucket's proof",
                |case| {
                    let incoming = &mut first(case).incoming;
                    incoming[0].proof = incoming.last().unwrap().proof.clone();
                },
                "are not those that fell due",
            ),
            (
                "state of another transition",
                |case| {
                    let other = case.witness.transitions[1].pre_state.clone();
                    first(case).pre_state = other;
                },
                "partial state has root",
            ),
        ],
    );
}

#[test]
fn buckets_that_are_missing_or_superfluous_are_counted() {
    let mut case = rich();
    let all = first(&mut case).incoming.clone();
    let refused = |case: &Case| match case.check() {
        Err(WitnessError::Buckets { got, want, .. }) => (got, want),
        other => panic!("{other:?}"),
    };
    for kept in 0..all.len() {
        first(&mut case).incoming = all[..kept].to_vec();
        assert_eq!(refused(&case), (kept, kept + 1));
    }
    first(&mut case).incoming = all.clone();
    for more in 1..4 {
        first(&mut case).incoming.push(all[0].clone());
        assert_eq!(refused(&case), (all.len() + more, all.len()));
    }
}

#[test]
fn no_field_of_what_is_expected_can_differ() {
    let case = rich();
    refuse(
        &case,
        &[
            (
                "body hash",
                |case| {
                    flip(&mut case.expected.executions[0].header.content.body_hash);
                },
                "body has hash",
            ),
            (
                "number of transactions",
                |case| {
                    case.expected.executions[0].header.content.transactions += 1;
                },
                "leaf",
            ),
            (
                "executed height",
                |case| {
                    case.expected.executions[0].header.content.height += 1;
                },
                "transition 0 is of height",
            ),
            (
                "executions",
                |case| drop(case.expected.executions.pop()),
                "transitions for",
            ),
            (
                "receipts root",
                |case| {
                    flip(&mut case.expected.due[0].receipts_root);
                },
                "are not those that fell due",
            ),
            (
                "receipts height",
                |case| {
                    case.expected.due[0].height += 1;
                },
                "are not those that fell due",
            ),
            (
                "receipts source",
                |case| case.expected.due[0].source.0 ^= 1,
                "are not those that fell due",
            ),
            (
                "receipts due later",
                |case| {
                    for due in &mut case.expected.due {
                        due.block += 100;
                    }
                },
                "receipt buckets instead of",
            ),
            (
                "state root before",
                |case| flip(&mut case.expected.before.state_root),
                "partial state has root",
            ),
            (
                "a credit more than the chunk may make",
                |case| case.expected.protocol.max_transactions_per_chunk = 1 << 20,
                "receipt buckets instead of",
            ),
            (
                "transfers before",
                |case| case.expected.before.transfers += 1,
                "totals: number of transfers is",
            ),
            (
                "cross-shard transfers before",
                |case| {
                    case.expected.before.cross_shard += 1;
                },
                "totals: number of cross-shard transfers is",
            ),
            (
                "credits before",
                |case| case.expected.before.credits += 1,
                "totals: number of credits is",
            ),
            (
                "balance before",
                |case| case.expected.before.balance += 1,
                "totals: balance is",
            ),
            (
                "sent before",
                |case| case.expected.before.sent += 1,
                "totals: value sent is",
            ),
            (
                "received before",
                |case| case.expected.before.received += 1,
                "totals: value received is",
            ),
        ],
    );
}

#[test]
fn no_result_and_no_sum_can_differ() {
    let case = rich();
    refuse(
        &case,
        &[
            (
                "height",
                |case| case.expected.header.content.results[0].height += 1,
                "transition 0 is of height",
            ),
            (
                "state root",
                |case| {
                    flip(&mut case.expected.header.content.results[0].state_root);
                },
                "state root is",
            ),
            (
                "outcomes root",
                |case| {
                    flip(&mut case.expected.header.content.results[0].outcomes_root);
                },
                "outcomes root is",
            ),
            (
                "receipts root",
                |case| {
                    flip(&mut case.expected.header.content.results[1].receipts_root);
                },
                "receipts root is",
            ),
            (
                "transfers",
                |case| case.expected.header.content.results[0].transfers += 1,
                "number of transfers is",
            ),
            (
                "credits",
                |case| case.expected.header.content.results[1].credits += 1,
                "number of credits is",
            ),
            (
                "total height",
                |case| case.expected.header.content.totals.height += 1,
                "totals: height is",
            ),
            (
                "total root",
                |case| {
                    flip(&mut case.expected.header.content.totals.state_root);
                },
                "totals: state root is",
            ),
            (
                "total transfers",
                |case| {
                    case.expected.header.content.totals.transfers += 1;
                },
                "totals: number of transfers is",
            ),
            (
                "total cross-shard",
                |case| {
                    case.expected.header.content.totals.cross_shard += 1;
                },
                "totals: number of cross-shard transfers is",
            ),
            (
                "total credits",
                |case| {
                    case.expected.header.content.totals.credits += 1;
                },
                "totals: number of credits is",
            ),
            (
                "total balance",
                |case| case.expected.header.content.totals.balance += 1,
                "totals: balance is",
            ),
            (
                "next receipts",
                |case| case.expected.header.content.totals.next_due.block += 1,
                "totals: next receipts to credit is",
            ),
            (
                "total sent",
                |case| case.expected.header.content.totals.sent += 1,
                "totals: value sent is",
            ),
            (
                "total received",
                |case| {
                    case.expected.header.content.totals.received += 1;
                },
                "totals: value received is",
            ),
        ],
    );
}

/// An empty chunk that only credits receipts, and the state it executes on.
fn crediting() -> (StateTree, Case) {
    (0..)
        .find_map(|seed| {
            let (mut world, _) = World::play(seed);
            let state = world.state(ShardId(0)).clone();
            world.step(&world.empty_chunks());
            let case = world.step(&world.empty_chunks()).into_iter().next()?;
            let [transition] = &case.witness.transitions[..] else {
                return None;
            };
            let pre_state = transition.pre_state.clone();
            let some = !pre_state.leaves().is_empty() && state.accounts() > 3;
            let executed_on_it = pre_state.verify(&state.root()).is_ok();
            (some && executed_on_it).then_some((state, case))
        })
        .unwrap()
}

#[test]
fn a_partial_state_is_what_is_touched_and_no_more() {
    let (state, case) = crediting();
    assert!(case.check().is_ok());
    let with = |ids: BTreeSet<AccountId>| {
        let mut case = case.clone();
        first(&mut case).pre_state = state.partial(&ids, &Changes::new());
        words(&case.check().unwrap_err())
    };
    let everybody = state.leaves().iter().map(|leaf| leaf.id).collect();
    let error = with(everybody);
    assert!(error.contains("is for none of the accounts"), "{error}");
    let error = with(BTreeSet::new());
    assert!(error.contains("is not covered"), "{error}");
}

#[test]
fn a_header_without_results_needs_no_transitions() {
    let (_, cases) = World::play(3);
    let empty = cases
        .into_iter()
        .find(|case| case.witness.transitions.is_empty())
        .unwrap();
    assert!(empty.check().is_ok());
    let mut other = empty;
    other.expected.header.content.totals.state_root = ZERO;
    assert!(other.check().is_err());
}
