// SPDX-License-Identifier: Apache-2.0
//! The queue of receipts that fall due for a shard, from finalised blocks.

use shardnode_execution::Delivery;
use shardnode_primitives::{
    Block, DuePosition, ProvenBucket, ShardId,
    genesis::{CongestionControl, Protocol},
    witness_size,
};
use shardnode_witness::Due;
use std::sync::Arc;

/// The receipts for `destination` that headers in `block` are the first to
/// commit to, in the order in which they fall due.
pub fn due_in(block: &Block, destination: ShardId) -> impl Iterator<Item = Due> {
    let others = block.new_chunks();
    let others = others.filter(move |header| header.content.shard != destination);
    others.flat_map(move |header| {
        let source = header.content.shard;
        header.content.results.iter().map(move |result| Due {
            block: block.height,
            source,
            height: result.height,
            receipts_root: result.receipts_root,
        })
    })
}

/// Whether `due` comes at or after `place`.
#[must_use]
pub fn is_from(place: DuePosition, due: &Due) -> bool {
    let (block, source) = (due.block, due.source);
    DuePosition { block, source } >= place
}

/// More buckets than an execution can credit; no need to look further.
#[must_use]
pub fn more_than_credited(protocol: &Protocol, buckets: usize) -> bool {
    let lag = protocol.execution_lag;
    protocol.congestion_control == CongestionControl::Enabled
        && buckets as u64 > witness_size::most_buckets(lag) + u64::from(lag)
}

/// `due` by the header that committed to it.
pub fn by_header(due: &[Due]) -> impl Iterator<Item = &[Due]> {
    due.chunk_by(|one, next| (one.block, one.source) == (next.block, next.source))
}

/// What fell due with one header, as it came.
#[derive(Clone, Debug)]
pub struct Delivered {
    /// The receipts.
    pub delivery: Delivery,
    /// The same, with proofs.
    pub proven: Vec<Arc<ProvenBucket>>,
}

impl Delivered {
    /// The buckets for each of `due`, which are of one header.
    #[must_use]
    pub fn new(due: &[Due], proven: Vec<Arc<ProvenBucket>>) -> Option<Self> {
        let first = due.first()?;
        let delivery = Delivery {
            block: first.block,
            source: first.source,
            buckets: proven.iter().map(|one| one.bucket.clone()).collect(),
        };
        Some(Self { delivery, proven })
    }
}
