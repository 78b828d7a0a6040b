// SPDX-License-Identifier: Apache-2.0
//! What a node is told: its configuration and the files that it names.
//!
//! | module | does |
//! |---|---|
//! | `document` | the configuration as it is written |
//! | `files` | reads files; says which file and field is wrong |
//! | `link` | what is between this node's region and others |
//! | `moved` | a configuration for who takes the place of the node |
//! | `peer` | addresses and keys of other nodes |
//!
//! [`Config::load`] joins them and checks one against the other.

mod document;
mod error;
mod files;
mod link;
mod moved;
mod peer;

pub use document::{Features, Log, LogFormat, Switch};
pub use error::ConfigError;
pub use peer::Peer;

use commonware_cryptography::{
    Signer as _,
    ed25519::{PrivateKey, PublicKey},
};
use document::{
    AdminDocument, ConfigDocument, HttpDocument, P2pDocument, StorageDocument, StorageEngine,
    TracingDocument,
};
use files::{ConfigFile, Paths};
use http::Uri;
use shardnode_links::Conditions;
use shardnode_primitives::Genesis;
use shardnode_rpc::{AdminToken, Role};
use shardnode_traces::BasisPoints;
use std::{
    collections::BTreeMap,
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
};

/// A configuration that was read and checked.
#[derive(Debug)]
pub struct Config {
    /// The network's name.
    pub network: String,
    /// This node's name.
    pub node: String,
    /// This node's region.
    pub region: String,
    /// What this node does.
    pub role: Role,
    /// What all nodes of the network agree on.
    pub genesis: Genesis,
    /// This node's identity.
    pub key: PrivateKey,
    /// Durable state.
    pub data_dir: PathBuf,
    /// Threads for network and CPU work; at least 1.
    pub worker_threads: usize,
    /// Where peers connect.
    pub p2p_listen: SocketAddr,
    /// Every other node of the network.
    pub peers: Vec<Peer>,
    /// The keys of the archives among all nodes, this one included.
    pub archives: Vec<PublicKey>,
    /// Where the HTTP API is served.
    pub http_listen: SocketAddr,
    /// Where and to whom the admin API is served; nowhere without.
    pub admin: Option<Admin>,
    /// How state is kept.
    pub storage: Storage,
    /// Switches of the node's hot path.
    pub features: Features,
    /// What is logged, and how.
    pub log: Log,
    /// Which heights are traced, and where their spans go; none without.
    pub tracing: Option<Tracing>,
    /// What is between this node's region and others, by their names.
    pub links: BTreeMap<String, Conditions>,
}

/// What is traced.
#[derive(Clone, Debug)]
pub struct Tracing {
    /// Where spans are sent: a URL of OTLP over HTTP, without `/v1/traces`.
    pub endpoint: String,
    /// How many heights are traced.
    pub sample: BasisPoints,
}

/// The admin API.
#[derive(Clone, Debug)]
pub struct Admin {
    /// Where it is served, over TLS.
    pub listen: SocketAddr,
    /// What opens it.
    pub token: AdminToken,
}

/// How the `Log` engine keeps state.
#[derive(Clone, Copy, Debug)]
pub struct Storage {
    /// Executed chunks between two snapshots of the state; at least 1.
    pub snapshot_interval_blocks: u64,
    /// Blocks for which bodies and receipts stay available; at least
    /// the snapshot interval.
    pub retention_blocks: u64,
}

impl Config {
    /// Reads the configuration and every file that it names.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Self::load_with(path, |path| fs::read_to_string(path))
    }

    /// The text of the configuration at `path` with another data directory. It can be
    /// kept anywhere: relative paths have become absolute ones.
    pub fn moved(path: &Path, data_dir: &Path) -> io::Result<String> {
        let text = fs::read_to_string(path)?;
        let document = ConfigFile::new(path, &|_: &Path| Ok(text.clone())).document();
        let document = document.map_err(io::Error::other)?;
        moved::moved(&text, &Paths::of(path, &document), data_dir)
    }

    /// The configuration at `path`, where `read_text` gives the text of every
    /// file.
    pub fn load_with(
        path: &Path,
        read_text: impl Fn(&Path) -> io::Result<String>,
    ) -> Result<Self, ConfigError> {
        let file = ConfigFile::new(path, &read_text);
        let document = file.document()?;
        let paths = Paths::of(path, &document);
        let genesis = files::genesis(file, &paths.genesis)?;
        let key = files::key(file, &paths.key)?;
        let own = key.public_key();
        let peers = files::peers(file, &paths.peers)?;
        let admin_token = paths
            .admin_token
            .map(|path| files::admin_token(file, &path))
            .transpose()?;

        let ConfigDocument {
            network,
            node,
            region,
            role,
            worker_threads,
            p2p: P2pDocument { listen, .. },
            http: HttpDocument {
                listen: http_listen,
            },
            admin,
            storage,
            features,
            log,
            tracing,
            links,
            ..
        } = document;
        let config = Self {
            network,
            node,
            region,
            role,
            genesis,
            key,
            data_dir: paths.data,
            worker_threads,
            p2p_listen: listen,
            peers: peers.others(&own),
            archives: peers.archives(),
            http_listen,
            admin: admin
                .zip(admin_token)
                .map(|(AdminDocument { listen, .. }, token)| Admin { listen, token }),
            storage: check_storage(file, storage)?,
            features,
            log,
            tracing: tracing
                .map(|document| check_tracing(file, document))
                .transpose()?,
            links: link::check(file, &links)?,
        };
        config.check_limits(file)?;
        config.check_identity(file)?;
        if !config.links.is_empty() {
            peers.check_regions()?;
        }
        peers.check(&own, &config.genesis)?;
        peers.check_archives(&own, config.role == Role::Archive, &config.genesis)?;
        Ok(config)
    }

    fn check_limits(&self, file: ConfigFile<'_>) -> Result<(), ConfigError> {
        for (field, value) in [("node", &self.node), ("region", &self.region)] {
            if value.is_empty() {
                return Err(file.wrong(field, "must not be empty"));
            }
        }
        if self.worker_threads == 0 {
            return Err(file.wrong("workerThreads", "must be at least 1"));
        }
        if self.features.mempool_capacity == 0 {
            return Err(file.wrong("features.mempoolCapacity", "must be at least 1"));
        }
        if self.features.mempool_mebibytes == 0 {
            return Err(file.wrong("features.mempoolMebibytes", "must be at least 1"));
        }
        Ok(())
    }

    /// This node is who the genesis document says it is.
    fn check_identity(&self, file: ConfigFile<'_>) -> Result<(), ConfigError> {
        let genesis = &self.genesis;
        if self.network != genesis.network {
            let reason = format!(
                "is \"{}\", but the genesis document is of network \"{}\"",
                self.network, genesis.network
            );
            return Err(file.wrong("network", reason));
        }
        let public_key = self.key.public_key();
        let producer = genesis.producer(&public_key);
        let chunk_validator = genesis.chunk_validator(&public_key);
        let listed = producer
            .map(|producer| (Role::Producer, &producer.name))
            .or_else(|| chunk_validator.map(|listed| (Role::ChunkValidator, &listed.name)));
        match (self.role, listed) {
            (Role::Rpc | Role::Archive, None) => Ok(()),
            (_, None) => {
                let reason = format!(
                    "public key {public_key} is not among the validators of the genesis document"
                );
                Err(file.wrong("keyFile", reason))
            }
            (role, Some((listed, name))) if role != listed => {
                let word = |role| match role {
                    Role::Producer => "producer",
                    Role::ChunkValidator => "chunkValidator",
                    Role::Rpc => "rpc",
                    Role::Archive => "archive",
                };
                let reason = format!(
                    "is \"{}\", but the key is that of validator \"{name}\", a {}",
                    word(role),
                    word(listed)
                );
                Err(file.wrong("role", reason))
            }
            (_, Some((_, name))) if *name != self.node => {
                let reason = format!(
                    "is \"{}\", but the key is that of validator \"{name}\"",
                    self.node
                );
                Err(file.wrong("node", reason))
            }
            (_, Some(_)) => Ok(()),
        }
    }
}

fn check_tracing(file: ConfigFile<'_>, document: TracingDocument) -> Result<Tracing, ConfigError> {
    let TracingDocument {
        endpoint,
        sample_basis_points,
    } = document;
    let uri = endpoint.parse::<Uri>().ok();
    let plain = uri.filter(|uri| uri.scheme_str() == Some("http") && uri.query().is_none());
    if plain.is_none() {
        let reason = "must be an http:// URL without a query";
        return Err(file.wrong("tracing.endpoint", reason));
    }
    let sample = BasisPoints::new(sample_basis_points)
        .ok_or_else(|| file.wrong("tracing.sampleBasisPoints", "must be 1 to 10000"))?;
    let endpoint = endpoint.trim_end_matches('/').to_owned();
    Ok(Tracing { endpoint, sample })
}

fn check_storage(file: ConfigFile<'_>, document: StorageDocument) -> Result<Storage, ConfigError> {
    let StorageDocument {
        engine: StorageEngine::Log,
        snapshot_interval_blocks,
        retention_blocks,
    } = document;
    if snapshot_interval_blocks == 0 {
        return Err(file.wrong("storage.snapshotIntervalBlocks", "must be at least 1"));
    }
    if retention_blocks < snapshot_interval_blocks {
        let reason = format!(
            "is {retention_blocks}, but must be at least snapshotIntervalBlocks, \
             {snapshot_interval_blocks}"
        );
        return Err(file.wrong("storage.retentionBlocks", reason));
    }
    Ok(Storage {
        snapshot_interval_blocks,
        retention_blocks,
    })
}
