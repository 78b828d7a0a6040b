// SPDX-License-Identifier: Apache-2.0
//! A network under test: starts, kills and watches its nodes.

pub(crate) mod client;
pub(crate) mod disk;
mod greedy;
mod ignoring;
mod liar;

pub(crate) use ignoring::Ignores;

use commonware_consensus::types::Height;
use commonware_cryptography::{Signer as _, ed25519::PrivateKey, ed25519::PublicKey};
use commonware_p2p::simulated::{self, Link, Oracle};
use commonware_runtime::{
    Clock as _, Handle, Quota, Runner as _, Spawner as _, Supervisor as _,
    deterministic::{self, Context},
};
use commonware_utils::{NZU64, NZUsize, Probability, channel::mpsc};
use shardnode_blocks::{ChainView, GenesisState};
use shardnode_chain::{Metrics, Node, Parts, Settings};
use shardnode_execution::signatures::BatchSize;
use shardnode_load::{
    accounts::{Accounts, Share, derive},
    generator::Generator,
};
use shardnode_network::{Channels, Identity, Limits, channels};
use shardnode_primitives::{Block, ChunkHeader, Genesis, GenesisDocument, genesis::GenesisAccount};
use shardnode_production::{generator::Control, pool::Capacity};
use shardnode_traces::{BasisPoints, Recorder, Sampling, Span};
use std::{
    collections::BTreeMap,
    future::Future,
    num::{NonZeroU64, NonZeroUsize},
    sync::Arc,
    time::Duration,
};

/// Executed chunks between two snapshots.
pub(crate) const SNAPSHOT_INTERVAL: u64 = 5;
const ACCOUNTS_PER_SHARD: u32 = 40;
/// So many that a state has three pages.
const ACCOUNTS_IN_PAGES: u32 = 2_500;
/// Blocks that are kept where nobody is away for long.
const LONG: u64 = 1_000;
const SETTLE: Duration = Duration::from_millis(200);

/// What can happen to the links.
pub(crate) enum Fault {
    /// These nodes and all others no longer hear each other.
    Partition(Vec<usize>),
    /// All links are back.
    Heal,
}

struct Member {
    key: PrivateKey,
    running: Option<(Handle<()>, Node)>,
    /// How often it lost its disk.
    disk: usize,
}

/// The network.
pub(crate) struct Network {
    pub(crate) context: Context,
    pub(crate) genesis: Genesis,
    accounts: Vec<GenesisAccount>,
    state: Arc<GenesisState>,
    oracle: Oracle<PublicKey, Context>,
    members: Vec<Member>,
    /// The last of the members.
    archives: Vec<PublicKey>,
    success: f64,
    /// Blocks for which bodies are kept.
    pub(crate) retention: u64,
    /// How many blocks are let go of together.
    pub(crate) block_section: NonZeroU64,
    liars: Vec<usize>,
    ignoring: Option<(usize, Ignores)>,
    signed_before: u64,
    /// Whether nodes that are started from now on save parts.
    pub(crate) save_parts: bool,
    /// How many heights nodes that are started from now on trace.
    pub(crate) traced: Option<BasisPoints>,
    spans: BTreeMap<usize, mpsc::Receiver<Span>>,
}

fn key(index: usize) -> PrivateKey {
    PrivateKey::from_seed(index as u64)
}

fn genesis(shards: u16, producers: u16, chunk_validators: u16, lag: u8) -> Genesis {
    genesis_with(shards, producers, chunk_validators, lag, ACCOUNTS_PER_SHARD)
}

fn genesis_with(
    shards: u16,
    producers: u16,
    chunk_validators: u16,
    lag: u8,
    accounts: u32,
) -> Genesis {
    let tracking = shards * producers;
    let validators: Vec<_> = (0..tracking + chunk_validators)
        .map(|index| {
            if index >= tracking {
                return serde_json::json!({
                    "name": format!("n{index}"),
                    "publicKey": key(usize::from(index)).public_key().to_string(),
                    "role": "chunkValidator",
                    "stake": 1_000,
                });
            }
            serde_json::json!({
                "name": format!("n{index}"),
                "publicKey": key(usize::from(index)).public_key().to_string(),
                "role": "producer",
                "shard": index / producers,
                "slot": index % producers, "stake": 1_000
            })
        })
        .collect();
    let document = serde_json::json!({
        "network": "test",
        "createdAtMs": 0,
        "seed": "11".repeat(32),
        "shards": shards,
        "accounts": {"perShard": accounts, "initialBalance": 1_000_000},
        "protocol": {"executionLag": lag, "minBlockTimeMs": 100, "chunkWaitMs": 1000, "maxTransactionsPerChunk": 200, "mandatesPerShard": 8, "epochLength": 1000, "congestionControl": "Enabled", "transferFee": 2, "leastBalance": 3},
        "validators": validators,
    });
    let document: GenesisDocument = serde_json::from_value(document).unwrap();
    document.check().unwrap()
}

/// Runs a story on a network of `shards` times `producers` nodes with 20 to
/// 40 ms between them, and returns the hash of everything that happened.
pub(crate) fn run<F, Fut>(seed: u64, shards: u16, producers: u16, story: F) -> String
where
    F: FnOnce(Network) -> Fut,
    Fut: Future<Output = ()>,
{
    run_on(seed, genesis(shards, producers, 0, 1), 1.0, story)
}

/// [`run`], with links that lose messages.
pub(crate) fn run_with_loss<F, Fut>(
    seed: u64,
    shards: u16,
    producers: u16,
    success: f64,
    story: F,
) -> String
where
    F: FnOnce(Network) -> Fut,
    Fut: Future<Output = ()>,
{
    run_on(seed, genesis(shards, producers, 0, 1), success, story)
}

/// [`run`] on two shards of two, with another execution lag.
pub(crate) fn run_with_lag<F, Fut>(seed: u64, lag: u8, story: F) -> String
where
    F: FnOnce(Network) -> Fut,
    Fut: Future<Output = ()>,
{
    run_on(seed, genesis(2, 2, 0, lag), 1.0, story)
}

/// [`run`], with validators that track no shard after the producers.
pub(crate) fn run_with_chunk_validators<F, Fut>(
    seed: u64,
    shards: u16,
    producers: u16,
    chunk_validators: u16,
    story: F,
) -> String
where
    F: FnOnce(Network) -> Fut,
    Fut: Future<Output = ()>,
{
    run_on(
        seed,
        genesis(shards, producers, chunk_validators, 1),
        1.0,
        story,
    )
}

/// [`run`] with states of several pages, and bodies kept for `retention`
/// blocks.
pub(crate) fn run_with_retention<F, Fut>(
    seed: u64,
    (shards, producers, lag): (u16, u16, u8),
    retention: u64,
    story: F,
) -> String
where
    F: FnOnce(Network) -> Fut,
    Fut: Future<Output = ()>,
{
    run_with_archives(seed, (shards, producers, lag), 0, retention, story)
}

/// [`run_with_retention`], with archives after the producers.
pub(crate) fn run_with_archives<F, Fut>(
    seed: u64,
    (shards, producers, lag): (u16, u16, u8),
    archives: usize,
    retention: u64,
    story: F,
) -> String
where
    F: FnOnce(Network) -> Fut,
    Fut: Future<Output = ()>,
{
    let genesis = genesis_with(shards, producers, 0, lag, ACCOUNTS_IN_PAGES);
    run_all_on(seed, genesis, archives, 1.0, move |mut network| {
        network.retention = retention;
        story(network)
    })
}

fn run_on<F, Fut>(seed: u64, genesis: Genesis, success: f64, story: F) -> String
where
    F: FnOnce(Network) -> Fut,
    Fut: Future<Output = ()>,
{
    run_all_on(seed, genesis, 0, success, story)
}

fn run_all_on<F, Fut>(
    seed: u64,
    genesis: Genesis,
    archives: usize,
    success: f64,
    story: F,
) -> String
where
    F: FnOnce(Network) -> Fut,
    Fut: Future<Output = ()>,
{
    let config = deterministic::Config::new()
        .with_seed(seed)
        .with_cycle(Duration::from_micros(10))
        .with_timeout(Some(Duration::from_secs(600)));
    deterministic::Runner::new(config).start(|context| async move {
        let harness = context.child("harness");
        let network = Network::new(harness, genesis, archives, success).await;
        story(network).await;
        context.auditor().state()
    })
}

impl Network {
    async fn new(context: Context, genesis: Genesis, archives: usize, success: f64) -> Self {
        let validators = genesis.stakes().count();
        let members: Vec<Member> = (0..validators + archives)
            .map(|index| Member {
                key: key(index),
                running: None,
                disk: 0,
            })
            .collect();
        let keys: Vec<PublicKey> = members.iter().map(|m| m.key.public_key()).collect();
        let archives = keys[validators..].to_vec();
        let (links, oracle) = simulated::Network::new_with_peers(
            context.child("links"),
            simulated::Config {
                max_size: 1 << 22,
                max_peers_per_set: NonZeroUsize::new(keys.len()).unwrap(),
                disconnect_on_block: true,
                tracked_peer_sets: NZUsize!(1),
            },
            keys,
        )
        .await;
        links.start();
        let accounts = derive(&genesis, 0..genesis.account_count());
        let state = Arc::new(GenesisState::new(&genesis, &accounts).unwrap());
        let network = Self {
            context,
            genesis,
            accounts,
            state,
            oracle,
            members,
            archives,
            success,
            retention: LONG,
            block_section: NZU64!(1_024),
            liars: Vec::new(),
            ignoring: None,
            signed_before: 0,
            save_parts: false,
            traced: None,
            spans: BTreeMap::new(),
        };
        network.link(|_, _| true).await;
        network
    }

    async fn link(&self, connected: impl Fn(usize, usize) -> bool) {
        for (a, from) in self.members.iter().enumerate() {
            for (b, to) in self.members.iter().enumerate() {
                if a == b {
                    continue;
                }
                let (from, to) = (from.key.public_key(), to.key.public_key());
                // A link that is not there cannot be removed: nothing to do.
                let _ = self.oracle.remove_link(from.clone(), to.clone()).await;
                if connected(a, b) {
                    self.add_link(from, to, Duration::ZERO).await;
                }
            }
        }
    }

    /// Has what one node sends to some others take longer, as long as links are not made
    /// anew.
    pub(crate) async fn delay(&self, from: usize, to: &[usize], by: Duration) {
        let key = |index: usize| self.members[index].key.public_key();
        for to in to {
            self.oracle.remove_link(key(from), key(*to)).await.unwrap();
            self.add_link(key(from), key(*to), by).await;
        }
    }

    async fn add_link(&self, from: PublicKey, to: PublicKey, delay: Duration) {
        let link = Link {
            latency: Duration::from_millis(30) + delay,
            jitter: Duration::from_millis(10),
            success_rate: Probability::try_from(self.success).unwrap(),
        };
        self.oracle.add_link(from, to, link).await.unwrap();
    }

    /// Makes a fault happen, or end.
    pub(crate) async fn apply(&self, fault: Fault) {
        match fault {
            Fault::Partition(side) => {
                self.link(|a, b| side.contains(&a) == side.contains(&b))
                    .await;
            }
            Fault::Heal => self.link(|_, _| true).await,
        }
    }

    /// Starts every node that is not running.
    pub(crate) async fn start_all(&mut self) {
        for index in 0..self.members.len() {
            if self.members[index].running.is_none() {
                self.start(index).await;
            }
        }
    }

    /// Starts one node on what it has stored.
    pub(crate) async fn start(&mut self, index: usize) {
        let me = self.members[index].key.clone();
        let control = self.oracle.control(me.public_key());
        let identity = Identity::new(self.genesis.clone(), me).unwrap();
        let identity = Arc::new(identity.with_archives(self.archives.clone()));
        let limits = Limits::of(&identity);
        let mut registered = Vec::new();
        for mut channel in channels::ALL {
            if channel == channels::STATE_REQUESTS && self.liars.contains(&index) {
                self.serve_lies(index).await;
                channel = liar::NOBODY;
            }
            if let Some((ignoring, how)) = self.ignoring
                && ignoring == index
                && channel == channels::CLIENT_REQUESTS
            {
                self.ignore_clients(index, how).await;
                channel = liar::NOBODY + 1;
            }
            let quota = limits.quota(channel);
            registered.push(control.register(channel, quota).await.unwrap());
        }
        let Ok(registered) = registered.try_into() else {
            panic!("as many channels as ids");
        };
        let generator = identity.producer.as_ref().map(|producer| {
            let slots = self.genesis.producers_of(producer.shard).count();
            let share = Share {
                shard: producer.shard,
                slot: producer.slot,
                slots: u16::try_from(slots).unwrap(),
            };
            let accounts = Accounts::from_parts(&self.genesis, share, [self.accounts.clone()]);
            Generator::new(accounts, index as u64).unwrap()
        });
        let metrics = Arc::new(Metrics::new("test", "test", &format!("n{index}")));
        let parts = Parts {
            traces: self.recorder(index, &metrics),
            settings: Settings {
                signature_batch: BatchSize::Whole,
                mempool: Capacity {
                    transactions: 10_000,
                    bytes: 10 << 20,
                },
                adaptive_chunk_size: true,
                snapshot_interval: SNAPSHOT_INTERVAL,
                retention: self.retention,
                block_section: self.block_section,
                save_parts: self.save_parts,
                cpu_threads: NZUsize!(1),
            },
            genesis: self.state.clone(),
            generator,
            metrics,
            partition: self.partition(index),
            channels: Channels::from_registered(registered),
            peers: self.oracle.manager(),
            blocker: control,
            identity,
        };
        let (sender, receiver) = commonware_utils::channel::oneshot::channel();
        let context = self.context.child("node").with_attribute("index", index);
        let handle = context.spawn(move |context| async move {
            let started = Box::pin(shardnode_chain::start(context.child("chain"), parts))
                .await
                .unwrap();
            assert!(sender.send(started.node).is_ok());
            let (ended, ..) = futures::future::select_all(started.tasks).await;
            panic!("node {index} stopped: {ended:?}");
        });
        let node = receiver.await.unwrap();
        self.members[index].running = Some((handle, node));
    }

    fn recorder(&mut self, index: usize, metrics: &Metrics) -> Recorder {
        let Some(rate) = self.traced else {
            return Recorder::OFF;
        };
        let sampling = Sampling::new(self.genesis.hash(), rate);
        let metrics = metrics.register(shardnode_traces::Metrics::new);
        let (recorder, spans) = Recorder::new(sampling, metrics);
        self.spans.insert(index, spans);
        recorder
    }

    /// What a node has recorded since it was asked last.
    pub(crate) fn spans(&mut self, index: usize) -> Vec<Span> {
        let spans = self.spans.get_mut(&index);
        let spans = spans.map(|spans| std::iter::from_fn(|| spans.try_recv().ok()).collect());
        spans.unwrap_or_default()
    }

    /// Kills one node: what it had not made durable is gone.
    pub(crate) async fn kill(&mut self, index: usize) {
        let (handle, node) = self.members[index].running.take().unwrap();
        if let Some(load) = &node.load {
            self.signed_before += load.signed();
        }
        handle.abort();
        let _ = handle.await;
        drop(node);
        self.context.sleep(Duration::from_millis(1)).await;
    }

    /// Takes away all that a killed node has stored.
    pub(crate) fn wipe(&mut self, index: usize) {
        assert!(self.members[index].running.is_none(), "node {index} runs");
        self.members[index].disk += 1;
    }

    /// From their next start on, these nodes answer every question about
    /// states with a lie, and are honest in all else.
    pub(crate) fn lie_about_states(&mut self, liars: &[usize]) {
        self.liars = liars.to_vec();
    }

    /// From its next start on, this node ignores what clients ask for, and is
    /// honest in all else.
    pub(crate) fn ignore_clients_of(&mut self, index: usize, how: Ignores) {
        self.ignoring = Some((index, how));
    }

    /// The sum of a running node's series of this name.
    pub(crate) fn measured(&self, index: usize, name: &str) -> u64 {
        let metrics = self.node(index).metrics.encode();
        let series = format!("{name}{{");
        let lines = metrics.lines().filter(|line| line.starts_with(&series));
        let value = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
        lines.map(value).sum()
    }

    /// How many messages of one peer a channel carries.
    fn quota(&self, channel: u64) -> Quota {
        let identity = Identity::new(self.genesis.clone(), key(0)).unwrap();
        Limits::of(&identity).quota(channel)
    }

    fn running(&self) -> impl Iterator<Item = &Node> {
        self.members
            .iter()
            .filter_map(|member| member.running.as_ref())
            .map(|(_, node)| node)
    }

    fn loads(&self) -> impl Iterator<Item = &Control> {
        self.running().filter_map(|node| node.load.as_ref())
    }

    /// A running node.
    pub(crate) fn node(&self, index: usize) -> &Node {
        &self.members[index].running.as_ref().unwrap().1
    }

    /// Sets the rate of every running generator.
    pub(crate) fn set_load(&self, transfers_per_second: u32) {
        for load in self.loads() {
            load.set_rate(transfers_per_second);
        }
    }

    /// Transfers signed by all generators that still run, or ran.
    pub(crate) fn signed(&self) -> u64 {
        let now: u64 = self.loads().map(Control::signed).sum();
        now + self.signed_before
    }

    /// Headers that a running node checked as a member of their committee.
    pub(crate) fn endorsements(&self, index: usize, result: &str) -> u64 {
        self.results(index, "endorsements", result)
    }

    /// Bodies that a running node looked for in the parts of others.
    pub(crate) fn recoveries(&self, index: usize, result: &str) -> u64 {
        self.results(index, "body_recoveries", result)
    }

    /// Chunks that finalised blocks of a running node lack, for a reason.
    pub(crate) fn misses(&self, index: usize, reason: &str) -> u64 {
        self.labelled(index, "proposed_missed_chunks", "reason", reason)
    }

    fn results(&self, index: usize, counter: &str, result: &str) -> u64 {
        self.labelled(index, counter, "result", result)
    }

    fn labelled(&self, index: usize, counter: &str, label: &str, value: &str) -> u64 {
        let metrics = self.node(index).metrics.encode();
        let name = format!("shardnode_{counter}_total{{");
        let label = format!("{label}=\"{value}\"");
        let line = metrics
            .lines()
            .find(|line| line.starts_with(&name) && line.contains(&label));
        line.map_or(0, |line| {
            let (_, value) = line.rsplit_once(' ').unwrap();
            value.parse().unwrap()
        })
    }

    /// Transfers that the metrics of all running nodes count in chunks that
    /// they produced.
    pub(crate) fn produced_transfers(&self) -> Vec<u64> {
        let count = |node: &Node| {
            let metrics = node.metrics.encode();
            let line = metrics
                .lines()
                .find(|line| line.starts_with("shardnode_produced_transfers_total{"));
            let (_, value) = line.unwrap().rsplit_once(' ').unwrap();
            value.parse().unwrap()
        };
        self.running().map(count).collect()
    }

    /// Transfers executed in the chunks that each node signed, by the results
    /// in the blocks that node 0 has finalised.
    pub(crate) async fn transfers_by_signer(&self) -> Vec<u64> {
        let identity = &self.node(0).identity;
        let signed_by = |header: &ChunkHeader| {
            self.members.iter().position(|member| {
                let key = member.key.public_key();
                header.verify(&key, &identity.namespaces)
            })
        };
        let mut signers = BTreeMap::new();
        let mut transfers = vec![0; self.members.len()];
        for height in 1..=self.view(0).height() {
            let height = commonware_consensus::types::Height::new(height);
            let block = self.node(0).marshal.get_block(height).await.unwrap();
            for header in block.inner().new_chunks() {
                let content = &header.content;
                signers.insert((content.shard, content.height), signed_by(header).unwrap());
                for result in &content.results {
                    let signer = signers[&(content.shard, result.height)];
                    transfers[signer] += u64::from(result.transfers);
                }
            }
        }
        transfers
    }

    /// What a running node has finalised.
    pub(crate) fn view(&self, index: usize) -> Arc<ChainView> {
        self.node(index).view.borrow().clone()
    }

    /// A block that a running node has finalised.
    pub(crate) async fn block(&self, index: usize, height: u64) -> Block {
        let marshal = &self.node(index).marshal;
        let block = marshal.get_block(Height::new(height)).await;
        block.unwrap().inner().clone()
    }

    /// The next height that node 0 finalises after a restart.
    pub(crate) async fn next_height(&self) -> u64 {
        let mut view = self.node(0).view.clone();
        view.changed().await.unwrap();
        view.borrow().height()
    }

    /// Waits until one node has finalised `height`.
    pub(crate) async fn wait_for_height_of(&self, index: usize, height: u64) {
        let mut view = self.node(index).view.clone();
        view.wait_for(|view| view.height() >= height).await.unwrap();
    }

    /// Waits until every running node has finalised `height`.
    pub(crate) async fn wait_for_height(&self, height: u64) {
        for node in self.running() {
            let mut view = node.view.clone();
            view.wait_for(|view| view.height() >= height).await.unwrap();
        }
    }

    /// Waits until nothing is pooled, everything sent has arrived, and the
    /// totals stand still for some blocks.
    pub(crate) async fn drain(&self) {
        let mut still = 0;
        let mut last = None;
        while still < 6 {
            let height = self.view(0).height();
            self.wait_for_height(height + 1).await;
            let view = self.view(0);
            let pooled: u64 = self
                .running()
                .map(|node| node.metrics.production.pooled())
                .sum();
            let now = (view.transfers(), view.supply().in_flight);
            still = if pooled == 0 && now.1 == 0 && last == Some(now) {
                still + 1
            } else {
                0
            };
            last = Some(now);
        }
    }

    /// All running nodes have the same blocks, as far as they keep them, and
    /// trackers of a shard the same state at the same height.
    pub(crate) async fn check_agreement(&self) {
        let height = self.running().map(|node| node.view.borrow().height()).min();
        let height = height.unwrap();
        for checked in 1..=height {
            let mut digests = Vec::new();
            for node in self.running() {
                let height = commonware_consensus::types::Height::new(checked);
                if let Some(block) = node.marshal.get_block(height).await {
                    digests.push(commonware_cryptography::Digestible::digest(&block));
                }
            }
            digests.dedup();
            assert!(digests.len() <= 1, "one block at height {checked}");
            assert!(checked < height || digests.len() == 1, "no block {height}");
        }
        for shard in self.genesis.layout.iter() {
            let mut roots = Vec::new();
            // The trackers may be a block apart.
            for _ in 0..100 {
                roots.clear();
                for node in self.running() {
                    let tracked = *node.tracked.borrow();
                    if let Some(tracked) = tracked
                        && tracked.shard == shard
                    {
                        roots.push((tracked.height, tracked.root));
                    }
                }
                roots.dedup();
                if roots.iter().all(|(height, _)| *height == roots[0].0) {
                    break;
                }
                self.context.sleep(SETTLE).await;
            }
            assert_eq!(roots.len(), 1, "one state of shard {shard}: {roots:?}");
        }
    }
}
