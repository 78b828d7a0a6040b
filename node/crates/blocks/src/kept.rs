// SPDX-License-Identifier: Apache-2.0
//! Which finalised blocks a node keeps, and from which one a node goes on that
//! was away for longer.
//!
//! ```text
//!   let go          kept by every node
//! ────────────┬───┬──────────────┬──────────────────┬──────────► height
//!             │   │              │                  └ finalised tip
//!             │   └ needed       └ `reach` below it: states at or after this
//!             │                    block are enough to go on from
//!             └ a margin for certificates
//! ```
//!
//! What a node needs to go on from a state that a block states is in blocks
//! from [`oldest_needed`] on: whatever is executed next comes after the state,
//! and receipts that it has not credited fell due there. That place never goes
//! back from one block to the next.
//!
//! A node keeps what is needed from the block on that is [`Kept::reach`] and
//! [`SLACK`] below the last one that it processed. So nobody within `reach` of
//! the tip asks in vain. Who is further behind goes on from a *floor*: a block
//! with its certificate, chosen so that what is needed from the block on that is
//! [`Kept::approach`] below the tip comes after it. A producer's shard has had a
//! snapshot since then, or others of its producers are missed.
//!
//! Where there are archives, all of a shard's producers may be missed, and the
//! archived state is as old as bodies are kept for. So a producer goes on from
//! where that may be, and everybody's reach is longer by what it otherwise goes
//! back: that is the time it has for asking for so many blocks. Archives
//! themselves let go like everybody: what follows the states that they keep is
//! within reach.
//!
//! A shard that stands still needs the same blocks for as long as it does, and
//! all nodes keep them.

use shardnode_primitives::Block;

/// How far apart the blocks may be that two nodes have processed last, of those
/// that can still be told from ones that are away.
pub const SLACK: u64 = 64;

/// How many blocks, from a wanted one down, are looked at for one that has a
/// certificate of its own: a block can become final with a later one.
pub const CERTIFICATES: u64 = 8;

/// How long blocks are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    approach: u64,
    reach: u64,
}

impl Kept {
    /// By the blocks for which bodies are kept, and the chunks between two
    /// snapshots.
    #[must_use]
    pub const fn new(retention: u64, snapshot_interval: u64) -> Self {
        let approach = snapshot_interval.saturating_mul(2).saturating_add(SLACK);
        let reach = if retention > approach {
            retention
        } else {
            approach
        };
        Self { approach, reach }
    }

    /// The same in a network with archives, for a node that `tracks` a shard or
    /// does not.
    #[must_use]
    pub const fn with_archives(self, tracks: bool) -> Self {
        Self {
            approach: if tracks { self.reach } else { self.approach },
            reach: self.reach.saturating_add(self.approach),
        }
    }

    /// How far below the tip a block is from which on there is a snapshot of
    /// each shard that goes on, also where every other of its chunks is missed,
    /// or of the own shard in an archive.
    #[must_use]
    pub const fn approach(self) -> u64 {
        self.approach
    }

    /// How far below the tip a node may be and get all that it misses.
    #[must_use]
    pub const fn reach(self) -> u64 {
        self.reach
    }

    /// Whether a node that has processed this height may ask in vain for the
    /// next one.
    #[must_use]
    pub const fn is_beyond_reach(self, processed: u64, tip: u64) -> bool {
        processed.saturating_add(self.reach()) < tip
    }

    /// The block that decides what is kept once this height is processed.
    #[must_use]
    pub const fn decisive(self, processed: u64) -> Option<u64> {
        processed.checked_sub(self.reach().saturating_add(SLACK))
    }
}

/// The height of the oldest block that is needed to go on from what `block`
/// states.
#[must_use]
pub fn oldest_needed(block: &Block) -> u64 {
    let needed = block.chunks.iter().map(|header| {
        let totals = &header.content.totals;
        totals.height.min(totals.next_due.block)
    });
    needed.min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use commonware_consensus::{
        simplex::types::Context,
        types::{Epoch, Round, View},
    };
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use shardnode_primitives::{
        ChunkHeader, DuePosition, Randomness, ShardId, ShardTotals, hash::ZERO,
    };

    /// A block whose shards executed up to, and credited what fell due before,
    /// these heights.
    fn block(shards: &[(u64, u64)]) -> Block {
        let header = |(shard, (executed, due)): (usize, &(u64, u64))| {
            let shard = ShardId(u16::try_from(shard).unwrap());
            let mut header = ChunkHeader::genesis(shard, ShardTotals::genesis(ZERO, 0)).unwrap();
            header.content.totals.height = *executed;
            header.content.totals.next_due = DuePosition::at(*due);
            header
        };
        Block {
            context: Context {
                round: Round::new(Epoch::new(0), View::new(1)),
                leader: PrivateKey::from_seed(0).public_key(),
                parent: (View::new(0), ZERO),
            },
            height: 1_000,
            timestamp_ms: 0,
            randomness: Randomness::genesis(ZERO),
            chunks: shards.iter().enumerate().map(header).collect(),
            endorsements: Vec::new(),
        }
    }

    #[test]
    fn the_shard_that_is_furthest_behind_says_what_is_needed() {
        for (shards, needed) in [
            (vec![(999, 1_000), (999, 1_000)], 999),
            (vec![(999, 1_000), (998, 999)], 998),
            (vec![(999, 400), (998, 999)], 400),
            (vec![(999, 1_000), (12, 13)], 12),
            (vec![(999, 1_000), (0, 0)], 0),
        ] {
            assert_eq!(oldest_needed(&block(&shards)), needed, "{shards:?}");
        }
    }

    #[test]
    fn who_is_within_reach_finds_what_others_keep() {
        for (retention, interval, approach, reach) in [
            (20_000, 1_000, 2_064, 20_000),
            (2_000, 500, 1_064, 2_000),
            (5, 5, 74, 74),
        ] {
            let kept = Kept::new(retention, interval);
            assert_eq!((kept.approach(), kept.reach()), (approach, reach));
            assert!(!kept.is_beyond_reach(100, 100 + reach));
            assert!(kept.is_beyond_reach(100, 101 + reach));
            assert_eq!(kept.decisive(reach + SLACK - 1), None);
            assert_eq!(kept.decisive(reach + SLACK), Some(0));
            assert_eq!(kept.decisive(reach + SLACK + 7), Some(7));
        }
        let long = Kept::new(u64::MAX, u64::MAX).with_archives(true);
        assert!(!long.is_beyond_reach(1, u64::MAX));
        assert_eq!(Kept::new(u64::MAX / 2, 1).decisive(1), None);
    }

    #[test]
    fn a_producer_goes_back_to_where_an_archived_state_may_be() {
        for (retention, interval) in [(20_000, 1_000), (120, 5), (5, 5)] {
            let without = Kept::new(retention, interval);
            let producer = without.with_archives(true);
            let others = without.with_archives(false);
            assert!(producer.approach() >= retention);
            assert_eq!(others.approach(), without.approach());
            // All keep the same, and a producer has time to get there.
            assert_eq!(producer.reach(), others.reach());
            let time = producer.reach() - producer.approach();
            assert_eq!(time, without.approach());
        }
    }
}
