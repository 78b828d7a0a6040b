// SPDX-License-Identifier: Apache-2.0
//! What a validator knows from finalised blocks before it sees a witness.

use shardnode_coding::Code;
use shardnode_primitives::{ChunkHeader, Digest, ShardId, ShardLayout, ShardTotals};

/// What a witness must show.
#[derive(Clone, Debug)]
pub struct Expected {
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
}

/// A chunk in a finalised block, and what fell due for it.
#[derive(Clone, Debug)]
pub struct Executable {
    /// Its header.
    pub header: ChunkHeader,
    /// The receipts that it credits, by source shard and then height.
    pub due: Vec<Due>,
}

/// Receipts of one execution that a header in a finalised block commits to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The shard that emitted them.
    pub source: ShardId,
    /// The height of the execution.
    pub height: u64,
    /// What they are proven under.
    pub receipts_root: Digest,
}
