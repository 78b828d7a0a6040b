// SPDX-License-Identifier: Apache-2.0
//! The actor that holds transactions until a chunk takes them: first come,
//! first served, at most `mempoolCapacity` of them and `mempoolMebibytes` in
//! all. Only transactions whose signatures were verified, or made, by this
//! node are let in.
//!
//! While a shard is congested, transfers to it stay where they are, and so
//! does everything behind them that the same account signed: nonces are used
//! in the order in which they came. What can only wait may fill a quarter of
//! the pool; more is refused, so that there is room for the rest.

mod queue;

use self::queue::Queue;
use crate::{metrics::Metrics, runtime::Runtime};
use commonware_runtime::Handle;
use commonware_utils::channel::{fallible::OneshotExt as _, mpsc, oneshot};
use shardnode_primitives::{Congestion, ShardId, ShardLayout, Transaction};
use std::sync::Arc;

/// Why a transaction was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// The pool holds `mempoolCapacity` transactions.
    #[error("pool is full")]
    Full,
    /// The pool holds `mempoolMebibytes` of transactions.
    #[error("pool is full")]
    Bytes,
    /// The pool has a transaction with this signer and nonce.
    #[error("a transaction with this signer and nonce is pooled already")]
    Duplicate,
    /// The pool holds as much for congested shards as it may.
    #[error("receiver's shard is congested, and enough transfers wait for such shards")]
    Congested,
}

impl PoolError {
    /// What it is counted as.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Bytes => "bytes",
            Self::Duplicate => "duplicate",
            Self::Congested => "congested",
        }
    }
}

/// What a pool may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Transactions.
    pub transactions: usize,
    /// Their bytes.
    pub bytes: usize,
}

/// What a chunk takes.
#[derive(Debug, Default)]
pub struct Taken {
    /// The oldest that need not wait.
    pub transactions: Vec<Transaction>,
    /// Whether others were left behind because they must wait.
    pub held_back: bool,
}

enum Message {
    Add {
        transactions: Vec<Transaction>,
        reply: oneshot::Sender<Vec<Result<(), PoolError>>>,
    },
    Take {
        most: usize,
        reply: oneshot::Sender<Taken>,
    },
    GiveBack(Vec<Transaction>),
    Congested(Congestion),
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<Message>);

impl Mailbox {
    /// Adds transactions with verified signatures; `None` when the node stops.
    pub async fn add(&self, transactions: Vec<Transaction>) -> Option<Vec<Result<(), PoolError>>> {
        let (reply, response) = oneshot::channel();
        let message = Message::Add {
            transactions,
            reply,
        };
        self.0.send(message).await.ok()?;
        response.await.ok()
    }

    /// Takes the oldest transactions that need not wait.
    pub async fn take(&self, most: usize) -> Taken {
        let (reply, response) = oneshot::channel();
        let _ = self.0.send(Message::Take { most, reply }).await;
        response.await.unwrap_or_default()
    }

    /// Puts transactions of a missed chunk back, in front of all others.
    pub async fn give_back(&self, transactions: Vec<Transaction>) {
        let _ = self.0.send(Message::GiveBack(transactions)).await;
    }

    /// From now on, these shards are congested and no others.
    pub async fn congested(&self, congestion: Congestion) {
        let _ = self.0.send(Message::Congested(congestion)).await;
    }
}

/// The actor.
pub struct Actor {
    queue: Queue,
    metrics: Arc<Metrics>,
    inbox: mpsc::Receiver<Message>,
}

impl Actor {
    /// Creates the actor for the pool of `shard`.
    #[must_use]
    pub fn new(
        capacity: Capacity,
        layout: ShardLayout,
        shard: ShardId,
        metrics: Arc<Metrics>,
    ) -> (Self, Mailbox) {
        let (sender, inbox) = mpsc::channel(256);
        let actor = Self {
            queue: Queue::new(capacity, layout, shard),
            metrics,
            inbox,
        };
        (actor, Mailbox(sender))
    }

    /// Runs until nobody is left to talk to.
    pub fn start(self, context: impl Runtime) -> Handle<()> {
        context.spawn(move |_| self.run())
    }

    async fn run(mut self) {
        while let Some(message) = self.inbox.recv().await {
            match message {
                Message::Add {
                    transactions,
                    reply,
                } => {
                    let added = transactions
                        .into_iter()
                        .map(|transaction| self.add(transaction))
                        .collect();
                    reply.send_lossy(added);
                }
                Message::Take { most, reply } => {
                    let taken = self.queue.take(most);
                    if let Err(taken) = reply.send(taken) {
                        self.queue.give_back(taken.transactions);
                    }
                }
                Message::GiveBack(transactions) => self.queue.give_back(transactions),
                Message::Congested(congestion) => self.queue.congested(congestion),
            }
            self.metrics
                .pool(self.queue.len(), self.queue.bytes(), self.queue.waiting());
        }
    }

    fn add(&mut self, transaction: Transaction) -> Result<(), PoolError> {
        let added = self.queue.add(transaction);
        if let Err(error) = added {
            self.metrics.rejected(error.reason());
        }
        added
    }
}
