// SPDX-License-Identifier: Apache-2.0
//! Executions that were acknowledged and are gone.
//!
//! The newest record of a damaged disk looks like one that was being written when
//! the node was killed, and storage drops it. But its block was acknowledged, so
//! nobody delivers it again. Finalised headers say which chunk of the shard came
//! before theirs, and if the state is that of an earlier one, the blocks between
//! them are processed again, from the archive, one after the other.

use super::Actor;
use crate::error::LedgerError;
use shardnode_mailboxes::Runtime;
use shardnode_primitives::{Block, ChunkHeader, ShardId};
use shardnode_storage::Engine;
use tracing::warn;

impl<E: Runtime, S: Engine + 'static> Actor<E, S> {
    /// Puts the last block that was acknowledged at the front: without another one,
    /// nothing would say what the state lacks.
    pub(super) async fn look_at_acknowledged(&mut self) {
        let Some(shard) = &self.shard else { return };
        let executed = shard.height;
        let processed = self.marshal.get_processed().await;
        let height = processed.map_or(0, |processed| processed.height().get());
        if height <= executed {
            return;
        }
        // Without it, the first block that comes says the same.
        if let Ok(block) = self.finalized_block(height).await {
            self.queue.push_front((block, None));
        }
    }

    /// Whether the state lacks the execution of a chunk that came before `block`.
    pub(super) fn is_lost_before(&self, block: &Block) -> Result<bool, LedgerError> {
        let Some(shard) = &self.shard else {
            return Ok(false);
        };
        let newest = block
            .chunk(shard.id)
            .filter(|_| block.height > shard.height);
        let Some(newest) = newest else {
            return Ok(false);
        };
        let before = if newest.content.height == block.height {
            newest.content.previous_height()
        } else {
            newest.content.height
        };
        if before < shard.height {
            return Err(LedgerError::Discontinuous {
                shard: shard.id,
                height: shard.height,
                block: block.height,
                before,
            });
        }
        Ok(before > shard.height)
    }

    /// Notes that the block at the front was acknowledged, and its chunk is executed
    /// again.
    pub(super) fn note_repeated(&self, chunk: &ChunkHeader) {
        if self.queue.front().is_some_and(|(_, ack)| ack.is_none()) {
            let (shard, height) = (chunk.content.shard, chunk.content.height);
            warn!(%shard, height, "acknowledged execution is gone: executed again");
            self.metrics.repeats();
        }
    }

    /// Puts the first block at the front whose own chunk is to be executed next, in
    /// front of the one at `height`. If the archive does not have it, only a later
    /// state helps.
    pub(super) async fn go_back(&mut self, height: u64) {
        let Some(shard) = &self.shard else { return };
        let (id, executed) = (shard.id, shard.height);
        for height in executed + 1..height {
            let block = self.finalized_block(height).await;
            let Ok(block) = block else { break };
            if own_new_chunk(block.inner(), id).is_some() {
                self.queue.push_front((block, None));
                return;
            }
        }
        warn!(shard = %id, executed, "acknowledged executions are gone, and their blocks");
        self.want_later_state(executed + 1);
        self.gathers = true;
    }
}

/// The chunk of the shard that is new in this block.
fn own_new_chunk(block: &Block, shard: ShardId) -> Option<&ChunkHeader> {
    block
        .new_chunks()
        .find(|header| header.content.shard == shard)
}
