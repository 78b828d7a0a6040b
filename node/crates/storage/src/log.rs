// SPDX-License-Identifier: Apache-2.0
//! The `Log` engine: state in memory, an append-only journal of executions
//! made durable one by one, and periodic snapshots.
//!
//! | partition | holds |
//! |---|---|
//! | `<prefix>-records` | one [`ExecutionRecord`] per position, heights increasing |
//! | `<prefix>-snapshots-0`, `-1` | a snapshot each, in pieces |
//! | `<prefix>-snapshots-pointers` | which of them are whole, and the records that follow |
//!
//! # Damage
//!
//! A record that was acknowledged and reads back otherwise is an error, at the
//! latest when it is read. The one exception is the newest record: damaged, it
//! looks like one that was being written when the node was killed, and is
//! gone.

use crate::{
    Engine, ExecutionRecord, Recovered, Snapshot, StorageError,
    error::journal_error,
    heights::{Heights, narrow_above, narrow_below},
    snapshots::{Snapshots, Start},
};
use commonware_runtime::{Clock, Metrics, Storage, buffer::paged::CacheRef};
use commonware_storage::journal::contiguous::{Contiguous as _, variable};
use commonware_utils::{NZU64, NZUsize};
use std::num::{NonZeroU64, NonZeroUsize};
use tracing::warn;

/// Records in one file. Fixed for the life of a partition.
const RECORDS_PER_SECTION: NonZeroU64 = NZU64!(256);
const BUFFER: NonZeroUsize = NZUsize!(1 << 20);

/// Where a [`Log`] is.
#[derive(Clone)]
pub struct LogConfig {
    /// Prefix of its partitions.
    pub partition: String,
    /// Pages shared with other stores.
    pub page_cache: CacheRef,
}

/// The engine; see the module.
pub struct Log<E: Storage + Clock + Metrics> {
    /// Of the records.
    partition: String,
    records: variable::Journal<E, ExecutionRecord>,
    heights: Heights,
    snapshots: Snapshots<E>,
}

impl<E: Storage + Clock + Metrics> Log<E> {
    /// Opens the log and recovers what was acknowledged.
    pub async fn open(context: E, config: LogConfig) -> Result<(Self, Recovered), StorageError> {
        let partition = format!("{}-records", config.partition);
        let records = variable::Journal::init(
            context.child("records"),
            variable::Config {
                partition: partition.clone(),
                items_per_section: RECORDS_PER_SECTION,
                compression: None,
                codec_config: (),
                page_cache: config.page_cache.clone(),
                write_buffer: BUFFER,
                replay_buffer: BUFFER,
            },
        )
        .await
        .map_err(journal_error(&partition))?;
        let (snapshots, start) = Snapshots::open(
            context.child("snapshots"),
            format!("{}-snapshots", config.partition),
            config.page_cache,
        )
        .await?;
        let log = Self {
            partition,
            records,
            heights: Heights::new(0, 0),
            snapshots,
        };
        log.recover(start).await
    }

    async fn recover(mut self, start: Option<Start>) -> Result<(Self, Recovered), StorageError> {
        let (snapshot, next) = match start {
            Some(start) => (Some(start.snapshot), start.next_record),
            None => (None, 0),
        };
        let held = self.records.bounds();
        if next < held.start || next > held.end {
            return Err(StorageError::Missing {
                partition: self.partition,
                held,
                needed: next,
            });
        }
        let height = snapshot.as_ref().map_or(0, |snapshot| snapshot.height);
        self.heights = Heights::new(next, height);
        let mut records = Vec::new();
        for position in next..held.end {
            let record = self.read(position).await?;
            self.follow(record.height)?;
            records.push(record);
        }
        Ok((self, Recovered { snapshot, records }))
    }

    /// Notes the height of the next record.
    fn follow(&mut self, height: u64) -> Result<(), StorageError> {
        let last = self.heights.last();
        if self.heights.push(height) {
            return Ok(());
        }
        Err(StorageError::Order {
            partition: self.partition.clone(),
            height,
            last,
        })
    }

    /// Makes all records durable.
    async fn sync(mut self) -> Result<Self, StorageError> {
        self.records = self
            .records
            .sync()
            .await
            .map_err(journal_error(&self.partition))?;
        Ok(self)
    }

    async fn read(&self, position: u64) -> Result<ExecutionRecord, StorageError> {
        self.records
            .read(position)
            .await
            .map_err(journal_error(&self.partition))
    }

    /// The position of the first record at or above `height`.
    async fn position_of(&mut self, height: u64) -> Result<u64, StorageError> {
        let mut range = self.heights.seek(height, self.records.bounds().start);
        // Without missed chunks, the least possible position is the one.
        let mut probe = *range.start();
        while range.start() < range.end() {
            let found = match self.heights.at(probe) {
                Some(found) => found,
                None => self.read(probe).await?.height,
            };
            self.heights.learn(probe, found);
            range = if found < height {
                narrow_above(range, probe, height - found)
            } else {
                narrow_below(range, probe, found - height)
            };
            probe = range.start() + (range.end() - range.start()) / 2;
        }
        Ok(*range.start())
    }
}

impl<E: Storage + Clock + Metrics> Engine for Log<E> {
    async fn append(mut self, record: ExecutionRecord) -> Result<Self, StorageError> {
        self.follow(record.height)?;
        let (records, _) = self
            .records
            .append(&record)
            .await
            .map_err(journal_error(&self.partition))?;
        // Also notes that all records before this one are durable, which is
        // what tells a damaged record from one that never was.
        let (records, durable) = records
            .start_sync()
            .await
            .map_err(journal_error(&self.partition))?;
        durable
            .await
            .map_err(|source| journal_error(&self.partition)(source.into()))?;
        self.records = records;
        Ok(self)
    }

    async fn snapshot(mut self, snapshot: &Snapshot) -> Result<Self, StorageError> {
        if self.record(snapshot.height).await?.is_none() {
            return Err(StorageError::NotRecorded {
                partition: self.partition,
                height: snapshot.height,
            });
        }
        self = self.sync().await?;
        let next_record = self.position_of(snapshot.height + 1).await?;
        self.snapshots = self.snapshots.write(snapshot, next_record).await?;
        Ok(self)
    }

    async fn install(mut self, snapshot: &Snapshot) -> Result<Self, StorageError> {
        let last = self.heights.last();
        if snapshot.height <= last {
            return Err(StorageError::Order {
                partition: self.partition,
                height: snapshot.height,
                last,
            });
        }
        self = self.sync().await?;
        let next_record = self.records.size();
        self.snapshots = self.snapshots.replace(snapshot, next_record).await?;
        self.heights = Heights::new(next_record, snapshot.height);
        Ok(self)
    }

    async fn record(&mut self, height: u64) -> Result<Option<ExecutionRecord>, StorageError> {
        let position = self.position_of(height).await?;
        let known = self.heights.at(position);
        if !self.records.bounds().contains(&position) || known.is_some_and(|at| at != height) {
            return Ok(None);
        }
        let record = self.read(position).await?;
        self.heights.learn(position, record.height);
        Ok((record.height == height).then_some(record))
    }

    async fn prune(mut self, height: u64) -> Result<Self, StorageError> {
        let needed = self.snapshots.first_needed_record();
        let position = match self.position_of(height).await {
            Ok(position) => position,
            // What the search reads only says where the heights are: less is
            // let go of, from where they can be at the least.
            Err(error) => {
                warn!(partition = self.partition, height, %error, "searched in vain");
                *self
                    .heights
                    .seek(height, self.records.bounds().start)
                    .start()
            }
        };
        let position = position.min(needed);
        (self.records, _) = self
            .records
            .prune(position)
            .await
            .map_err(journal_error(&self.partition))?;
        self.heights.forget_below(self.records.bounds().start);
        Ok(self)
    }
}
