// SPDX-License-Identifier: Apache-2.0
//! What faults did to a disk.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::{Registry, Unit},
};
use std::{sync::atomic::AtomicU64, time::Duration};

/// What is measured of the faults of a disk; nothing before the first.
#[derive(Clone, Debug)]
pub struct Metrics {
    held: Family<Label, Counter>,
    hold: Family<Label, Counter<f64, AtomicU64>>,
    refused: Family<Label, Counter>,
}

/// What is done to a disk.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Write,
    Sync,
    Remove,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Label {
    operation: &'static str,
}

impl From<Operation> for Label {
    fn from(operation: Operation) -> Self {
        let operation = match operation {
            Operation::Write => "write",
            Operation::Sync => "sync",
            Operation::Remove => "remove",
        };
        Self { operation }
    }
}

impl Metrics {
    /// Registers them.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            held: Family::default(),
            hold: Family::default(),
            refused: Family::default(),
        };
        registry.register(
            "disk_held_operations",
            "Operations that a fault of the disk held up",
            metrics.held.clone(),
        );
        registry.register_with_unit(
            "disk_hold",
            "How long a fault of the disk held operations up, all together",
            Unit::Seconds,
            metrics.hold.clone(),
        );
        registry.register(
            "disk_refused_operations",
            "Operations that a fault of the disk refused",
            metrics.refused.clone(),
        );
        metrics
    }

    /// An operation was held up for so long.
    pub(crate) fn held(&self, operation: Operation, time: Duration) {
        let label = operation.into();
        self.held.get_or_create_owned(&label).inc();
        self.hold
            .get_or_create_owned(&label)
            .inc_by(time.as_secs_f64());
    }

    /// An operation was refused.
    pub(crate) fn refused(&self, operation: Operation) {
        self.refused.get_or_create_owned(&operation.into()).inc();
    }
}
