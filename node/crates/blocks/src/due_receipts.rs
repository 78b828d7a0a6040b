// SPDX-License-Identifier: Apache-2.0
//! The queue of receipts that fall due for a shard, from finalised blocks.

use shardnode_primitives::{
    Block, DuePosition, ShardId,
    genesis::{CongestionControl, Protocol},
    witness_size,
};
use shardnode_witness::Due;

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
