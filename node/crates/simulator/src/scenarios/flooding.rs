// SPDX-License-Identifier: Apache-2.0
//! Scenarios in which work takes time, and somebody makes too much of it.

use crate::{
    dice::Dice,
    plan::{Lies, Plan},
    shape::Shape,
};
use commonware_utils::NZUsize;
use shardnode_network::channels;
use std::time::Duration;

/// Where a voter has something to say of its own, and a chunk validator. The channels that
/// are left carry requests, which they make when something is missing.
const OF_VOTERS: [u64; 7] = [
    channels::VOTES,
    channels::CERTIFICATES,
    channels::BLOCKS,
    channels::CHUNKS,
    channels::CHUNK_REQUESTS,
    channels::WITNESSES,
    channels::ENDORSEMENTS,
];
const OF_CHUNK_VALIDATORS: [u64; 2] = [channels::WITNESSES, channels::ENDORSEMENTS];

/// A validator sends one to three others as much as its links carry, on one to three
/// channels: either what is right, on those where it says something, or also what is
/// wrong, on any, for which it is cut off. These keep up, and so does the chain: where a
/// chunk validator floods, blocks come as fast as without, and chunks are missed for nothing
/// but its stake. Where a voter does, it costs its turns, as if it said nothing: who cuts it
/// off hears of none of its blocks, and whom it floods has to ask others for its bodies and
/// receipts, for which it leaves no room.
pub(super) fn floods(dice: &mut Dice) -> Plan {
    let shape = Shape::new(dice.pick(&[2, 4]), 2, 4, 24);
    let mut plan = Plan::new(shape);
    plan.processors = Some(NZUsize!(2));
    plan.calm_at = Duration::from_secs(12);
    plan.behind = Some(8);
    let liar = dice.index(shape.validators());
    if liar >= shape.voters() {
        plan.block_time = Some(Duration::from_millis(250));
    }
    let count = dice.index(3) + 1;
    let to = dice.some_of(count, shape.validators() - 1);
    let right = dice.once_in(2);
    let among: &[u64] = match (right, liar < shape.voters()) {
        (false, _) => &channels::ALL,
        (true, true) => &OF_VOTERS,
        (true, false) => &OF_CHUNK_VALIDATORS,
    };
    let count = (dice.index(3) + 1).min(among.len());
    let on = dice.some_of(count, among.len());
    let on = on.iter().map(|index| among[*index]).collect();
    let flood = Lies::Flood(on, to.into_iter().collect(), right);
    plan.liars.insert(liar, vec![flood]);
    plan
}
