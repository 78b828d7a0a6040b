// SPDX-License-Identifier: Apache-2.0
//! To the actor that holds transactions until a chunk takes them
//! (`shardnode_production`).

use commonware_utils::channel::{mpsc, oneshot};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};
use shardnode_primitives::{Congestion, Transaction};

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
    /// The pool holds as much of the signer as it may of one account.
    #[error("signer has as many transactions in the pool as one account may have")]
    Account,
    /// What the pool holds of the signer costs more than it has.
    #[error("signer cannot pay for this and what it has in the pool")]
    Funds,
    /// No chunk would execute it any more.
    #[error("transaction has expired")]
    Expired,
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
            Self::Account => "account",
            Self::Funds => "funds",
            Self::Expired => "expired",
            Self::Congested => "congested",
        }
    }
}

/// What a chunk takes.
#[derive(Debug, Default)]
pub struct Taken {
    /// The oldest that need not wait.
    pub transactions: Vec<Transaction>,
    /// Whether others were left behind because they must wait.
    pub held_back: bool,
}

/// What the actor is told and asked, as by the methods of [`Mailbox`].
#[derive(Debug)]
pub enum Message {
    /// [`Mailbox::add`] and [`Mailbox::submit`].
    Add {
        /// With verified signatures.
        transactions: Vec<Transaction>,
        /// What their one signer has, if it may not spend more.
        funds: Option<u64>,
        /// What became of each.
        reply: oneshot::Sender<Vec<Result<(), PoolError>>>,
    },
    /// [`Mailbox::room`].
    Room(oneshot::Sender<usize>),
    /// [`Mailbox::take`].
    Take {
        /// No more than this.
        most: usize,
        /// What is taken.
        reply: oneshot::Sender<Taken>,
    },
    /// [`Mailbox::give_back`].
    GiveBack(Vec<Transaction>),
    /// [`Mailbox::next`].
    Next(u64, Congestion),
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<Message>);

impl Mailbox {
    /// Adds transactions that this node's generator signed; `None` when the
    /// node stops.
    pub async fn add(&self, transactions: Vec<Transaction>) -> Option<Vec<Result<(), PoolError>>> {
        self.offer(transactions, None).await
    }

    /// Adds a client's transaction with a verified signature, if its signer can
    /// pay for it and all that it has in the pool from `funds`; `None` when the
    /// node stops.
    pub async fn submit(
        &self,
        transaction: Transaction,
        funds: u64,
    ) -> Option<Result<(), PoolError>> {
        let added = self.offer(vec![transaction], Some(funds)).await?;
        added.into_iter().next()
    }

    async fn offer(
        &self,
        transactions: Vec<Transaction>,
        funds: Option<u64>,
    ) -> Option<Vec<Result<(), PoolError>>> {
        let (reply, response) = oneshot::channel();
        let message = Message::Add {
            transactions,
            funds,
            reply,
        };
        self.0.send(message).await.ok()?;
        response.await.ok()
    }

    /// How many more transactions the pool holds; `None` when the node stops.
    pub async fn room(&self) -> Option<usize> {
        let (reply, response) = oneshot::channel();
        self.0.send(Message::Room(reply)).await.ok()?;
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

    /// The next chunk is for this height, at which these shards are congested
    /// and no others.
    pub async fn next(&self, height: u64, congestion: Congestion) {
        let _ = self.0.send(Message::Next(height, congestion)).await;
    }
}

/// A mailbox and its receiving end.
#[must_use]
pub fn mailbox() -> (Mailbox, mpsc::Receiver<Message>) {
    let (sender, inbox) = mpsc::channel(256);
    (Mailbox(sender), inbox)
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

/// Counts the transactions that this node keeps out of the pool, whoever it is
/// that refuses them. Clones count together.
#[derive(Clone, Debug)]
pub struct Rejections(Family<ReasonLabel, Counter>);

impl Rejections {
    /// Registers the counter.
    #[must_use]
    pub fn new(registry: &mut Registry) -> Self {
        let rejected = Family::default();
        registry.register(
            "pool_rejected",
            "Transactions refused by the pool",
            rejected.clone(),
        );
        Self(rejected)
    }

    /// A transaction was refused.
    pub fn rejected(&self, reason: &'static str) {
        self.rejected_many(reason, 1);
    }

    /// So many transactions were refused.
    pub fn rejected_many(&self, reason: &'static str, count: u64) {
        self.0.get_or_create(&ReasonLabel { reason }).inc_by(count);
    }
}
