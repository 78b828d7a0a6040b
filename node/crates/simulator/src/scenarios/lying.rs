// SPDX-License-Identifier: Apache-2.0
//! Scenarios with byzantine validators.

use super::{
    disturbed::{skew, slow, standing_shard},
    quiet::{SHAPES, shape},
};
use crate::{
    byzantine::Lie,
    dice::Dice,
    plan::{Fault, Lies, Plan},
    promises::lull,
    shape::Shape,
};
use commonware_utils::NZUsize;
use std::time::Duration;

/// The shape of the large scenarios.
const LARGE: Shape = Shape::new(16, 1, 32, 24);

/// A network, of which as many voters lie as consensus tolerates.
fn liars(dice: &mut Dice, lies: impl Fn(&mut Dice) -> Vec<Lies>) -> Plan {
    let mut plan = Plan::new(shape(dice));
    plan.blocking = dice.once_in(2);
    let voters = plan.shape.voters();
    let count = dice.index(plan.shape.tolerated_voters()) + 1;
    for liar in dice.some_of(count, voters) {
        let lies = lies(dice);
        plan.liars.insert(liar, lies);
    }
    plan
}

fn results(dice: &mut Dice) -> Lies {
    let count = dice.index(Lie::ALL.len()) + 1;
    let chosen = dice.some_of(count, Lie::ALL.len());
    let lies = chosen.into_iter().map(|index| Lie::ALL[index]);
    Lies::Results(lies.collect(), dice.between(1, 3))
}

pub(super) fn false_results(dice: &mut Dice) -> Plan {
    liars(dice, |dice| vec![results(dice)])
}

pub(super) fn blind_endorsers(dice: &mut Dice) -> Plan {
    // One byzantine validator of twelve never has two thirds of a committee,
    // and with one byzantine voter more they sometimes come close.
    let shape = Shape::new(2, 2, 8, dice.pick(&[24, 36]));
    let mut plan = Plan::new(shape);
    plan.blocking = dice.once_in(2);
    let producer = dice.index(shape.voters());
    plan.liars.insert(producer, vec![results(dice)]);
    plan.colluders.insert(producer);
    let count = dice.index(2) + 1;
    let others = dice.some_of(count, usize::from(shape.chunk_validators));
    plan.colluders
        .extend(others.iter().map(|index| shape.voters() + index));
    plan
}

pub(super) fn forged_witnesses(dice: &mut Dice) -> Plan {
    liars(dice, |_| vec![Lies::ForgedWitnesses])
}

pub(super) fn withheld_witnesses(dice: &mut Dice) -> Plan {
    liars(dice, |dice| {
        vec![Lies::WithheldWitnesses(dice.pick(&[2, 4, u64::MAX]))]
    })
}

/// What a member endorses does not depend on what others send in the name of
/// the producer.
pub(super) fn crowded_witnesses(dice: &mut Dice) -> Plan {
    let shape = Shape::new(2, 2, dice.pick(&[2, 4, 8]), dice.pick(&[24, 48]));
    let mut plan = Plan::new(shape);
    plan.blocking = dice.once_in(2);
    let liar = shape.voters() + dice.index(usize::from(shape.chunk_validators));
    plan.liars.insert(liar, vec![Lies::CrowdedWitnesses]);
    plan.load = 12;
    plan
}

/// Only one liar is at work, so only its turns to lead cost time. Where parts do not
/// come, because they are withheld, or damaged and their sender listened to no more, so
/// does one more: too few parts for the others to recover the body are one part, and
/// whoever has it proposes the chunk.
pub(super) fn lasting_lies(dice: &mut Dice) -> Plan {
    let mut plan = liars(dice, any);
    // So that those whose lies cost no time make no hundred blocks.
    plan.shape.min_block_time_ms = 400;
    plan.load = 8;
    plan.calm_at = Duration::from_secs(15);
    let mut lies = plan.liars.values().flatten();
    let withheld = lies.any(|lies| matches!(lies, Lies::WithheldParts(_) | Lies::Garbage(_)));
    plan.lull = Some(lull(&plan.shape, if withheld { 2 } else { 1 }));
    plan
}

pub(super) fn withheld_bodies(dice: &mut Dice) -> Plan {
    liars(dice, |_| vec![Lies::WithheldBodies])
}

pub(super) fn withheld_parts(dice: &mut Dice) -> Plan {
    liars(dice, |dice| {
        vec![Lies::WithheldParts(dice.pick(&[2, 3, u64::MAX]))]
    })
}

/// At every third height three chunks, of which each leader that is honest has its
/// part of one and lacks that of another: no view would end with a block.
pub(super) fn parcelled_parts(dice: &mut Dice) -> Plan {
    let shape = Shape::new(4, 3, 0, 24);
    let mut plan = Plan::new(shape);
    plan.blocking = dice.once_in(2);
    // Longer than the lull that is too long.
    plan.calm_at = Duration::from_secs(20);
    plan.load = 6;
    // Each gives parts to a third in which its shard has no other producer and
    // that has one of the other two, so that too few are given.
    for (shard, third) in [(0, 1), (1, 2), (3, 0)] {
        let liar = shape.producer(shard, 1);
        plan.liars.insert(liar, vec![Lies::ParcelledParts(third)]);
    }
    // Two proposals, and the turns of liars between them.
    plan.lull = Some(lull(&shape, 3));
    plan
}

pub(super) fn invalid_bodies(dice: &mut Dice) -> Plan {
    liars(dice, |dice| vec![Lies::Bodies(dice.between(1, 3))])
}

/// One shard is cut off, while a producer of another includes what fails.
pub(super) fn failing_transfers(dice: &mut Dice) -> Plan {
    let mut plan = standing_shard(dice);
    plan.blocking = dice.once_in(2);
    // Long enough for the shard to be so far behind that it is congested.
    plan.calm_at = Duration::from_secs(30);
    plan.load = 8;
    let cut_off = plan.faults.iter().find_map(|(_, fault)| match fault {
        Fault::Partition(side) => side.first().copied(),
        _ => None,
    });
    let shards = plan.shape.shards;
    let mut others = (0..shards).filter(|shard| Some(plan.shape.producer(*shard, 0)) != cut_off);
    let liar = others.nth(dice.index(usize::from(shards) - 1));
    let lies = vec![Lies::FailingTransfers(1)];
    plan.liars
        .insert(plan.shape.producer(liar.unwrap_or(0), 0), lies);
    plan
}

pub(super) fn forged_receipts(dice: &mut Dice) -> Plan {
    liars(dice, |_| vec![Lies::Receipts])
}

/// All producers of one shard lie. Those of another shard differ in what they
/// can execute, and every honest vote is needed.
pub(super) fn partial_receipts(dice: &mut Dice) -> Plan {
    let shape = Shape::new(4, 2, 2, 24);
    let mut plan = Plan::new(shape);
    plan.blocking = dice.once_in(2);
    plan.calm_at = Duration::from_secs(16);
    // Two for each block.
    let votes = dice.between(6, 16);
    let shard = dice.pick(&[0, 1, 2, 3]);
    for slot in 0..2 {
        let liar = shape.producer(shard, slot);
        plan.liars.insert(liar, vec![Lies::PartialReceipts(votes)]);
    }
    // Those who keep the receipts may be asked for them first, 2 s each.
    plan.lull = Some(lull(&plan.shape, 2));
    plan
}

/// One of a shard's producers. What it ignores is with the next one eight turns of
/// each later, in whose turn it comes into a chunk.
pub(super) fn ignored_transactions(dice: &mut Dice) -> Plan {
    let shape = dice.pick(&[SHAPES[0], SHAPES[1], SHAPES[2]]);
    let mut plan = Plan::new(shape);
    plan.blocking = dice.once_in(2);
    plan.load = 5;
    plan.calm_at = Duration::from_secs(60);
    let liar = dice.index(shape.voters());
    plan.liars.insert(liar, vec![Lies::Ignored]);
    plan.executed_within = Some(u64::from(shape.producers) * 8 + 12);
    plan
}

pub(super) fn double_signed_chunks(dice: &mut Dice) -> Plan {
    liars(dice, |_| vec![Lies::Chunks])
}

pub(super) fn equivocating_leaders(dice: &mut Dice) -> Plan {
    liars(dice, |dice| match dice.between(1, 3) {
        1 => vec![Lies::Blocks],
        2 => vec![Lies::Votes],
        _ => vec![Lies::Blocks, Lies::Votes],
    })
}

pub(super) fn replays(dice: &mut Dice) -> Plan {
    liars(dice, |dice| vec![Lies::Replays(dice.between(2, 8))])
}

pub(super) fn garbage(dice: &mut Dice) -> Plan {
    liars(dice, |dice| vec![Lies::Garbage(dice.between(2, 8))])
}

pub(super) fn any(dice: &mut Dice) -> Vec<Lies> {
    let lies = match dice.between(1, 12) {
        1 => Lies::ForgedWitnesses,
        2 => Lies::WithheldWitnesses(dice.between(2, 4)),
        3 => Lies::WithheldBodies,
        4 => Lies::Receipts,
        5 => Lies::Chunks,
        6 => Lies::Blocks,
        7 => Lies::Garbage(dice.between(4, 16)),
        8 => Lies::Replays(dice.between(4, 16)),
        9 => Lies::WithheldParts(dice.between(2, 4)),
        10 => Lies::Bodies(dice.between(1, 3)),
        11 => Lies::CrowdedWitnesses,
        _ => results(dice),
    };
    vec![lies]
}

pub(super) fn everything(dice: &mut Dice) -> Plan {
    let mut plan = liars(dice, any);
    plan.calm_at = Duration::from_secs(7);
    plan.lost_per_mille = dice.between(0, 30);
    plan.jitter = dice.millis(0, 20);
    skew(dice, &mut plan, 3, 400);
    let victim = dice.index(plan.shape.validators());
    let at = dice.millis(1_000, 3_000);
    let fault = if dice.once_in(2) {
        Fault::Kill(victim)
    } else {
        Fault::StopAtDisk(victim, dice.between(0, 60))
    };
    plan.faults.push((at, fault));
    plan.faults
        .push((at + dice.millis(500, 2_000), Fault::Start(victim)));
    slow(dice, &mut plan, 3);
    plan
}

/// The producer of one shard lies, and so many of those who check it collude.
fn corrupt(dice: &mut Dice, shape: Shape, colluders: usize) -> Plan {
    let mut plan = Plan::new(shape);
    plan.calm_at = Duration::from_secs(30);
    let producer = dice.index(shape.voters());
    // No false receipts: those they are for wait for them, and do not vote.
    let lie = dice.pick(&[Lie::StateRoot, Lie::OutcomesRoot, Lie::Minted, Lie::Counted]);
    let lies = vec![Lies::Results(vec![lie], 1)];
    plan.liars.insert(producer, lies);
    plan.colluders.insert(producer);
    let others = dice.some_of(colluders, usize::from(shape.chunk_validators));
    plan.colluders
        .extend(others.iter().map(|index| shape.voters() + index));
    plan
}

pub(super) fn corrupt_committee(dice: &mut Dice) -> Plan {
    corrupt(dice, Shape::new(4, 1, 8, 9), 7)
}

pub(super) fn large_corrupt_committee(dice: &mut Dice) -> Plan {
    // Two thirds of the stake: more than that of two committees in five.
    let mut plan = corrupt(dice, LARGE, 31);
    plan.load = 4;
    plan
}

pub(super) fn large(dice: &mut Dice) -> Plan {
    let shape = LARGE;
    let mut plan = Plan::new(shape);
    plan.processors = dice.once_in(2).then_some(NZUsize!(2));
    plan.load = 4;
    plan.calm_at = Duration::from_secs(6);
    plan.blocking = dice.once_in(2);
    // A fifth of the stake, so that a committee with a third is drawn now and
    // then.
    let voters = dice.some_of(3, shape.voters());
    for (place, liar) in voters.iter().enumerate() {
        let lies = match place {
            0 => vec![results(dice)],
            _ => any(dice),
        };
        plan.liars.insert(*liar, lies);
    }
    plan.colluders.extend(&voters);
    let others = dice.some_of(6, usize::from(shape.chunk_validators));
    plan.colluders
        .extend(others.iter().map(|index| shape.voters() + index));
    for _ in 0..2 {
        let victim = shape.voters() + dice.index(usize::from(shape.chunk_validators));
        let at = dice.millis(1_000, 2_500);
        plan.faults.push((at, Fault::Kill(victim)));
        plan.faults
            .push((at + dice.millis(500, 2_000), Fault::Start(victim)));
    }
    plan.faults.sort_by_key(|(at, _)| *at);
    plan
}
