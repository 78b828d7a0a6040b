// SPDX-License-Identifier: Apache-2.0
//! What a node is told, beside who it is.

use commonware_utils::NZU64;
use shardnode_execution::signatures::BatchSize;
use shardnode_production::pool::Capacity;
use std::num::{NonZeroU64, NonZeroUsize};

/// [`Settings::block_section`] of nodes on disks.
pub const BLOCK_SECTION: NonZeroU64 = NZU64!(1_024);

/// Settings of one node that other nodes need not share.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many signatures are verified together.
    pub signature_batch: BatchSize,
    /// What the pool holds.
    pub mempool: Capacity,
    /// Whether chunks get smaller while chunks are missed.
    pub adaptive_chunk_size: bool,
    /// Executed chunks between two snapshots of the state.
    pub snapshot_interval: u64,
    /// Blocks for which chunk bodies and outgoing receipts stay available, and
    /// that are [kept](shardnode_blocks::kept) at least.
    pub retention: u64,
    /// Blocks that are in one file, and let go of together. What was written with
    /// another number cannot be read.
    pub block_section: NonZeroU64,
    /// Whether parts of other shards' bodies are durable and kept as long as
    /// bodies.
    pub save_parts: bool,
    /// Threads for CPU work.
    pub cpu_threads: NonZeroUsize,
}
