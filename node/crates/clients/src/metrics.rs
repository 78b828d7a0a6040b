// SPDX-License-Identifier: Apache-2.0
//! What is measured of transactions that are passed on for clients.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};
use std::sync::atomic::AtomicU64;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

/// Why a transaction goes to another producer than the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// The first did not answer.
    Unanswered,
    /// It is in no chunk.
    LeftOut,
}

/// Why a transaction is kept no longer, or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A producer says what became of it.
    Known,
    /// All producers were asked, and none knows.
    GivenUp,
    /// No chunk can execute it any more.
    Expired,
    /// There was no room.
    Room,
}

/// What is measured of transactions that are passed on.
#[derive(Debug)]
pub struct Metrics {
    kept: Gauge<u64, AtomicU64>,
    again: Family<ReasonLabel, Counter>,
    ended: Family<ReasonLabel, Counter>,
}

impl Metrics {
    /// Registers them.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            kept: Gauge::default(),
            again: Family::default(),
            ended: Family::default(),
        };
        registry.register(
            "forwarded_transactions",
            "Transactions of clients that this node passed on and keeps",
            metrics.kept.clone(),
        );
        registry.register(
            "forwarded_again",
            "Transactions of clients that this node passed on to another producer, by reason",
            metrics.again.clone(),
        );
        registry.register(
            "forwarded_ended",
            "Transactions of clients that this node passed on and does not keep any more, by reason",
            metrics.ended.clone(),
        );
        metrics
    }

    /// So many transactions are kept.
    pub(crate) fn kept(&self, transactions: usize) {
        self.kept.set(transactions as u64);
    }

    /// So many transactions go to another producer.
    pub(crate) fn again(&self, why: Again, transactions: usize) {
        let reason = match why {
            Again::Unanswered => "unanswered",
            Again::LeftOut => "left_out",
        };
        let counter = self.again.get_or_create(&ReasonLabel { reason });
        counter.inc_by(transactions as u64);
    }

    /// A transaction is kept no longer.
    pub(crate) fn ended(&self, why: End) {
        let reason = match why {
            End::Known => "known",
            End::GivenUp => "given_up",
            End::Expired => "expired",
            End::Room => "room",
        };
        self.ended.get_or_create(&ReasonLabel { reason }).inc();
    }
}
