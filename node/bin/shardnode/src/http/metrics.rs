// SPDX-License-Identifier: Apache-2.0
//! What the HTTP API is used for.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

/// What is measured of the HTTP API.
#[derive(Debug)]
pub struct HttpMetrics {
    connections: Gauge,
    requests: Counter,
    shed: Family<Cause, Counter>,
}

/// Why a connection was closed that its client kept open.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Cause {
    cause: &'static str,
}

const IDLE: Cause = Cause { cause: "idle" };
const DISPLACED: Cause = Cause { cause: "displaced" };

impl HttpMetrics {
    /// Metrics in a registry.
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            connections: Gauge::default(),
            requests: Counter::default(),
            shed: Family::default(),
        };
        registry.register(
            "http_connections",
            "Open connections to the HTTP API",
            metrics.connections.clone(),
        );
        registry.register(
            "http_requests",
            "Requests to the HTTP API that were taken up",
            metrics.requests.clone(),
        );
        registry.register(
            "http_connections_shed",
            "Connections to the HTTP API that this node closed before their clients did",
            metrics.shed.clone(),
        );
        // Zero is known from the start.
        for cause in [IDLE, DISPLACED] {
            drop(metrics.shed.get_or_create(&cause));
        }
        metrics
    }

    /// So many connections are open.
    pub(crate) fn open(&self, connections: usize) {
        self.connections
            .set(i64::try_from(connections).unwrap_or(i64::MAX));
    }

    /// A request was taken up.
    pub(crate) fn request(&self) {
        self.requests.inc();
    }

    /// A connection waited for its client for too long.
    pub(crate) fn idle(&self) {
        self.shed.get_or_create(&IDLE).inc();
    }

    /// A connection made room for another.
    pub(crate) fn displaced(&self) {
        self.shed.get_or_create(&DISPLACED).inc();
    }
}
