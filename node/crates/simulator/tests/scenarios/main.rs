// SPDX-License-Identifier: Apache-2.0
//! A few seeds of every scenario, and that the simulator notices what it is
//! there to notice.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use shardnode_simulator::{
    Changes, Outcome, Planted, Promise, Report,
    dice::Dice,
    plan::Lies,
    run, run_with,
    scenarios::{self, Scenario, Size},
    sweep,
};
use std::{collections::BTreeSet, num::NonZeroUsize, thread, time::Duration};

/// Seeds of each small scenario. `make simulate` runs more.
const SEEDS: u64 = 10;
/// CPU time that a seed of a small scenario takes at most.
const SMALL: Duration = Duration::from_secs(10);
/// And of one in which work takes time.
const BUSY: Duration = Duration::from_secs(60);

fn threads() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn named(name: &str) -> &'static Scenario {
    scenarios::named(name).unwrap()
}

/// What the liars of these seeds do, by way of lying.
fn lies(scenario: &Scenario, seeds: u64) -> BTreeSet<Vec<&'static str>> {
    let plans = (0..seeds).map(|seed| (scenario.plan)(&mut Dice::new(seed)));
    let lies = plans.flat_map(|plan| plan.liars.into_values().flatten());
    lies.map(|lies| lies.kinds()).collect()
}

fn of_size(size: Size) -> impl Iterator<Item = &'static Scenario> {
    scenarios::ALL.iter().filter(move |one| one.size == size)
}

/// Runs the first seeds of these, which must hold. In the small ones, which
/// have many, liars must have lied in every way that they know.
fn hold(scenarios: impl Iterator<Item = &'static Scenario>, seeds: u64) {
    let reports: Vec<_> = scenarios
        .map(|scenario| (scenario, sweep(scenario, 0..seeds, threads())))
        .collect();
    for (_, report) in &reports {
        println!("{report}");
    }
    for (scenario, report) in &reports {
        let name = scenario.name;
        assert_eq!(report.seeds(), seeds, "{name}");
        let most = match scenario.size {
            Size::Small => SMALL,
            Size::Busy => BUSY,
            Size::Large => continue,
        };
        assert!(report.worst_cpu() < most, "{name}");
        let told = |kind: &&str| report.injected().contains_key(kind);
        let lies = lies(scenario, seeds);
        let unheard: Vec<_> = lies
            .iter()
            .filter(|kinds| !kinds.iter().all(told))
            .collect();
        // Where many ways are drawn from, each is for a seed or two, in which
        // there may be no occasion.
        let mixed = ["everything", "lasting-lies", "pairs"].contains(&name);
        let most = if mixed { lies.len() / 2 } else { 0 };
        assert!(
            unheard.len() <= most,
            "{name}: {unheard:?} {:?}",
            report.injected()
        );
    }
    let holds = |(_, report): &(_, Report)| report.holds();
    assert!(reports.iter().all(holds), "see the reports above");
}

#[test]
fn every_small_scenario_holds() {
    hold(of_size(Size::Small), SEEDS);
}

#[test]
fn the_large_scenarios_hold() {
    hold(of_size(Size::Large), 1);
}

#[test]
fn the_busy_scenarios_hold() {
    hold(of_size(Size::Busy), 2);
}

#[test]
fn one_producer_of_the_large_scenario_tells_false_results() {
    for seed in 0..200 {
        let plan = (named("large").plan)(&mut Dice::new(seed));
        let mut lies = plan.liars.values().flatten();
        assert!(lies.any(|lies| matches!(lies, Lies::Results(..))), "{seed}");
    }
}

/// Of parts that are withheld come two proposals in vain, after which one has no chunks; and
/// who is flooded waits for receipts, for which there is no room.
#[test]
fn a_turn_of_who_lies_costs_other_shards_their_chunks() {
    for (scenario, seed) in [("lasting-lies", 18_000_135), ("floods", 18_000_163)] {
        let outcome = run(named(scenario), seed);
        assert!(outcome.violations.is_empty(), "{:?}", outcome.violations);
        assert!(outcome.misses.others > 0, "{scenario}");
    }
}

/// Without that the scenario would show nothing but another way to catch up.
#[test]
fn who_cannot_execute_on_takes_the_state_of_another() {
    let outcome = run(named("lost-states"), 5);
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

/// An oracle that makes a mistake comes to other roots than the nodes, and a
/// check that makes one to another verdict: were it the nodes that make it,
/// they would differ just the same.
#[test]
fn planted_mistakes_are_noticed() {
    for (scenario, bug, promise) in [
        ("calm", Planted::DroppedTransfer, Promise::Transfers),
        ("calm", Planted::DroppedTransfer, Promise::ValidRoots),
        ("calm", Planted::DoubledTransfer, Promise::ValidRoots),
        ("calm", Planted::LostValue, Promise::Supply),
        ("calm", Planted::OtherBlock, Promise::OneChain),
        ("calm", Planted::OtherCommittees, Promise::Committees),
        ("crashes", Planted::NoDuties, Promise::Committees),
        ("dead-producers", Planted::NobodyDead, Promise::MissedChunks),
        ("calm", Planted::NoBlocks, Promise::Liveness),
        ("lasting-lies", Planted::NoBlocks, Promise::Liveness),
    ] {
        let changes = Changes { planted: Some(bug) };
        let outcome = run_with(named(scenario), 1, changes);
        assert!(
            notices(&outcome, promise, ""),
            "{bug:?}: {:?}",
            outcome.violations
        );
        assert!(
            outcome.trace.contains("finalised block"),
            "{}",
            outcome.trace
        );
    }
}

fn notices(outcome: &Outcome, promise: Promise, how: &str) -> bool {
    let mut violations = outcome.violations.iter();
    violations.any(|violation| violation.promise == promise && violation.what.contains(how))
}

/// Endorsements in blocks, and those that are sent.
#[test]
fn strangers_in_committees_are_noticed() {
    let planted = Some(Planted::OtherCommittees);
    let outcome = run_with(named("calm"), 1, Changes { planted });
    for how in ["is endorsed by", "is not in its committee"] {
        assert!(
            notices(&outcome, Promise::Committees, how),
            "{:?}",
            outcome.violations
        );
    }
}

#[test]
fn a_false_root_needs_more_than_two_thirds_of_a_committee() {
    let corrupt = run(named("corrupt-committee"), 1);
    assert!(corrupt.violations.is_empty(), "{:?}", corrupt.violations);
    assert!(!corrupt.expected.is_empty());
    assert!(corrupt.committees.corrupted > 0, "{:?}", corrupt.committees);

    let large = run(named("large-corrupt-committee"), 1);
    assert!(large.violations.is_empty(), "{:?}", large.violations);
    assert!(!large.expected.is_empty());
    assert!(large.committees.corrupted > 0, "{:?}", large.committees);

    let below = run(named("blind-endorsers"), 1);
    assert!(below.violations.is_empty(), "{:?}", below.violations);
    assert!(below.injected.contains_key("blind endorsements"));
    assert_eq!(below.committees.corrupted, 0);
}
