// SPDX-License-Identifier: Apache-2.0
//! What all nodes get wrong in the same way is noticed: they agree with each
//! other, finalise it, and only somebody else can tell.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use shardnode_execution::planted::{Fault, plant};
use shardnode_simulator::{Outcome, Promise, run, scenarios};
use std::thread;

/// Seeds that are run of a scenario. Not each has an occasion for a fault: few accounts
/// fall below the least, say.
const SEEDS: u64 = 10;
/// Those of them that find a fault, at least.
const FOUND: usize = 2;

/// What the nodes with this fault come to, on threads of their own.
fn outcomes(fault: Fault, scenario: &str) -> Vec<Outcome> {
    let scenario = scenarios::named(scenario).unwrap();
    let faulty = |seed| {
        let _planted = plant(fault);
        run(scenario, seed)
    };
    thread::scope(|scope| {
        let runs: Vec<_> = (0..SEEDS)
            .map(|seed| scope.spawn(move || faulty(seed)))
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

/// In enough seeds of the scenario, a header differs from the model, and the words
/// name one of these.
fn noticed(fault: Fault, scenario: &str, words: &[&str]) {
    broken(Promise::ValidRoots, fault, scenario, words);
}

/// In enough seeds of the scenario the promise is broken, and the words name one of these.
fn broken(promise: Promise, fault: Fault, scenario: &str, words: &[&str]) {
    let outcomes = outcomes(fault, scenario);
    let mut named = 0;
    let mut differing = 0;
    for outcome in &outcomes {
        let violations = outcome.violations.iter();
        let differences: Vec<&str> = violations
            .filter(|violation| violation.promise == promise)
            .map(|violation| violation.what.as_str())
            .collect();
        for difference in &differences {
            println!("{fault:?}, {scenario} {}: {difference}", outcome.seed);
        }
        let counted = (outcome.blocks, &outcome.injected);
        println!("{fault:?}, {scenario} {}: {counted:?}", outcome.seed);
        differing += usize::from(!differences.is_empty());
        let names = |difference: &&str| words.iter().any(|word| difference.contains(word));
        named += usize::from(differences.iter().any(names));
    }
    println!("{fault:?}, {scenario}: found in {differing} of {SEEDS} seeds");
    assert!(
        differing >= FOUND,
        "{fault:?} is found in {differing} seeds"
    );
    assert!(named > 0, "{fault:?}: nothing names {words:?}");
}

/// No honest producer includes what fails for nothing, so in `calm` nothing differs.
#[test]
fn a_nonce_that_is_used_twice() {
    let words = ["transfers: the chain says"];
    noticed(Fault::NonceTwice, "failing-transfers", &words);
}

#[test]
fn a_transfer_to_a_wrong_receiver() {
    noticed(Fault::WrongReceiver, "calm", &["state root", "account"]);
}

#[test]
fn a_receipt_to_a_wrong_receiver() {
    noticed(
        Fault::WrongReceiptReceiver,
        "calm",
        &["state root", "account"],
    );
}

#[test]
fn a_failure_that_costs_one() {
    let words = ["state root", "account"];
    noticed(Fault::CostlyFailure, "failing-transfers", &words);
}

#[test]
fn a_receipt_that_is_credited_twice() {
    noticed(Fault::CreditedTwice, "calm", &["state root", "account"]);
}

#[test]
fn a_receipt_that_is_lost() {
    noticed(Fault::LostReceipt, "calm", &["receipts root"]);
}

#[test]
fn a_transfer_to_a_congested_shard() {
    let words = ["transfers: the chain says"];
    noticed(Fault::CongestedExecuted, "failing-transfers", &words);
}

#[test]
fn an_account_that_is_kept_with_too_little() {
    // Clients empty few accounts: it takes a while.
    let words = ["state root", "account"];
    noticed(Fault::KeptDust, "failing-transfers", &words);
}

#[test]
fn an_account_that_is_made_again_and_begins_with_no_nonce() {
    noticed(Fault::NonceAnew, "calm", &["state root", "account"]);
}

#[test]
fn a_failure_that_is_reported_as_executed() {
    let words = ["outcomes root"];
    noticed(Fault::FailedAsExecuted, "failing-transfers", &words);
}

#[test]
fn a_pool_that_keeps_what_nobody_pays_for() {
    let (promise, words) = (Promise::NothingForNothing, ["nonce is not above"]);
    broken(promise, Fault::KeptInPool, "calm", &words);
}
