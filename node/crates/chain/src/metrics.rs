// SPDX-License-Identifier: Apache-2.0
//! What a node measures of the chain. Names, units and meanings are those of
//! the node contract; counters of finalised blocks come from the headers'
//! totals, never from what this node believes it did.

use prometheus_client::{
    collector::Collector,
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};
use shardnode_primitives::{Block, ChunkHeader, ShardId, congestion::blocks_behind};
use std::{
    borrow::Cow,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ShardLabel {
    shard: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CauseLabel {
    cause: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabel {
    result: &'static str,
}

/// Results of looking for a body in the parts of others.
const RECOVERED: &str = "recovered";
const INVALID: &str = "invalid";

type GaugeByShard = Family<ShardLabel, Gauge<i64>>;
type ByShard = Family<ShardLabel, Counter<u64, AtomicU64>>;

/// The metrics of one node.
#[derive(Debug)]
pub struct Metrics {
    registry: Mutex<Registry>,
    height: Gauge<i64>,
    finalized_height: Gauge<i64>,
    executed_height: Gauge<i64>,
    block_time: Histogram,
    finality_lag: Histogram,
    transfers: ByShard,
    credits: ByShard,
    cross_shard: ByShard,
    missed: ByShard,
    produced: Counter,
    produced_transfers: Counter,
    execution: Histogram,
    endorsed_stake: GaugeByShard,
    mandated_stake: GaugeByShard,
    endorsements: Family<ResultLabel, Counter>,
    witness_bytes: Histogram,
    witness_make: Histogram,
    witness_receive: Histogram,
    witness_validation: Histogram,
    parts_held: Gauge<i64>,
    parts_held_bytes: Gauge<i64>,
    recoveries: Family<ResultLabel, Counter>,
    state_pages_fetched: Counter,
    state_bytes_fetched: Counter,
    state_pages_served: Counter,
    state_bytes_served: Counter,
    state_pages_refused: Counter,
    snapshots_installed: Counter,
    chunk_limit: Gauge<i64>,
    chunks_limited: Family<CauseLabel, Counter>,
    behind: GaugeByShard,
    pool: Gauge<i64>,
    pool_bytes: Gauge<i64>,
    pool_waiting: Gauge<i64>,
    rejected: Family<ReasonLabel, Counter>,
    load_target: Gauge<i64>,
    load_signed: Counter,
    seen: AtomicU64,
    pooled: AtomicU64,
    waiting: AtomicU64,
}

const BLOCK_TIME_BUCKETS: [f64; 14] = [
    0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0,
];
const EXECUTION_BUCKETS: [f64; 12] = [
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0,
];

const WITNESS_BYTES_BUCKETS: [f64; 9] = [1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 6.4e7];

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Moves a counter to a total that was counted elsewhere.
fn raise(counter: &Counter<u64, AtomicU64>, total: u64) {
    counter.inner().fetch_max(total, Ordering::Relaxed);
}

impl Metrics {
    /// The metrics of a node with these labels on every series.
    #[must_use]
    pub fn new(network: &str, region: &str, node: &str) -> Self {
        let labels = [("network", network), ("region", region), ("node", node)];
        let labels = labels.map(|(key, value)| (Cow::Borrowed(key), Cow::Owned(value.to_owned())));
        let mut registry = Registry::with_prefix_and_labels("shardnode", labels.into_iter());
        let metrics = Self {
            height: Gauge::default(),
            finalized_height: Gauge::default(),
            executed_height: Gauge::default(),
            block_time: Histogram::new(BLOCK_TIME_BUCKETS),
            finality_lag: Histogram::new(BLOCK_TIME_BUCKETS),
            transfers: Family::default(),
            credits: Family::default(),
            cross_shard: Family::default(),
            missed: Family::default(),
            produced: Counter::default(),
            produced_transfers: Counter::default(),
            execution: Histogram::new(EXECUTION_BUCKETS),
            endorsed_stake: Family::default(),
            mandated_stake: Family::default(),
            endorsements: Family::default(),
            witness_bytes: Histogram::new(WITNESS_BYTES_BUCKETS),
            witness_make: Histogram::new(EXECUTION_BUCKETS),
            witness_receive: Histogram::new(EXECUTION_BUCKETS),
            witness_validation: Histogram::new(EXECUTION_BUCKETS),
            parts_held: Gauge::default(),
            parts_held_bytes: Gauge::default(),
            recoveries: Family::default(),
            state_pages_fetched: Counter::default(),
            state_bytes_fetched: Counter::default(),
            state_pages_served: Counter::default(),
            state_bytes_served: Counter::default(),
            state_pages_refused: Counter::default(),
            snapshots_installed: Counter::default(),
            chunk_limit: Gauge::default(),
            chunks_limited: Family::default(),
            behind: Family::default(),
            pool: Gauge::default(),
            pool_bytes: Gauge::default(),
            pool_waiting: Gauge::default(),
            rejected: Family::default(),
            load_target: Gauge::default(),
            load_signed: Counter::default(),
            seen: AtomicU64::new(0),
            pooled: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            registry: Mutex::new(Registry::default()),
        };
        // What has not happened is 0, not unknown.
        for result in [RECOVERED, INVALID] {
            drop(metrics.recoveries.get_or_create(&ResultLabel { result }));
        }
        metrics.register(&mut registry);
        Self {
            registry: Mutex::new(registry),
            ..metrics
        }
    }

    fn register(&self, registry: &mut Registry) {
        registry.register(
            "height",
            "Highest block verified or proposed by this node",
            self.height.clone(),
        );
        registry.register(
            "finalized_height",
            "Last finalised block processed by this node",
            self.finalized_height.clone(),
        );
        registry.register(
            "executed_height",
            "Height of the last chunk of the own shard executed",
            self.executed_height.clone(),
        );
        registry.register_with_unit(
            "block_time",
            "Difference of the timestamps of consecutive finalised blocks",
            Unit::Seconds,
            self.block_time.clone(),
        );
        registry.register_with_unit(
            "finality_lag",
            "From a block's timestamp to its processing as finalised",
            Unit::Seconds,
            self.finality_lag.clone(),
        );
        registry.register(
            "shard_transfers",
            "Transfers executed, from finalised headers",
            self.transfers.clone(),
        );
        registry.register(
            "shard_credits",
            "Credits applied, from finalised headers",
            self.credits.clone(),
        );
        registry.register(
            "shard_cross_shard",
            "Transfers to another shard, from finalised headers",
            self.cross_shard.clone(),
        );
        registry.register(
            "shard_missed_chunks",
            "Chunks left out of finalised blocks",
            self.missed.clone(),
        );
        registry.register(
            "chunks_produced",
            "Chunks this node produced",
            self.produced.clone(),
        );
        registry.register(
            "produced_transfers",
            "Transfers executed in chunks this node produced, from finalised headers",
            self.produced_transfers.clone(),
        );
        registry.register_with_unit(
            "execution",
            "Time to execute one chunk of the own shard",
            Unit::Seconds,
            self.execution.clone(),
        );
        registry.register(
            "shard_endorsed_stake",
            "Stake that endorsed the shard's newest finalised chunk header",
            self.endorsed_stake.clone(),
        );
        registry.register(
            "shard_mandated_stake",
            "Stake of the committee of the shard's newest finalised chunk header",
            self.mandated_stake.clone(),
        );
        registry.register(
            "endorsements",
            "Chunk headers this node checked as a member of their committee",
            self.endorsements.clone(),
        );
        registry.register_with_unit(
            "witness",
            "Size of the state witnesses this node made, compressed",
            Unit::Bytes,
            self.witness_bytes.clone(),
        );
        registry.register_with_unit(
            "witness_make",
            "Time to make one state witness and its parts",
            Unit::Seconds,
            self.witness_make.clone(),
        );
        registry.register_with_unit(
            "witness_receive",
            "From a witness's first part to the last one that is needed",
            Unit::Seconds,
            self.witness_receive.clone(),
        );
        registry.register_with_unit(
            "witness_validation",
            "Time to rebuild one state witness and re-execute from it",
            Unit::Seconds,
            self.witness_validation.clone(),
        );
        self.register_state_sync(registry);
        registry.register(
            "chunk_parts_held",
            "Parts of other shards' chunk bodies in memory",
            self.parts_held.clone(),
        );
        registry.register_with_unit(
            "chunk_parts_held",
            "Size of the parts of other shards' chunk bodies in memory",
            Unit::Bytes,
            self.parts_held_bytes.clone(),
        );
        registry.register(
            "body_recoveries",
            "Chunk bodies this node looked for in the parts of others",
            self.recoveries.clone(),
        );
        registry.register(
            "chunk_transactions_limit",
            "Most transactions of the chunk this node produced last",
            self.chunk_limit.clone(),
        );
        registry.register(
            "chunks_limited",
            "Chunks this node produced with fewer transactions than its pool had, by cause",
            self.chunks_limited.clone(),
        );
        registry.register(
            "shard_blocks_behind",
            "Blocks that a shard is behind with crediting receipts, from finalised headers",
            self.behind.clone(),
        );
        registry.register(
            "pool_transactions",
            "Transactions in the pool",
            self.pool.clone(),
        );
        registry.register_with_unit(
            "pool",
            "Size of the transactions in the pool",
            Unit::Bytes,
            self.pool_bytes.clone(),
        );
        registry.register(
            "pool_waiting",
            "Transactions in the pool whose receiver's shard is congested",
            self.pool_waiting.clone(),
        );
        registry.register(
            "pool_rejected",
            "Transactions refused by the pool",
            self.rejected.clone(),
        );
        registry.register(
            "load_target_tps",
            "Transfers per second the generator aims at",
            self.load_target.clone(),
        );
        registry.register(
            "load_signed",
            "Transfers the generator signed",
            self.load_signed.clone(),
        );
    }

    fn register_state_sync(&self, registry: &mut Registry) {
        registry.register(
            "state_pages_fetched",
            "Pages of the own shard's state fetched from other producers",
            self.state_pages_fetched.clone(),
        );
        registry.register_with_unit(
            "state_fetched",
            "Bytes of those pages",
            Unit::Bytes,
            self.state_bytes_fetched.clone(),
        );
        registry.register(
            "state_pages_refused",
            "Pages that were not of the state asked for",
            self.state_pages_refused.clone(),
        );
        registry.register(
            "state_pages_served",
            "Pages of the own shard's state sent to other producers",
            self.state_pages_served.clone(),
        );
        registry.register_with_unit(
            "state_served",
            "Bytes of those pages",
            Unit::Bytes,
            self.state_bytes_served.clone(),
        );
        registry.register(
            "snapshots_installed",
            "Fetched states that this node went on from",
            self.snapshots_installed.clone(),
        );
    }

    /// Adds metrics that are read when they are asked for.
    pub fn collect(&self, collector: Box<dyn Collector>) {
        self.registry
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .register_collector(collector);
    }

    /// The metrics in the OpenMetrics text format.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &registry);
        text
    }

    /// A block was verified or proposed.
    pub fn seen(&self, height: u64) {
        let before = self.seen.fetch_max(height, Ordering::Relaxed);
        self.height.set(signed(before.max(height)));
    }

    /// The highest block verified, proposed or finalised.
    #[must_use]
    pub fn height(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// `block` is finalised on top of `before`, the block processed last.
    pub fn finalized(&self, before: &Block, block: &Block, lag: u8, now_ms: u64) {
        self.seen(block.height);
        self.finalized_height.set(signed(block.height));
        let seconds = |ms: u64| Duration::from_millis(ms).as_secs_f64();
        if before.height > 0 && block.height == before.height + 1 {
            let elapsed = block.timestamp_ms.saturating_sub(before.timestamp_ms);
            self.block_time.observe(seconds(elapsed));
        }
        self.finality_lag
            .observe(seconds(now_ms.saturating_sub(block.timestamp_ms)));
        for header in &block.chunks {
            self.finalized_header(block.height, lag, header);
        }
    }

    fn finalized_header(&self, height: u64, lag: u8, header: &ChunkHeader) {
        let content = &header.content;
        let label = ShardLabel {
            shard: content.shard.0,
        };
        raise(
            &self.transfers.get_or_create(&label),
            content.totals.transfers,
        );
        raise(&self.credits.get_or_create(&label), content.totals.credits);
        raise(
            &self.cross_shard.get_or_create(&label),
            content.totals.cross_shard,
        );
        let behind = blocks_behind(&content.totals, height, lag);
        self.behind.get_or_create(&label).set(signed(behind));
        raise(
            &self.missed.get_or_create(&label),
            height.saturating_sub(content.sequence),
        );
    }

    /// The own shard's chunk at `height` was executed.
    pub fn executed(&self, height: u64, elapsed: Duration) {
        self.executed_height.set(signed(height));
        self.execution.observe(elapsed.as_secs_f64());
    }

    /// A finalised block has a new header of `shard` with this stake behind
    /// it.
    pub fn finalized_endorsements(&self, shard: ShardId, endorsed: u64, mandated: u64) {
        let label = ShardLabel { shard: shard.0 };
        self.endorsed_stake
            .get_or_create(&label)
            .set(signed(endorsed));
        self.mandated_stake
            .get_or_create(&label)
            .set(signed(mandated));
    }

    /// This node made a witness of so many bytes.
    pub fn witness_made(&self, bytes: usize, elapsed: Duration) {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52 bytes")]
        self.witness_bytes.observe(bytes as f64);
        self.witness_make.observe(elapsed.as_secs_f64());
    }

    /// Enough parts of a witness came within `elapsed` of the first.
    pub fn witness_received(&self, elapsed: Duration) {
        self.witness_receive.observe(elapsed.as_secs_f64());
    }

    /// A header was endorsed, after so long a re-execution.
    pub fn endorsed(&self, elapsed: Option<Duration>) {
        if let Some(elapsed) = elapsed {
            self.witness_validation.observe(elapsed.as_secs_f64());
        }
        let result = "endorsed";
        self.endorsements
            .get_or_create(&ResultLabel { result })
            .inc();
    }

    /// A header was checked and not endorsed.
    pub fn refused(&self) {
        let result = "refused";
        self.endorsements
            .get_or_create(&ResultLabel { result })
            .inc();
    }

    /// So many parts of so many bytes are held in memory.
    pub fn parts_held(&self, parts: usize, bytes: usize) {
        self.parts_held.set(signed(parts as u64));
        self.parts_held_bytes.set(signed(bytes as u64));
    }

    /// Enough parts of a chunk's body were collected; `valid` says whether they
    /// gave a body that is.
    pub fn recovered(&self, valid: bool) {
        let result = if valid { RECOVERED } else { INVALID };
        self.recoveries.get_or_create(&ResultLabel { result }).inc();
    }

    /// A page of a state came, and is right.
    pub fn state_page_fetched(&self, bytes: usize) {
        self.state_pages_fetched.inc();
        self.state_bytes_fetched.inc_by(bytes as u64);
    }

    /// A page came that is not of the state asked for.
    pub fn state_page_refused(&self) {
        self.state_pages_refused.inc();
    }

    /// A page of a state was sent to a peer.
    pub fn state_page_served(&self, bytes: usize) {
        self.state_pages_served.inc();
        self.state_bytes_served.inc_by(bytes as u64);
    }

    /// The own shard goes on from a fetched state at `height`.
    pub fn snapshot_installed(&self, height: u64) {
        self.snapshots_installed.inc();
        self.executed_height.set(signed(height));
    }

    /// A chunk was produced.
    pub fn produced(&self) {
        self.produced.inc();
    }

    /// A finalised block committed to the execution of this many transfers in
    /// chunks of this node.
    pub fn produced_transfers(&self, count: u64) {
        self.produced_transfers.inc_by(count);
    }

    /// The chunk produced now may have this many transactions.
    pub fn chunk_limit(&self, transactions: u32) {
        self.chunk_limit.set(i64::from(transactions));
    }

    /// The chunk produced now would have more transactions, but for this.
    pub fn chunk_limited(&self, cause: &'static str) {
        self.chunks_limited
            .get_or_create(&CauseLabel { cause })
            .inc();
    }

    /// The pool holds this many transactions of so many bytes, of which so
    /// many wait for congested shards.
    pub fn pool(&self, transactions: usize, bytes: usize, waiting: usize) {
        self.pooled.store(transactions as u64, Ordering::Relaxed);
        self.waiting.store(waiting as u64, Ordering::Relaxed);
        self.pool.set(signed(transactions as u64));
        self.pool_bytes.set(signed(bytes as u64));
        self.pool_waiting.set(signed(waiting as u64));
    }

    /// Transactions in the pool that wait for congested shards.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Transactions in the pool.
    #[must_use]
    pub fn pooled(&self) -> u64 {
        self.pooled.load(Ordering::Relaxed)
    }

    /// A transaction was refused.
    pub fn rejected(&self, reason: &'static str) {
        self.rejected.get_or_create(&ReasonLabel { reason }).inc();
    }

    /// The generator's target changed.
    pub fn load_target(&self, transfers_per_second: u32) {
        self.load_target.set(i64::from(transfers_per_second));
    }

    /// The generator signed transfers.
    pub fn load_signed(&self, count: usize) {
        self.load_signed.inc_by(count as u64);
    }
}
