// SPDX-License-Identifier: Apache-2.0
//! What finalised blocks say, as the node contract names it: counters come from
//! the headers' totals.

use crate::misses::{Miss, Misses};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};
use shardnode_primitives::{Block, ChunkHeader, ShardId, congestion::blocks_behind};
use shardnode_traces::{Exemplar, Histogram};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ShardLabel {
    shard: u16,
}

type GaugeByShard = Family<ShardLabel, Gauge<u64, AtomicU64>>;
type ByShard = Family<ShardLabel, Counter<u64, AtomicU64>>;

const BLOCK_TIME_BUCKETS: [f64; 14] = [
    0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0,
];

/// What is measured of blocks.
#[derive(Debug)]
pub struct Metrics {
    height: Gauge<u64, AtomicU64>,
    finalized_height: Gauge<u64, AtomicU64>,
    block_time: Histogram,
    finality_lag: Histogram,
    transfers: ByShard,
    credits: ByShard,
    cross_shard: ByShard,
    missed: ByShard,
    misses: Misses,
    produced_transfers: Counter,
    endorsed_stake: GaugeByShard,
    mandated_stake: GaugeByShard,
    behind: GaugeByShard,
}

/// Moves a counter to a total that was counted elsewhere.
fn raise(counter: &Counter<u64, AtomicU64>, total: u64) {
    counter.inner().fetch_max(total, Ordering::Relaxed);
}

impl Metrics {
    /// Registers them.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            height: Gauge::default(),
            finalized_height: Gauge::default(),
            block_time: Histogram::new(BLOCK_TIME_BUCKETS),
            finality_lag: Histogram::new(BLOCK_TIME_BUCKETS),
            transfers: Family::default(),
            credits: Family::default(),
            cross_shard: Family::default(),
            missed: Family::default(),
            misses: Misses::default(),
            produced_transfers: Counter::default(),
            endorsed_stake: Family::default(),
            mandated_stake: Family::default(),
            behind: Family::default(),
        };
        metrics.register(registry);
        metrics
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
        self.misses.register(registry);
        registry.register(
            "produced_transfers",
            "Transfers executed in chunks this node produced, from finalised headers",
            self.produced_transfers.clone(),
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
            "shard_blocks_behind",
            "Blocks that a shard is behind with crediting receipts, from finalised headers",
            self.behind.clone(),
        );
    }

    /// A block was verified or proposed.
    pub fn seen(&self, height: u64) {
        self.height.inner().fetch_max(height, Ordering::Relaxed);
    }

    /// This node proposed `block`, which lacks as many chunks, each for its reason.
    /// They count once it is final.
    pub fn proposed(&self, block: &Block, misses: Vec<Miss>) {
        self.seen(block.height);
        self.misses.proposed(block, misses);
    }

    /// The highest block verified, proposed or finalised.
    #[must_use]
    pub fn height(&self) -> u64 {
        self.height.get()
    }

    /// `block` is finalised on top of `before`, the block processed last.
    pub fn finalized(
        &self,
        before: &Block,
        block: &Block,
        lag: u8,
        now_ms: u64,
        exemplar: Option<Exemplar>,
    ) {
        self.seen(block.height);
        self.misses.finalized(block);
        self.finalized_height.set(block.height);
        let seconds = |ms: u64| Duration::from_millis(ms).as_secs_f64();
        if before.height > 0 && block.height == before.height + 1 {
            let elapsed = block.timestamp_ms.saturating_sub(before.timestamp_ms);
            self.block_time.observe(seconds(elapsed), exemplar.clone());
        }
        let elapsed = now_ms.saturating_sub(block.timestamp_ms);
        self.finality_lag.observe(seconds(elapsed), exemplar);
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
        self.behind.get_or_create(&label).set(behind);
        raise(
            &self.missed.get_or_create(&label),
            height.saturating_sub(content.sequence),
        );
    }

    /// A finalised block has a new header of `shard` with this stake behind
    /// it.
    pub fn finalized_endorsements(&self, shard: ShardId, endorsed: u64, mandated: u64) {
        let label = ShardLabel { shard: shard.0 };
        self.endorsed_stake.get_or_create(&label).set(endorsed);
        self.mandated_stake.get_or_create(&label).set(mandated);
    }

    /// A finalised block committed to the execution of this many transfers in
    /// chunks of this node.
    pub fn produced_transfers(&self, count: u64) {
        self.produced_transfers.inc_by(count);
    }
}
