// SPDX-License-Identifier: Apache-2.0
//! What is measured of fetching and serving states.

use prometheus_client::{
    metrics::counter::Counter,
    registry::{Registry, Unit},
};

/// What is measured of fetching and serving states.
#[derive(Debug, Default)]
pub struct Metrics {
    pages_fetched: Counter,
    bytes_fetched: Counter,
    pages_refused: Counter,
    pages_served: Counter,
    bytes_served: Counter,
}

impl Metrics {
    /// Registers them.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "state_pages_fetched",
            "Pages of the own shard's state fetched from other producers",
            metrics.pages_fetched.clone(),
        );
        registry.register_with_unit(
            "state_fetched",
            "Bytes of those pages",
            Unit::Bytes,
            metrics.bytes_fetched.clone(),
        );
        registry.register(
            "state_pages_refused",
            "Pages that were not of the state asked for",
            metrics.pages_refused.clone(),
        );
        registry.register(
            "state_pages_served",
            "Pages of the own shard's state sent to other producers",
            metrics.pages_served.clone(),
        );
        registry.register_with_unit(
            "state_served",
            "Bytes of those pages",
            Unit::Bytes,
            metrics.bytes_served.clone(),
        );
        metrics
    }

    /// A page of a state came, and is right.
    pub fn state_page_fetched(&self, bytes: usize) {
        self.pages_fetched.inc();
        self.bytes_fetched.inc_by(bytes as u64);
    }

    /// A page came that is not of the state asked for.
    pub fn state_page_refused(&self) {
        self.pages_refused.inc();
    }

    /// A page of a state was sent to a peer.
    pub fn state_page_served(&self, bytes: usize) {
        self.pages_served.inc();
        self.bytes_served.inc_by(bytes as u64);
    }
}
