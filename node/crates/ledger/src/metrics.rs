// SPDX-License-Identifier: Apache-2.0
//! What is measured of executions.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};
use shardnode_execution::Outcome;
use shardnode_traces::{Exemplar, Histogram};
use std::{sync::atomic::AtomicU64, time::Duration};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

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
    produced_failures: Family<ReasonLabel, Counter>,
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
            produced_failures: Family::default(),
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
            "produced_failures",
            "Transactions that failed in the chunks that this node produced, by reason",
            metrics.produced_failures.clone(),
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
    pub fn executed(&self, height: u64, elapsed: Duration, exemplar: Option<Exemplar>) {
        self.executed_height.set(height);
        self.execution.observe(elapsed.as_secs_f64(), exemplar);
    }

    /// Transactions of a chunk that this node produced were executed.
    pub fn produced(&self, outcomes: impl IntoIterator<Item = Outcome>) {
        for outcome in outcomes {
            if let Outcome::Failed(failure) = outcome {
                let reason = failure.reason();
                let label = ReasonLabel { reason };
                self.produced_failures.get_or_create(&label).inc();
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;
    use shardnode_execution::Failure;

    #[test]
    fn failures_are_counted_by_reason() {
        let mut registry = Registry::default();
        let metrics = Metrics::new(&mut registry);
        metrics.produced([
            Outcome::Executed,
            Outcome::Failed(Failure::StaleNonce),
            Outcome::Failed(Failure::Congested),
            Outcome::Failed(Failure::StaleNonce),
        ]);
        let mut encoded = String::new();
        encode(&mut encoded, &registry).unwrap();
        let counted: Vec<_> = encoded
            .lines()
            .filter_map(|line| line.strip_prefix("produced_failures_total"))
            .collect();
        assert_eq!(counted.len(), 2, "{encoded}");
        assert!(counted.contains(&"{reason=\"nonce\"} 2"), "{encoded}");
        assert!(counted.contains(&"{reason=\"congested\"} 1"), "{encoded}");
    }
}
