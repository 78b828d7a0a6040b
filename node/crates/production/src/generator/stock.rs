// SPDX-License-Identifier: Apache-2.0
//! The transfers that a generator has signed before they are due, on disk.
//!
//! They are a journal in the order in which they were drawn, so that the nonces
//! of each account are in order, too. What is there of an earlier stock, or of an
//! earlier process, is never read. Reading is checked: the disk gives back what
//! was written, or the stock has failed.

use commonware_runtime::buffer::paged::CacheRef;
use commonware_storage::journal::{
    self,
    contiguous::{Contiguous as _, Many, fixed},
};
use commonware_utils::{NZU16, NZU64, NZUsize, channel::watch};
use shardnode_load::Workload;
use shardnode_mailboxes::Runtime;
use shardnode_primitives::Transaction;
use std::num::{NonZeroU64, NonZeroUsize};
use tracing::warn;

/// Transfers in one file: 40 MB. All files of a stock are open.
const TRANSFERS_PER_FILE: NonZeroU64 = NZU64!(1 << 18);
const BUFFER: NonZeroUsize = NZUsize!(1 << 20);
const PAGE: u16 = 4_084;
/// Cached pages: what is due is read once, in order.
const PAGES: NonZeroUsize = NZUsize!(64);

/// What is to be in stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Another one for each stock.
    pub(super) number: u64,
    pub(super) transfers: u32,
    pub(super) workload: Workload,
}

/// What became of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) order: Option<Order>,
    pub(super) signed: u32,
    pub(super) taken: u32,
    /// Why there is nothing more to be had from it.
    pub(super) failure: Option<String>,
}

type Journal<E> = fixed::Journal<E, Transaction>;

/// The stock of a generator.
pub(super) struct Stock<E: Runtime> {
    context: E,
    partition: String,
    /// `None` before the first order, and after a failure.
    journal: Option<Journal<E>>,
    /// The position of the first transfer of the order.
    first: u64,
    progress: watch::Sender<Progress>,
}

impl<E: Runtime> Stock<E> {
    /// An empty one; `partition` is where it will be.
    pub(super) async fn new(
        context: E,
        partition: String,
        progress: watch::Sender<Progress>,
    ) -> Self {
        // What an earlier process left is of no use. If it cannot be removed now,
        // the next order passes over it.
        for part in ["blobs", "metadata"] {
            let _ = context.remove(&format!("{partition}-{part}"), None).await;
        }
        Self {
            context,
            partition,
            journal: None,
            first: 0,
            progress,
        }
    }

    /// What is, or is to be, in stock.
    pub(super) fn order(&self) -> Option<Order> {
        self.progress.borrow().order
    }

    /// How many transfers are still to be signed.
    pub(super) fn missing(&self) -> u32 {
        let progress = self.progress.borrow();
        match progress.order {
            Some(order) if progress.failure.is_none() => order.transfers - progress.signed,
            _ => 0,
        }
    }

    /// Forgets all transfers, for others.
    pub(super) async fn begin(&mut self, order: Option<Order>) {
        self.progress.send_replace(Progress {
            order,
            ..Progress::default()
        });
        let emptied = self.empty(order.is_some()).await;
        self.note(emptied);
    }

    async fn empty(&mut self, wanted: bool) -> Result<(), journal::Error> {
        let journal = match self.journal.take() {
            Some(journal) => {
                let end = journal.size();
                journal.prune(end).await?.0
            }
            None if !wanted => return Ok(()),
            None => {
                let config = fixed::Config {
                    partition: self.partition.clone(),
                    items_per_blob: TRANSFERS_PER_FILE,
                    page_cache: CacheRef::new(NZU16!(PAGE), PAGES),
                    write_buffer: BUFFER,
                    replay_buffer: BUFFER,
                };
                Journal::init(self.context.child("journal"), config).await?
            }
        };
        self.first = journal.size();
        self.journal = Some(journal);
        Ok(())
    }

    /// Adds signed transfers, in the order in which they were drawn.
    pub(super) async fn put(&mut self, signed: &[Transaction]) {
        let Some(journal) = self.journal.take() else {
            return;
        };
        match journal.append_many(Many::Flat(signed)).await {
            Ok((journal, _)) => {
                self.journal = Some(journal);
                self.progress
                    .send_modify(|progress| progress.signed += signed.len() as u32);
            }
            Err(error) => self.note(Err(error)),
        }
    }

    /// Takes the next transfers, at most so many.
    pub(super) async fn take(&mut self, most: u32) -> Vec<Transaction> {
        let (signed, taken) = {
            let progress = self.progress.borrow();
            (progress.signed, progress.taken)
        };
        let many = most.min(signed - taken);
        let Some(journal) = self.journal.as_ref().filter(|_| many > 0) else {
            return Vec::new();
        };
        let next = self.first + u64::from(taken);
        let positions: Vec<_> = (next..next + u64::from(many)).collect();
        match journal.read_many(&positions).await {
            Ok(transfers) => {
                self.progress.send_modify(|progress| progress.taken += many);
                transfers
            }
            Err(error) => {
                self.note(Err(error));
                Vec::new()
            }
        }
    }

    /// Notes what the disk did.
    fn note(&mut self, result: Result<(), journal::Error>) {
        let Err(error) = result else {
            return;
        };
        warn!(%error, "the transfers that were signed before cannot be kept");
        self.journal = None;
        self.progress
            .send_modify(|progress| progress.failure = Some(error.to_string()));
    }
}
