// SPDX-License-Identifier: Apache-2.0
//! Serving clients: for the own shard from what this node holds, for other
//! shards by asking one of their trackers, on
//! [`crate::channels::CLIENT_REQUESTS`].
//!
//! What another node says about an account is believed only with a proof
//! against a state root that a finalised header committed to; a chunk only if
//! its body hashes to what the finalised header says. Outcomes are the
//! tracker's word.

use crate::{
    bodies,
    channels::Channel,
    client_messages::{Answer, ClientMessage, Question},
    config::Identity,
    ledger,
    metrics::Metrics,
    pool,
    pool::PoolError,
    runtime::Runtime,
    view::ChainView,
};
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _};
use commonware_cryptography::ed25519::PublicKey;
use commonware_macros::select;
use commonware_p2p::{Receiver, Recipients, Sender};
use commonware_runtime::Handle;
use commonware_utils::channel::{fallible::OneshotExt as _, mpsc, oneshot, watch};
use shardnode_primitives::{AccountId, ChunkBody, ChunkHeader, Digest, ShardId, Transaction};
use shardnode_state::{Account, NO_ACCOUNT};
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tracing::debug;

/// How long a client waits for another node, proof included.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Requests of this node that others have not answered yet.
const MOST_PENDING: usize = 1_024;

/// Why a transfer was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The pool would not have it.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The signature does not hold.
    #[error("signature does not hold")]
    Signature,
    /// The nonce was used.
    #[error("nonce is not above the signer's")]
    Nonce,
    /// The signer cannot pay.
    #[error("amount is above the signer's balance")]
    Balance,
    /// No account can have the receiver's id.
    #[error("receiver is the reserved id of all zeroes")]
    Receiver,
    /// No node of the signer's shard answered.
    #[error("no node of shard {0} answered")]
    Unavailable(ShardId),
}

/// No node of the shard answered with what could be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no node of shard {0} answered")]
pub struct Unavailable(pub ShardId);

/// What became of a transaction, as a number that travels: 0 executed, 1 to 6
/// the failures, 255 unknown.
const UNKNOWN: u8 = u8::MAX;

/// The fate of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Not among the last executed chunks of its shard.
    Unknown,
    /// In the chunk at this height.
    Known(u64, shardnode_execution::Outcome),
}

const SUBMITTED: u8 = 0;

const fn submit_code(result: Result<(), SubmitError>) -> u8 {
    match result {
        Ok(()) => SUBMITTED,
        Err(SubmitError::Pool(PoolError::Full)) => 1,
        Err(SubmitError::Pool(PoolError::Duplicate)) => 2,
        Err(SubmitError::Signature) => 3,
        Err(SubmitError::Nonce) => 4,
        Err(SubmitError::Balance) => 5,
        Err(SubmitError::Unavailable(_)) => 6,
        Err(SubmitError::Receiver) => 7,
        Err(SubmitError::Pool(PoolError::Congested)) => 8,
        Err(SubmitError::Pool(PoolError::Bytes)) => 9,
    }
}

const fn submit_result(code: u8, shard: ShardId) -> Result<(), SubmitError> {
    match code {
        SUBMITTED => Ok(()),
        1 => Err(SubmitError::Pool(PoolError::Full)),
        2 => Err(SubmitError::Pool(PoolError::Duplicate)),
        3 => Err(SubmitError::Signature),
        4 => Err(SubmitError::Nonce),
        5 => Err(SubmitError::Balance),
        7 => Err(SubmitError::Receiver),
        8 => Err(SubmitError::Pool(PoolError::Congested)),
        9 => Err(SubmitError::Pool(PoolError::Bytes)),
        _ => Err(SubmitError::Unavailable(shard)),
    }
}

/// What the own shard can answer from.
#[derive(Clone)]
pub struct Local {
    /// Who this node is.
    pub identity: Arc<Identity>,
    /// State and executions.
    pub ledger: ledger::Mailbox,
    /// Stored bodies.
    pub bodies: bodies::Mailbox,
    /// Where accepted transactions go; only a producer has one.
    pub pool: Option<pool::Mailbox>,
    /// What is measured.
    pub metrics: Arc<Metrics>,
}

impl Local {
    async fn submit(&self, transaction: Transaction) -> Result<(), SubmitError> {
        let result = self.admit(transaction).await;
        match result {
            Err(SubmitError::Signature) => self.metrics.rejected("signature"),
            Err(SubmitError::Nonce) => self.metrics.rejected("nonce"),
            Err(SubmitError::Balance) => self.metrics.rejected("balance"),
            Err(SubmitError::Receiver) => self.metrics.rejected("receiver"),
            Err(SubmitError::Unavailable(_)) => self.metrics.rejected("shard"),
            Ok(()) | Err(SubmitError::Pool(_)) => {}
        }
        result
    }

    async fn admit(&self, transaction: Transaction) -> Result<(), SubmitError> {
        let signer = *transaction.signer();
        let shard = self.identity.genesis.layout.shard_of(&signer);
        let gone = SubmitError::Unavailable(shard);
        let Some(pool) = &self.pool else {
            return Err(gone);
        };
        if !transaction.verify(&self.identity.namespaces) {
            return Err(SubmitError::Signature);
        }
        let Transaction::Transfer(signed) = &transaction;
        if signed.transfer.receiver == NO_ACCOUNT {
            return Err(SubmitError::Receiver);
        }
        let (_, account) = self.ledger.account(signer).await.ok_or(gone)?;
        let account = account.unwrap_or_default();
        if transaction.nonce() <= account.nonce {
            return Err(SubmitError::Nonce);
        }
        if signed.transfer.amount > account.balance {
            return Err(SubmitError::Balance);
        }
        let added = pool.add(vec![transaction]).await.ok_or(gone)?;
        added
            .into_iter()
            .next()
            .unwrap_or(Ok(()))
            .map_err(Into::into)
    }

    async fn answer(&self, question: Question) -> Answer {
        match question {
            Question::Submit(transaction) => {
                Answer::Submitted(submit_code(self.submit(transaction).await))
            }
            Question::Account(account) => match self.ledger.prove(account).await {
                Some((height, proof)) => Answer::Account(height, proof),
                None => Answer::Nothing,
            },
            Question::Outcome(hash) => match self.ledger.outcome(hash).await {
                Some(Some((height, outcome))) => Answer::Outcome(height, outcome.code()),
                Some(None) => Answer::Outcome(0, UNKNOWN),
                None => Answer::Nothing,
            },
            Question::Chunk(height, hash) => match self.bodies.serve(height, hash).await {
                Ok(body) => Answer::Chunk(body),
                Err(_) => Answer::Nothing,
            },
        }
    }
}

struct Outgoing {
    shard: ShardId,
    question: Question,
    reply: oneshot::Sender<Answer>,
}

/// Serves clients.
#[derive(Clone)]
pub struct Client {
    local: Local,
    view: watch::Receiver<Arc<ChainView>>,
    outgoing: mpsc::Sender<Outgoing>,
}

impl Client {
    fn tracks(&self, shard: ShardId) -> bool {
        self.local.identity.tracked() == Some(shard)
    }

    async fn ask(&self, shard: ShardId, question: Question) -> Option<Answer> {
        let (reply, response) = oneshot::channel();
        let outgoing = Outgoing {
            shard,
            question,
            reply,
        };
        self.outgoing.send(outgoing).await.ok()?;
        response.await.ok()
    }

    /// Puts a transaction into a pool of its signer's shard.
    pub async fn submit(&self, transaction: Transaction) -> Result<ShardId, SubmitError> {
        let shard = self
            .local
            .identity
            .genesis
            .layout
            .shard_of(transaction.signer());
        let result = if self.tracks(shard) {
            self.local.submit(transaction).await
        } else {
            match self.ask(shard, Question::Submit(transaction)).await {
                Some(Answer::Submitted(code)) => submit_result(code, shard),
                _ => Err(SubmitError::Unavailable(shard)),
            }
        };
        result.map(|()| shard)
    }

    /// An account and the height of the state it is from. Of another shard,
    /// proven against a finalised header.
    pub async fn account(
        &self,
        id: AccountId,
    ) -> Result<(ShardId, u64, Option<Account>), Unavailable> {
        let shard = self.local.identity.genesis.layout.shard_of(&id);
        let gone = Unavailable(shard);
        if self.tracks(shard) {
            let (height, account) = self.local.ledger.account(id).await.ok_or(gone)?;
            return Ok((shard, height, account));
        }
        let Some(Answer::Account(height, proof)) = self.ask(shard, Question::Account(id)).await
        else {
            return Err(gone);
        };
        // The state is ahead of the headers by the executions that no header
        // commits to yet, so its root is finalised a block or two later.
        let mut view = self.view.clone();
        let committed = view
            .wait_for(|view| {
                view.root(shard, height).is_some() || view.height() > height.saturating_add(64)
            })
            .await
            .map_err(|_| gone)?
            .root(shard, height)
            .ok_or(gone)?;
        let account = proof.verify(&id, &committed).map_err(|error| {
            debug!(%shard, %error, "account proof refused");
            gone
        })?;
        Ok((shard, height, account))
    }

    /// What became of a transaction of `signer`.
    pub async fn outcome(&self, signer: AccountId, hash: Digest) -> Result<Fate, Unavailable> {
        let shard = self.local.identity.genesis.layout.shard_of(&signer);
        let answer = if self.tracks(shard) {
            Some(self.local.answer(Question::Outcome(hash)).await)
        } else {
            self.ask(shard, Question::Outcome(hash)).await
        };
        match answer {
            Some(Answer::Outcome(_, UNKNOWN)) => Ok(Fate::Unknown),
            Some(Answer::Outcome(height, code)) => crate::executed::outcome(code)
                .map(|outcome| Fate::Known(height, outcome))
                .map_err(|_| Unavailable(shard)),
            _ => Err(Unavailable(shard)),
        }
    }

    /// The body of the chunk with this finalised header.
    pub async fn body(&self, header: &ChunkHeader) -> Result<ChunkBody, Unavailable> {
        let content = &header.content;
        let gone = Unavailable(content.shard);
        if content.body_len == 0 {
            return Ok(ChunkBody(Bytes::new()));
        }
        let question = Question::Chunk(content.height, content.body_hash);
        let answer = if self.tracks(content.shard) {
            Some(self.local.answer(question).await)
        } else {
            self.ask(content.shard, question).await
        };
        let Some(Answer::Chunk(body)) = answer else {
            return Err(gone);
        };
        let body = ChunkBody(body);
        (body.hash() == content.body_hash)
            .then_some(body)
            .ok_or(gone)
    }
}

/// An answer, and the peer that asked.
type Answered = (PublicKey, ClientMessage);

/// A question that was not answered yet.
struct Pending {
    asked: PublicKey,
    deadline: SystemTime,
    reply: oneshot::Sender<Answer>,
}

/// The actor that carries questions and answers.
pub struct Actor<E: Runtime, S, R> {
    context: E,
    local: Local,
    network: Channel<S, R>,
    outgoing: mpsc::Receiver<Outgoing>,
    answers: (mpsc::Sender<Answered>, mpsc::Receiver<Answered>),
    pending: BTreeMap<u64, Pending>,
    next: u64,
}

impl<E, S, R> Actor<E, S, R>
where
    E: Runtime,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
{
    /// Creates the actor and the handle that clients are served through.
    pub fn new(
        context: E,
        local: Local,
        view: watch::Receiver<Arc<ChainView>>,
        network: Channel<S, R>,
    ) -> (Self, Client) {
        let (sender, outgoing) = mpsc::channel(256);
        let client = Client {
            local: local.clone(),
            view,
            outgoing: sender,
        };
        let actor = Self {
            context,
            local,
            network,
            outgoing,
            answers: mpsc::channel(256),
            pending: BTreeMap::new(),
            next: 0,
        };
        (actor, client)
    }

    /// Runs until the network or all clients are gone.
    pub fn start(self) -> Handle<()> {
        let context = self.context.child("run");
        context.spawn(move |_| self.run())
    }

    async fn run(mut self) {
        let most = self.local.identity.max_chunk_message();
        loop {
            let tick = self.context.sleep(TIMEOUT);
            select! {
                outgoing = self.outgoing.recv() => {
                    let Some(outgoing) = outgoing else { return };
                    self.on_outgoing(outgoing);
                },
                received = self.network.1.recv() => {
                    let Ok((peer, bytes)) = received else { return };
                    match ClientMessage::decode_cfg(Bytes::from(bytes), &most) {
                        Ok(ClientMessage::Ask(id, question)) => self.on_question(peer, id, question),
                        Ok(ClientMessage::Reply(id, answer)) => self.on_reply(&peer, id, answer),
                        Err(error) => debug!(%peer, %error, "undecodable client request"),
                    }
                },
                answer = self.answers.1.recv() => {
                    let Some((peer, wire)) = answer else { return };
                    self.network.0.send(Recipients::One(peer), wire.encode(), false);
                },
                _ = tick => {},
            }
            let now = self.context.current();
            self.pending
                .retain(|_, pending| pending.deadline > now && !pending.reply.is_closed());
        }
    }

    /// Asks one producer of the shard that is connected. Transactions of one
    /// signer go to the same producer, so that their nonces stay in order;
    /// everything else takes turns.
    fn on_outgoing(&mut self, outgoing: Outgoing) {
        if self.pending.len() >= MOST_PENDING {
            return;
        }
        self.next += 1;
        let mut producers = self.local.identity.other_producers(outgoing.shard);
        let turn = match &outgoing.question {
            Question::Submit(transaction) => u64::from(transaction.signer().0[31]),
            _ => self.next,
        };
        let count = producers.len() as u64;
        let first = turn.checked_rem(count).unwrap_or_default();
        producers.rotate_left(first as usize);
        let question = ClientMessage::Ask(self.next, outgoing.question).encode();
        let asked = producers.into_iter().find(|producer| {
            let to = Recipients::One(producer.clone());
            !self.network.0.send(to, question.clone(), false).is_empty()
        });
        if let Some(asked) = asked {
            let pending = Pending {
                asked,
                deadline: self.context.current() + TIMEOUT,
                reply: outgoing.reply,
            };
            self.pending.insert(self.next, pending);
        }
    }

    /// Only whoever was asked can answer.
    fn on_reply(&mut self, peer: &PublicKey, id: u64, answer: Answer) {
        let pending = self.pending.get(&id);
        if pending.is_some_and(|pending| pending.asked == *peer)
            && let Some(pending) = self.pending.remove(&id)
        {
            pending.reply.send_lossy(answer);
        }
    }

    /// Answers in a task of its own, so that a slow answer holds nobody up.
    fn on_question(&self, peer: PublicKey, id: u64, question: Question) {
        let local = self.local.clone();
        let answers = self.answers.0.clone();
        self.context.child("answer").spawn(move |_| async move {
            let answer = local.answer(question).await;
            // A full queue drops the answer; the asker sees none in time.
            let _ = answers.try_send((peer, ClientMessage::Reply(id, answer)));
        });
    }
}
