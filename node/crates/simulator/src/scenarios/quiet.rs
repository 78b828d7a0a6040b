// SPDX-License-Identifier: Apache-2.0
//! Scenarios in which nothing goes wrong.

use crate::{dice::Dice, plan::Plan, shape::Shape};

/// Shapes of small networks: shards, producers of each, chunk validators,
/// mandates of each shard. Each shape tolerates one byzantine voter, and the
/// committees of each do without one validator.
pub(super) const SHAPES: [Shape; 4] = [
    Shape::new(2, 2, 4, 16),
    Shape::new(2, 3, 3, 12),
    Shape::new(3, 2, 3, 12),
    Shape::new(4, 1, 5, 12),
];

pub(super) fn shape(dice: &mut Dice) -> Shape {
    let mut shape = dice.pick(&SHAPES);
    shape.lag = if dice.once_in(4) { 2 } else { 1 };
    shape
}

pub(super) fn calm(dice: &mut Dice) -> Plan {
    let mut plan = Plan::new(shape(dice));
    plan.load = u32::try_from(dice.between(5, 40)).unwrap_or(20);
    plan
}
