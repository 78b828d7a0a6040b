// SPDX-License-Identifier: Apache-2.0
//! What a validator knows from finalised blocks before it sees a witness.

use shardnode_coding::Code;
use shardnode_primitives::{
    ChunkHeader, Congestion, Digest, ShardId, ShardLayout, ShardTotals, genesis::Protocol,
};

/// What a witness must show.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The network's parameters.
    pub protocol: Protocol,
    /// How accounts are divided.
    pub layout: ShardLayout,
    /// How bodies are divided.
    pub code: Code,
    /// The header whose results and totals must come out.
    pub header: ChunkHeader,
    /// The totals of the shard's previous header, with the root that the first
    /// execution starts from.
    pub before: ShardTotals,
    /// What is executed for each of the header's results, in order.
    pub executions: Vec<Executable>,
    /// What is in the queue of the shard from the place in `before` on, up to
    /// the last execution; or at least as much of it as they can credit.
    pub due: Vec<Due>,
}

/// A chunk in a finalised block.
#[derive(Clone, Debug)]
pub struct Executable {
    /// Its header.
    pub header: ChunkHeader,
    /// What the block before says of the shards.
    pub congestion: Congestion,
}

/// Receipts of one execution that a header in a finalised block commits to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The block's height: when they fall due.
    pub block: u64,
    /// The shard that emitted them.
    pub source: ShardId,
    /// The height of the execution.
    pub height: u64,
    /// What they are proven under.
    pub receipts_root: Digest,
}
