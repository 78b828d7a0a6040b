// SPDX-License-Identifier: Apache-2.0
//! The configuration as it is written.

use serde::Deserialize;
use shardnode_rpc::{LogLevel, Role};
use std::{net::SocketAddr, path::PathBuf};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConfigDocument {
    pub(crate) network: String,
    pub(crate) node: String,
    pub(crate) region: String,
    pub(crate) role: Role,
    pub(crate) genesis_file: PathBuf,
    pub(crate) key_file: PathBuf,
    pub(crate) data_dir: PathBuf,
    #[serde(default = "default_worker_threads")]
    pub(crate) worker_threads: usize,
    pub(crate) p2p: P2pDocument,
    pub(crate) http: HttpDocument,
    pub(crate) admin: Option<AdminDocument>,
    #[serde(default)]
    pub(crate) storage: StorageDocument,
    #[serde(default)]
    pub(crate) features: Features,
    #[serde(default)]
    pub(crate) log: Log,
    pub(crate) tracing: Option<TracingDocument>,
    #[serde(default)]
    pub(crate) links: Vec<LinkDocument>,
}

const fn default_worker_threads() -> usize {
    2
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct P2pDocument {
    pub(crate) listen: SocketAddr,
    pub(crate) peers_file: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PeersDocument {
    pub(crate) peers: Vec<PeerDocument>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PeerDocument {
    pub(crate) name: String,
    pub(crate) public_key: String,
    pub(crate) address: String,
    pub(crate) region: Option<String>,
    #[serde(default)]
    pub(crate) archive: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HttpDocument {
    pub(crate) listen: SocketAddr,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AdminDocument {
    pub(crate) listen: SocketAddr,
    pub(crate) token_file: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TracingDocument {
    pub(crate) endpoint: String,
    #[serde(default = "default_sample_basis_points")]
    pub(crate) sample_basis_points: u16,
}

const fn default_sample_basis_points() -> u16 {
    100
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LinkDocument {
    pub(crate) region: String,
    pub(crate) delay_milliseconds: Option<u64>,
    pub(crate) loss_basis_points: Option<u16>,
    pub(crate) bandwidth_megabits_per_second: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct StorageDocument {
    pub(crate) engine: StorageEngine,
    pub(crate) snapshot_interval_blocks: u64,
    pub(crate) retention_blocks: u64,
}

impl Default for StorageDocument {
    fn default() -> Self {
        Self {
            engine: StorageEngine::Log,
            snapshot_interval_blocks: 1_000,
            retention_blocks: 20_000,
        }
    }
}

/// How state is kept.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) enum StorageEngine {
    /// In memory, with an append-only journal and snapshots.
    Log,
}

/// Named switches of the node's hot path.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Features {
    /// Transactions per signature batch; 0 for a whole chunk.
    pub signature_batch_size: usize,
    /// Transactions the pool holds.
    pub mempool_capacity: usize,
    /// The size of all transactions that the pool holds.
    pub mempool_mebibytes: usize,
    /// Whether chunks get smaller while chunks are missed.
    pub adaptive_chunk_size: Switch,
    /// Whether parts of the bodies of other shards' chunks are durable, and
    /// kept as long as bodies.
    pub save_untracked_chunk_parts: Switch,
}

/// Turns something on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Switch {
    /// On.
    Enabled,
    /// Off.
    Disabled,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            signature_batch_size: 0,
            mempool_capacity: 100_000,
            mempool_mebibytes: 64,
            adaptive_chunk_size: Switch::Enabled,
            save_untracked_chunk_parts: Switch::Disabled,
        }
    }
}

/// What is logged, and how.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Log {
    /// The least severe events that are logged.
    pub level: LogLevel,
    /// The form of a line.
    pub format: LogFormat,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            level: LogLevel::Info,
            format: LogFormat::Text,
        }
    }
}

/// The form of a line of the log.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}
