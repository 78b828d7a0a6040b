// SPDX-License-Identifier: Apache-2.0
//! What can go wrong with a disk.

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
        source: commonware_storage::journal::Error,
    },
    /// The pointers to the snapshots.
    #[error("metadata {partition} failed")]
    Metadata {
        /// Where it is.
        partition: String,
        /// What failed.
        #[source]
        source: commonware_storage::metadata::Error,
    },
    /// The archive of chunk bodies.
    #[error("archive {partition} failed")]
    Archive {
        /// Where it is.
        partition: String,
        /// What failed.
        #[source]
        source: commonware_storage::archive::Error,
    },
    /// A snapshot that was acknowledged is not whole.
    #[error("snapshot at height {height} in {partition} is damaged")]
    Snapshot {
        /// Where it is.
        partition: String,
        /// The height it claims.
        height: u64,
    },
}
