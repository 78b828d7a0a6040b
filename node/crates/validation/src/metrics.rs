// SPDX-License-Identifier: Apache-2.0
//! What is measured of a committee member's work.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::{Registry, Unit},
};
use shardnode_traces::{Exemplar, Histogram};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabel {
    result: &'static str,
}

const WITNESS_BUCKETS: [f64; 12] = [
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0,
];

/// What is measured of a committee member's work.
#[derive(Debug)]
pub struct Metrics {
    endorsements: Family<ResultLabel, Counter>,
    witness_receive: Histogram,
    witness_validation: Histogram,
}

impl Metrics {
    /// Registers them.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            endorsements: Family::default(),
            witness_receive: Histogram::new(WITNESS_BUCKETS),
            witness_validation: Histogram::new(WITNESS_BUCKETS),
        };
        registry.register(
            "endorsements",
            "Chunk headers this node checked as a member of their committee",
            metrics.endorsements.clone(),
        );
        registry.register_with_unit(
            "witness_receive",
            "From a witness's first part to the last one that is needed",
            Unit::Seconds,
            metrics.witness_receive.clone(),
        );
        registry.register_with_unit(
            "witness_validation",
            "Time to rebuild one state witness and re-execute from it",
            Unit::Seconds,
            metrics.witness_validation.clone(),
        );
        metrics
    }

    /// Enough parts of a witness came within `elapsed` of the first.
    pub fn witness_received(&self, elapsed: Duration, exemplar: Option<Exemplar>) {
        self.witness_receive
            .observe(elapsed.as_secs_f64(), exemplar);
    }

    /// A header was endorsed, after so long a re-execution.
    pub fn endorsed(&self, elapsed: Option<Duration>, exemplar: Option<Exemplar>) {
        if let Some(elapsed) = elapsed {
            self.witness_validation
                .observe(elapsed.as_secs_f64(), exemplar);
        }
        let result = "endorsed";
        self.endorsements
            .get_or_create(&ResultLabel { result })
            .inc();
    }

    /// A header was checked and not endorsed.
    pub fn refused(&self) {
        let result = "refused";
        self.endorsements
            .get_or_create(&ResultLabel { result })
            .inc();
    }
}
