// SPDX-License-Identifier: Apache-2.0
//! What links did to what was sent over them.

use crate::schedule::Passage;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};
use std::time::Duration;

const HOLD_BUCKETS: [f64; 10] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];

/// What is measured of links: of the connections that this node dialled, as it
/// is they that it holds up.
#[derive(Clone, Debug)]
pub struct Metrics {
    bytes: Family<Label, Counter>,
    hold: Family<Label, Histogram, fn() -> Histogram>,
    retransmissions: Family<Label, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Label {
    peer_region: String,
    direction: &'static str,
}

impl Metrics {
    /// Registers them.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            bytes: Family::default(),
            hold: Family::new_with_constructor(|| Histogram::new(HOLD_BUCKETS)),
            retransmissions: Family::default(),
        };
        registry.register_with_unit(
            "link",
            "Bytes that links let pass",
            Unit::Bytes,
            metrics.bytes.clone(),
        );
        registry.register_with_unit(
            "link_hold",
            "How long a link held a piece of what was sent over it, one way",
            Unit::Seconds,
            metrics.hold.clone(),
        );
        registry.register(
            "link_retransmissions",
            "Segments that a link lost, and had sent again",
            metrics.retransmissions.clone(),
        );
        metrics
    }

    /// Those of the connections to a region, one way.
    fn of(&self, peer_region: &str, direction: &'static str) -> DirectionMetrics {
        let label = Label {
            peer_region: peer_region.to_owned(),
            direction,
        };
        DirectionMetrics {
            bytes: self.bytes.get_or_create_owned(&label),
            hold: self.hold.get_or_create_owned(&label),
            retransmissions: self.retransmissions.get_or_create_owned(&label),
        }
    }

    pub(crate) fn sent(&self, peer_region: &str) -> DirectionMetrics {
        self.of(peer_region, "sent")
    }

    pub(crate) fn received(&self, peer_region: &str) -> DirectionMetrics {
        self.of(peer_region, "received")
    }
}

/// What is measured of one direction.
#[derive(Clone, Debug)]
pub(crate) struct DirectionMetrics {
    bytes: Counter,
    hold: Histogram,
    retransmissions: Counter,
}

impl DirectionMetrics {
    /// A piece arrived, after so long.
    pub(crate) fn arrived(&self, passage: Passage, held: Duration) {
        self.bytes.inc_by(passage.bytes as u64);
        self.hold.observe(held.as_secs_f64());
        self.retransmissions
            .inc_by(u64::from(passage.retransmissions));
    }
}
