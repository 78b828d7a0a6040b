// SPDX-License-Identifier: Apache-2.0
//! What is measured of executions.

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};
use std::{sync::atomic::AtomicU64, time::Duration};

const EXECUTION_BUCKETS: [f64; 12] = [
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0,
];

/// Of a metric that has no series before it is first set.
type NoLabels = [(&'static str, &'static str); 0];

/// What is measured of executions.
#[derive(Debug)]
pub struct Metrics {
    executed_height: Gauge<u64, AtomicU64>,
    execution: Histogram,
    snapshots_installed: Counter,
    executions_repeated: Counter,
    /// Without a series in a node that tracks no shard.
    copy_complete: Family<NoLabels, Gauge>,
}

impl Metrics {
    /// Registers them.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            executed_height: Gauge::default(),
            execution: Histogram::new(EXECUTION_BUCKETS),
            snapshots_installed: Counter::default(),
            executions_repeated: Counter::default(),
            copy_complete: Family::default(),
        };
        registry.register(
            "executed_height",
            "Height of the last chunk of the own shard executed",
            metrics.executed_height.clone(),
        );
        registry.register_with_unit(
            "execution",
            "Time to execute one chunk of the own shard",
            Unit::Seconds,
            metrics.execution.clone(),
        );
        registry.register(
            "snapshots_installed",
            "Fetched states that this node went on from",
            metrics.snapshots_installed.clone(),
        );
        registry.register(
            "executions_repeated",
            "Executions that were acknowledged, were gone at the start, and are done again",
            metrics.executions_repeated.clone(),
        );
        registry.register(
            "copy_complete",
            "Whether this node's copy of its shard is enough for the shard's other producers",
            metrics.copy_complete.clone(),
        );
        metrics
    }

    /// Whether the own copy of the shard is complete.
    pub fn copy_complete(&self, complete: bool) {
        self.copy_complete.get_or_create(&[]).set(complete.into());
    }

    /// The own shard's chunk at `height` was executed.
    pub fn executed(&self, height: u64, elapsed: Duration) {
        self.executed_height.set(height);
        self.execution.observe(elapsed.as_secs_f64());
    }

    /// An execution that was acknowledged is gone and done again.
    pub fn repeats(&self) {
        self.executions_repeated.inc();
    }

    /// The own shard goes on from a fetched state at `height`.
    pub fn snapshot_installed(&self, height: u64) {
        self.snapshots_installed.inc();
        self.executed_height.set(height);
    }
}
