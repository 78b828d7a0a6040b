// SPDX-License-Identifier: Apache-2.0
//! Scenarios in which work takes time, and somebody makes too much of it.

use crate::{
    dice::Dice,
    plan::{Lies, Plan},
    shape::Shape,
};
use commonware_utils::NZUsize;
use shardnode_network::channels;
use std::{collections::BTreeSet, time::Duration};

/// Two chunk validators, or one and as many voters as consensus tolerates, send one to
/// three others as much as their links carry, on one to three channels each. These
/// keep up, and so does the chain, in which nothing else goes wrong: a block takes
/// 200 ms without floods. Where voters flood, it takes longer, as it does where they
/// say nothing: who cuts them off hears nothing of the blocks that they propose.
pub(super) fn floods(dice: &mut Dice) -> Plan {
    let shape = Shape::new(dice.pick(&[2, 4]), 2, 4, 24);
    let mut plan = Plan::new(shape);
    plan.blocking = dice.once_in(2);
    plan.processors = Some(NZUsize!(2));
    plan.calm_at = Duration::from_secs(12);
    plan.behind = Some(8);
    let voters = shape.voters();
    let others = usize::from(shape.chunk_validators);
    let mut liars = BTreeSet::new();
    if dice.once_in(2) {
        liars = dice.some_of(shape.tolerated_voters(), voters);
        liars.insert(voters + dice.index(others));
    } else {
        let two = dice.some_of(2, others);
        liars.extend(two.iter().map(|index| voters + index));
        plan.block_time = Some(Duration::from_millis(250));
    }
    let honest: Vec<usize> = (0..shape.validators())
        .filter(|index| !liars.contains(index))
        .collect();
    let count = dice.index(3) + 1;
    let victims = dice.some_of(count, honest.len());
    for liar in &liars {
        let count = dice.index(3) + 1;
        let on = dice.some_of(count, channels::ALL.len());
        let on = on.iter().map(|index| channels::ALL[*index]).collect();
        let to = victims
            .iter()
            .map(|index| among_others(honest[*index], *liar));
        plan.liars
            .insert(*liar, vec![Lies::Flood(on, to.collect())]);
    }
    plan.dead = liars;
    plan
}

/// The place of a node among all but another.
const fn among_others(index: usize, than: usize) -> usize {
    if index > than { index - 1 } else { index }
}
