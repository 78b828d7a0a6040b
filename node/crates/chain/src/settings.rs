// SPDX-License-Identifier: Apache-2.0
//! What a node is told, beside who it is.

use shardnode_execution::signatures::BatchSize;
use shardnode_production::pool::Capacity;
use std::num::NonZeroUsize;

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
    /// Blocks for which chunk bodies and outgoing receipts stay available.
    pub retention: u64,
    /// Whether parts of other shards' bodies are durable and kept as long as
    /// bodies.
    pub save_parts: bool,
    /// Threads for CPU work.
    pub cpu_threads: NonZeroUsize,
}
