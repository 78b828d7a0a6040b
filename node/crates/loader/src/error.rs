// SPDX-License-Identifier: Apache-2.0
//! Why a run has no result.

use crate::{
    client::RequestError, prepare::PrepareError, prepared::PreparedError, report::Unbalanced,
};
use shardnode_primitives::ShardId;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Requests cannot be made at all.
    #[error("requests cannot be made")]
    Client(#[source] reqwest::Error),
    /// A node does not answer.
    #[error(transparent)]
    Node(#[from] RequestError),
    /// A node is of another network.
    #[error(
        "{node}: is of the network with genesis hash {found}, the genesis document has {expected}"
    )]
    Genesis {
        /// The node's address.
        node: String,
        /// Its network.
        found: String,
        /// The network that was meant.
        expected: String,
    },
    /// Fewer connections than shards.
    #[error("connections: must be at least {shards}, one for each shard")]
    Connections {
        /// The network's shards.
        shards: u32,
    },
    /// Too many parts of accounts.
    #[error("part: with {connections} connections, there can be no {parts} parts of the accounts")]
    Parts {
        /// Connections.
        connections: u32,
        /// Parts.
        parts: u16,
    },
    /// More connections than users.
    #[error("users: must be at least {connections}, the number of connections")]
    Users {
        /// Connections.
        connections: u32,
    },
    /// The accounts cannot be divided among so many.
    #[error("connections: more than there are accounts for in shard {shard}")]
    Accounts {
        /// The shard.
        shard: ShardId,
        /// What is missing.
        #[source]
        source: PrepareError,
    },
    /// The workload cannot be drawn.
    #[error(transparent)]
    Workload(#[from] PrepareError),
    /// The file cannot be read to its end.
    #[error(transparent)]
    File(#[from] PreparedError),
    /// It was to begin in the past.
    #[error("start: {0} ms since 1970 is over: accounts, connections and files were not ready")]
    Late(u64),
    /// Times cannot be counted.
    #[error("times cannot be counted")]
    Times(#[from] hdrhistogram::CreationError),
    /// The counts are wrong.
    #[error(transparent)]
    Unbalanced(#[from] Unbalanced),
    /// A part of the loader ended.
    #[error("{0} ended")]
    Ended(&'static str),
}
