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
//! have in the pool already, and in the order of its nonces.
//!
//! What has expired at the height of the next chunk leaves the pool, and so does,
//! with each execution, what of clients' transactions nobody pays for any more: the
//! signer is gone, has used the nonce, or has too little for it and what it has in the
//! pool before it. A chunk is made after all before it are executed, so whoever empties
//! an account in one chunk has nothing in the next. The pool hears of an execution after
//! whoever judges a transaction can see the state that it left: of an execution that is
//! older than the state by which a signer's newest transaction was judged only the nonces
//! count that it used. When the node fetches a state, all leave the pool that were judged
//! by an older one, and one that was judged by a state of too many executions ago does
//! not come in. Why they are gone is remembered of the last 65,536, for whoever asks.
//!
//! While a shard is congested, transfers to it stay where they are, and so
//! does everything behind them that the same account signed: nonces are used
//! in the order in which they came. What can only wait may fill a quarter of
//! the pool; more is refused, so that there is room for the rest.

mod newest;
mod queue;
mod signers;

use self::queue::Queue;
use crate::metrics::Metrics;
use commonware_runtime::Handle;
use commonware_utils::channel::{fallible::OneshotExt as _, mpsc};
use shardnode_mailboxes::{
    Runtime,
    pool::{Mailbox, Message, Offered, Rejections, Taken, mailbox},
    refused::Refused,
};
use shardnode_primitives::{Digest, Genesis, Refusal, ShardId};
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
    /// What of clients' it let go of.
    let_go: Refused,
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
            let_go: Refused::default(),
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
                        self.give_back(taken);
                    }
                }
                Message::GiveBack(taken) => self.give_back(taken),
                Message::Next(height, congestion) => {
                    let expired = self.queue.next(height, congestion);
                    self.rejections.rejected_many(Refusal::Expired, expired);
                }
                Message::Executed(height, changed) => {
                    let refused = self.queue.executed(height, changed);
                    self.refused(refused);
                }
                Message::Installed(height) => {
                    let refused = self.queue.installed(height);
                    self.refused(refused);
                }
                Message::LetGo { hashes, reply } => {
                    let why = hashes.iter().map(|hash| self.let_go.why(hash));
                    reply.send_lossy(why.collect());
                }
            }
            self.metrics
                .pool(self.queue.len(), self.queue.bytes(), self.queue.waiting());
        }
    }

    fn add(&mut self, offered: Offered) -> Result<(), Refusal> {
        let again = (offered.funds.is_some() && !self.let_go.is_empty())
            .then(|| offered.transaction.hash());
        let added = self.queue.add(offered);
        match (added, again) {
            (Err(refusal), _) => self.rejections.rejected(refusal),
            (Ok(()), Some(hash)) => self.let_go.forget(&hash),
            (Ok(()), None) => {}
        }
        added
    }

    fn give_back(&mut self, taken: Taken) {
        if !self.let_go.is_empty() {
            for transaction in &taken.transactions {
                self.let_go.forget(&transaction.hash());
            }
        }
        let refused = self.queue.give_back(taken);
        self.refused(refused);
    }

    /// These are gone.
    fn refused(&mut self, refused: Vec<(Digest, Refusal)>) {
        for (hash, refusal) in refused {
            self.rejections.rejected(refusal);
            self.let_go.note(hash, refusal);
        }
    }
}
