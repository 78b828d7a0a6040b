// SPDX-License-Identifier: Apache-2.0
//! The actor that carries questions to other nodes and answers theirs.

use crate::{
    budget::{BODIES, Budgets, LISTED, QUESTIONS},
    client::{Client, Outgoing},
    local::Local,
};
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _, FixedSize as _};
use commonware_cryptography::ed25519::PublicKey;
use commonware_macros::select;
use commonware_p2p::{Receiver, Recipients, Sender};
use commonware_runtime::Handle;
use commonware_utils::{
    channel::{fallible::OneshotExt as _, mpsc, oneshot, watch},
    futures::Pool,
};
use shardnode_blocks::{ChainView, Marshal};
use shardnode_mailboxes::Runtime;
use shardnode_network::{
    channels::Channel,
    client_messages::{Answer, ClientMessage, Question},
};
use shardnode_primitives::Transaction;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tracing::debug;

/// How long a client waits for another node, proof included.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The answer to a question, and the peer that asked.
struct Answered {
    peer: PublicKey,
    id: u64,
    /// How many transactions it listed.
    listed: usize,
    /// The most bytes that it counts as until now, if it asked for a body.
    body: Option<u64>,
    answer: Answer,
}

/// A question that was not answered yet.
struct Pending {
    asked: PublicKey,
    /// How many transactions it lists.
    listed: usize,
    /// Whether it is for a body.
    body: bool,
    deadline: SystemTime,
    reply: oneshot::Sender<Answer>,
}

/// The actor that carries questions and answers.
pub struct Actor<E: Runtime, S, R> {
    context: E,
    local: Local,
    network: Channel<S, R>,
    outgoing: mpsc::Receiver<Outgoing>,
    answers: Pool<'static, Option<Answered>>,
    budgets: Budgets,
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
        marshal: Marshal,
        network: Channel<S, R>,
    ) -> (Self, Client) {
        let (sender, outgoing) = mpsc::channel(256);
        let client = Client::new(local.clone(), view, marshal, sender);
        let actor = Self {
            context,
            local,
            network,
            outgoing,
            answers: Pool::default(),
            budgets: Budgets::default(),
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
                answered = self.answers.next_completed() => {
                    // A task that was aborted ends with the node.
                    let Some(answered) = answered else { return };
                    self.on_answered(answered);
                },
                // Last, so that no peer keeps what this node has under way from going on.
                received = self.network.1.recv() => {
                    let Ok((peer, bytes)) = received else { return };
                    match ClientMessage::decode_cfg(Bytes::from(bytes), &most) {
                        Ok(ClientMessage::Ask(id, question)) => self.on_question(peer, id, question),
                        Ok(ClientMessage::Reply(id, answer)) => self.on_reply(&peer, id, answer),
                        Err(error) => debug!(%peer, %error, "undecodable client request"),
                    }
                },
                _ = tick => {},
            }
            let now = self.context.current();
            // A body is under way at the peer even if its client has gone.
            self.pending.retain(|_, pending| {
                pending.deadline > now && (pending.body || !pending.reply.is_closed())
            });
        }
    }

    /// Asks one producer of the shard that is connected. Transactions of one
    /// signer go to the same producer, so that their nonces stay in order;
    /// everything else takes turns.
    fn on_outgoing(&mut self, outgoing: Outgoing) {
        let listed = outgoing.question.listed();
        let pending: usize = self.pending.values().map(|pending| pending.listed).sum();
        if self.pending.len() >= QUESTIONS || pending + listed > LISTED {
            return;
        }
        self.next += 1;
        let mut producers = self.local.identity.other_producers(outgoing.shard);
        let turn = match &outgoing.question {
            Question::Submit(transaction) => u64::from(transaction.signer().0[31]),
            // All of them are of one producer.
            Question::SubmitAll(transactions) => transactions
                .first()
                .map_or(self.next, |first| u64::from(first.signer().0[31])),
            _ => self.next,
        };
        let count = producers.len() as u64;
        let first = turn.checked_rem(count).unwrap_or_default();
        producers.rotate_left(first as usize);
        let body = matches!(outgoing.question, Question::Chunk(..));
        let question = ClientMessage::Ask(self.next, outgoing.question).encode();
        let asked = producers.into_iter().find(|producer| {
            if body && self.bodies_asked(producer) >= BODIES {
                return false;
            }
            let to = Recipients::One(producer.clone());
            !self.network.0.send(to, question.clone(), false).is_empty()
        });
        if let Some(asked) = asked {
            let pending = Pending {
                asked,
                listed,
                body,
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

    /// Bodies that a peer is asked for.
    fn bodies_asked(&self, peer: &PublicKey) -> usize {
        self.pending
            .values()
            .filter(|pending| pending.body && pending.asked == *peer)
            .count()
    }

    /// Answers in a task of its own, so that a slow answer holds nobody up.
    fn on_question(&mut self, peer: PublicKey, id: u64, question: Question) {
        let most = self
            .local
            .identity
            .genesis
            .protocol
            .max_transactions_per_chunk;
        let most = u64::from(most) * Transaction::SIZE as u64;
        let body = matches!(question, Question::Chunk(..)).then_some(most);
        let listed = question.listed();
        let now = self.context.current();
        if !self.budgets.take(&peer, listed, body, now) {
            debug!(%peer, "client request beyond what a peer may take");
            let message = ClientMessage::Reply(id, Answer::Nothing).encode();
            self.network.0.send(Recipients::One(peer), message, false);
            return;
        }
        let local = self.local.clone();
        let context = self.context.child("answer");
        let answer = context.spawn(move |_| async move { local.answer(question).await });
        self.answers.push(async move {
            let answer = answer.await.ok()?;
            Some(Answered {
                peer,
                id,
                listed,
                body,
                answer,
            })
        });
    }

    fn on_answered(&mut self, answered: Answered) {
        let Answered {
            peer,
            id,
            listed,
            body,
            answer,
        } = answered;
        let message = ClientMessage::Reply(id, answer).encode();
        let spared = body.map(|most| most.saturating_sub(message.len() as u64));
        self.budgets.answered(&peer, listed, spared);
        self.network.0.send(Recipients::One(peer), message, false);
    }
}
