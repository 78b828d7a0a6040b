// SPDX-License-Identifier: Apache-2.0
//! Whether this node's copy of its shard is enough for the shard's other
//! producers, should they lose all that they hold.
//!
//! Where the copy's records begin, and since when this node follows the chain,
//! decide what is not in it. See the [crate's documentation](crate#copies).

use shardnode_mailboxes::ledger::{CLOSE, Lack};
use shardnode_primitives::{Block, ShardId};

/// How far clocks may be apart: a producer votes for blocks that are so far
/// ahead of its own.
const CLOCKS_MS: u64 = 500;

/// When a block was processed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// The time.
    pub(crate) now_ms: u64,
    /// The finalised tip as far as this node has heard.
    pub(crate) tip: u64,
}

/// What is not in the own copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShardCopy {
    /// The block that states the snapshot after which the records begin; `None`
    /// if they begin at genesis.
    stated: Option<u64>,
    /// When this node had caught up with the chain, as far as it knew.
    caught_up_ms: Option<u64>,
    /// By shard, the last chunk in the first block that was made after that:
    /// from there on this node gets its parts of bodies as they are made.
    followed: Option<Vec<u64>>,
}

impl ShardCopy {
    /// The records begin after a snapshot that this block states.
    pub(crate) const fn begin_after(&mut self, block: u64) {
        self.stated = Some(block);
    }

    /// What is lacking after `block`, when it has just been processed. With
    /// `parts_durable` this node lost no part of a body in a restart.
    pub(crate) fn lacks(
        &mut self,
        own: ShardId,
        block: &Block,
        Seen { now_ms, tip }: Seen,
        parts_durable: bool,
    ) -> Vec<Lack> {
        let close = block.height.saturating_add(CLOSE) >= tip;
        if !close {
            (self.caught_up_ms, self.followed) = (None, None);
        } else if self.followed.is_none() {
            // The tip is what others told: one that has just started has heard
            // of little, and only the time of a block says that it is new.
            let caught_up_ms = *self.caught_up_ms.get_or_insert(now_ms);
            if block.timestamp_ms > caught_up_ms.saturating_add(CLOCKS_MS) {
                let chunks = block.chunks.iter();
                self.followed = Some(chunks.map(|header| header.content.height).collect());
            }
        }
        let others = block.chunks.iter().enumerate();
        let others = others.filter(|(_, header)| header.content.shard != own);
        let mut lacks = Vec::new();
        if self.followed.is_none() {
            lacks.push(Lack::Following);
        }
        for (index, header) in others {
            let (shard, totals) = (header.content.shard, &header.content.totals);
            if let Some(before) = self.stated.filter(|block| totals.next_due.block <= *block) {
                lacks.push(Lack::Credits { shard, before });
            }
            let followed = self.followed.as_ref().and_then(|chunks| chunks.get(index));
            if let Some(height) = followed.filter(|height| totals.height < **height)
                && !parts_durable
            {
                lacks.push(Lack::Commitment {
                    shard,
                    height: *height,
                });
            }
        }
        lacks
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use commonware_consensus::{
        simplex::types::Context,
        types::{Epoch, Round, View},
    };
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use shardnode_primitives::{ChunkHeader, DuePosition, Randomness, ShardTotals, hash::ZERO};

    const OWN: ShardId = ShardId(0);
    const OTHER: ShardId = ShardId(1);

    /// A block whose other shard has its last chunk at `chunk`, committed to
    /// `executed`, and credited what fell due before `due`.
    fn block(height: u64, chunk: u64, executed: u64, due: u64) -> Block {
        let key = PrivateKey::from_seed(0);
        let header = |shard, chunk, executed, due| {
            let mut header = ChunkHeader::genesis(shard, ShardTotals::genesis(ZERO, 0)).unwrap();
            header.content.height = chunk;
            header.content.totals.height = executed;
            header.content.totals.next_due = DuePosition::at(due);
            header
        };
        Block {
            context: Context {
                round: Round::new(Epoch::new(0), View::new(1)),
                leader: key.public_key(),
                parent: (View::new(0), ZERO),
            },
            height,
            timestamp_ms: 1_000 * height,
            randomness: Randomness::genesis(ZERO),
            chunks: vec![
                header(OWN, height, height - 1, height),
                header(OTHER, chunk, executed, due),
            ],
            endorsements: Vec::new(),
        }
    }

    #[test]
    fn a_copy_since_genesis_is_complete_once_the_chain_is_followed() {
        let mut copy = ShardCopy::default();
        let mut lacks = |height, chunk, executed, tip| {
            let seen = Seen {
                now_ms: 1_000 * 10,
                tip,
            };
            copy.lacks(OWN, &block(height, chunk, executed, chunk), seen, false)
        };
        let commitment = |height| Lack::Commitment {
            shard: OTHER,
            height,
        };
        assert_eq!(lacks(5, 5, 4, 10), [Lack::Following]);
        // Nearly there, or so it seems: what was final by now may have been
        // missed.
        for (height, tip) in [(6, 6), (7, 9), (8, 10), (9, 10), (10, 10)] {
            assert_eq!(lacks(height, height, height - 1, tip), [Lack::Following]);
        }
        assert_eq!(lacks(11, 11, 10, 11), [commitment(11)]);
        // A missed chunk commits to nothing.
        assert_eq!(lacks(12, 11, 10, 12), [commitment(11)]);
        assert_eq!(lacks(13, 13, 11, 13), []);
        // Who was behind again may have missed parts again.
        assert_eq!(lacks(14, 14, 13, 20), [Lack::Following]);
        assert_eq!(lacks(20, 20, 19, 20), [commitment(20)]);
        assert_eq!(lacks(21, 21, 20, 21), []);
    }

    #[test]
    fn parts_that_are_durable_were_not_lost() {
        let mut copy = ShardCopy::default();
        let mut lacks = |height| {
            let seen = Seen {
                now_ms: 9_000,
                tip: height,
            };
            copy.lacks(OWN, &block(height, height, 0, height), seen, true)
        };
        assert_eq!(lacks(9), [Lack::Following]);
        assert_eq!(lacks(10), []);
    }

    #[test]
    fn what_was_sent_before_the_records_begin_must_be_credited() {
        let mut copy = ShardCopy::default();
        copy.begin_after(8);
        let mut lacks = |height, due| {
            let seen = Seen {
                now_ms: 9_000,
                tip: height,
            };
            copy.lacks(OWN, &block(height, 9, 9, due), seen, false)
        };
        let credits = Lack::Credits {
            shard: OTHER,
            before: 8,
        };
        assert_eq!(lacks(9, 8), [Lack::Following, credits]);
        assert_eq!(lacks(10, 8), [credits]);
        assert_eq!(lacks(11, 9), []);
    }
}
