// SPDX-License-Identifier: Apache-2.0
//! Scenarios in which links, machines and clocks fail, and everybody is honest.

use super::quiet::shape;
use crate::{
    dice::Dice,
    machine::Skew,
    plan::{Fault, Plan},
    shape::Shape,
};
use std::{collections::BTreeSet, time::Duration};

/// The first fault comes once the chain goes.
const FIRST_MS: u64 = 1_000;

/// Links lose messages, and some are late.
pub(super) fn lossy(dice: &mut Dice, plan: &mut Plan) {
    plan.lost_per_mille = dice.between(5, 100);
    plan.jitter = dice.millis(0, 40);
}

pub(super) fn loss(dice: &mut Dice) -> Plan {
    let mut plan = Plan::new(shape(dice));
    lossy(dice, &mut plan);
    plan
}

pub(super) fn partitions(dice: &mut Dice) -> Plan {
    let mut plan = Plan::new(shape(dice));
    plan.calm_at = Duration::from_secs(9);
    parted(dice, &mut plan);
    plan
}

/// The network falls apart, again and again, until all is calm.
pub(super) fn parted(dice: &mut Dice, plan: &mut Plan) {
    let nodes = plan.shape.validators();
    let mut at = dice.millis(FIRST_MS, 2_000);
    while at < plan.calm_at {
        if dice.once_in(2) {
            let size = dice.index(nodes - 1) + 1;
            let side = dice.some_of(size, nodes);
            plan.faults.push((at, Fault::Partition(side)));
        } else {
            for _ in 0..dice.between(1, 4) {
                let (from, to) = (dice.index(nodes), dice.index(nodes));
                if from != to {
                    plan.faults.push((at, Fault::Deafen(from, to)));
                }
            }
        }
        at += dice.millis(200, 2_500);
        plan.faults.push((at, Fault::Heal));
        at += dice.millis(200, 1_500);
    }
}

/// Nodes go down at random, each for some time; `stop` makes the fault.
pub(super) fn down(dice: &mut Dice, plan: &mut Plan, stop: impl Fn(&mut Dice, usize) -> Fault) {
    let nodes = plan.shape.validators();
    let last = plan.calm_at;
    for _ in 0..dice.between(1, 3) {
        let at = dice.millis(FIRST_MS, 4_000);
        let back = at + dice.millis(100, 2_500);
        let all = dice.once_in(5);
        let victims: BTreeSet<usize> = if all {
            (0..nodes).collect()
        } else {
            let size = dice.index(nodes / 2) + 1;
            dice.some_of(size, nodes)
        };
        for node in victims {
            let stop = stop(dice, node);
            plan.faults.push((at, stop));
            plan.faults.push((back.min(last), Fault::Start(node)));
        }
    }
    plan.faults.sort_by_key(|(at, _)| *at);
}

pub(super) fn crashes(dice: &mut Dice) -> Plan {
    let mut plan = Plan::new(shape(dice));
    plan.calm_at = Duration::from_secs(6);
    down(dice, &mut plan, |_, node| Fault::Kill(node));
    plan
}

pub(super) fn disk_crashes(dice: &mut Dice) -> Plan {
    let mut plan = Plan::new(shape(dice));
    plan.calm_at = Duration::from_secs(6);
    down(dice, &mut plan, |dice, node| {
        Fault::StopAtDisk(node, dice.between(0, 60))
    });
    plan
}

/// One producer loses its disk, or is away for long. Others of its shard have
/// what they need, and keep it for a short time only.
pub(super) fn lost_states(dice: &mut Dice) -> Plan {
    let mut shape = dice.pick(&[
        Shape::new(2, 2, 4, 16),
        Shape::new(2, 3, 3, 12),
        Shape::new(3, 2, 3, 12),
    ]);
    shape.lag = dice.pick(&[1, 1, 2, 3]);
    let mut plan = Plan::new(shape);
    plan.retention = dice.between(5, 8);
    plan.calm_at = Duration::from_secs(10);
    let node = dice.index(shape.voters());
    let at = dice.millis(2_000, 3_000);
    let (fault, away) = if dice.once_in(3) {
        plan.retention = 5;
        (Fault::Kill(node), dice.millis(4_500, 5_500))
    } else {
        (Fault::LoseDisk(node), dice.millis(1_500, 4_500))
    };
    let back = at + away;
    plan.faults.push((at, fault));
    plan.faults.push((back, Fault::Start(node)));
    if dice.once_in(2) {
        let stop = Fault::StopAtDisk(node, dice.between(0, 400));
        let again = back + dice.millis(500, 1_500);
        plan.faults.push((back, stop));
        plan.faults.push((again, Fault::Start(node)));
    }
    plan
}

/// Every node loses its disk, twice, and no shard its state.
pub(super) fn roll_outs(dice: &mut Dice) -> Plan {
    let mut shape = dice.pick(&[
        Shape::new(2, 2, 0, 64),
        Shape::new(2, 2, 2, 16),
        Shape::new(2, 3, 0, 16),
        Shape::new(3, 2, 0, 16),
    ]);
    shape.lag = dice.pick(&[1, 1, 2, 3]);
    let mut plan = Plan::new(shape);
    plan.retention = dice.pick(&[5, 8, 1_000]);
    // Together 24, for it takes many blocks.
    plan.load = if shape.voters() == 4 { 6 } else { 4 };
    plan.calm_at = Duration::from_secs(180);
    if dice.once_in(2) {
        plan.lost_per_mille = dice.between(1, 30);
    }
    for _ in 0..2 {
        let nodes = shape.validators();
        let first = dice.index(nodes);
        plan.replaced
            .extend((0..nodes).map(|node| (first + node) % nodes));
    }
    plan
}

/// Slows the disks of up to `most` nodes down.
pub(super) fn slow(dice: &mut Dice, plan: &mut Plan, most: u64) {
    let count = usize::try_from(dice.between(1, most)).unwrap_or(1);
    for node in dice.some_of(count, plan.shape.validators()) {
        let fault = Fault::SlowDisk(node, dice.millis(1, 40));
        plan.faults.push((dice.millis(0, 2_000), fault));
    }
    plan.faults.sort_by_key(|(at, _)| *at);
}

pub(super) fn slow_disks(dice: &mut Dice) -> Plan {
    let mut plan = Plan::new(shape(dice));
    plan.calm_at = Duration::from_secs(6);
    slow(dice, &mut plan, 12);
    plan
}

/// Sets the clocks of up to `most` nodes wrong, by up to `by_ms`.
pub(super) fn skew(dice: &mut Dice, plan: &mut Plan, most: u64, by_ms: u64) {
    let count = usize::try_from(dice.between(1, most)).unwrap_or(1);
    for node in dice.some_of(count, plan.shape.validators()) {
        let by = dice.millis(1, by_ms);
        let skew = if dice.once_in(2) {
            Skew::Ahead(by)
        } else {
            Skew::Behind(by)
        };
        plan.clocks.insert(node, skew);
    }
}

pub(super) fn clock_skew(dice: &mut Dice) -> Plan {
    let mut plan = Plan::new(shape(dice));
    plan.calm_at = Duration::from_secs(6);
    // Far off is one clock; all together are about as far apart as consensus
    // takes without waiting.
    let (most, by_ms) = dice.pick(&[(1, 2_000), (12, 300), (12, 300)]);
    skew(dice, &mut plan, most, by_ms);
    plan
}

pub(super) fn dead_producers(dice: &mut Dice) -> Plan {
    // 64 mandates are what the preset quickstart has, for the same reason; with
    // few, committees miss chunks as well.
    let shape = dice.pick(&[
        Shape::new(2, 4, 4, 64),
        Shape::new(3, 4, 0, 64),
        Shape::new(2, 4, 4, 12),
    ]);
    let mut plan = Plan::new(shape);
    plan.calm_at = Duration::from_secs(12);
    let at = dice.millis(FIRST_MS, 2_000);
    for shard in 0..shape.shards {
        let slot = u16::try_from(dice.index(usize::from(shape.producers))).unwrap_or(0);
        let node = shape.producer(shard, slot);
        plan.dead.insert(node);
        plan.faults.push((at, Fault::Kill(node)));
    }
    plan
}

pub(super) fn standing_shard(dice: &mut Dice) -> Plan {
    let shape = dice.pick(&[Shape::new(4, 1, 4, 16), Shape::new(4, 2, 2, 16)]);
    let mut plan = Plan::new(shape);
    plan.calm_at = Duration::from_secs(9);
    let shard = u16::try_from(dice.index(usize::from(shape.shards))).unwrap_or(0);
    let producers = (0..shape.producers).map(|slot| shape.producer(shard, slot));
    let cut_off = Fault::Partition(producers.collect());
    plan.faults.push((dice.millis(FIRST_MS, 2_000), cut_off));
    plan
}
