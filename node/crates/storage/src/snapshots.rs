// SPDX-License-Identifier: Apache-2.0
//! The two newest snapshots of a state, in two slots that take turns.
//!
//! A snapshot is written to the slot that recovery would not start from, and
//! made durable before the pointer to it: whenever a crash comes, one slot is
//! whole. If the newest turns out to be damaged, recovery says so and starts
//! from the other, unless the newest was installed: then nothing leads from the
//! other to the records that follow.
//!
//! ```text
//! pointer = height (8) ‖ number of pieces (8) ‖ position of the first record after it (8)
//! ```

use crate::{
    Snapshot, StorageError,
    error::{journal_error, metadata_error},
    record::SnapshotPiece,
};
use bytes::BufMut;
use commonware_codec::{Buf, Error as CodecError, FixedSize, Read, ReadExt as _, Write};
use commonware_runtime::{Clock, Metrics, Storage, buffer::paged::CacheRef};
use commonware_storage::{
    journal::contiguous::{Contiguous as _, variable},
    metadata::{self, Metadata},
};
use commonware_utils::{NZU64, NZUsize, sequence::U64};
use std::{
    num::{NonZeroU64, NonZeroUsize},
    sync::Arc,
};
use tracing::warn;

/// Leaves in one piece of a snapshot: 320 kB.
const LEAVES_PER_PIECE: usize = 4_096;
/// Pieces in one file. Fixed for the life of a partition.
const PIECES_PER_SECTION: NonZeroU64 = NZU64!(64);
const BUFFER: NonZeroUsize = NZUsize!(1 << 20);
const SLOTS: [u64; 2] = [0, 1];

/// Says that a slot holds a whole snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotPointer {
    /// The height of the state.
    pub height: u64,
    /// How many pieces the slot holds, the one that ends it included.
    pub pieces: u64,
    /// Position of the first record after it.
    pub next_record: u64,
}

impl Write for SnapshotPointer {
    fn write(&self, buf: &mut impl BufMut) {
        self.height.write(buf);
        self.pieces.write(buf);
        self.next_record.write(buf);
    }
}

impl Read for SnapshotPointer {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, CodecError> {
        Ok(Self {
            height: u64::read(buf)?,
            pieces: u64::read(buf)?,
            next_record: u64::read(buf)?,
        })
    }
}

impl FixedSize for SnapshotPointer {
    const SIZE: usize = 3 * 8;
}

/// The snapshots of one log.
pub(crate) struct Snapshots<E: Storage + Clock + Metrics> {
    context: E,
    partition: String,
    page_cache: CacheRef,
    pointers: Metadata<E, U64, SnapshotPointer>,
    /// The slot that recovery would start from.
    current: Option<u64>,
}

/// Where recovery starts.
pub(crate) struct Start {
    pub(crate) snapshot: Snapshot,
    /// Position of the first record after it.
    pub(crate) next_record: u64,
}

impl<E: Storage + Clock + Metrics> Snapshots<E> {
    pub(crate) async fn open(
        context: E,
        partition: String,
        page_cache: CacheRef,
    ) -> Result<(Self, Option<Start>), StorageError> {
        let pointers_partition = format!("{partition}-pointers");
        let pointers = Metadata::init(
            context.child("pointers"),
            metadata::Config {
                partition: pointers_partition.clone(),
                codec_config: (),
            },
        )
        .await
        .map_err(metadata_error(&pointers_partition))?;
        let mut snapshots = Self {
            context,
            partition,
            page_cache,
            pointers,
            current: None,
        };
        let start = snapshots.recover().await?;
        Ok((snapshots, start))
    }

    async fn recover(&mut self) -> Result<Option<Start>, StorageError> {
        let mut slots: Vec<(u64, SnapshotPointer)> = SLOTS
            .into_iter()
            .filter_map(|slot| Some((slot, *self.pointers.get(&U64::new(slot))?)))
            .collect();
        slots.sort_by_key(|(_, pointer)| pointer.height);
        let mut damage = None;
        while let Some((slot, pointer)) = slots.pop() {
            match self.read(slot, pointer).await {
                Ok(snapshot) => {
                    self.current = Some(slot);
                    return Ok(Some(Start {
                        snapshot,
                        next_record: pointer.next_record,
                    }));
                }
                Err(error) if !error.is_damage() => return Err(error),
                Err(error) => {
                    warn!(
                        partition = self.partition,
                        height = pointer.height,
                        error = &error as &dyn std::error::Error,
                        "snapshot is damaged"
                    );
                    damage.get_or_insert(error);
                }
            }
        }
        damage.map_or(Ok(None), Err)
    }

    fn slot_config(&self, slot: u64) -> variable::Config<()> {
        variable::Config {
            partition: format!("{}-{slot}", self.partition),
            items_per_section: PIECES_PER_SECTION,
            compression: None,
            codec_config: (),
            page_cache: self.page_cache.clone(),
            write_buffer: BUFFER,
            replay_buffer: BUFFER,
        }
    }

    async fn read(&self, slot: u64, pointer: SnapshotPointer) -> Result<Snapshot, StorageError> {
        let config = self.slot_config(slot);
        let partition = config.partition.clone();
        let pieces =
            variable::Journal::<E, SnapshotPiece>::init(self.context.child("slot"), config)
                .await
                .map_err(journal_error(&partition))?;
        let mut leaves = Vec::new();
        if pieces.bounds() == (0..pointer.pieces) {
            for position in pieces.bounds() {
                let piece = pieces.read(position).await;
                match piece.map_err(journal_error(&partition))? {
                    SnapshotPiece::Leaves(piece) => leaves.extend(piece),
                    SnapshotPiece::End(payload) => {
                        return Ok(Snapshot {
                            height: pointer.height,
                            leaves: Arc::new(leaves),
                            payload,
                        });
                    }
                }
            }
        }
        Err(StorageError::Snapshot {
            partition,
            height: pointer.height,
        })
    }

    /// Writes a snapshot that the record at `next_record` will follow. What
    /// the snapshot builds on must be durable.
    pub(crate) async fn write(
        self,
        snapshot: &Snapshot,
        next_record: u64,
    ) -> Result<Self, StorageError> {
        let slot = self.next_slot();
        let pointer = self.fill(slot, snapshot, next_record).await?;
        self.point(slot, pointer).await
    }

    /// Like [`Self::write`], and lets go of the other snapshot with the same
    /// change of the pointers.
    pub(crate) async fn replace(
        mut self,
        snapshot: &Snapshot,
        next_record: u64,
    ) -> Result<Self, StorageError> {
        let slot = self.next_slot();
        let pointer = self.fill(slot, snapshot, next_record).await?;
        self.pointers.remove(&U64::new(1 - slot));
        self.point(slot, pointer).await
    }

    /// The slot that recovery would not start from.
    fn next_slot(&self) -> u64 {
        self.current.map_or(0, |current| 1 - current)
    }

    /// Makes a snapshot durable in a slot.
    async fn fill(
        &self,
        slot: u64,
        snapshot: &Snapshot,
        next_record: u64,
    ) -> Result<SnapshotPointer, StorageError> {
        let config = self.slot_config(slot);
        let partition = config.partition.clone();
        let mut pieces = variable::Journal::init_at_size(self.context.child("slot"), config, 0)
            .await
            .map_err(journal_error(&partition))?;
        let contents = snapshot
            .leaves
            .chunks(LEAVES_PER_PIECE)
            .map(|leaves| SnapshotPiece::Leaves(leaves.to_vec()))
            .chain([SnapshotPiece::End(snapshot.payload.clone())]);
        for piece in contents {
            (pieces, _) = pieces
                .append(&piece)
                .await
                .map_err(journal_error(&partition))?;
        }
        let pieces = pieces.sync().await.map_err(journal_error(&partition))?;
        Ok(SnapshotPointer {
            height: snapshot.height,
            pieces: pieces.size(),
            next_record,
        })
    }

    async fn point(mut self, slot: u64, pointer: SnapshotPointer) -> Result<Self, StorageError> {
        self.pointers = self
            .pointers
            .put_sync(U64::new(slot), pointer)
            .await
            .map_err(metadata_error(&format!("{}-pointers", self.partition)))?;
        self.current = Some(slot);
        Ok(self)
    }

    /// The first record that recovery can need, whichever slot it starts from.
    pub(crate) fn first_needed_record(&self) -> u64 {
        SLOTS
            .into_iter()
            .map(|slot| self.pointers.get(&U64::new(slot)))
            .map(|pointer| pointer.map_or(0, |pointer| pointer.next_record))
            .min()
            .unwrap_or(0)
    }
}
