// SPDX-License-Identifier: Apache-2.0
//! What is measured of archiving.

use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge},
    registry::Registry,
};

/// What is measured of archiving.
#[derive(Debug, Default)]
pub struct Metrics {
    states: Counter,
    usable: Gauge,
    behind: Gauge,
}

impl Metrics {
    /// Registers them.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "archive_states",
            "States of shards that were made durable by this archive",
            metrics.states.clone(),
        );
        registry.register(
            "archive_usable_shards",
            "Shards that could come back from this archive now",
            metrics.usable.clone(),
        );
        registry.register(
            "archive_behind_blocks",
            "Chunks' heights since the archived state, of the shard with the most",
            metrics.behind.clone(),
        );
        metrics
    }

    pub(crate) fn kept(&self) {
        self.states.inc();
    }

    pub(crate) fn stands(&self, usable: usize, behind: u64) {
        self.usable.set(i64::try_from(usable).unwrap_or(i64::MAX));
        self.behind.set(i64::try_from(behind).unwrap_or(i64::MAX));
    }
}
