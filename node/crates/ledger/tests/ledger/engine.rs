// SPDX-License-Identifier: Apache-2.0
//! Storage in memory that counts what is read of it, and of which some is
//! damaged.

use commonware_utils::channel::watch;
use shardnode_storage::{Engine, ExecutionRecord, Snapshot, StorageError};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

/// What is read, and what cannot be.
#[derive(Clone)]
pub(crate) struct Reads {
    log: Arc<Mutex<(Vec<u64>, BTreeSet<u64>)>>,
    held: watch::Sender<bool>,
}

impl Default for Reads {
    fn default() -> Self {
        Self {
            log: Arc::default(),
            held: watch::channel(false).0,
        }
    }
}

impl Reads {
    /// Has reads not come to an end, or go on.
    pub(crate) fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    /// Makes the record at this height unreadable.
    pub(crate) fn damage(&self, height: u64) {
        self.log.lock().unwrap().1.insert(height);
    }

    /// The heights that were looked up since the last call.
    pub(crate) fn take(&self) -> Vec<u64> {
        std::mem::take(&mut self.log.lock().unwrap().0)
    }
}

/// The storage.
pub(crate) struct Memory {
    pub(crate) records: BTreeMap<u64, ExecutionRecord>,
    pub(crate) reads: Reads,
}

impl Engine for Memory {
    async fn append(mut self, record: ExecutionRecord) -> Result<Self, StorageError> {
        self.records.insert(record.height, record);
        Ok(self)
    }

    async fn snapshot(self, _: &Snapshot) -> Result<Self, StorageError> {
        Ok(self)
    }

    async fn install(self, _: &Snapshot) -> Result<Self, StorageError> {
        Ok(self)
    }

    async fn record(&mut self, height: u64) -> Result<Option<ExecutionRecord>, StorageError> {
        let mut held = self.reads.held.subscribe();
        held.wait_for(|held| !held).await.unwrap();
        let mut reads = self.reads.log.lock().unwrap();
        reads.0.push(height);
        if reads.1.contains(&height) {
            let partition = "records".into();
            return Err(StorageError::NotRecorded { partition, height });
        }
        Ok(self.records.get(&height).cloned())
    }

    async fn prune(self, _: u64) -> Result<Self, StorageError> {
        Ok(self)
    }
}
