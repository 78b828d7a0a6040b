// SPDX-License-Identifier: Apache-2.0
//! What a tracker keeps on disk, and what an archive does.
//!
//! An [`Engine`] holds a shard's state: a record for each executed chunk, and
//! snapshots from which recovery starts. [`Log`] keeps both in append-only
//! journals. [`BodyStore`] holds chunk bodies, [`SnapshotStore`] the snapshots of
//! a shard that this node does not execute.
//!
//! Everything is generic over the runtime's storage, so the same code runs on
//! files and under simulated crashes. Methods that change a store take it by
//! value and give it back on success; after an error only reopening helps.

mod bodies;
mod error;
mod heights;
mod log;
mod record;
mod snapshot_store;
mod snapshots;

pub use bodies::{BodyStore, BodyStoreConfig};
pub use error::StorageError;
pub use log::{Log, LogConfig};
pub use record::{ExecutionRecord, Recovered, Snapshot, SnapshotPiece};
pub use snapshot_store::{SnapshotStore, SnapshotStoreConfig};
pub use snapshots::SnapshotPointer;

use std::future::Future;

/// Durable state of one shard.
pub trait Engine: Sized + Send + Sync {
    /// Adds the record of an execution, at a greater height than all before.
    /// It is durable when this returns.
    fn append(
        self,
        record: ExecutionRecord,
    ) -> impl Future<Output = Result<Self, StorageError>> + Send;

    /// Keeps the state after the record at the snapshot's height, so that
    /// recovery starts there. It is durable when this returns; until then the
    /// one before counts.
    fn snapshot(
        self,
        snapshot: &Snapshot,
    ) -> impl Future<Output = Result<Self, StorageError>> + Send;

    /// Keeps a state that does not follow from the records, at a greater
    /// height than all of them: recovery starts there and nowhere else, and
    /// the next record goes on from it. When this returns that is durable;
    /// until then nothing has changed.
    fn install(
        self,
        snapshot: &Snapshot,
    ) -> impl Future<Output = Result<Self, StorageError>> + Send;

    /// The record of the execution at `height`, if it is still kept. What is
    /// learned of other records on the way is remembered.
    fn record(
        &mut self,
        height: u64,
    ) -> impl Future<Output = Result<Option<ExecutionRecord>, StorageError>> + Send;

    /// Lets go of records below `height`, as far as recovery does not need
    /// them.
    fn prune(self, height: u64) -> impl Future<Output = Result<Self, StorageError>> + Send;
}
