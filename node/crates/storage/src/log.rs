// SPDX-License-Identifier: Apache-2.0
//! The `Log` engine: state in memory, an append-only journal of executions
//! made durable one by one, and periodic snapshots.
//!
//! # Partitions
//!
//! | partition | holds |
//! |---|---|
//! | `<prefix>-records` | one [`ExecutionRecord`] per position, heights increasing |
//! | `<prefix>-snapshots` | snapshots, each a run of pieces |
//! | `<prefix>-pointers` | which run is the newest snapshot, and which the one before |
//!
//! A snapshot's pieces are made durable before the pointer to it, so a crash
//! between the two leaves the pointer on the one before. The older of the two
//! snapshots and all records after it are always kept.

use crate::{Engine, ExecutionRecord, Recovered, Snapshot, StorageError, record::SnapshotPiece};
use bytes::BufMut;
use commonware_codec::{Buf, Error as CodecError, FixedSize, Read, ReadExt as _, Write};
use commonware_runtime::{Clock, Metrics, Storage, buffer::paged::CacheRef};
use commonware_storage::{
    journal::contiguous::{Contiguous as _, variable},
    metadata::{self, Metadata},
};
use commonware_utils::{NZU64, NZUsize, sequence::U64};
use std::num::{NonZeroU64, NonZeroUsize};

/// Records in one file. Fixed for the life of a partition.
const RECORDS_PER_SECTION: NonZeroU64 = NZU64!(256);
/// Pieces of snapshots in one file. Fixed for the life of a partition.
const PIECES_PER_SECTION: NonZeroU64 = NZU64!(16);
/// Leaves in one piece of a snapshot: 320 kB.
const LEAVES_PER_PIECE: usize = 4_096;
const BUFFER: NonZeroUsize = NZUsize!(1 << 20);

const NEWEST: U64 = U64::new(0);
const BEFORE: U64 = U64::new(1);

/// Where a snapshot's pieces are, and which records follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pointer {
    height: u64,
    first: u64,
    end: u64,
    next_record: u64,
}

impl Write for Pointer {
    fn write(&self, buf: &mut impl BufMut) {
        self.height.write(buf);
        self.first.write(buf);
        self.end.write(buf);
        self.next_record.write(buf);
    }
}

impl Read for Pointer {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, CodecError> {
        Ok(Self {
            height: u64::read(buf)?,
            first: u64::read(buf)?,
            end: u64::read(buf)?,
            next_record: u64::read(buf)?,
        })
    }
}

impl FixedSize for Pointer {
    const SIZE: usize = 4 * 8;
}

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
    partition: String,
    records: variable::Journal<E, ExecutionRecord>,
    pieces: variable::Journal<E, SnapshotPiece>,
    pointers: Metadata<E, U64, Pointer>,
}

fn journal_error(
    partition: &str,
) -> impl FnOnce(commonware_storage::journal::Error) -> StorageError + use<'_> {
    move |source| StorageError::Journal {
        partition: partition.to_owned(),
        source,
    }
}

fn metadata_error(partition: &str) -> impl FnOnce(metadata::Error) -> StorageError + use<'_> {
    move |source| StorageError::Metadata {
        partition: partition.to_owned(),
        source,
    }
}

fn journal_config(
    partition: String,
    items_per_section: NonZeroU64,
    page_cache: &CacheRef,
) -> variable::Config<()> {
    variable::Config {
        partition,
        items_per_section,
        compression: None,
        codec_config: (),
        page_cache: page_cache.clone(),
        write_buffer: BUFFER,
        replay_buffer: BUFFER,
    }
}

impl<E: Storage + Clock + Metrics> Log<E> {
    /// Opens the log and recovers what was acknowledged.
    pub async fn open(context: E, config: LogConfig) -> Result<(Self, Recovered), StorageError> {
        let LogConfig {
            partition,
            page_cache,
        } = config;
        let records = variable::Journal::init(
            context.child("records"),
            journal_config(
                format!("{partition}-records"),
                RECORDS_PER_SECTION,
                &page_cache,
            ),
        )
        .await
        .map_err(journal_error(&partition))?;
        let pieces = variable::Journal::init(
            context.child("snapshots"),
            journal_config(
                format!("{partition}-snapshots"),
                PIECES_PER_SECTION,
                &page_cache,
            ),
        )
        .await
        .map_err(journal_error(&partition))?;
        let pointers = Metadata::init(
            context.child("pointers"),
            metadata::Config {
                partition: format!("{partition}-pointers"),
                codec_config: (),
            },
        )
        .await
        .map_err(metadata_error(&partition))?;
        let log = Self {
            partition,
            records,
            pieces,
            pointers,
        };
        let recovered = log.recover().await?;
        Ok((log, recovered))
    }

    async fn recover(&self) -> Result<Recovered, StorageError> {
        let pointer = self.pointers.get(&NEWEST).copied();
        let snapshot = match pointer {
            Some(pointer) => Some(self.read_snapshot(pointer).await?),
            None => None,
        };
        let first = pointer.map_or(0, |pointer| pointer.next_record);
        let mut records = Vec::new();
        for position in first..self.records.bounds().end {
            records.push(self.read_record(position).await?);
        }
        Ok(Recovered { snapshot, records })
    }

    async fn read_record(&self, position: u64) -> Result<ExecutionRecord, StorageError> {
        self.records
            .read(position)
            .await
            .map_err(journal_error(&self.partition))
    }

    async fn read_snapshot(&self, pointer: Pointer) -> Result<Snapshot, StorageError> {
        let mut leaves = Vec::new();
        for position in pointer.first..pointer.end {
            let piece = self
                .pieces
                .read(position)
                .await
                .map_err(journal_error(&self.partition))?;
            match piece {
                SnapshotPiece::Leaves(piece) => leaves.extend(piece),
                SnapshotPiece::End(payload) if position + 1 == pointer.end => {
                    return Ok(Snapshot {
                        height: pointer.height,
                        leaves,
                        payload,
                    });
                }
                SnapshotPiece::End(_) => break,
            }
        }
        Err(StorageError::Snapshot {
            partition: self.partition.clone(),
            height: pointer.height,
        })
    }

    /// The first position whose record's height is at least `height`.
    async fn position_of(&self, height: u64) -> Result<u64, StorageError> {
        let bounds = self.records.bounds();
        let (mut low, mut high) = (bounds.start, bounds.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.read_record(middle).await?.height < height {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

impl<E: Storage + Clock + Metrics> Engine for Log<E> {
    async fn append(mut self, record: ExecutionRecord) -> Result<Self, StorageError> {
        let (records, _) = self
            .records
            .append(&record)
            .await
            .map_err(journal_error(&self.partition))?;
        self.records = records
            .commit()
            .await
            .map_err(journal_error(&self.partition))?;
        Ok(self)
    }

    async fn snapshot(mut self, snapshot: &Snapshot) -> Result<Self, StorageError> {
        let first = self.pieces.bounds().end;
        let mut pieces = self.pieces;
        let leaves = snapshot.leaves.chunks(LEAVES_PER_PIECE);
        let contents = leaves
            .map(|leaves| SnapshotPiece::Leaves(leaves.to_vec()))
            .chain([SnapshotPiece::End(snapshot.payload.clone())]);
        for piece in contents {
            pieces = pieces
                .append(&piece)
                .await
                .map_err(journal_error(&self.partition))?
                .0;
        }
        self.pieces = pieces
            .sync()
            .await
            .map_err(journal_error(&self.partition))?;
        self.records = self
            .records
            .sync()
            .await
            .map_err(journal_error(&self.partition))?;

        let before = self.pointers.get(&NEWEST).copied();
        if let Some(before) = before {
            self.pointers.put(BEFORE, before);
        }
        self.pointers.put(
            NEWEST,
            Pointer {
                height: snapshot.height,
                first,
                end: self.pieces.bounds().end,
                next_record: self.records.bounds().end,
            },
        );
        self.pointers = self
            .pointers
            .sync()
            .await
            .map_err(metadata_error(&self.partition))?;
        if let Some(before) = before {
            self.pieces = self
                .pieces
                .prune(before.first)
                .await
                .map_err(journal_error(&self.partition))?
                .0;
        }
        Ok(self)
    }

    async fn record(&self, height: u64) -> Result<Option<ExecutionRecord>, StorageError> {
        let position = self.position_of(height).await?;
        if position >= self.records.bounds().end {
            return Ok(None);
        }
        let record = self.read_record(position).await?;
        Ok((record.height == height).then_some(record))
    }

    async fn prune(mut self, height: u64) -> Result<Self, StorageError> {
        let Some(before) = self.pointers.get(&BEFORE).copied() else {
            return Ok(self);
        };
        let position = self.position_of(height).await?.min(before.next_record);
        self.records = self
            .records
            .prune(position)
            .await
            .map_err(journal_error(&self.partition))?
            .0;
        Ok(self)
    }
}
