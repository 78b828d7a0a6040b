// SPDX-License-Identifier: Apache-2.0
//! A few seeds of every scenario, and that the simulator notices what it is
//! there to notice.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use shardnode_simulator::{
    Changes, Planted, Promise, Report, run, run_with,
    scenarios::{self, Scenario},
    sweep,
};
use std::{iter, num::NonZeroUsize, thread};

/// Seeds of each small scenario. `make simulate` runs more.
const SEEDS: u64 = 10;

fn threads() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn named(name: &str) -> &'static Scenario {
    scenarios::named(name).unwrap()
}

fn hold(scenarios: impl Iterator<Item = &'static Scenario>, seeds: u64) {
    let reports: Vec<_> = scenarios
        .map(|scenario| sweep(scenario, 0..seeds, threads()))
        .collect();
    for report in &reports {
        assert_eq!(report.seeds(), seeds);
        println!("{report}");
    }
    assert!(reports.iter().all(Report::holds), "see the reports above");
}

#[test]
fn every_small_scenario_holds() {
    hold(scenarios::ALL.iter().filter(|one| !one.large), SEEDS);
}

#[test]
fn the_large_scenario_holds() {
    hold(iter::once(named("large")), 1);
}

/// Without that the scenario would show nothing but another way to catch up.
#[test]
fn who_cannot_execute_on_takes_the_state_of_another() {
    let outcome = run(named("lost-states"), 2);
    assert!(outcome.violations.is_empty(), "{:?}", outcome.violations);
    assert!(outcome.installed > 0);
}

#[test]
fn equal_seeds_run_equally_and_others_do_not() {
    let scenario = named("everything");
    let print = |seed| run(scenario, seed).fingerprint;
    let first = print(1);
    assert!(!first.is_empty());
    assert_eq!(first, print(1));
    assert_ne!(first, print(2));
}

/// A replay that makes a mistake comes to other roots than the nodes: were it
/// the nodes that make it, they would differ just the same.
#[test]
fn planted_mistakes_are_noticed() {
    for (bug, promise) in [
        (Planted::DroppedReceipt, Promise::Receipts),
        (Planted::DroppedReceipt, Promise::ValidRoots),
        (Planted::DoubledTransfer, Promise::ValidRoots),
    ] {
        let changes = Changes { planted: Some(bug) };
        let outcome = run_with(named("calm"), 1, changes);
        let noticed = outcome
            .violations
            .iter()
            .any(|violation| violation.promise == promise);
        assert!(noticed, "{bug:?}: {:?}", outcome.violations);
        assert!(
            outcome.trace.contains("finalised block"),
            "{}",
            outcome.trace
        );
    }
}

#[test]
fn a_false_root_needs_more_than_two_thirds_of_a_committee() {
    let corrupt = run(named("corrupt-committee"), 1);
    assert!(corrupt.violations.is_empty(), "{:?}", corrupt.violations);
    assert!(!corrupt.expected.is_empty());
    assert!(corrupt.committees.corrupted > 0, "{:?}", corrupt.committees);

    let below = run(named("blind-endorsers"), 1);
    assert!(below.violations.is_empty(), "{:?}", below.violations);
    assert!(below.injected.contains_key("blind endorsements"));
    assert_eq!(below.committees.corrupted, 0);
}
