// SPDX-License-Identifier: Apache-2.0
//! How many of the receipts that fell due a chunk credits.
//!
//! Receipts are credited in the order in which they fell due, and always all
//! that one header committed to: a [`Delivery`]. The first one is always
//! credited. Another one is as long as the witness of the execution, as large
//! as it can be with what is credited so far,
//!
//! - has less than half of the budget of [`witness_size`], and
//! - stays within the budget even if the next delivery is as large as any.
//!
//! So the witness always fits, whatever is sent to a shard; a shard that was
//! away gets through what has come together in chunks that can be checked in
//! time; and whoever knows what was credited knows whether more should have
//! been, without seeing it. Chunks that need more for their transactions leave
//! less for receipts, but never so little that nothing moves.

use shardnode_primitives::{
    DuePosition, ReceiptBucket, ShardId,
    genesis::{CongestionControl, Protocol},
    witness_size::{self, Counts},
};

/// The receipts for one shard that one header committed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The height of the block with that header: when they fell due.
    pub block: u64,
    /// Whose header it is.
    pub source: ShardId,
    /// One bucket for each of its results, in order.
    pub buckets: Vec<ReceiptBucket>,
}

/// What a chunk has credited so far.
#[derive(Clone, Copy, Debug)]
pub struct Crediting {
    protocol: Protocol,
    shown: Counts,
    last: Option<(u64, ShardId)>,
}

impl Crediting {
    /// A chunk with so many valid transactions, on a state of `leaves` leaves.
    #[must_use]
    pub const fn new(protocol: Protocol, transactions: usize, leaves: u32) -> Self {
        Self {
            protocol,
            shown: Counts {
                most_transactions: protocol.max_transactions_per_chunk,
                transactions: transactions as u32,
                buckets: 0,
                receipts: 0,
                depth: witness_size::depth(leaves),
                removes_accounts: protocol.removes_accounts(),
            },
            last: None,
        }
    }

    /// Whether the next delivery is credited, if there is one.
    #[must_use]
    pub const fn wants_more(&self) -> bool {
        if self.last.is_none()
            || matches!(
                self.protocol.congestion_control,
                CongestionControl::Disabled
            )
        {
            return true;
        }
        let lag = self.protocol.execution_lag;
        let budget = witness_size::budget(lag);
        let largest = Counts {
            buckets: self.shown.buckets + lag as u64,
            receipts: self.shown.receipts
                + lag as u64 * self.protocol.max_transactions_per_chunk as u64,
            ..self.shown
        };
        self.shown.bytes() < budget / 2 && largest.bytes() <= budget
    }

    /// This delivery is credited.
    pub fn credit(&mut self, delivery: &Delivery) {
        self.shown.buckets += delivery.buckets.len() as u64;
        let receipts = delivery.buckets.iter().map(|one| one.receipts.len());
        self.shown.receipts += receipts.sum::<usize>() as u64;
        self.last = Some((delivery.block, delivery.source));
    }

    /// Where the chunk after this one at `height` goes on, if everything that
    /// this one wanted is credited.
    #[must_use]
    pub const fn next_due(&self, height: u64) -> DuePosition {
        match self.last {
            Some((block, source)) if !self.wants_more() => DuePosition::after(block, source),
            _ => DuePosition::at(height.saturating_add(1)),
        }
    }
}
