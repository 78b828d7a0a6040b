// SPDX-License-Identifier: Apache-2.0
//! The actor that holds transactions until a chunk takes them: first come,
//! first served, at most `mempoolCapacity` of them and `mempoolMebibytes` in
//! all. Only transactions whose signatures were verified, or made, by this
//! node are let in. A pool is in memory: a node that starts again has an empty one,
//! and what other nodes passed on to it comes back from them
//! (`shardnode_clients`).
//!
//! One account may have an eighth of the pool, or 64 transactions if that is
//! more, and clients only what their accounts can pay for, with all that they
//! have in the pool already. What has expired at the height of the next chunk
//! leaves the pool.
//!
//! While a shard is congested, transfers to it stay where they are, and so
//! does everything behind them that the same account signed: nonces are used
//! in the order in which they came. What can only wait may fill a quarter of
//! the pool; more is refused, so that there is room for the rest.

mod queue;

use self::queue::Queue;
use crate::metrics::Metrics;
use commonware_runtime::Handle;
use commonware_utils::channel::{fallible::OneshotExt as _, mpsc};
use shardnode_mailboxes::{
    Runtime,
    pool::{Mailbox, Message, Offered, Rejections, mailbox},
};
use shardnode_primitives::{Genesis, Refusal, ShardId};
use std::sync::Arc;

/// What a pool may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Transactions.
    pub transactions: usize,
    /// Their bytes.
    pub bytes: usize,
}

/// The actor.
pub struct Actor {
    queue: Queue,
    rejections: Rejections,
    metrics: Arc<Metrics>,
    inbox: mpsc::Receiver<Message>,
}

impl Actor {
    /// Creates the actor for the pool of `shard`.
    #[must_use]
    pub fn new(
        capacity: Capacity,
        genesis: &Genesis,
        shard: ShardId,
        rejections: Rejections,
        metrics: Arc<Metrics>,
    ) -> (Self, Mailbox) {
        let (mailbox, inbox) = mailbox();
        let actor = Self {
            queue: Queue::new(
                capacity,
                genesis.layout,
                shard,
                genesis.protocol.transfer_fee,
            ),
            rejections,
            metrics,
            inbox,
        };
        (actor, mailbox)
    }

    /// Runs until nobody is left to talk to.
    pub fn start(self, context: impl Runtime) -> Handle<()> {
        context.spawn(move |_| self.run())
    }

    async fn run(mut self) {
        while let Some(message) = self.inbox.recv().await {
            match message {
                Message::Add { offered, reply } => {
                    let added = offered.into_iter().map(|one| self.add(one)).collect();
                    reply.send_lossy(added);
                }
                Message::Room(reply) => {
                    reply.send_lossy(self.queue.room());
                }
                Message::Take { most, reply } => {
                    let taken = self.queue.take(most);
                    if let Err(taken) = reply.send(taken) {
                        self.queue.give_back(taken.transactions);
                    }
                }
                Message::GiveBack(transactions) => self.queue.give_back(transactions),
                Message::Next(height, congestion) => {
                    let expired = self.queue.next(height, congestion);
                    self.rejections.rejected_many(Refusal::Expired, expired);
                }
            }
            self.metrics
                .pool(self.queue.len(), self.queue.bytes(), self.queue.waiting());
        }
    }

    fn add(&mut self, offered: Offered) -> Result<(), Refusal> {
        let added = self.queue.add(offered.transaction, offered.funds);
        if let Err(refusal) = added {
            self.rejections.rejected(refusal);
        }
        added
    }
}
