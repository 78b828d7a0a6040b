// SPDX-License-Identifier: Apache-2.0
//! What a generator is told, and what it says of itself.

use super::stock::{Order, Progress};
use crate::metrics::Metrics;
use commonware_utils::channel::watch;
use shardnode_load::{Reach, Signing, Stock, Target, TargetError, Workload, target::MAX_STOCK};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Counts of a generator since the node started.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) signed: AtomicU64,
    pub(super) rejected: AtomicU64,
    pub(super) held_back: AtomicU64,
    pub(super) overdue: AtomicU64,
    pub(super) exhausted: AtomicU64,
}

/// What a generator is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) rate: u32,
    pub(super) workload: Workload,
    pub(super) signing: Signing,
    /// The stock that it has, or is to sign.
    pub(super) order: Option<Order>,
    /// How many stocks there were.
    orders: u64,
}

impl Told {
    /// What it is to do from now on. What it has in stock is told by `stock`.
    fn follow(
        self,
        target: Target,
        stock: impl FnOnce(Order) -> Stock,
    ) -> Result<Self, TargetError> {
        let Target {
            transfers_per_second: rate,
            workload,
            signing,
            stock: transfers,
        } = target;
        let mut told = Self {
            rate,
            workload,
            signing,
            ..self
        };
        match (signing, transfers) {
            (Signing::Live, Some(_)) => return Err(TargetError::Unused),
            // Its nonces will be above those of the stock.
            (Signing::Live, None) => told.order = None,
            (Signing::Before, Some(_)) if rate > 0 => return Err(TargetError::Loaded),
            (Signing::Before, Some(transfers)) => {
                if !(1..=MAX_STOCK).contains(&transfers) {
                    return Err(TargetError::Size);
                }
                told.orders += 1;
                told.order = Some(Order {
                    number: told.orders,
                    transfers,
                    workload,
                });
            }
            (Signing::Before, None) if rate > 0 => {
                let order = self.order.ok_or(TargetError::NoStock)?;
                stock(order).check(&workload)?;
            }
            (Signing::Before, None) => {}
        }
        Ok(told)
    }
}

/// What a generator is told and what it did.
#[derive(Clone, Debug)]
pub struct Control {
    pub(super) told: watch::Sender<Told>,
    pub(super) progress: watch::Receiver<Progress>,
    pub(super) reach: Reach,
    pub(super) counts: Arc<Counts>,
    pub(super) metrics: Arc<Metrics>,
}

impl Control {
    /// Tells it what to do. It does as before if that is refused.
    pub fn set(&self, target: Target) -> Result<(), TargetError> {
        self.reach.check(&target.workload)?;
        let mut refused = None;
        self.told.send_if_modified(|told| {
            match told.follow(target, |order| self.stock_of(order)) {
                Ok(followed) => *told = followed,
                Err(error) => refused = Some(error),
            }
            refused.is_none()
        });
        if let Some(error) = refused {
            return Err(error);
        }
        self.metrics.load_target(target.transfers_per_second);
        Ok(())
    }

    /// Sets the transfers that are due in a second, and leaves which. They are
    /// signed when they are due.
    pub fn set_rate(&self, transfers_per_second: u32) {
        self.told.send_modify(|told| {
            told.rate = transfers_per_second;
            told.signing = Signing::Live;
            told.order = None;
        });
        self.metrics.load_target(transfers_per_second);
    }

    /// The transfers that are due in a second.
    #[must_use]
    pub fn rate(&self) -> u32 {
        self.told.borrow().rate
    }

    /// Which transfers it signs.
    #[must_use]
    pub fn workload(&self) -> Workload {
        self.told.borrow().workload
    }

    /// When it signs them.
    #[must_use]
    pub fn signing(&self) -> Signing {
        self.told.borrow().signing
    }

    /// The transfers that it signs, or has signed, before they are due.
    #[must_use]
    pub fn stock(&self) -> Option<Stock> {
        let order = self.told.borrow().order?;
        Some(self.stock_of(order))
    }

    fn stock_of(&self, order: Order) -> Stock {
        let progress = self.progress.borrow();
        let begun = progress.order == Some(order);
        let (signed, taken) = if begun {
            (progress.signed, progress.taken)
        } else {
            (0, 0)
        };
        Stock {
            transfers: order.transfers,
            workload: order.workload,
            signed,
            left: signed - taken,
            failure: progress.failure.clone().filter(|_| begun),
        }
    }

    /// Transfers signed since the node started, those of a stock once they were
    /// taken from it.
    #[must_use]
    pub fn signed(&self) -> u64 {
        self.counts.signed.load(Ordering::Relaxed)
    }

    /// Those of them that the pool refused.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.counts.rejected.load(Ordering::Relaxed)
    }

    /// Transfers that were due since the node started and were not signed,
    /// because the pool had no room.
    #[must_use]
    pub fn held_back(&self) -> u64 {
        self.counts.held_back.load(Ordering::Relaxed)
    }

    /// Transfers that were due since the node started and were not signed,
    /// because the generator was too late.
    #[must_use]
    pub fn overdue(&self) -> u64 {
        self.counts.overdue.load(Ordering::Relaxed)
    }

    /// Transfers that were due since the node started, and that the stock did not
    /// have any more.
    #[must_use]
    pub fn exhausted(&self) -> u64 {
        self.counts.exhausted.load(Ordering::Relaxed)
    }
}
