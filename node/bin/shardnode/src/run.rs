// SPDX-License-Identifier: Apache-2.0
//! Runs a node on the real network, disk and clock.

use crate::{
    admin::{self, Bounds},
    api::{Api, Faults},
    full_disk,
    http::{self, HttpMetrics},
    links,
    log::Levels,
    open_files::{self, StoredFiles},
    p2p, peers,
    process::ProcessMetrics,
    process_fault,
    spans::{self, ExportError, Exporter},
};
use commonware_cryptography::ed25519::PrivateKey;
use commonware_parallel::Strategy as _;
use commonware_runtime::{
    Clock as _, Runner as _, Spawner as _, Strategizer as _, Supervisor as _,
    tokio::{self as runtime, Context},
};
use shardnode_blocks::{GenesisState, genesis_state::GenesisStateError};
use shardnode_chain::{BLOCK_SECTION, ChainError, Metrics, Parts, Settings};
use shardnode_clocks::Clocked;
use shardnode_config::{Admin, Config, Switch};
use shardnode_disks::Disk;
use shardnode_execution::signatures::BatchSize;
use shardnode_load::{
    accounts::{Accounts, Share, derive},
    generator::{Generator, LoadError},
};
use shardnode_mandates::MandatesError;
use shardnode_network::{Identity, Limits};
use shardnode_open_files::Bounded;
use shardnode_primitives::genesis::GenesisAccount;
use shardnode_production::pool::Capacity;
use shardnode_rpc::{
    AdminToken,
    tls::{self, TlsError},
};
use shardnode_traces::{Recorder, Sampling};
use std::{io, net::SocketAddr, num::NonZeroUsize, sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};
use tokio_rustls::TlsAcceptor;
use tracing::{error, info, warn};

/// Accounts that one CPU job derives: about 10 ms of work.
const DERIVE_BATCH: u32 = 1_024;
/// Why a node stops by itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// The HTTP address is taken or not this machine's.
    #[error("http.listen: cannot listen on {address}")]
    Http {
        /// The address.
        address: SocketAddr,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The address of the admin API is taken or not this machine's.
    #[error("admin.listen: cannot listen on {address}")]
    Admin {
        /// The address.
        address: SocketAddr,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The node cannot prove who it is.
    #[error("admin API cannot be served")]
    Tls(#[source] TlsError),
    /// The genesis state cannot be derived.
    #[error("genesis state cannot be derived")]
    Genesis(#[source] GenesisStateError),
    /// The stakes cannot be divided into mandates.
    #[error("mandates cannot be divided")]
    Mandates(#[source] MandatesError),
    /// There is nothing to generate load from.
    #[error("load generator cannot be made")]
    Load(#[source] LoadError),
    /// Spans cannot be exported at all.
    #[error("tracing.endpoint: spans cannot be exported")]
    Tracing(#[source] ExportError),
    /// The protocol cannot go on.
    #[error("node cannot go on")]
    Chain(#[source] ChainError),
    /// Signals cannot be received.
    #[error("cannot wait for signals")]
    Signals(#[source] io::Error),
}

/// Runs until a signal or until the node cannot go on.
pub(crate) fn run(config: Config, levels: Levels) -> Result<(), RunError> {
    let stored_files = open_files::raise_limit();
    let runner = runtime::Runner::new(
        runtime::Config::new()
            .with_worker_threads(config.worker_threads)
            .with_storage_directory(config.data_dir.clone())
            .with_tcp_nodelay(Some(true))
            .with_read_write_timeout(p2p::SILENCE)
            .with_catch_panics(false),
    );
    runner.start(|context| async move {
        let result = Box::pin(serve(&context, config, levels, stored_files)).await;
        // Tasks get to finish what they write.
        let _ = context.stop(0, Some(Duration::from_secs(5))).await;
        result
    })
}

async fn serve(
    context: &Context,
    config: Config,
    levels: Levels,
    stored_files: NonZeroUsize,
) -> Result<(), RunError> {
    let mut terminate = signal(SignalKind::terminate()).map_err(RunError::Signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(RunError::Signals)?;
    // One that begins while a fault has the disk be full could write nothing.
    if let Some(left) = full_disk::left(&config.data_dir, context.current()) {
        warn!(?left, "waiting: the disk is full, by a fault");
        tokio::select! {
            () = context.sleep(left) => info!("the fault of the disk is over"),
            _ = terminate.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
        }
    }
    let listener = TcpListener::bind(config.http_listen)
        .await
        .map_err(|source| RunError::Http {
            address: config.http_listen,
            source,
        })?;
    let admin = match &config.admin {
        Some(admin) => Some(open_admin(admin, &config.key).await?),
        None => None,
    };

    let threads = NonZeroUsize::new(config.worker_threads).unwrap_or(NonZeroUsize::MIN);
    let identity = Identity::new(config.genesis.clone(), config.key.clone());
    let identity = identity.map_err(RunError::Mandates)?;
    let identity = Arc::new(identity.with_archives(config.archives.clone()));
    let accounts = derive_accounts(context, &identity, threads).await;
    let genesis = GenesisState::new(&identity.genesis, &accounts).map_err(RunError::Genesis)?;
    let generator = generator(&identity, accounts).map_err(RunError::Load)?;

    let metrics = Arc::new(Metrics::new(&config.network, &config.region, &config.node));
    metrics.collect(Box::new(ProcessMetrics));
    let clock_metrics = metrics.register(shardnode_clocks::Metrics::new);
    let clock_faults = shardnode_clocks::Faults::new(clock_metrics);
    // What the chain and its connections have a clock for. The admin API, which begins
    // and ends faults, has the right time.
    let clocked = |label| Clocked::new(context.child(label), clock_faults.clone());
    let disk_faults = shardnode_disks::Faults::default();
    let disk_metrics = metrics.register(shardnode_disks::Metrics::new);
    let disk = Disk::new(context.child("disk"), disk_faults.clone(), disk_metrics);
    let storage = Bounded::over(clocked("chain"), disk, stored_files);
    metrics.collect(Box::new(StoredFiles(storage.open_count())));
    let traces = start_tracing(context, &config, &metrics).map_err(RunError::Tracing)?;
    let (links, faults) = links::table(&config, &metrics.register(shardnode_links::Metrics::new));
    let limits = Limits::of(&identity);
    let quota = |channel| limits.quota(channel);
    let p2p::Joined {
        channels,
        oracle,
        network,
    } = p2p::join(
        clocked("p2p"),
        &config,
        links,
        &identity,
        limits.max_message_size(),
        quota,
    );

    let started = Box::pin(shardnode_chain::start(
        storage,
        Parts {
            settings: settings(&config, threads),
            genesis: Arc::new(genesis),
            generator,
            metrics,
            partition: "node".into(),
            channels,
            peers: oracle.clone(),
            blocker: oracle,
            identity,
            traces,
        },
    ))
    .await
    .map_err(RunError::Chain)?;

    let (strikes, struck) = mpsc::channel(1);
    let faults = Faults {
        links: faults,
        disk: disk_faults,
        clock: clock_faults,
        process: strikes,
    };
    let api = Api::new(&context.child("api"), &config, started.node, faults, levels);
    metrics_of_peers(&api);
    if let Some((listener, tls, token)) = admin {
        let router = shardnode_rpc::admin_router(api.clone(), token);
        let serve = |context| admin::serve(context, listener, tls, router, Bounds::NODE);
        drop(context.child("admin").spawn(serve));
    }
    let http_metrics = Arc::new(api.metrics().register(HttpMetrics::new));
    let router = shardnode_rpc::router(api);
    let bounds = http::Bounds::of_node(open_files::soft_limit().unwrap_or_default());
    // A thread of its own, so that no client takes time of those that the chain
    // runs on.
    let http = context
        .child("http")
        .dedicated()
        .spawn(move |context| http::serve(context, listener, router, bounds, http_metrics));
    info!(http = %config.http_listen, p2p = %config.p2p_listen, "node started");

    tokio::select! {
        _ = terminate.recv() => info!("stopping on SIGTERM"),
        _ = interrupt.recv() => info!("stopping on SIGINT"),
        never = process_fault::suffer(context, struck) => match never {},
        ended = futures::future::select_all(started.tasks) => {
            let (ended, ..) = ended;
            let source = match ended {
                Ok(Err(source)) => source,
                Ok(Ok(())) | Err(_) => ChainError::Ended { part: "chain" },
            };
            return Err(RunError::Chain(source));
        }
        _ = network => return Err(RunError::Chain(ChainError::Ended { part: "p2p" })),
        _ = http => {
            error!("the HTTP server ended");
            return Err(RunError::Chain(ChainError::Ended { part: "http" }));
        }
    }
    Ok(())
}

/// Records spans, and sends them to where the configuration says.
fn start_tracing(
    context: &Context,
    config: &Config,
    metrics: &Metrics,
) -> Result<Recorder, ExportError> {
    let span_metrics = metrics.register(shardnode_traces::Metrics::new);
    let Some(tracing) = &config.tracing else {
        return Ok(Recorder::OFF);
    };
    let identity = spans::Identity {
        network: config.network.clone(),
        region: config.region.clone(),
        node: config.node.clone(),
        genesis: config.genesis.hash(),
    };
    let exporter = Exporter::new(identity, &tracing.endpoint, span_metrics.clone())?;
    let sampling = Sampling::new(config.genesis.hash(), tracing.sample);
    let (recorder, recorded) = Recorder::new(sampling, span_metrics);
    let export = |context| spans::export(context, exporter, recorded);
    drop(context.child("spans").spawn(export));
    Ok(recorder)
}

/// What the admin API is served with.
async fn open_admin(
    admin: &Admin,
    key: &PrivateKey,
) -> Result<(TcpListener, TlsAcceptor, AdminToken), RunError> {
    let tls = tls::server_config(key).map_err(RunError::Tls)?;
    let listener = TcpListener::bind(admin.listen)
        .await
        .map_err(|source| RunError::Admin {
            address: admin.listen,
            source,
        })?;
    Ok((listener, Arc::new(tls).into(), admin.token.clone()))
}

fn metrics_of_peers(api: &Api) {
    api.metrics()
        .collect(Box::new(peers::PeerMetrics::new(api.context())));
}

fn settings(config: &Config, threads: NonZeroUsize) -> Settings {
    Settings {
        signature_batch: BatchSize::from_setting(config.features.signature_batch_size),
        mempool: Capacity {
            transactions: config.features.mempool_capacity,
            bytes: config.features.mempool_mebibytes.saturating_mul(1 << 20),
        },
        adaptive_chunk_size: config.features.adaptive_chunk_size == Switch::Enabled,
        snapshot_interval: config.storage.snapshot_interval_blocks,
        retention: config.storage.retention_blocks,
        block_section: BLOCK_SECTION,
        save_parts: config.features.save_untracked_chunk_parts == Switch::Enabled,
        cpu_threads: threads,
    }
}

async fn derive_accounts(
    context: &Context,
    identity: &Arc<Identity>,
    threads: NonZeroUsize,
) -> Vec<GenesisAccount> {
    let strategy = context.child("derive").strategy(threads);
    let count = identity.genesis.account_count();
    let batches: Vec<_> = (0..count)
        .step_by(DERIVE_BATCH as usize)
        .map(|first| first..count.min(first.saturating_add(DERIVE_BATCH)))
        .collect();
    let identity = identity.clone();
    strategy
        .spawn(batches.len(), move |strategy| {
            strategy
                .map_collect_vec(batches, |range| derive(&identity.genesis, range))
                .into_iter()
                .flatten()
                .collect()
        })
        .await
}

/// The generator of a producer: its part of the accounts of its shard.
fn generator(
    identity: &Identity,
    accounts: Vec<GenesisAccount>,
) -> Result<Option<Generator>, LoadError> {
    let Some(me) = &identity.producer else {
        return Ok(None);
    };
    let producers = identity.genesis.producers_of(me.shard).count();
    let share = Share {
        shard: me.shard,
        slot: me.slot,
        slots: u16::try_from(producers).unwrap_or(u16::MAX),
    };
    let accounts = Accounts::from_parts(&identity.genesis, share, [accounts]);
    // Every generator draws its own order of receivers.
    let mut seed = [0; 8];
    seed.copy_from_slice(&me.key.as_ref()[..8]);
    Generator::new(accounts, u64::from_be_bytes(seed)).map(Some)
}
