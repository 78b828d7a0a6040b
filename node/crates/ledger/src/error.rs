// SPDX-License-Identifier: Apache-2.0
//! Why the ledger stops.

use shardnode_execution::apply::ApplyError;
use shardnode_primitives::{Digest, ShardId};
use shardnode_state::StateError;
use shardnode_storage::StorageError;

/// A reason to stop: going on would lose or invent state.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The disk failed or holds what this node did not write.
    #[error("storage of shard {shard} failed")]
    Storage {
        /// The shard tracked.
        shard: ShardId,
        /// What failed.
        #[source]
        source: StorageError,
    },
    /// Recovered state is not what was committed to.
    #[error("state of shard {shard} recovered at height {height} has root {got}, recorded {want}")]
    RecoveredRoot {
        /// The shard tracked.
        shard: ShardId,
        /// The height of the record.
        height: u64,
        /// What was rebuilt.
        got: Digest,
        /// What the record says.
        want: Digest,
    },
    /// A record that this version cannot read.
    #[error("execution record of shard {shard} at height {height} is unreadable")]
    Record {
        /// The shard tracked.
        shard: ShardId,
        /// The height of the record.
        height: u64,
        /// What is wrong with it.
        #[source]
        source: commonware_codec::Error,
    },
    /// A finalised chunk cannot be executed.
    #[error("chunk of shard {shard} at height {height} cannot be executed")]
    Execution {
        /// The shard tracked.
        shard: ShardId,
        /// The chunk's height.
        height: u64,
        /// Why.
        #[source]
        source: ApplyError,
    },
    /// The accounts do not add up to the totals.
    #[error(
        "balances of shard {shard} at height {height} add up to {accounts}, its totals say {totals}"
    )]
    Balance {
        /// The shard tracked.
        shard: ShardId,
        /// The executed height.
        height: u64,
        /// What the accounts have.
        accounts: u64,
        /// What follows from the value that came and left.
        totals: u64,
    },
    /// Recovered state cannot be rebuilt.
    #[error("state of shard {shard} at height {height} cannot be rebuilt")]
    State {
        /// The shard tracked.
        shard: ShardId,
        /// The height of the record.
        height: u64,
        /// Why.
        #[source]
        source: StateError,
    },
    /// A finalised block commits to another result than this node's.
    #[error(
        "finalised block {block} commits shard {shard} at height {height} to root {committed}, \
         this node executed to {executed}"
    )]
    Diverged {
        /// The shard tracked.
        shard: ShardId,
        /// The executed height.
        height: u64,
        /// The block that commits to it.
        block: u64,
        /// What the block says.
        committed: Digest,
        /// What this node has.
        executed: Digest,
    },
    /// The state is one after a chunk that the chain does not have.
    #[error(
        "state of shard {shard} is that of its chunk at height {height}, \
         but its last chunk before the one of finalised block {block} is at height {before}"
    )]
    Discontinuous {
        /// The shard tracked.
        shard: ShardId,
        /// What was executed last.
        height: u64,
        /// The finalised block.
        block: u64,
        /// What must have been executed last.
        before: u64,
    },
    /// A block that must be in the archive is not.
    #[error("finalised block {height} is not in the archive")]
    MissingBlock {
        /// Its height.
        height: u64,
    },
    /// A part of the node ended without saying why.
    #[error("the {part} actor ended")]
    Ended {
        /// Which one.
        part: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::LedgerError;
    use shardnode_primitives::{Digest, ShardId};

    /// The node contract has these words: whoever runs nodes tells by them that states
    /// contradict each other.
    #[test]
    fn a_contradiction_is_told_in_the_words_of_the_contract() {
        let (committed, executed) = (Digest([1; 32]), Digest([2; 32]));
        let error = LedgerError::Diverged {
            shard: ShardId(3),
            height: 119,
            block: 120,
            committed,
            executed,
        };
        assert_eq!(
            error.to_string(),
            format!(
                "finalised block 120 commits shard 3 at height 119 to root {committed}, \
                 this node executed to {executed}"
            )
        );
    }
}
