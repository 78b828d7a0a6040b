// SPDX-License-Identifier: Apache-2.0
//! Which snapshots are made, and which is gone on from.

use super::Actor;
use crate::{error::LedgerError, snapshots::Origin};
use shardnode_mailboxes::{Runtime, state_sync::Fetched};
use shardnode_primitives::Block;
use shardnode_storage::Engine;
use tracing::info;

impl<E: Runtime, S: Engine + 'static> Actor<E, S> {
    /// Makes the snapshot durable that a finalised block states, and lets go
    /// of what is older than it by the retention.
    pub(super) async fn on_stated(&mut self, block: &Block) -> Result<(), LedgerError> {
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
        let below = origin.totals.height.saturating_sub(self.retention);
        self.storage_back().await?;
        let Some(shard) = self.shard.as_mut() else {
            return Ok(());
        };
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
        shard.forget_credited(self.shelf.oldest().unwrap_or_default());
        shard.records.forget_below(below);
        self.bodies.prune(below).await;
        Ok(())
    }

    /// Goes on from a state that was fetched, if it is ahead of the own.
    pub(super) async fn install(&mut self, fetched: Fetched) -> Result<(), LedgerError> {
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
        self.storage_back().await?;
        let Some(shard) = self.shard.as_mut() else {
            return Ok(());
        };
        let storage = shard.take_storage()?;
        let storage = storage
            .install(&origin.snapshot(&pages))
            .await
            .map_err(shard.storage_error())?;
        shard.storage = Some(storage);
        shard.jump(&origin, state);
        let next_due = origin.totals.next_due;
        self.tracked.send_replace(Some(shard.progress()));
        info!(shard = %shard.id, before, height, root = %origin.totals.state_root, "state installed");
        self.shelf.put(origin.served(pages));
        self.metrics.snapshot_installed(height);
        if let Some(producer) = &self.producer {
            producer.installed(height).await;
        }
        self.due = self.due.split_off(&next_due.block);
        // What the front block needs may be another thing now, or nothing.
        self.gathering.cancel_all();
        self.gathers = false;
        Ok(())
    }
}
