// SPDX-License-Identifier: Apache-2.0
//! The actor that carries questions to other nodes and answers theirs.

use crate::{
    answers::{Fate, fate, lists_forged, submit_result},
    budget::{BODIES, Budgets},
    client::{Call, Client, Outgoing},
    forwarded::{Due, Forwarded, Route, Said, Taken},
    local::Local,
    metrics::{Again, Metrics},
    pending::{AllPending, Asker, Pending},
    turns::Caller,
};
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _, FixedSize as _};
use commonware_cryptography::ed25519::PublicKey;
use commonware_macros::select;
use commonware_p2p::{Blocker, Receiver, Recipients, Sender, block};
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
use shardnode_primitives::{ShardId, Transaction};
use std::{sync::Arc, time::Duration};
use tracing::debug;

/// How long a client waits for another node, proof included.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How often it is looked at what was passed on, at the least.
const FOLLOW: Duration = Duration::from_millis(500);

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

/// What a producer says of transactions that were passed on before.
struct Followed {
    due: Due,
    /// Its answer to being asked about them, or to being handed them.
    answer: Option<Answer>,
    handed: bool,
}

/// The actor that carries questions and answers.
pub struct Actor<E: Runtime, S, R, B> {
    context: E,
    local: Local,
    network: Channel<S, R>,
    blocker: B,
    calls: mpsc::Receiver<Call>,
    answers: Pool<'static, Option<Answered>>,
    budgets: Budgets,
    pending: AllPending,
    next: u64,
    view: watch::Receiver<Arc<ChainView>>,
    forwarded: Forwarded,
    followed: Pool<'static, Followed>,
    metrics: Arc<Metrics>,
}

impl<E, S, R, B> Actor<E, S, R, B>
where
    E: Runtime,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
{
    /// Creates the actor and the handle that clients are served through.
    pub fn new(
        context: E,
        local: Local,
        view: watch::Receiver<Arc<ChainView>>,
        marshal: Marshal,
        network: Channel<S, R>,
        blocker: B,
        metrics: Arc<Metrics>,
    ) -> (Self, Client) {
        let (sender, calls) = mpsc::channel(256);
        let client = Client::new(local.clone(), view.clone(), marshal, sender);
        let actor = Self {
            context,
            local,
            network,
            blocker,
            calls,
            answers: Pool::default(),
            budgets: Budgets::default(),
            pending: AllPending::default(),
            next: 0,
            view,
            forwarded: Forwarded::new(metrics.clone()),
            followed: Pool::default(),
            metrics,
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
            let tick = self.context.sleep(self.pause());
            select! {
                call = self.calls.recv() => {
                    let Some(call) = call else { return };
                    self.on_call(call);
                },
                answered = self.answers.next_completed() => {
                    // A task that was aborted ends with the node.
                    let Some(answered) = answered else { return };
                    self.on_answered(answered);
                },
                followed = self.followed.next_completed() => self.on_followed(followed),
                // Last, so that no peer keeps what this node has under way from going on.
                received = self.network.1.recv() => {
                    let Ok((peer, bytes)) = received else { return };
                    match ClientMessage::decode_cfg(Bytes::from(bytes), &most) {
                        Ok(ClientMessage::Ask(id, question)) => self.on_question(peer, id, question),
                        Ok(ClientMessage::Reply(id, answer)) => self.on_reply(&peer, id, answer),
                        Err(error) => {
                            block!(self.blocker, peer, %error, "undecodable client request");
                        },
                    }
                },
                _ = tick => {},
            }
            self.expire();
            // The height is looked up and not waited for: in which order those are
            // woken who wait for a block is left to chance.
            self.follow();
        }
    }

    /// How long there is nothing to do, if nobody says anything.
    fn pause(&self) -> Duration {
        let follows = !self.forwarded.is_empty();
        let most = if follows { FOLLOW } else { TIMEOUT };
        let over = self.pending.next_over();
        let left = over.map(|over| over.duration_since(self.context.current()));
        left.map_or(most, |left| left.unwrap_or_default().min(most))
    }

    /// Lets go of questions that were not answered in time. A client's transactions
    /// that a producer did not answer for go to the next one, once.
    fn expire(&mut self) {
        let now = self.context.current();
        while let Some(pending) = self.pending.over(now) {
            if let Some(question) = pending.submitted
                && pending.of == Asker::Client
                && !pending.reply.is_closed()
            {
                let (shard, turn) = pending.route;
                let outgoing = Outgoing {
                    shard,
                    question,
                    reply: pending.reply,
                };
                let transactions = outgoing.question.submits();
                self.metrics.again(Again::Unanswered, transactions);
                self.ask((shard, turn + 1), Asker::ClientAgain, outgoing);
            }
        }
    }

    fn on_call(&mut self, call: Call) {
        match call {
            Call::Ask(outgoing) => self.on_outgoing(outgoing),
            Call::Fates(hashes, reply) => {
                let fates = hashes.iter().map(|hash| self.forwarded.fate(hash));
                reply.send_lossy(fates.collect());
            }
        }
    }

    /// Asks one producer of the shard that is connected. Transactions of one
    /// signer go to the same producer, so that their nonces stay in order;
    /// everything else takes turns.
    fn on_outgoing(&mut self, outgoing: Outgoing) {
        let turn = match &outgoing.question {
            Question::Submit(transaction) => u64::from(transaction.signer().0[31]),
            // All of them are of one producer.
            Question::SubmitAll(transactions) => transactions
                .first()
                .map_or(self.next, |first| u64::from(first.signer().0[31])),
            _ => self.next.wrapping_add(1),
        };
        self.ask((outgoing.shard, turn), Asker::Client, outgoing);
    }

    /// Asks the producer of a shard whose turn it is or, for a client, the next
    /// one that is connected.
    fn ask(&mut self, (shard, turn): Route, of: Asker, outgoing: Outgoing) {
        let listed = outgoing.question.listed();
        if !self.pending.has_room(listed) {
            return;
        }
        self.next = self.next.wrapping_add(1);
        let mut producers = self.local.identity.other_producers(shard);
        let count = producers.len() as u64;
        let turn = turn.checked_rem(count).unwrap_or_default();
        producers.rotate_left(turn as usize);
        if of == Asker::Own {
            producers.truncate(1);
        }
        let body = matches!(outgoing.question, Question::Chunk(..));
        let submitted = (of != Asker::Own && outgoing.question.submits() > 0)
            .then(|| outgoing.question.clone());
        let question = ClientMessage::Ask(self.next, outgoing.question).encode();
        let asked = (0..).zip(producers).find(|(_, producer)| {
            if body && self.pending.bodies_asked(producer) >= BODIES {
                return false;
            }
            let to = Recipients::One(producer.clone());
            !self.network.0.send(to, question.clone(), false).is_empty()
        });
        if let Some((passed, asked)) = asked {
            let turn = (turn + passed).checked_rem(count).unwrap_or_default();
            let pending = Pending {
                asked,
                route: (shard, turn),
                of,
                submitted,
                listed,
                body,
                deadline: self.context.current() + TIMEOUT,
                reply: outgoing.reply,
            };
            self.pending.insert(self.next, pending);
        }
    }

    /// Keeps what a producer took in.
    fn keep(&mut self, route: Route, submitted: Question, answer: &Answer) {
        let (transactions, codes) = match (submitted, answer) {
            (Question::Submit(transaction), Answer::Submitted(code)) => {
                (vec![transaction], std::slice::from_ref(code))
            }
            (Question::SubmitAll(transactions), Answer::SubmittedAll(codes)) => {
                (transactions, codes.as_slice())
            }
            _ => return,
        };
        let (producers, height) = (self.producers_of(route.0), self.height());
        for (transaction, code) in transactions.into_iter().zip(codes) {
            if submit_result(*code).is_ok() {
                self.forwarded.taken(route, producers, transaction, height);
            }
        }
    }

    fn producers_of(&self, shard: ShardId) -> u64 {
        self.local.identity.other_producers(shard).len() as u64
    }

    /// The last finalised block that this node has processed.
    fn height(&self) -> u64 {
        self.view.borrow().height()
    }

    /// Up to where the finalised block says that a shard is executed.
    fn executed(&self, shard: ShardId) -> u64 {
        let view = self.view.borrow();
        let header = view.block.chunk(shard);
        header.map_or(0, |header| header.content.totals.height)
    }

    /// Asks about what should be in a chunk by now.
    fn follow(&mut self) {
        let height = self.height();
        while let Some(mut due) = self.forwarded.due(height) {
            let executed = self.executed(due.route.0);
            self.forwarded.leave_expired(&mut due, executed);
            if due.taken.is_empty() {
                self.forwarded.answered(&due.route);
                continue;
            }
            let hashes = due.taken.iter().map(|one| one.transaction.hash()).collect();
            self.inquire(due, Question::Outcomes(hashes), false);
        }
    }

    /// Asks a producer about transactions, or hands them over.
    fn inquire(&mut self, due: Due, question: Question, handed: bool) {
        let (reply, response) = oneshot::channel();
        let outgoing = Outgoing {
            shard: due.route.0,
            question,
            reply,
        };
        self.ask(due.route, Asker::Own, outgoing);
        self.followed.push(async move {
            Followed {
                due,
                answer: response.await.ok(),
                handed,
            }
        });
    }

    /// Hands a producer what it does not know, and then leaves it to the next one.
    fn on_followed(&mut self, followed: Followed) {
        let Followed {
            mut due,
            answer,
            handed,
        } = followed;
        let count = due.taken.len();
        let said: Vec<_> = match answer {
            Some(Answer::Outcomes(outcomes)) if !handed && outcomes.len() == count => {
                let known =
                    |(height, code): &_| matches!(fate(*height, *code), Some(Fate::Known(..)));
                let mut known = outcomes.iter().map(known);
                let told = |_: &mut Taken| known.next().unwrap_or_default();
                let told: Vec<_> = due.taken.extract_if(.., told).collect();
                self.were_asked(due.route, told, |_| Said::Outcome);
                return self.hand(due);
            }
            Some(Answer::SubmittedAll(codes)) if handed && codes.len() == count => {
                let results = codes.into_iter().map(submit_result);
                results.map(Said::of).collect()
            }
            _ => Vec::new(),
        };
        self.were_asked(due.route, due.taken, |place| {
            said.get(place).copied().unwrap_or(Said::Silence)
        });
        self.forwarded.answered(&due.route);
    }

    /// Hands transactions to a producer that knows nothing of them.
    fn hand(&mut self, due: Due) {
        if due.taken.is_empty() {
            return self.forwarded.answered(&due.route);
        }
        let height = self.height();
        if !self.forwarded.may_hand(due.route, height) {
            return self.forwarded.postpone(due, height);
        }
        let (shard, transactions) = (due.route.0, due.taken.len());
        debug!(%shard, transactions, "handing on what is in no chunk");
        self.metrics.again(Again::LeftOut, transactions);
        let taken = due.taken.iter().map(|one| one.transaction.clone());
        let question = Question::SubmitAll(taken.collect());
        self.inquire(due, question, true);
    }

    /// A producer was asked about transactions, and said this of each.
    fn were_asked(&mut self, route: Route, taken: Vec<Taken>, said: impl Fn(usize) -> Said) {
        let (producers, height) = (self.producers_of(route.0), self.height());
        for (place, taken) in taken.into_iter().enumerate() {
            self.forwarded
                .was_asked(route, producers, taken, said(place), height);
        }
    }

    /// Only whoever was asked can answer.
    fn on_reply(&mut self, peer: &PublicKey, id: u64, answer: Answer) {
        if let Some(pending) = self.pending.answered(id, peer) {
            if let Some(submitted) = pending.submitted {
                self.keep(pending.route, submitted, &answer);
            }
            pending.reply.send_lossy(answer);
        }
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
        let caller = Caller::Peer(peer.clone());
        let context = self.context.child("answer");
        let answer = context.spawn(move |_| async move { local.answer(caller, question).await });
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
        if lists_forged(&answer) {
            self.budgets.answered(&peer, listed, None);
            block!(
                self.blocker,
                peer,
                "list with a signature that does not hold"
            );
            return;
        }
        let message = ClientMessage::Reply(id, answer).encode();
        let spared = body.map(|most| most.saturating_sub(message.len() as u64));
        self.budgets.answered(&peer, listed, spared);
        self.network.0.send(Recipients::One(peer), message, false);
    }
}
