// SPDX-License-Identifier: Apache-2.0
//! Which shards nothing is sent to, because they are behind with what was
//! sent to them.
//!
//! The receipts that fall due for a shard form a queue: by the block whose
//! headers commit to them, then by source shard, then by the height that
//! emitted them. A chunk credits from its front, and
//! [`ShardTotals::next_due`](crate::ShardTotals) says where the next one goes
//! on. A shard that keeps up has credited all that fell due up to its newest
//! result, `executionLag` blocks ago. It falls behind by missing chunks, or
//! when more falls due than a chunk may credit.
//!
//! It is *congested* in the children of a block that shows it more than
//! [`MOST_BEHIND`] blocks behind: transfers to it fail there as congested, and
//! change nothing. Whoever executes or checks a chunk has the block before it,
//! so all come to the same. What is on its way to a shard is therefore bounded
//! by what the chunks of a few heights can send, however long the shard stands
//! still.

use crate::{
    Block, ShardId, ShardTotals,
    genesis::{CongestionControl, Protocol},
};
use std::collections::BTreeSet;

/// Blocks that a shard may be behind before nothing more is sent to it: one
/// chunk in five suffices to stay below.
pub const MOST_BEHIND: u64 = 4;

/// The blocks that a shard with these totals, in a block at `height`, is
/// behind one that keeps up.
#[must_use]
pub const fn blocks_behind(totals: &ShardTotals, height: u64, execution_lag: u8) -> u64 {
    height
        .saturating_add(1)
        .saturating_sub(totals.next_due.block)
        .saturating_sub(execution_lag as u64)
}

/// The shards that nothing may be sent to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Congestion(BTreeSet<ShardId>);

impl Congestion {
    /// These shards.
    #[must_use]
    pub fn of(shards: impl IntoIterator<Item = ShardId>) -> Self {
        Self(shards.into_iter().collect())
    }

    /// Those congested in the children of `block`.
    #[must_use]
    pub fn after(block: &Block, protocol: &Protocol) -> Self {
        if protocol.congestion_control == CongestionControl::Disabled {
            return Self::default();
        }
        let contents = block.chunks.iter().map(|header| &header.content);
        let behind = contents.filter(|content| {
            blocks_behind(&content.totals, block.height, protocol.execution_lag) > MOST_BEHIND
        });
        Self::of(behind.map(|content| content.shard))
    }

    /// Whether nothing may be sent to `shard`.
    #[must_use]
    pub fn contains(&self, shard: ShardId) -> bool {
        self.0.contains(&shard)
    }

    /// How many shards.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
