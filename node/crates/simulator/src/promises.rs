// SPDX-License-Identifier: Apache-2.0
//! What a chain owes while its plan has things go wrong: how long it may take for a
//! block, and who may be to blame for a chunk that is missed.

use crate::{
    plan::{Fault, Lies, Plan},
    shape::{CHUNK_WAIT_MS, Shape},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// What is on the way.
const ON_THE_WAY: Duration = Duration::from_millis(500);

/// Nodes certify nothing for half a second after a start.
const START: Duration = Duration::from_millis(500);

/// Views in vain for what goes wrong with links, clocks, disks or nodes.
const DISTURBED: u32 = 2;

/// The longest that a chain takes for a block after so many views in vain: each
/// of these, and the one that is not, ends when voters give up on certifying it,
/// three seconds after the least time of a block and what leaders wait for chunks,
/// and half a second is on the way.
pub(crate) fn lull(shape: &Shape, in_vain: u32) -> Duration {
    let view = shape.min_block_time_ms + CHUNK_WAIT_MS + 3_000;
    Duration::from_millis(view) * (in_vain + 1) + ON_THE_WAY
}

impl Lies {
    /// Whether whoever tells them is listened to no more, and leads without the others'
    /// chunks.
    const fn costs_what_it_leads(&self) -> bool {
        matches!(
            self,
            Self::Bodies(_)
                | Self::Receipts
                | Self::Garbage(_)
                | Self::Replays(_)
                | Self::Flood(_, _, false)
        )
    }

    /// What each of its turns can cost others as well, if anything.
    const fn cost(&self) -> Option<Cost> {
        match self {
            Self::WithheldBodies | Self::Bodies(_) => Some(Cost::OneChunk),
            Self::WithheldParts(_)
            | Self::ParcelledParts(_)
            | Self::Receipts
            | Self::PartialReceipts(_)
            | Self::Garbage(_)
            | Self::Replays(_)
            | Self::Flood(..) => Some(Cost::OneOfEachShard),
            Self::Results(..)
            | Self::ForgedWitnesses
            | Self::WithheldWitnesses(_)
            | Self::CrowdedWitnesses
            | Self::FailingTransfers(_)
            | Self::Ignored
            | Self::Chunks
            | Self::Blocks
            | Self::Votes => None,
        }
    }
}

/// What each turn of a producer who lies can cost others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// A chunk of its shard: those who make the next one have to ask each other for the
    /// body first, which some may have no more from whoever is cut off.
    OneChunk,
    /// That, and a chunk of every other shard, which may lack receipts, as where a flood leaves
    /// them no room, or has no leader that can propose it beside the chunk of this turn: after
    /// two proposals in vain, leaders propose no chunks.
    OneOfEachShard,
}

/// Who may be to blame for missed chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blamed {
    /// At whose turns, and under whose committees, a chunk may be missed.
    pub members: BTreeSet<usize>,
    /// Who may miss any chunk in the blocks that it leads, and cost those after them theirs.
    pub leaders: BTreeSet<usize>,
    /// Whose turns can cost others chunks as well.
    pub costs: BTreeMap<usize, Cost>,
}

impl Plan {
    /// Whether links and clocks are right, and nodes stay as they are but for the dead
    /// and for those that are cut off until the end.
    fn is_steady(&self) -> bool {
        let lasts = |fault: &Fault| match fault {
            Fault::Kill(node) => self.dead.contains(node),
            Fault::Partition(_) => true,
            _ => false,
        };
        self.lost_per_mille == 0
            && self.jitter.is_zero()
            && self.clocks.is_empty()
            && self.replaced.is_empty()
            && self.faults.iter().all(|(_, fault)| lasts(fault))
    }

    /// The longest time without a finalised block, before all is calm, and while no fault
    /// begins or ends: what the plan says, or what its voters can cost that lie, and all
    /// else that goes wrong.
    #[must_use]
    pub fn longest_lull(&self) -> Duration {
        if let Some(lull) = self.lull {
            return lull;
        }
        let (to_blame, others) = match self.blamed() {
            Some(blamed) => (blamed.members, 0),
            None => (self.byzantine(), DISTURBED),
        };
        if to_blame.is_empty() && others == 0 {
            // Leaders who wait for chunks in vain have a block all the same.
            let view = self.shape.min_block_time_ms + CHUNK_WAIT_MS;
            return Duration::from_millis(view) + ON_THE_WAY + START;
        }
        let voters = to_blame.iter().filter(|one| **one < self.shape.voters());
        let voters = u32::try_from(voters.count()).unwrap_or(u32::MAX);
        let mut lies = self.liars.values().flatten();
        let withheld = lies.any(|lies| matches!(lies, Lies::WithheldParts(_) | Lies::Garbage(_)));
        lull(&self.shape, voters + u32::from(withheld) + others)
    }

    /// Who may be to blame for a chunk that is missed before all is calm: the dead, those
    /// that lie, and those that are cut off. `None` where links, clocks or disks are.
    #[must_use]
    pub fn blamed(&self) -> Option<Blamed> {
        if !self.is_steady() {
            return None;
        }
        let cut_off = self.faults.iter().filter_map(|(_, fault)| match fault {
            Fault::Partition(side) => Some(side),
            _ => None,
        });
        let mut members = self.byzantine();
        members.extend(&self.dead);
        members.extend(cut_off.flatten());
        let lies_so = |(_, lies): &(&usize, &Vec<Lies>)| lies.iter().any(Lies::costs_what_it_leads);
        let leaders = self.liars.iter().filter(lies_so).map(|(liar, _)| *liar);
        let costs = self.liars.iter().filter_map(|(liar, lies)| {
            let most = lies.iter().filter_map(Lies::cost).max()?;
            Some((*liar, most))
        });
        Some(Blamed {
            members,
            leaders: leaders.collect(),
            costs: costs.collect(),
        })
    }
}
