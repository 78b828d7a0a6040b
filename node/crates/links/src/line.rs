// SPDX-License-Identifier: Apache-2.0
//! The way to a peer: the link that it is behind, and what is wrong with it.

use crate::{
    conditions::Conditions,
    fault::Fault,
    metrics::{DirectionMetrics, Metrics},
};
use commonware_utils::channel::watch;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// The link to a region.
#[derive(Debug)]
pub struct Link {
    conditions: Conditions,
    sent: DirectionMetrics,
    received: DirectionMetrics,
}

impl Link {
    /// The link to `peer_region`, and where it is measured.
    #[must_use]
    pub fn new(peer_region: &str, conditions: Conditions, metrics: &Metrics) -> Arc<Self> {
        Arc::new(Self {
            conditions,
            sent: metrics.sent(peer_region),
            received: metrics.received(peer_region),
        })
    }
}

/// The way to one peer.
#[derive(Debug)]
pub struct Line {
    link: Option<Arc<Link>>,
    /// Whether there is a fault: all that a connection without one looks at.
    faulty: AtomicBool,
    fault: watch::Sender<Option<Fault>>,
}

impl Line {
    /// The way to a peer that is behind a link, or behind none.
    #[must_use]
    pub fn new(link: Option<Arc<Link>>) -> Arc<Self> {
        Arc::new(Self {
            link,
            faulty: AtomicBool::new(false),
            fault: watch::Sender::new(None),
        })
    }

    /// Begins a fault, or ends it.
    pub(crate) fn set(&self, fault: Option<Fault>) {
        self.fault.send_replace(fault);
        self.faulty.store(fault.is_some(), Ordering::Release);
    }

    /// Whether there is a fault.
    pub(crate) fn is_faulty(&self) -> bool {
        self.faulty.load(Ordering::Acquire)
    }

    /// Whether a connection is the inner network's own.
    pub(crate) fn is_plain(&self) -> bool {
        self.link.is_none() && !self.is_faulty()
    }

    /// What holds now, but for a cut.
    pub(crate) fn conditions(&self) -> Conditions {
        let conditions = self.link.as_ref().map(|link| link.conditions);
        let conditions = conditions.unwrap_or_default();
        if !self.is_faulty() {
            return conditions;
        }
        let fault = *self.fault.borrow();
        fault.map_or(conditions, |fault| conditions.with(fault))
    }

    /// Waits until the way is not cut.
    pub(crate) async fn opened(&self) {
        if !self.is_faulty() {
            return;
        }
        let mut fault = self.fault.subscribe();
        // The sender is this line's own.
        let _ = fault.wait_for(|fault| *fault != Some(Fault::Cut)).await;
    }

    pub(crate) fn sent(&self) -> Option<&DirectionMetrics> {
        self.link.as_ref().map(|link| &link.sent)
    }

    pub(crate) fn received(&self) -> Option<&DirectionMetrics> {
        self.link.as_ref().map(|link| &link.received)
    }
}
