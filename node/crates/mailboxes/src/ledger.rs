// SPDX-License-Identifier: Apache-2.0
//! To the actor that owns the shard's state (`shardnode_ledger`).

use bytes::Bytes;
use commonware_actor::Feedback;
use commonware_consensus::{Reporter, marshal::Update};
use commonware_cryptography::Digested;
use commonware_utils::{
    acknowledgement::Exact,
    channel::{mpsc, oneshot},
};
use shardnode_execution::{Outcome, record::Executed};
use shardnode_primitives::{AccountId, Block, Digest, ShardId};
use shardnode_state::{Account, AccountProof};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use thiserror::Error;

/// Finalised blocks that are delivered and not acknowledged, at most. They
/// have a queue of their own: marshal stops at a block that is not taken in.
pub const PENDING_ACKS: usize = 16;

/// A finalised block, and how to acknowledge it.
pub type Finalized = (Digested<Block>, Exact);

/// Somebody who votes or endorses waits for an execution.
#[derive(Debug)]
pub struct Awaited {
    /// The executed height.
    pub height: u64,
    /// Where the execution goes.
    pub reply: oneshot::Sender<Arc<Executed>>,
}

/// What clients ask, as by the methods of [`Mailbox`]; it is answered from memory.
#[derive(Debug)]
pub enum Question {
    /// [`Mailbox::account`].
    Account {
        /// The account.
        id: AccountId,
        /// The height of the state, and what it has.
        reply: oneshot::Sender<(u64, Option<Account>)>,
    },
    /// [`Mailbox::accounts`].
    Accounts {
        /// The accounts.
        ids: Vec<AccountId>,
        /// The height of the state, and what it has of each.
        reply: oneshot::Sender<(u64, Vec<Option<Account>>)>,
    },
    /// [`Mailbox::prove`].
    Prove {
        /// The account.
        id: AccountId,
        /// The height of the state, and the proof in it.
        reply: oneshot::Sender<(u64, AccountProof)>,
    },
    /// [`Mailbox::outcome`].
    Outcome {
        /// The transaction's hash.
        hash: Digest,
        /// The height of its chunk, and what became of it.
        reply: oneshot::Sender<Option<(u64, Outcome)>>,
    },
    /// [`Mailbox::outcomes`].
    Outcomes {
        /// The transactions' hashes.
        hashes: Vec<Digest>,
        /// Of each, the height of its chunk, and what became of it.
        reply: oneshot::Sender<Vec<Option<(u64, Outcome)>>>,
    },
}

/// [`Mailbox::outcome_among`].
#[derive(Debug)]
pub struct OutcomeAmong {
    /// The transaction's hash.
    pub hash: Digest,
    /// What became of it, and the execution that it is of.
    pub reply: oneshot::Sender<Option<(Outcome, Arc<Executed>)>>,
}

/// Receipts that a peer asks for, as by the methods of [`Mailbox`].
#[derive(Debug)]
pub enum ReceiptsAsked {
    /// [`Mailbox::serve`].
    Serve {
        /// The executed height.
        height: u64,
        /// The shard that the receipts are for.
        destination: ShardId,
        /// The root of the execution's receipts.
        root: Digest,
        /// Where they go, with their proof.
        reply: oneshot::Sender<Bytes>,
    },
    /// [`Mailbox::serve_credited`].
    ServeCredited {
        /// The shard that the receipts are from.
        source: ShardId,
        /// The height of the execution that they come from.
        height: u64,
        /// The root of that execution's receipts.
        root: Digest,
        /// Where they go, with their proof.
        reply: oneshot::Sender<Bytes>,
    },
}

/// Where the own shard's state stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// The shard.
    pub shard: ShardId,
    /// The last executed height.
    pub height: u64,
    /// The state's root.
    pub root: Digest,
    /// How many accounts it has.
    pub accounts: u32,
}

/// How many blocks below the finalised tip a copy of a shard may be and count
/// as one of its present state: bodies so new are with whoever votes.
pub const CLOSE: u64 = 4;

/// What keeps this node's copy of its shard from being enough for the shard's
/// other producers, should they lose all that they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Lack {
    /// No block was processed that was made after the node had caught up.
    #[error("no block was made since this node caught up with the chain")]
    Following,
    /// The node is behind the chain.
    #[error("executed to block {processed}, the chain is at {tip}")]
    Execution {
        /// The last finalised block that was processed.
        processed: u64,
        /// The finalised tip.
        tip: u64,
    },
    /// A shard has not credited all that this node has no receipts of any more.
    #[error("shard {shard} has not credited what was sent to it up to block {before}")]
    Credits {
        /// The shard.
        shard: ShardId,
        /// The block that states where this node's records begin.
        before: u64,
    },
    /// No header commits to the execution of a chunk of whose body this node
    /// may hold no part.
    #[error("no block commits to what shard {shard} executed at height {height}")]
    Commitment {
        /// The shard.
        shard: ShardId,
        /// The chunk's height.
        height: u64,
    },
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox {
    blocks: mpsc::Sender<Finalized>,
    awaited: mpsc::Sender<Awaited>,
    questions: mpsc::Sender<Question>,
    /// Apart, as is what peers ask: both can take reading a record.
    proofs: mpsc::Sender<OutcomeAmong>,
    receipts: mpsc::Sender<ReceiptsAsked>,
    /// The highest finalised height that this node has heard of.
    tip: Arc<AtomicU64>,
}

impl Mailbox {
    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Option<T> {
        let (reply, response) = oneshot::channel();
        self.questions.send(question(reply)).await.ok()?;
        response.await.ok()
    }

    /// Waits until the own shard's chunk at `height` is executed. `None` if
    /// this node tracks no shard or no longer has the execution.
    pub async fn executed(&self, height: u64) -> Option<Arc<Executed>> {
        let (reply, response) = oneshot::channel();
        self.awaited.send(Awaited { height, reply }).await.ok()?;
        response.await.ok()
    }

    /// An account of the own shard, and the height of the state it is from.
    pub async fn account(&self, id: AccountId) -> Option<(u64, Option<Account>)> {
        self.ask(|reply| Question::Account { id, reply }).await
    }

    /// Accounts of the own shard, and the height of the state they are from.
    pub async fn accounts(&self, ids: Vec<AccountId>) -> Option<(u64, Vec<Option<Account>>)> {
        self.ask(|reply| Question::Accounts { ids, reply }).await
    }

    /// Proves an account, or its absence, in the current state.
    pub async fn prove(&self, id: AccountId) -> Option<(u64, AccountProof)> {
        self.ask(|reply| Question::Prove { id, reply }).await
    }

    /// What became of a transaction, among the last 1,000 executions and
    /// 1,000,000 transactions.
    pub async fn outcome(&self, hash: Digest) -> Option<Option<(u64, Outcome)>> {
        self.ask(|reply| Question::Outcome { hash, reply }).await
    }

    /// What became of a transaction, as by [`Self::outcome`], and the whole
    /// execution, whose outcomes a header commits to.
    pub async fn outcome_among(&self, hash: Digest) -> Option<Option<(Outcome, Arc<Executed>)>> {
        let (reply, response) = oneshot::channel();
        let asked = OutcomeAmong { hash, reply };
        self.proofs.send(asked).await.ok()?;
        response.await.ok()
    }

    /// What became of transactions, each as by [`Self::outcome`].
    pub async fn outcomes(&self, hashes: Vec<Digest>) -> Option<Vec<Option<(u64, Outcome)>>> {
        self.ask(|reply| Question::Outcomes { hashes, reply }).await
    }

    /// Receipts with their proof, for a peer; the channel closes if this node
    /// does not have them or has no room for the question.
    #[must_use]
    pub fn serve(
        &self,
        height: u64,
        destination: ShardId,
        root: Digest,
    ) -> oneshot::Receiver<Bytes> {
        let (reply, response) = oneshot::channel();
        let _ = self.receipts.try_send(ReceiptsAsked::Serve {
            height,
            destination,
            root,
            reply,
        });
        response
    }

    /// Receipts for the own shard that it has credited, with their proof, for a
    /// peer; `reply` closes if this node does not have them or has no room for
    /// the question.
    pub fn serve_credited(
        &self,
        source: ShardId,
        height: u64,
        root: Digest,
        reply: oneshot::Sender<Bytes>,
    ) {
        let _ = self.receipts.try_send(ReceiptsAsked::ServeCredited {
            source,
            height,
            root,
            reply,
        });
    }

    /// The highest finalised height that this node has heard of.
    #[must_use]
    pub fn tip(&self) -> u64 {
        self.tip.load(Ordering::Relaxed)
    }
}

impl Reporter for Mailbox {
    type Activity = Update<Block>;

    fn report(&mut self, update: Update<Block>) -> Feedback {
        match update {
            Update::Tip(_, height, _) => {
                self.tip.fetch_max(height.get(), Ordering::Relaxed);
                Feedback::Ok
            }
            Update::Block(block, ack) => match self.blocks.try_send((block, ack)) {
                Ok(()) => Feedback::Ok,
                Err(_) => Feedback::Closed,
            },
        }
    }
}

/// A mailbox and its receiving end.
#[must_use]
pub fn mailbox() -> (Mailbox, Inbox) {
    // Those that were delivered before a floor may still be here when those after
    // it come.
    let (deliver, blocks) = mpsc::channel(2 * PENDING_ACKS);
    let (wait, awaited) = mpsc::channel(1_024);
    let (ask, questions) = mpsc::channel(1_024);
    let (prove, proofs) = mpsc::channel(64);
    let (serve, receipts) = mpsc::channel(256);
    let tip = Arc::new(AtomicU64::new(0));
    let mailbox = Mailbox {
        blocks: deliver,
        awaited: wait,
        questions: ask,
        proofs: prove,
        receipts: serve,
        tip: tip.clone(),
    };
    let inbox = Inbox {
        blocks,
        awaited,
        questions,
        proofs,
        receipts,
        tip,
    };
    (mailbox, inbox)
}

/// The receiving end of a [`Mailbox`].
#[derive(Debug)]
pub struct Inbox {
    /// Finalised blocks, in order.
    pub blocks: mpsc::Receiver<Finalized>,
    /// Who waits for executions.
    pub awaited: mpsc::Receiver<Awaited>,
    /// What clients ask.
    pub questions: mpsc::Receiver<Question>,
    /// What clients ask to have proven.
    pub proofs: mpsc::Receiver<OutcomeAmong>,
    /// What peers ask.
    pub receipts: mpsc::Receiver<ReceiptsAsked>,
    /// The highest finalised height that this node has heard of.
    pub tip: Arc<AtomicU64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_consensus::{
        simplex::types::Context,
        types::{Epoch, Round, View},
    };
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use commonware_utils::Acknowledgement as _;
    use futures::FutureExt as _;
    use shardnode_primitives::{Randomness, hash::ZERO};

    fn block() -> Digested<Block> {
        let block = Block {
            context: Context {
                round: Round::new(Epoch::new(0), View::new(1)),
                leader: PrivateKey::from_seed(0).public_key(),
                parent: (View::new(0), ZERO),
            },
            height: 1,
            timestamp_ms: 0,
            randomness: Randomness::genesis(ZERO),
            chunks: Vec::new(),
            endorsements: Vec::new(),
        };
        Digested::precomputed(block, ZERO)
    }

    #[test]
    fn blocks_are_taken_in_however_much_is_asked() {
        let (mut mailbox, mut inbox) = mailbox();
        let asked: Vec<_> = (0..5_000)
            .map(|height| mailbox.serve(height, ShardId(0), ZERO))
            .collect();
        for _ in 0..PENDING_ACKS {
            let (acknowledgement, _) = Exact::handle();
            let update = Update::Block(block(), acknowledgement);
            assert!(matches!(mailbox.report(update), Feedback::Ok));
            assert!(inbox.blocks.try_recv().is_ok());
        }
        drop(asked);
    }

    #[test]
    fn receipts_are_asked_for_however_much_clients_ask() {
        let (mailbox, mut inbox) = mailbox();
        let mut asked: Vec<_> = (0..5_000)
            .map(|_| Box::pin(mailbox.outcomes(Vec::new())))
            .collect();
        for asked in &mut asked {
            assert!(asked.now_or_never().is_none());
        }
        let response = mailbox.serve(1, ShardId(0), ZERO);
        assert!(inbox.receipts.try_recv().is_ok());
        drop((asked, response));
    }
}
