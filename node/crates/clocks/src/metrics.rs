// SPDX-License-Identifier: Apache-2.0
//! How wrong a clock is.

use crate::offset::Offset;
use prometheus_client::{
    metrics::gauge::Gauge,
    registry::{Registry, Unit},
};
use std::sync::atomic::AtomicU64;

/// What is measured of the faults of a clock.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    offset: Gauge<f64, AtomicU64>,
}

impl Metrics {
    /// Registers them.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let offset = Gauge::default();
        registry.register_with_unit(
            "clock_offset",
            "How far ahead of the right time a fault has the clock be",
            Unit::Seconds,
            offset.clone(),
        );
        Self { offset }
    }

    #[allow(clippy::cast_precision_loss, reason = "no offset is so large")]
    pub(crate) fn off(&self, by: Offset) {
        self.offset.set(by.as_millis() as f64 / 1_000.0);
    }
}
