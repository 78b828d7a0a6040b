// SPDX-License-Identifier: Apache-2.0
//! The two newest snapshots of a shard's state that come from elsewhere, without
//! executions between them.
//!
//! | partition | holds |
//! |---|---|
//! | `<prefix>-0`, `-1` | a snapshot each, in pieces |
//! | `<prefix>-pointers` | which of them are whole |
//!
//! They are as in the `Log` engine, and no record follows them.

use crate::{
    Snapshot, StorageError,
    snapshots::{Snapshots, Start},
};
use commonware_runtime::{Clock, Metrics, Storage, buffer::paged::CacheRef};

/// Where a [`SnapshotStore`] is.
#[derive(Clone)]
pub struct SnapshotStoreConfig {
    /// Prefix of its partitions.
    pub partition: String,
    /// Pages shared with other stores.
    pub page_cache: CacheRef,
}

/// The snapshots; see the module.
pub struct SnapshotStore<E: Storage + Clock + Metrics> {
    partition: String,
    /// The height of the newest one.
    last: u64,
    snapshots: Snapshots<E>,
}

impl<E: Storage + Clock + Metrics> SnapshotStore<E> {
    /// Opens the store, with the newest snapshot in it that is whole.
    pub async fn open(
        context: E,
        config: SnapshotStoreConfig,
    ) -> Result<(Self, Option<Snapshot>), StorageError> {
        let SnapshotStoreConfig {
            partition,
            page_cache,
        } = config;
        let (snapshots, start) = Snapshots::open(context, partition.clone(), page_cache).await?;
        let snapshot = start.map(|Start { snapshot, .. }| snapshot);
        let store = Self {
            partition,
            last: snapshot.as_ref().map_or(0, |newest| newest.height),
            snapshots,
        };
        Ok((store, snapshot))
    }

    /// Keeps another snapshot, at a greater height than those before. It is
    /// durable when this returns; until then the one before counts.
    pub async fn keep(mut self, snapshot: &Snapshot) -> Result<Self, StorageError> {
        let (height, last) = (snapshot.height, self.last);
        if height <= last {
            return Err(StorageError::Order {
                partition: self.partition,
                height,
                last,
            });
        }
        self.snapshots = self.snapshots.write(snapshot, 0).await?;
        self.last = height;
        Ok(self)
    }
}
