// SPDX-License-Identifier: Apache-2.0
//! The actor that holds transactions until a chunk takes them: first come,
//! first served, at most `mempoolCapacity` of them. Only transactions whose
//! signatures were verified, or made, by this node are let in.

use crate::{metrics::Metrics, runtime::Runtime};
use commonware_runtime::Handle;
use commonware_utils::channel::{fallible::OneshotExt as _, mpsc, oneshot};
use shardnode_primitives::{AccountId, Transaction};
use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

/// Why a transaction was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// The pool holds `mempoolCapacity` transactions.
    #[error("pool is full")]
    Full,
    /// The pool has a transaction with this signer and nonce.
    #[error("a transaction with this signer and nonce is pooled already")]
    Duplicate,
}

enum Message {
    Add {
        transactions: Vec<Transaction>,
        reply: oneshot::Sender<Vec<Result<(), PoolError>>>,
    },
    Take {
        most: usize,
        reply: oneshot::Sender<Vec<Transaction>>,
    },
    GiveBack(Vec<Transaction>),
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

    /// Takes the oldest transactions.
    pub async fn take(&self, most: usize) -> Vec<Transaction> {
        let (reply, response) = oneshot::channel();
        let _ = self.0.send(Message::Take { most, reply }).await;
        response.await.unwrap_or_default()
    }

    /// Puts transactions of a missed chunk back, in front of all others.
    pub async fn give_back(&self, transactions: Vec<Transaction>) {
        let _ = self.0.send(Message::GiveBack(transactions)).await;
    }
}

/// The actor.
pub struct Actor {
    capacity: usize,
    waiting: VecDeque<Transaction>,
    known: BTreeSet<(AccountId, u64)>,
    metrics: Arc<Metrics>,
    inbox: mpsc::Receiver<Message>,
}

impl Actor {
    /// Creates the actor.
    #[must_use]
    pub fn new(capacity: usize, metrics: Arc<Metrics>) -> (Self, Mailbox) {
        let (sender, inbox) = mpsc::channel(256);
        let actor = Self {
            capacity,
            waiting: VecDeque::new(),
            known: BTreeSet::new(),
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
                    let taken = self.take(most);
                    if let Err(taken) = reply.send(taken) {
                        self.give_back(taken);
                    }
                }
                Message::GiveBack(transactions) => self.give_back(transactions),
            }
            self.metrics.pool(self.waiting.len());
        }
    }

    fn add(&mut self, transaction: Transaction) -> Result<(), PoolError> {
        if self.waiting.len() >= self.capacity {
            self.metrics.rejected("full");
            return Err(PoolError::Full);
        }
        if !self
            .known
            .insert((*transaction.signer(), transaction.nonce()))
        {
            self.metrics.rejected("duplicate");
            return Err(PoolError::Duplicate);
        }
        self.waiting.push_back(transaction);
        Ok(())
    }

    fn take(&mut self, most: usize) -> Vec<Transaction> {
        let count = most.min(self.waiting.len());
        let taken: Vec<Transaction> = self.waiting.drain(..count).collect();
        for transaction in &taken {
            self.known
                .remove(&(*transaction.signer(), transaction.nonce()));
        }
        taken
    }

    /// These were let in before: the capacity does not turn them away.
    fn give_back(&mut self, transactions: Vec<Transaction>) {
        for transaction in transactions.into_iter().rev() {
            if self
                .known
                .insert((*transaction.signer(), transaction.nonce()))
            {
                self.waiting.push_front(transaction);
            }
        }
    }
}
