// SPDX-License-Identifier: Apache-2.0
//! The scenarios, by name.

mod disturbed;
mod flooding;
mod lying;
mod paired;
mod quiet;

use crate::{dice::Dice, plan::Plan};

/// What a scenario is to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// Every promise holds.
    Safe,
    /// A false root is finalised, and noticed: the checks are alive.
    FalseRoot,
}

/// What a seed of a scenario takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// So little that hundreds are run: 12 validators, and 2.5 s of a processor.
    Small,
    /// As many validators, whose work takes time: 20 s of a processor.
    Busy,
    /// 48 validators.
    Large,
}

impl Size {
    /// Validators of a network at most.
    #[must_use]
    pub const fn validators(self) -> usize {
        match self {
            Self::Small | Self::Busy => 12,
            Self::Large => 48,
        }
    }
}

/// A kind of trouble; each seed makes another plan of it.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub sentence: &'static str,
    /// What a seed of it takes.
    pub size: Size,
    /// What it is to show.
    pub expectation: Expectation,
    /// Makes a seed's plan.
    pub plan: fn(&mut Dice) -> Plan,
}

const fn safe(name: &'static str, sentence: &'static str, plan: fn(&mut Dice) -> Plan) -> Scenario {
    Scenario {
        name,
        sentence,
        size: Size::Small,
        expectation: Expectation::Safe,
        plan,
    }
}

/// All scenarios.
pub const ALL: &[Scenario] = &[
    safe(
        "calm",
        "Nothing goes wrong, in networks of any shape and execution lag.",
        quiet::calm,
    ),
    safe(
        "loss",
        "Links lose up to a tenth of all messages, and messages overtake each other.",
        disturbed::loss,
    ),
    safe(
        "partitions",
        "The network falls into two sides, and single links go deaf, again and again.",
        disturbed::partitions,
    ),
    safe(
        "crashes",
        "Nodes are killed at random moments, sometimes all at once, and come back.",
        disturbed::crashes,
    ),
    safe(
        "disk-crashes",
        "Machines stop at random operations on their disks, and come back.",
        disturbed::disk_crashes,
    ),
    safe(
        "lost-states",
        "A producer loses its disk, or is away for longer than others have to keep what it missed.",
        disturbed::lost_states,
    ),
    safe(
        "roll-outs",
        "Every node is replaced by one with an empty disk, one after the other and all once more, as soon as its shard has a complete copy elsewhere.",
        disturbed::roll_outs,
    ),
    safe(
        "slow-disks",
        "Some disks take up to 40 ms for every write and sync.",
        disturbed::slow_disks,
    ),
    safe(
        "clock-skew",
        "One clock is up to two seconds wrong, or many are up to 300 ms.",
        disturbed::clock_skew,
    ),
    safe(
        "dead-producers",
        "One producer of every shard dies; chunks are missed only where committees or turns explain it.",
        disturbed::dead_producers,
    ),
    safe(
        "standing-shard",
        "All producers of one shard are cut off; others send it nothing more until it has caught up.",
        disturbed::standing_shard,
    ),
    safe(
        "false-results",
        "Producers commit to wrong states, receipts, outcomes, counts or minted value.",
        lying::false_results,
    ),
    safe(
        "blind-endorsers",
        "Producers commit to wrong results, and less than a third of the stake endorses whatever it hears of.",
        lying::blind_endorsers,
    ),
    safe(
        "forged-witnesses",
        "Producers send witnesses that show something else, properly encoded and signed.",
        lying::forged_witnesses,
    ),
    safe(
        "withheld-witnesses",
        "Producers send few parts of their witnesses, or none.",
        lying::withheld_witnesses,
    ),
    safe(
        "crowded-witnesses",
        "A validator sends junk in place of the witnesses to come; no chunk is missed for it.",
        lying::crowded_witnesses,
    ),
    safe(
        "withheld-bodies",
        "Producers keep the bodies of their chunks to themselves, and others recover them from their parts.",
        lying::withheld_bodies,
    ),
    safe(
        "withheld-parts",
        "Producers keep the bodies of their chunks and some parts of them to themselves, or all.",
        lying::withheld_parts,
    ),
    safe(
        "parcelled-parts",
        "Three producers give parts of their bodies to other leaders each, so that each leader proposes what others cannot vote for.",
        lying::parcelled_parts,
    ),
    safe(
        "invalid-bodies",
        "Producers commit to bodies that are invalid, or parts that are of no body.",
        lying::invalid_bodies,
    ),
    safe(
        "failing-transfers",
        "A producer includes transfers that fail, for every reason that there is, while one shard stands still.",
        lying::failing_transfers,
    ),
    safe(
        "forged-receipts",
        "Producers send receipts and answers that no execution came to.",
        lying::forged_receipts,
    ),
    safe(
        "partial-receipts",
        "All producers of a shard send receipts to some producers of the others only, and stop voting.",
        lying::partial_receipts,
    ),
    safe(
        "ignored-transactions",
        "A producer takes in what other nodes pass on to it, puts none of it into a chunk and says that all of it was executed.",
        lying::ignored_transactions,
    ),
    safe(
        "double-signed-chunks",
        "Producers sign two chunks for every height, and tell each half of the network of another one.",
        lying::double_signed_chunks,
    ),
    safe(
        "equivocating-leaders",
        "Leaders propose two blocks at once, and voters vote twice.",
        lying::equivocating_leaders,
    ),
    safe(
        "replays",
        "Validators repeat old messages, on other channels too, and sign their words for other heights.",
        lying::replays,
    ),
    safe(
        "garbage",
        "Validators send garbage and damaged messages on every channel.",
        lying::garbage,
    ),
    safe(
        "lasting-lies",
        "Validators lie for long, in any way, and the chain goes on all the while.",
        lying::lasting_lies,
    ),
    safe(
        "everything",
        "Loss, kills, slow disks, wrong clocks and a liar at the same time.",
        lying::everything,
    ),
    safe(
        "pairs",
        "Any two kinds of trouble at the same time, of links, machines, disks, clocks and liars.",
        paired::pairs,
    ),
    Scenario {
        name: "floods",
        sentence: "A validator sends others as much as links carry, on any channel, while work, disks and bytes take time; all keep up.",
        size: Size::Busy,
        expectation: Expectation::Safe,
        plan: flooding::floods,
    },
    Scenario {
        name: "corrupt-committee",
        sentence: "More than two thirds of a committee are byzantine: a false root is finalised, and the checks notice.",
        size: Size::Small,
        expectation: Expectation::FalseRoot,
        plan: lying::corrupt_committee,
    },
    Scenario {
        name: "large",
        sentence: "16 shards and 48 validators, some of which lie while others are killed, and in half of the seeds work takes time.",
        size: Size::Large,
        expectation: Expectation::Safe,
        plan: lying::large,
    },
    Scenario {
        name: "large-corrupt-committee",
        sentence: "More than two thirds of a committee among 48 validators are byzantine, and the checks notice.",
        size: Size::Large,
        expectation: Expectation::FalseRoot,
        plan: lying::large_corrupt_committee,
    },
];

/// The scenario with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Scenario> {
    ALL.iter().find(|scenario| scenario.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = ALL.iter().map(|scenario| scenario.name).collect();
        assert_eq!(names.len(), ALL.len());
    }

    #[test]
    fn small_ones_are_small_and_byzantine_voters_are_tolerated() {
        for scenario in ALL {
            for seed in 0..200 {
                let plan = (scenario.plan)(&mut Dice::new(seed));
                let shape = plan.shape;
                let most = scenario.size.validators();
                assert!(shape.validators() <= most, "{} {seed}", scenario.name);
                let byzantine = plan.byzantine();
                let voters = byzantine.iter().filter(|index| **index < shape.voters());
                assert!(
                    voters.count() <= shape.tolerated_voters(),
                    "{} {seed}",
                    scenario.name
                );
                assert!(byzantine.iter().all(|index| *index < shape.validators()));
                assert!(
                    plan.faults.is_sorted_by_key(|(at, _)| *at),
                    "{}",
                    scenario.name
                );
            }
        }
    }
}
