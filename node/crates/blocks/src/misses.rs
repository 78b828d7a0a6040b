// SPDX-License-Identifier: Apache-2.0
//! Why blocks have no new chunk of a shard. A block does not say it; the leader
//! that proposed it knows, so each node counts what its own finalised blocks lack,
//! and all nodes together what the chain does.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};
use shardnode_primitives::Block;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// Proposals that can still become final.
const PROPOSALS: usize = 64;

/// Why a block that was proposed has no new chunk of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Miss {
    /// No header came that fits on the parent: its producer made none, or late.
    NoHeader,
    /// Those who endorsed it were no quorum of its committee.
    NotEndorsed,
    /// The leader did not have what a vote for it takes.
    NotAtHand,
    /// It commits to results of the leader's shard that the leader does not have.
    OtherResults,
    /// Its header is against the rules.
    Invalid,
    /// Blocks with chunks had been proposed in vain.
    InVain,
}

impl Miss {
    const ALL: [Self; 6] = [
        Self::NoHeader,
        Self::NotEndorsed,
        Self::NotAtHand,
        Self::OtherResults,
        Self::Invalid,
        Self::InVain,
    ];

    const fn label(self) -> ReasonLabel {
        let reason = match self {
            Self::NoHeader => "no_header",
            Self::NotEndorsed => "not_endorsed",
            Self::NotAtHand => "not_at_hand",
            Self::OtherResults => "other_results",
            Self::Invalid => "invalid",
            Self::InVain => "in_vain",
        };
        ReasonLabel { reason }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

/// The misses of blocks that this node proposed.
#[derive(Debug, Default)]
pub(crate) struct Misses {
    /// Of those that are not final, by height and view.
    proposed: Mutex<BTreeMap<(u64, u64), Vec<Miss>>>,
    counted: Family<ReasonLabel, Counter>,
}

impl Misses {
    pub(crate) fn register(&self, registry: &mut Registry) {
        // What has not happened is 0, not unknown.
        for miss in Miss::ALL {
            drop(self.counted.get_or_create(&miss.label()));
        }
        registry.register(
            "proposed_missed_chunks",
            "Chunks left out of finalised blocks that this node proposed",
            self.counted.clone(),
        );
    }

    /// This node proposes `block`.
    pub(crate) fn proposed(&self, block: &Block, misses: Vec<Miss>) {
        let mut proposed = self.proposed.lock().unwrap_or_else(PoisonError::into_inner);
        proposed.insert((block.height, view(block)), misses);
        if proposed.len() > PROPOSALS {
            proposed.pop_first();
        }
    }

    /// `block` is final. Nothing counts of one that somebody else proposed.
    pub(crate) fn finalized(&self, block: &Block) {
        let mut proposed = self.proposed.lock().unwrap_or_else(PoisonError::into_inner);
        let misses = proposed.remove(&(block.height, view(block)));
        proposed.retain(|(height, _), _| *height > block.height);
        drop(proposed);
        for miss in misses.into_iter().flatten() {
            self.counted.get_or_create(&miss.label()).inc();
        }
    }
}

const fn view(block: &Block) -> u64 {
    block.context.round.view().get()
}
