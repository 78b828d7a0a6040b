// SPDX-License-Identifier: Apache-2.0
//! What can go wrong with a disk.

use commonware_runtime as runtime;
use commonware_storage::{archive, journal, metadata};
use std::ops::Range;

/// An operation on durable storage failed. The store it failed on is gone; a
/// restart recovers what was acknowledged.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The journal of executions or snapshots.
    #[error("journal {partition} failed")]
    Journal {
        /// Where it is.
        partition: String,
        /// What failed.
        #[source]
        source: journal::Error,
    },
    /// The pointers to the snapshots.
    #[error("metadata {partition} failed")]
    Metadata {
        /// Where it is.
        partition: String,
        /// What failed.
        #[source]
        source: metadata::Error,
    },
    /// The archive of chunk bodies.
    #[error("archive {partition} failed")]
    Archive {
        /// Where it is.
        partition: String,
        /// What failed.
        #[source]
        source: archive::Error,
    },
    /// A snapshot that was acknowledged is not whole.
    #[error("snapshot at height {height} in {partition} is damaged")]
    Snapshot {
        /// Where it is.
        partition: String,
        /// The height it claims.
        height: u64,
    },
    /// A snapshot follows records that are gone.
    #[error("{partition} holds records {held:?}, the snapshot goes on at {needed}")]
    Missing {
        /// Where the records are.
        partition: String,
        /// Positions that are there.
        held: Range<u64>,
        /// The position after the snapshot.
        needed: u64,
    },
    /// A record, or an installed snapshot, that is not above the one before.
    #[error("height {height} in {partition} comes after height {last}")]
    Order {
        /// Where it is.
        partition: String,
        /// Its height.
        height: u64,
        /// The height of the record before, or of the snapshot.
        last: u64,
    },
    /// A snapshot of a state that no record led to.
    #[error("snapshot at height {height}, at which {partition} holds no record")]
    NotRecorded {
        /// Where the records are.
        partition: String,
        /// The snapshot's height.
        height: u64,
    },
}

impl StorageError {
    /// Whether the disk works but holds something else than was written to it.
    pub(crate) const fn is_damage(&self) -> bool {
        let source = match self {
            Self::Journal {
                source:
                    journal::Error::Runtime(source)
                    | journal::Error::Metadata(metadata::Error::Runtime(source)),
                ..
            } => source,
            Self::Journal { .. } | Self::Snapshot { .. } => return true,
            _ => return false,
        };
        matches!(
            source,
            runtime::Error::InvalidChecksum
                | runtime::Error::BlobCorrupt(..)
                | runtime::Error::BlobInsufficientLength
        )
    }
}

pub(crate) fn journal_error(
    partition: &str,
) -> impl FnOnce(journal::Error) -> StorageError + use<'_> {
    move |source| StorageError::Journal {
        partition: partition.to_owned(),
        source,
    }
}

pub(crate) fn metadata_error(
    partition: &str,
) -> impl FnOnce(metadata::Error) -> StorageError + use<'_> {
    move |source| StorageError::Metadata {
        partition: partition.to_owned(),
        source,
    }
}

pub(crate) fn archive_error(
    partition: &str,
) -> impl FnOnce(archive::Error) -> StorageError + use<'_> {
    move |source| StorageError::Archive {
        partition: partition.to_owned(),
        source,
    }
}
