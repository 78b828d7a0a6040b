// SPDX-License-Identifier: Apache-2.0
//! Which receipts fall due with a block.

use shardnode_primitives::{Block, ShardId};
use shardnode_witness::Due;

/// The receipts for `destination` that headers in `block` are the first to
/// commit to.
pub fn due_in(block: &Block, destination: ShardId) -> impl Iterator<Item = Due> {
    let others = block.new_chunks();
    let others = others.filter(move |header| header.content.shard != destination);
    others.flat_map(|header| {
        let source = header.content.shard;
        header.content.results.iter().map(move |result| Due {
            source,
            height: result.height,
            receipts_root: result.receipts_root,
        })
    })
}
