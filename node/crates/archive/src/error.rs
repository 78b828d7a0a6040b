// SPDX-License-Identifier: Apache-2.0
//! Why an archive stops.

use shardnode_ledger::LedgerError;
use shardnode_primitives::{Digest, ShardId};
use shardnode_storage::StorageError;

/// A reason to stop: what is on the disk cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The disk failed or holds what this node did not write.
    #[error("store of the states of shard {shard} failed")]
    Storage {
        /// The shard.
        shard: ShardId,
        /// What failed.
        #[source]
        source: StorageError,
    },
    /// A snapshot that this version cannot read.
    #[error("archived snapshot is unreadable")]
    Snapshot(#[source] Box<LedgerError>),
    /// A snapshot that reads back as another state.
    #[error("archived state of shard {shard} at height {height} has root {got}, stored {want}")]
    Root {
        /// The shard.
        shard: ShardId,
        /// The executed height.
        height: u64,
        /// What was read back.
        got: Digest,
        /// What was stored.
        want: Digest,
    },
}

impl From<LedgerError> for ArchiveError {
    fn from(error: LedgerError) -> Self {
        Self::Snapshot(Box::new(error))
    }
}
