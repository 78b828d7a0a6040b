// SPDX-License-Identifier: Apache-2.0
//! How the archived state of a shard stands to the shard.

use shardnode_primitives::ShardId;

/// What is archived of one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The shard.
    pub shard: ShardId,
    /// The executed height of the archived state; `None` without one.
    pub archived: Option<u64>,
    /// The executed height that the shard's newest final header states.
    pub stated: u64,
    /// Whether the shard could come back from it.
    pub usable: bool,
}

impl Standing {
    /// Of a shard, where bodies and receipts are kept for `retention` blocks.
    pub(crate) fn new(shard: ShardId, archived: Option<u64>, stated: u64, retention: u64) -> Self {
        let standing = Self {
            shard,
            archived,
            stated,
            usable: true,
        };
        Self {
            usable: standing.behind() <= retention,
            ..standing
        }
    }

    /// Heights from the archived state, or genesis, to what the shard's newest
    /// header states.
    #[must_use]
    pub fn behind(&self) -> u64 {
        self.stated
            .saturating_sub(self.archived.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_of_use_as_long_as_what_follows_is_kept() {
        let usable = |archived, stated| Standing::new(ShardId(0), archived, stated, 20).usable;
        assert!(usable(Some(100), 100));
        assert!(usable(Some(100), 120));
        assert!(!usable(Some(100), 121));
        // Every node has the state at height 0.
        assert!(usable(None, 20));
        assert!(!usable(None, 21));
        // Headers of an archive that catches up are behind what it kept.
        assert!(usable(Some(100), 7));
    }
}
