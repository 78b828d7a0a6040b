// SPDX-License-Identifier: Apache-2.0
//! Why a node stops.

use shardnode_archive::ArchiveError;
use shardnode_ledger::LedgerError;
use shardnode_primitives::ShardId;
use shardnode_production::ProducerError;
use shardnode_storage::StorageError;

/// A reason to stop: going on would lose or invent state.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// The disk failed or holds what this node did not write.
    #[error("storage of shard {shard} failed")]
    Storage {
        /// The shard tracked.
        shard: ShardId,
        /// What failed.
        #[source]
        source: StorageError,
    },
    /// The own shard cannot be executed any further.
    #[error(transparent)]
    Ledger(Box<LedgerError>),
    /// The record of produced chunks failed.
    #[error("chunk production failed")]
    Producer(#[source] ProducerError),
    /// The archive of finalised blocks failed.
    #[error("the archive of finalised blocks failed")]
    Archive(#[source] commonware_storage::archive::Error),
    /// The archive of states failed.
    #[error("the archive of states failed")]
    States(#[source] Box<ArchiveError>),
    /// A part of the node ended without saying why.
    #[error("the {part} actor ended")]
    Ended {
        /// Which one.
        part: &'static str,
    },
}

impl From<ArchiveError> for ChainError {
    fn from(error: ArchiveError) -> Self {
        Self::States(Box::new(error))
    }
}

impl From<LedgerError> for ChainError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(Box::new(error))
    }
}
