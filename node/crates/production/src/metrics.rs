// SPDX-License-Identifier: Apache-2.0
//! What is measured of chunk production, pool and generator included.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};
use shardnode_traces::{Exemplar, Histogram};
use std::{sync::atomic::AtomicU64, time::Duration};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CauseLabel {
    cause: &'static str,
}

const WITNESS_BYTES_BUCKETS: [f64; 9] = [1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 6.4e7];
const WITNESS_MAKE_BUCKETS: [f64; 12] = [
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0,
];

/// What is measured of chunk production.
#[derive(Debug)]
pub struct Metrics {
    produced: Counter,
    witness_bytes: Histogram,
    witness_make: Histogram,
    chunk_limit: Gauge<u64, AtomicU64>,
    chunks_limited: Family<CauseLabel, Counter>,
    pool: Gauge<u64, AtomicU64>,
    pool_bytes: Gauge<u64, AtomicU64>,
    pool_waiting: Gauge<u64, AtomicU64>,
    load_target: Gauge<u64, AtomicU64>,
    load_signed: Counter,
    load_held_back: Counter,
    load_overdue: Counter,
    load_exhausted: Counter,
}

impl Metrics {
    /// Registers them.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            produced: Counter::default(),
            witness_bytes: Histogram::new(WITNESS_BYTES_BUCKETS),
            witness_make: Histogram::new(WITNESS_MAKE_BUCKETS),
            chunk_limit: Gauge::default(),
            chunks_limited: Family::default(),
            pool: Gauge::default(),
            pool_bytes: Gauge::default(),
            pool_waiting: Gauge::default(),
            load_target: Gauge::default(),
            load_signed: Counter::default(),
            load_held_back: Counter::default(),
            load_overdue: Counter::default(),
            load_exhausted: Counter::default(),
        };
        metrics.register(registry);
        metrics
    }

    fn register(&self, registry: &mut Registry) {
        registry.register(
            "chunks_produced",
            "Chunks this node produced",
            self.produced.clone(),
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
            "load_target_tps",
            "Transfers per second the generator aims at",
            self.load_target.clone(),
        );
        registry.register(
            "load_signed",
            "Transfers the generator signed",
            self.load_signed.clone(),
        );
        registry.register(
            "load_held_back",
            "Transfers that were due and that the generator did not sign because the pool had no room",
            self.load_held_back.clone(),
        );
        registry.register(
            "load_overdue",
            "Transfers that were due and that the generator was too late for",
            self.load_overdue.clone(),
        );
        registry.register(
            "load_exhausted",
            "Transfers that were due and that the generator had not signed enough of before",
            self.load_exhausted.clone(),
        );
    }

    /// A chunk was produced.
    pub fn produced(&self) {
        self.produced.inc();
    }

    /// This node made a witness of so many bytes.
    pub fn witness_made(&self, bytes: usize, elapsed: Duration, exemplar: Option<Exemplar>) {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52 bytes")]
        self.witness_bytes.observe(bytes as f64, exemplar.clone());
        self.witness_make.observe(elapsed.as_secs_f64(), exemplar);
    }

    /// The chunk produced now may have this many transactions.
    pub fn chunk_limit(&self, transactions: u32) {
        self.chunk_limit.set(u64::from(transactions));
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
        self.pool.set(transactions as u64);
        self.pool_bytes.set(bytes as u64);
        self.pool_waiting.set(waiting as u64);
    }

    /// Transactions in the pool.
    #[must_use]
    pub fn pooled(&self) -> u64 {
        self.pool.get()
    }

    /// Transactions in the pool that wait for congested shards.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.pool_waiting.get()
    }

    /// The generator's target changed.
    pub fn load_target(&self, transfers_per_second: u32) {
        self.load_target.set(u64::from(transfers_per_second));
    }

    /// The generator signed transfers.
    pub fn load_signed(&self, count: usize) {
        self.load_signed.inc_by(count as u64);
    }

    /// The generator did not sign what the pool had no room for.
    pub fn load_held_back(&self, count: u64) {
        self.load_held_back.inc_by(count);
    }

    /// The generator was too late for what was due.
    pub fn load_overdue(&self, count: u64) {
        self.load_overdue.inc_by(count);
    }

    /// The stock did not have what was due.
    pub fn load_exhausted(&self, count: u64) {
        self.load_exhausted.inc_by(count);
    }
}
