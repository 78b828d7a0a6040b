// SPDX-License-Identifier: Apache-2.0
//! Two kinds of trouble at the same time.

use super::{
    disturbed::{down, lossy, parted, skew, slow},
    lying::any,
    quiet::shape,
};
use crate::{
    dice::Dice,
    plan::{Fault, Plan},
};
use std::time::Duration;

/// One kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    Loss,
    Partitions,
    Kills,
    StopsAtDisk,
    SlowDisks,
    WrongClocks,
    Liar,
}

impl Trouble {
    const ALL: [Self; 7] = [
        Self::Loss,
        Self::Partitions,
        Self::Kills,
        Self::StopsAtDisk,
        Self::SlowDisks,
        Self::WrongClocks,
        Self::Liar,
    ];

    fn befall(self, dice: &mut Dice, plan: &mut Plan) {
        match self {
            Self::Loss => lossy(dice, plan),
            Self::Partitions => parted(dice, plan),
            Self::Kills => down(dice, plan, |_, node| Fault::Kill(node)),
            Self::StopsAtDisk => down(dice, plan, |dice, node| {
                Fault::StopAtDisk(node, dice.between(0, 60))
            }),
            Self::SlowDisks => slow(dice, plan, 12),
            Self::WrongClocks => skew(dice, plan, 12, 300),
            Self::Liar => {
                let voters = plan.shape.voters();
                let liar = plan.liars.keys().next().copied();
                let liar = liar.unwrap_or_else(|| dice.index(voters));
                let lies = any(dice);
                plan.liars.entry(liar).or_default().extend(lies);
            }
        }
    }
}

/// Any two of them, a liar who lies in two ways among them.
pub(super) fn pairs(dice: &mut Dice) -> Plan {
    let mut plan = Plan::new(shape(dice));
    plan.calm_at = Duration::from_secs(6);
    plan.blocking = dice.once_in(2);
    let first = dice.index(Trouble::ALL.len());
    // Another one, or another lie.
    let apart = dice.between(1, Trouble::ALL.len() as u64 - 1);
    let apart = usize::try_from(apart).unwrap_or(1);
    let second = match Trouble::ALL[first] {
        Trouble::Liar if dice.once_in(4) => first,
        _ => (first + apart) % Trouble::ALL.len(),
    };
    for trouble in [first, second] {
        Trouble::ALL[trouble].befall(dice, &mut plan);
    }
    plan.faults.sort_by_key(|(at, _)| *at);
    plan
}
