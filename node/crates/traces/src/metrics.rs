// SPDX-License-Identifier: Apache-2.0
//! What is measured of recording and exporting spans.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CauseLabel {
    cause: &'static str,
}

/// Why a span is dropped.
const FULL: &str = "full";
const EXPORT: &str = "export";

/// What is measured of recording and exporting spans.
#[derive(Clone, Debug)]
pub struct Metrics {
    recorded: Counter,
    exported: Counter,
    dropped: Family<CauseLabel, Counter>,
}

impl Metrics {
    /// Registers them.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            recorded: Counter::default(),
            exported: Counter::default(),
            dropped: Family::default(),
        };
        // What has not happened is 0, not unknown.
        for cause in [FULL, EXPORT] {
            drop(metrics.dropped.get_or_create(&CauseLabel { cause }));
        }
        registry.register(
            "spans_recorded",
            "Spans of traced heights that this node recorded",
            metrics.recorded.clone(),
        );
        registry.register(
            "spans_exported",
            "Spans that the tracing endpoint took",
            metrics.exported.clone(),
        );
        registry.register(
            "spans_dropped",
            "Spans that never came to the tracing endpoint",
            metrics.dropped.clone(),
        );
        metrics
    }

    pub(crate) fn recorded(&self) {
        self.recorded.inc();
    }

    pub(crate) fn overran(&self) {
        self.dropped
            .get_or_create(&CauseLabel { cause: FULL })
            .inc();
    }

    /// The endpoint took so many spans.
    pub fn exported(&self, spans: usize) {
        self.exported.inc_by(spans as u64);
    }

    /// The endpoint could not be reached with so many spans, or refused them.
    pub fn not_exported(&self, spans: usize) {
        let label = CauseLabel { cause: EXPORT };
        self.dropped.get_or_create(&label).inc_by(spans as u64);
    }
}
