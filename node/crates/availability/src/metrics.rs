// SPDX-License-Identifier: Apache-2.0
//! What is measured of bodies and their parts.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};
use std::sync::atomic::AtomicU64;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabel {
    result: &'static str,
}

/// Results of looking for a body in the parts of others.
const RECOVERED: &str = "recovered";
const INVALID: &str = "invalid";

/// What is measured of bodies and their parts.
#[derive(Debug)]
pub struct Metrics {
    parts_held: Gauge<u64, AtomicU64>,
    parts_held_bytes: Gauge<u64, AtomicU64>,
    recoveries: Family<ResultLabel, Counter>,
}

impl Metrics {
    /// Registers them.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            parts_held: Gauge::default(),
            parts_held_bytes: Gauge::default(),
            recoveries: Family::default(),
        };
        // What has not happened is 0, not unknown.
        for result in [RECOVERED, INVALID] {
            drop(metrics.recoveries.get_or_create(&ResultLabel { result }));
        }
        registry.register(
            "chunk_parts_held",
            "Parts of other shards' chunk bodies in memory",
            metrics.parts_held.clone(),
        );
        registry.register_with_unit(
            "chunk_parts_held",
            "Size of the parts of other shards' chunk bodies in memory",
            Unit::Bytes,
            metrics.parts_held_bytes.clone(),
        );
        registry.register(
            "body_recoveries",
            "Chunk bodies this node looked for in the parts of others",
            metrics.recoveries.clone(),
        );
        metrics
    }

    /// So many parts of so many bytes are held in memory.
    pub fn parts_held(&self, parts: usize, bytes: usize) {
        self.parts_held.set(parts as u64);
        self.parts_held_bytes.set(bytes as u64);
    }

    /// Enough parts of a chunk's body were collected; `valid` says whether they
    /// gave a body that is.
    pub fn recovered(&self, valid: bool) {
        let result = if valid { RECOVERED } else { INVALID };
        self.recoveries.get_or_create(&ResultLabel { result }).inc();
    }
}
