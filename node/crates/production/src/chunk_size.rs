// SPDX-License-Identifier: Apache-2.0
//! How many transactions a producer puts into a chunk.
//!
//! At most `maxTransactionsPerChunk`. Fewer if the state witness would be
//! large: a producer leaves a quarter of what an execution should show to the
//! receipts that are credited in it (see
//! [`shardnode_execution::crediting`]). And fewer while chunks of the shard
//! are missed, because then they are more than the network can spread, check
//! and endorse in time:
//!
//! - a missed chunk halves the number, to no fewer than 256;
//! - a chunk that is in its block adds a thirty-second part of the most.
//!
//! A producer that is down misses every turn, and smaller chunks do not bring
//! it back: from the fifth turn in a row on its misses do not count.

use shardnode_primitives::{
    ChunkHeader,
    genesis::Protocol,
    witness_size::{self, Counts},
};

/// No fewer than this, unless chunks may not have as many.
const FLOOR: u32 = 256;
/// A chunk in its block adds the most divided by this.
const STEPS: u32 = 32;
/// Turns in a row after which a producer is down rather than late.
const LATE_TURNS: u32 = 4;

/// What keeps a chunk from having more transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// `maxTransactionsPerChunk`.
    Size,
    /// The state witness.
    Witness,
    /// Missed chunks.
    Misses,
}

impl LimitedBy {
    /// What it is counted as.
    #[must_use]
    pub const fn cause(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Witness => "witness",
            Self::Misses => "misses",
        }
    }
}

/// What the blocks so far say about the size of chunks.
#[derive(Clone, Debug)]
pub struct ChunkSizing {
    protocol: Protocol,
    adaptive: bool,
    /// The most that misses leave.
    ceiling: u32,
    /// By the turn of a producer, how often in a row it was missed.
    missed: Vec<u32>,
}

impl ChunkSizing {
    /// Of a shard with so many producers; unless `adaptive`, misses do not
    /// matter.
    #[must_use]
    pub fn new(protocol: Protocol, producers: usize, adaptive: bool) -> Self {
        Self {
            protocol,
            adaptive,
            ceiling: protocol.max_transactions_per_chunk,
            missed: vec![0; producers.max(1)],
        }
    }

    /// The shard's newest header in the finalised block at `height`.
    pub fn finalized(&mut self, newest: &ChunkHeader, height: u64) {
        let turn = (height % self.missed.len() as u64) as usize;
        let most = self.protocol.max_transactions_per_chunk;
        if newest.content.height == height {
            self.missed[turn] = 0;
            let step = (most / STEPS).max(1);
            self.ceiling = self.ceiling.saturating_add(step).min(most);
            return;
        }
        self.missed[turn] = self.missed[turn].saturating_add(1);
        if self.adaptive && self.missed[turn] <= LATE_TURNS {
            self.ceiling = (self.ceiling / 2).max(FLOOR.min(most));
        }
    }

    /// The most transactions of the next chunk, on a state of `leaves` leaves,
    /// and what keeps it from having more.
    #[must_use]
    pub fn limit(&self, leaves: u32) -> (u32, LimitedBy) {
        let most = self.protocol.max_transactions_per_chunk;
        let shown = most_shown(&self.protocol, leaves);
        let mut limit = (most, LimitedBy::Size);
        for other in [
            (shown, LimitedBy::Witness),
            (self.ceiling, LimitedBy::Misses),
        ] {
            if other.0 < limit.0 {
                limit = other;
            }
        }
        limit
    }
}

/// The most transactions that leave enough of a witness to receipts; at least
/// one.
fn most_shown(protocol: &Protocol, leaves: u32) -> u32 {
    let budget = witness_size::budget(protocol.execution_lag) / 8 * 3;
    let fits = |transactions: u32| {
        let shown = Counts {
            most_transactions: protocol.max_transactions_per_chunk,
            transactions,
            buckets: 0,
            receipts: 0,
            depth: witness_size::depth(leaves),
            removes_accounts: protocol.removes_accounts(),
        };
        shown.bytes() <= budget
    };
    let (mut fitting, mut more) = (1, protocol.max_transactions_per_chunk + 1);
    while more - fitting > 1 {
        let middle = fitting + (more - fitting) / 2;
        if fits(middle) {
            fitting = middle;
        } else {
            more = middle;
        }
    }
    fitting
}

#[cfg(test)]
mod tests {
    use super::*;
    use shardnode_primitives::{ShardId, ShardTotals, genesis::CongestionControl, hash::ZERO};

    const PROTOCOL: Protocol = Protocol {
        execution_lag: 1,
        min_block_time_ms: 250,
        chunk_wait_ms: 1_000,
        max_transactions_per_chunk: 30_000,
        mandates_per_shard: 8,
        epoch_length: 1_000,
        congestion_control: CongestionControl::Enabled,
        transfer_fee: 0,
        least_balance: 0,
    };

    fn newest(height: u64) -> ChunkHeader {
        let totals = ShardTotals::genesis(ZERO, 0);
        let mut header = ChunkHeader::genesis(ShardId(0), totals).unwrap();
        header.content.height = height;
        header
    }

    #[test]
    fn misses_halve_and_chunks_bring_back() {
        let mut sizing = ChunkSizing::new(PROTOCOL, 2, true);
        assert_eq!(sizing.limit(1 << 20), (30_000, LimitedBy::Size));
        sizing.finalized(&newest(1), 2);
        assert_eq!(sizing.limit(1 << 20), (15_000, LimitedBy::Misses));
        for height in 3..3 + 17 {
            sizing.finalized(&newest(height), height);
        }
        assert_eq!(sizing.limit(1 << 20), (30_000, LimitedBy::Size));
    }

    #[test]
    fn chunks_stay_large_enough_to_get_anywhere() {
        let mut sizing = ChunkSizing::new(PROTOCOL, 16, true);
        for height in 2..100 {
            sizing.finalized(&newest(1), height);
        }
        assert_eq!(sizing.limit(1 << 20), (FLOOR, LimitedBy::Misses));
        let small = Protocol {
            max_transactions_per_chunk: 10,
            ..PROTOCOL
        };
        let mut sizing = ChunkSizing::new(small, 1, true);
        sizing.finalized(&newest(1), 2);
        assert_eq!(sizing.limit(1 << 20), (10, LimitedBy::Size));
    }

    #[test]
    fn a_producer_that_is_down_does_not_keep_chunks_small() {
        let mut sizing = ChunkSizing::new(PROTOCOL, 2, true);
        for height in 1..100 {
            let made = height - height % 2;
            sizing.finalized(&newest(made), height);
        }
        assert_eq!(sizing.limit(1 << 20), (30_000, LimitedBy::Size));
    }

    #[test]
    fn misses_do_not_matter_unless_they_should() {
        let mut sizing = ChunkSizing::new(PROTOCOL, 2, false);
        sizing.finalized(&newest(1), 2);
        assert_eq!(sizing.limit(1 << 20), (30_000, LimitedBy::Size));
    }

    #[test]
    fn deep_trees_make_small_chunks() {
        let sizing = ChunkSizing::new(PROTOCOL, 2, true);
        let (few, by) = sizing.limit(u32::MAX);
        assert_eq!(by, LimitedBy::Witness);
        assert!((10_000..20_000).contains(&few), "{few}");
        assert_eq!(sizing.limit(1 << 23), (30_000, LimitedBy::Size));
        let removing = Protocol {
            max_transactions_per_chunk: 20_000,
            least_balance: 1,
            ..PROTOCOL
        };
        let sizing = ChunkSizing::new(removing, 2, true);
        assert_eq!(sizing.limit(1 << 20), (20_000, LimitedBy::Size));
        let (fewer, by) = sizing.limit(1 << 26);
        assert_eq!(by, LimitedBy::Witness);
        assert!((8_000..20_000).contains(&fewer), "{fewer}");
    }
}
