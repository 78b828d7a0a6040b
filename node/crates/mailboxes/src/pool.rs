// SPDX-License-Identifier: Apache-2.0
//! To the actor that holds transactions until a chunk takes them
//! (`shardnode_production`).

use commonware_utils::channel::{mpsc, oneshot};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};
use shardnode_primitives::{AccountId, Congestion, Digest, Refusal, Transaction};
use shardnode_state::Account;
use std::sync::Arc;

/// What a signer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Funds {
    /// In base units.
    pub balance: u64,
    /// The highest nonce that it has used.
    pub nonce: u64,
    /// A chunk after whose execution it was so.
    pub height: u64,
}

/// A transaction with a signature that was verified, or made, by this node.
#[derive(Debug)]
pub struct Offered {
    /// The transaction.
    pub transaction: Transaction,
    /// What its signer has, if it may not spend more; `None` for what this node's
    /// generator signed.
    pub funds: Option<Funds>,
}

/// What an execution made of each account that it changed, in id order: nothing of
/// those that it removed.
pub type Changed = Arc<[(AccountId, Option<Account>)]>;

/// What a chunk takes.
#[derive(Debug, Default)]
pub struct Taken {
    /// The oldest that need not wait.
    pub transactions: Vec<Transaction>,
    /// Of each, what its signer has; `None` of what this node's generator signed.
    pub funds: Vec<Option<Funds>>,
    /// Whether others were left behind because they must wait.
    pub held_back: bool,
}

/// What the actor is told and asked, as by the methods of [`Mailbox`].
#[derive(Debug)]
pub enum Message {
    /// [`Mailbox::add`], [`Mailbox::submit`] and [`Mailbox::submit_all`].
    Add {
        /// In the order in which they are to be taken.
        offered: Vec<Offered>,
        /// What became of each.
        reply: oneshot::Sender<Vec<Result<(), Refusal>>>,
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
    GiveBack(Taken),
    /// [`Mailbox::next`].
    Next(u64, Congestion),
    /// [`Mailbox::executed`].
    Executed(u64, Changed),
    /// [`Mailbox::installed`].
    Installed(u64),
    /// [`Mailbox::let_go`].
    LetGo {
        /// The transactions' hashes.
        hashes: Vec<Digest>,
        /// Of each, why it is gone.
        reply: oneshot::Sender<Vec<Option<Refusal>>>,
    },
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<Message>);

impl Mailbox {
    /// Adds transactions that this node's generator signed; `None` when the
    /// node stops.
    pub async fn add(&self, transactions: Vec<Transaction>) -> Option<Vec<Result<(), Refusal>>> {
        let offered = transactions.into_iter().map(|transaction| Offered {
            transaction,
            funds: None,
        });
        self.submit_all(offered.collect()).await
    }

    /// Adds a client's transaction with a verified signature, if its signer can
    /// pay for it and all that it has in the pool from `funds`; `None` when the
    /// node stops.
    pub async fn submit(
        &self,
        transaction: Transaction,
        funds: Funds,
    ) -> Option<Result<(), Refusal>> {
        let offered = Offered {
            transaction,
            funds: Some(funds),
        };
        let added = self.submit_all(vec![offered]).await?;
        added.into_iter().next()
    }

    /// Adds transactions of several signers, each as by [`Self::submit`].
    pub async fn submit_all(&self, offered: Vec<Offered>) -> Option<Vec<Result<(), Refusal>>> {
        let (reply, response) = oneshot::channel();
        self.0.send(Message::Add { offered, reply }).await.ok()?;
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

    /// Puts what a missed chunk took back, in front of all others.
    pub async fn give_back(&self, taken: Taken) {
        let _ = self.0.send(Message::GiveBack(taken)).await;
    }

    /// The own shard's chunk of this height was executed, and made this of accounts:
    /// what clients have in the pool and nobody can pay for any more goes.
    pub async fn executed(&self, height: u64, changed: Changed) {
        let _ = self.0.send(Message::Executed(height, changed)).await;
    }

    /// A state of the own shard was fetched, which the chunk at this height left: what
    /// clients have in the pool that was judged by an older one goes.
    pub async fn installed(&self, height: u64) {
        let _ = self.0.send(Message::Installed(height)).await;
    }

    /// Why the pool let go of transactions, of those with these hashes that it did and that
    /// it remembers; `None` when the node stops.
    pub async fn let_go(&self, hashes: Vec<Digest>) -> Option<Vec<Option<Refusal>>> {
        let (reply, response) = oneshot::channel();
        self.0.send(Message::LetGo { hashes, reply }).await.ok()?;
        response.await.ok()
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
    pub fn rejected(&self, refusal: Refusal) {
        self.rejected_many(refusal, 1);
    }

    /// So many transactions were refused.
    pub fn rejected_many(&self, refusal: Refusal, count: u64) {
        let reason = refusal.reason();
        self.0.get_or_create(&ReasonLabel { reason }).inc_by(count);
    }
}
