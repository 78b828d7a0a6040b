// SPDX-License-Identifier: Apache-2.0
//! Snapshots of the own shard: frozen, made durable and served once a
//! finalised header states them, and installed when they were fetched. The
//! payload of a stored one is
//!
//! ```text
//! block that states it (u64) ‖ totals
//! ```

use super::{Actor, Shard};
use crate::{
    error::ChainError,
    runtime::Runtime,
    state_sync::{Fetched, served::Served},
};
use bytes::BufMut;
use commonware_codec::{
    Buf, Decode as _, Encode as _, Error, FixedSize, Read, ReadExt as _, Write,
};
use shardnode_primitives::{Block, ChunkContent, ShardId, ShardTotals};
use shardnode_state::{Pages, StateTree};
use shardnode_storage::{Engine, Snapshot};
use std::sync::Arc;
use tracing::info;

/// A state that no header states yet.
pub(super) struct Frozen {
    totals: ShardTotals,
    pages: Pages,
}

/// What is stored with the accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The block whose header states the totals.
    pub block: u64,
    /// The state's height and root are in them.
    pub totals: ShardTotals,
}

impl Write for Origin {
    fn write(&self, buf: &mut impl BufMut) {
        self.block.write(buf);
        self.totals.write(buf);
    }
}

impl FixedSize for Origin {
    const SIZE: usize = 8 + ShardTotals::SIZE;
}

impl Read for Origin {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            block: u64::read(buf)?,
            totals: ShardTotals::read(buf)?,
        })
    }
}

impl Origin {
    /// Of a snapshot that was read back.
    pub(super) fn of(shard: ShardId, snapshot: &Snapshot) -> Result<Self, ChainError> {
        let height = snapshot.height;
        Self::decode_cfg(snapshot.payload.clone(), &()).map_err(|source| ChainError::Record {
            shard,
            height,
            source,
        })
    }

    pub(super) fn served(&self, pages: Pages) -> Served {
        Served {
            height: self.totals.height,
            block: self.block,
            root: self.totals.state_root,
            pages,
        }
    }

    fn snapshot(&self, pages: &Pages) -> Snapshot {
        Snapshot {
            height: self.totals.height,
            leaves: Arc::clone(pages.leaves()),
            payload: self.encode(),
        }
    }
}

impl<S: Engine> Shard<S> {
    /// Freezes the state after the chunk that was executed last, if it is the
    /// turn of a snapshot or one still waits for a header to state it.
    pub(super) fn freeze(&mut self, chunk: &ChunkContent, interval: u64) {
        if chunk.sequence.is_multiple_of(interval) || !self.frozen.is_empty() {
            let frozen = Frozen {
                totals: self.totals.clone(),
                pages: self.state.pages(),
            };
            self.frozen.insert(chunk.height, frozen);
        }
    }

    /// The frozen state whose totals are these. Those before it will not be
    /// stated any more.
    fn thaw(&mut self, totals: &ShardTotals) -> Option<Frozen> {
        let frozen = self.frozen.remove(&totals.height)?;
        self.frozen = self.frozen.split_off(&totals.height);
        (frozen.totals == *totals).then_some(frozen)
    }
}

impl<E: Runtime, S: Engine + 'static> Actor<E, S> {
    /// Makes the snapshot durable that a finalised block states, and lets go
    /// of what is older than it by the retention.
    pub(super) async fn on_stated(&mut self, block: &Block) -> Result<(), ChainError> {
        let Some(shard) = self.shard.as_mut() else {
            return Ok(());
        };
        let stated = block.chunk(shard.id);
        let Some(frozen) = stated.and_then(|header| shard.thaw(&header.content.totals)) else {
            return Ok(());
        };
        let origin = Origin {
            block: block.height,
            totals: frozen.totals,
        };
        let below = origin.totals.height.saturating_sub(self.settings.retention);
        let storage = shard.take_storage()?;
        let storage = storage
            .snapshot(&origin.snapshot(&frozen.pages))
            .await
            .map_err(shard.storage_error())?
            .prune(below)
            .await
            .map_err(shard.storage_error())?;
        shard.storage = Some(storage);
        self.shelf.put(origin.served(frozen.pages));
        self.bodies.prune(below).await;
        Ok(())
    }

    /// Goes on from a state that was fetched, if it is ahead of the own.
    pub(super) async fn install(&mut self, fetched: Fetched) -> Result<(), ChainError> {
        let Fetched {
            block,
            totals,
            state,
        } = fetched;
        let Some(shard) = self.shard.as_mut() else {
            return Ok(());
        };
        let (before, height) = (shard.height, totals.height);
        if height <= before {
            return Ok(());
        }
        let pages = state.pages();
        let origin = Origin { block, totals };
        let storage = shard.take_storage()?;
        let storage = storage
            .install(&origin.snapshot(&pages))
            .await
            .map_err(shard.storage_error())?;
        shard.storage = Some(storage);
        shard.jump(origin.totals.clone(), state);
        let next_due = origin.totals.next_due;
        self.tracked.send_replace(Some(shard.progress()));
        info!(shard = %shard.id, before, height, root = %origin.totals.state_root, "state installed");
        self.shelf.put(origin.served(pages));
        self.metrics.snapshot_installed(height);
        self.due = self.due.split_off(&next_due.block);
        // What the front block needs may be another thing now, or nothing.
        self.gathering.cancel_all();
        self.gathers = false;
        Ok(())
    }
}

/// The state of a snapshot that was read back, and what is served of it.
pub(super) fn restore(
    shard: ShardId,
    snapshot: Snapshot,
) -> Result<(Origin, StateTree), ChainError> {
    let origin = Origin::of(shard, &snapshot)?;
    let height = snapshot.height;
    let leaves = Arc::unwrap_or_clone(snapshot.leaves);
    let state = StateTree::from_leaves(leaves).map_err(|source| ChainError::State {
        shard,
        height,
        source,
    })?;
    Ok((origin, state))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use shardnode_primitives::{Digest, DuePosition};

    #[test]
    fn origins_are_stored_as_specified() {
        let origin = Origin {
            block: 1_002,
            totals: ShardTotals {
                height: 1_001,
                state_root: Digest([7; 32]),
                transfers: 1,
                cross_shard: 2,
                credits: 3,
                balance: 4,
                sent: 5,
                received: 6,
                next_due: DuePosition {
                    block: 7,
                    source: ShardId(8),
                },
            },
        };
        let mut golden = vec![0, 0, 0, 0, 0, 0, 3, 0xea];
        golden.extend([0, 0, 0, 0, 0, 0, 3, 0xe9]);
        golden.extend([7; 32]);
        for number in 1..=7 {
            golden.extend(u64::to_be_bytes(number));
        }
        golden.extend([0, 8]);
        assert_eq!(origin.encode(), golden);
        let snapshot = Snapshot {
            height: 1_001,
            leaves: Arc::default(),
            payload: golden.clone().into(),
        };
        assert_eq!(Origin::of(ShardId(0), &snapshot).unwrap(), origin);
        golden.pop();
        let snapshot = Snapshot {
            payload: golden.into(),
            ..snapshot
        };
        assert!(Origin::of(ShardId(0), &snapshot).is_err());
    }
}
