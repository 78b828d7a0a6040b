// SPDX-License-Identifier: Apache-2.0
//! One connection to a node, with accounts of its own.
//!
//! It has one request under way at a time, so that what an account signs arrives
//! in the order of its nonces; what becomes due meanwhile goes with the next one.

use crate::{
    backoff::{Backoff, Gate},
    client::{Client, RequestError},
    follow::Followed,
    schedule::Schedule,
    tally::Event,
};
use commonware_runtime::{Clock as _, tokio::Context};
use shardnode_load::{Generator, Signer, Unsigned};
use shardnode_primitives::{Namespaces, Refusal, Transaction};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{sync::mpsc, time::Instant};

/// How often a transfer is signed again.
const RENEWALS: u32 = 5;

/// What is done about a pool that is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// What it refused is sent again.
    Retry,
    /// What it refused is refused.
    Count,
}

/// What a connection sends.
#[derive(Debug)]
pub enum Source {
    /// The next as soon as the last is answered.
    Closed {
        /// How many there are left for all connections, if there is an end to them.
        left: Option<Arc<AtomicU64>>,
        /// When it ends all the same.
        length: Duration,
    },
    /// What is due, whatever is answered.
    Open(Schedule),
    /// What was signed before, to the last one.
    Prepared(mpsc::Receiver<Vec<Transaction>>),
}

/// What signs what a connection sends.
pub struct Drawn {
    /// Draws it.
    pub generator: Generator,
    /// Signs it.
    pub signer: Signer,
    /// Whether each of the source's users has an account.
    pub by_user: bool,
}

/// What all connections share.
#[derive(Debug)]
pub struct Shared {
    /// When the run began.
    pub start: Instant,
    /// Asks nodes.
    pub client: Client,
    /// What signatures are bound to.
    pub namespaces: Namespaces,
    /// The finalised height.
    pub height: AtomicU64,
    /// How many blocks a transfer has until it expires.
    pub expire_blocks: u64,
    /// The most transfers of a request.
    pub batch: usize,
    /// What is done about a pool that is full.
    pub when_full: WhenFull,
    /// How long a connection that has nothing new to send goes on without a pool
    /// that takes what it has.
    pub drain: Duration,
}

impl Shared {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn expires_at(&self) -> u64 {
        self.height.load(Ordering::Relaxed) + self.expire_blocks
    }
}

/// What happened, and when.
pub type Events = Vec<(Duration, Event)>;

struct Item {
    due: Duration,
    unsigned: Option<Unsigned>,
    transaction: Transaction,
    renewals: u32,
    sent: bool,
    /// Why it was not taken the last time.
    refused: Option<Refusal>,
}

/// A connection.
pub struct Lane {
    /// Its number.
    pub number: u32,
    /// Time.
    pub context: Context,
    /// What all share.
    pub shared: Arc<Shared>,
    /// The node's address.
    pub node: String,
    /// All connections to the same pool.
    pub gate: Arc<Gate>,
    /// What it sends.
    pub source: Source,
    /// What signs that; `None` for what is signed already.
    pub drawn: Option<Drawn>,
    /// Where events go.
    pub events: mpsc::Sender<Events>,
    /// Where transfers go whose outcome is not known.
    pub followed: mpsc::Sender<Vec<Followed>>,
}

impl Source {
    /// Whether what it has ends with the length of the run.
    const fn ends_by_time(&self) -> bool {
        match self {
            Self::Closed { left, .. } => left.is_none(),
            Self::Open(_) => true,
            Self::Prepared(_) => false,
        }
    }
}

enum Filled {
    /// There is something to send.
    Some,
    /// Nothing is due before this.
    Until(Duration),
    /// There is nothing more.
    Never,
}

impl Lane {
    /// Sends until there is nothing more to send.
    pub async fn run(mut self) {
        let mut batch = Vec::new();
        let mut backoff = Backoff::default();
        let mut free = Duration::ZERO;
        let mut progress = Duration::ZERO;
        let mut ended = false;
        loop {
            let mut events = Events::new();
            let filled = match ended {
                true => Filled::Never,
                false => self.fill(&mut batch, &mut events).await,
            };
            match filled {
                Filled::Until(_) | Filled::Never if !batch.is_empty() => {}
                Filled::Until(at) => {
                    let wait = at.saturating_sub(self.shared.now());
                    self.context.sleep(wait).await;
                    continue;
                }
                Filled::Never => {
                    self.tell(events).await;
                    break;
                }
                Filled::Some => {}
            }
            if matches!(filled, Filled::Never) {
                ended = true;
            }
            // Nobody knows when a chain that takes nothing goes on. Until the end of
            // a run that has one, that is waited for.
            if (ended || !self.source.ends_by_time())
                && self.shared.now() > progress + self.shared.drain
                && let Some(refused) = given_up(&batch)
            {
                let at = self.shared.now();
                events.extend(refused.into_iter().map(|one| (at, Event::Refused(one))));
                self.tell(events).await;
                break;
            }
            let before = self.shared.now();
            self.gate.pass(self.number).await;
            // Waiting for the pool is no fault of the loader.
            let held_up = self.shared.now().saturating_sub(before);
            self.note_sent(&mut batch, free + held_up, &mut events);
            let transfers: Vec<_> = batch.iter().map(|one| one.transaction.clone()).collect();
            let answer = self.shared.client.submit(&self.node, &transfers).await;
            let at = self.shared.now();
            // Beside what it does itself from here on: waiting for nodes and pools.
            let mut asked = Duration::ZERO;
            let mut wait = Duration::ZERO;
            match answer {
                Ok(answers) => {
                    let judged = self.judge(batch, &answers, at, &mut events).await;
                    batch = judged.again;
                    asked = judged.asked;
                    if judged.accepted {
                        progress = at;
                        backoff.reset();
                        self.gate.has_room(self.number);
                    }
                    // Room for others is none for those that are held.
                    let tries = !judged.full || self.gate.is_full(self.number);
                    if judged.held && tries {
                        wait = backoff.wait();
                    }
                }
                Err(error) => {
                    self.no_answer(std::mem::take(&mut batch), &error, at, &mut events)
                        .await;
                    self.gate.has_room(self.number);
                    wait = backoff.wait();
                }
            }
            self.tell(events).await;
            if !wait.is_zero() {
                self.context.sleep(wait).await;
            }
            free = at + asked + wait;
        }
        self.gate.has_room(self.number);
    }

    async fn tell(&self, events: Events) {
        if !events.is_empty() {
            // Whoever counts ends last.
            let _ = self.events.send(events).await;
        }
    }

    /// Adds what is due, as far as a request has room for it.
    async fn fill(&mut self, batch: &mut Vec<Item>, events: &mut Events) -> Filled {
        let now = self.shared.now();
        let room = self.shared.batch.saturating_sub(batch.len());
        let expires_at = self.shared.expires_at();
        match &mut self.source {
            Source::Closed { left, length } => {
                if now >= *length {
                    return Filled::Never;
                }
                let taken = left
                    .as_ref()
                    .map_or(room as u64, |left| take(left, room as u64));
                if taken == 0 && room > 0 {
                    return Filled::Never;
                }
                for _ in 0..taken {
                    draw(&mut self.drawn, &self.shared, None, now, expires_at, batch);
                    events.push((now, Event::Offered));
                }
                Filled::Some
            }
            Source::Open(schedule) => {
                while batch.len() < self.shared.batch
                    && let Some(due) = schedule.take(now)
                {
                    let user = Some(due.user);
                    draw(
                        &mut self.drawn,
                        &self.shared,
                        user,
                        due.at,
                        expires_at,
                        batch,
                    );
                    events.push((due.at, Event::Offered));
                }
                match schedule.next() {
                    None => Filled::Never,
                    Some(_) if now >= schedule.length() => {
                        // The run is over: what was due is not sent any more.
                        while let Some(due) = schedule.take(now) {
                            events.push((due.at, Event::Offered));
                            events.push((due.at, Event::Unsent));
                        }
                        Filled::Never
                    }
                    Some(next) => Filled::Until(next.at),
                }
            }
            Source::Prepared(transfers) => {
                if room < self.shared.batch {
                    return Filled::Some;
                }
                // What it is given fits into a request.
                let Some(list) = transfers.recv().await else {
                    return Filled::Never;
                };
                let now = self.shared.now();
                for transaction in list {
                    events.push((now, Event::Offered));
                    batch.push(Item {
                        due: now,
                        unsigned: None,
                        transaction,
                        renewals: 0,
                        sent: false,
                        refused: None,
                    });
                }
                Filled::Some
            }
        }
    }

    /// Those that are sent for the first time could have been from when they were
    /// due, and from when the connection was free.
    fn note_sent(&self, batch: &mut [Item], free: Duration, events: &mut Events) {
        let now = self.shared.now();
        for one in batch.iter_mut().filter(|one| !one.sent) {
            one.sent = true;
            let lag = now.saturating_sub(one.due.max(free));
            events.push((now, Event::Sent(lag)));
        }
    }

    async fn follow(&self, followed: Vec<Followed>) {
        if !followed.is_empty() {
            // Who follows ends after the connections.
            let _ = self.followed.send(followed).await;
        }
    }

    async fn no_answer(
        &self,
        batch: Vec<Item>,
        error: &RequestError,
        at: Duration,
        events: &mut Events,
    ) {
        let instead = error.instead();
        let lost = batch.iter().map(|_| (at, Event::NoAnswer(instead)));
        events.extend(lost);
        // A pool may have taken them.
        let followed = batch
            .iter()
            .map(|one| Followed::new(&one.transaction, one.due));
        self.follow(followed.collect()).await;
    }

    async fn judge(
        &mut self,
        batch: Vec<Item>,
        answers: &[Option<Refusal>],
        at: Duration,
        events: &mut Events,
    ) -> Judged {
        let mut judged = Judged::default();
        let mut followed = Vec::new();
        for (mut one, answer) in batch.into_iter().zip(answers) {
            let retry = self.shared.when_full == WhenFull::Retry;
            one.refused = *answer;
            match *answer {
                None => {
                    judged.accepted = true;
                    events.push((at, Event::Accepted(one.due)));
                    followed.push(Followed::new(&one.transaction, one.due));
                }
                // What overtook it will be in a block, and then it is signed again.
                Some(refusal)
                    if retry
                        && (refusal.is_for_want_of_room() || refusal == Refusal::Overtaken) =>
                {
                    judged.full |= matches!(refusal, Refusal::Full | Refusal::Bytes);
                    judged.held = true;
                    events.push((at, Event::Retried(refusal)));
                    judged.again.push(one);
                }
                Some(refusal @ (Refusal::Nonce | Refusal::Overtaken))
                    if one.renewals < RENEWALS =>
                {
                    let before = self.shared.now();
                    let renewed = self.renew(&mut one).await;
                    judged.asked += self.shared.now().saturating_sub(before);
                    if renewed {
                        events.push((at, Event::Renewed));
                        judged.again.push(one);
                    } else {
                        events.push((at, Event::Refused(refusal)));
                    }
                }
                // The node that it was handed on to may have taken it.
                Some(Refusal::Shard) => {
                    events.push((at, Event::NoAnswer(Refusal::Shard.reason())));
                    followed.push(Followed::new(&one.transaction, one.due));
                }
                Some(refusal) => events.push((at, Event::Refused(refusal))),
            }
        }
        self.follow(followed).await;
        judged
    }

    /// Signs a transfer again, with a nonce above the one that its signer has on
    /// the chain. False if that is not known, or there is nothing to sign with.
    async fn renew(&mut self, one: &mut Item) -> bool {
        let (Some(drawn), Some(unsigned)) = (&mut self.drawn, &mut one.unsigned) else {
            return false;
        };
        let signer = unsigned.transfer.signer;
        let mut backoff = Backoff::default();
        let mut account = self.shared.client.account(&self.node, &signer).await;
        for _ in 0..RENEWALS {
            if account.is_ok() {
                break;
            }
            self.context.sleep(backoff.wait()).await;
            account = self.shared.client.account(&self.node, &signer).await;
        }
        let Ok(account) = account else {
            return false;
        };
        drawn.generator.set_nonce(&signer, account.nonce);
        drawn.generator.renew(unsigned, self.shared.expires_at());
        if let Some(signed) = sign(drawn, unsigned, &self.shared) {
            one.transaction = signed;
        }
        one.renewals += 1;
        true
    }
}

/// Why transfers were not taken, if all of them were refused and there are some.
fn given_up(batch: &[Item]) -> Option<Vec<Refusal>> {
    let refused: Option<Vec<_>> = batch.iter().map(|one| one.refused).collect();
    refused.filter(|refused| !refused.is_empty())
}

/// What came of a request.
#[derive(Default)]
struct Judged {
    again: Vec<Item>,
    /// Some were taken.
    accepted: bool,
    /// The pool is full.
    full: bool,
    /// There is no room for some.
    held: bool,
    /// How long other answers took that were needed.
    asked: Duration,
}

/// Takes up to so many of those that are left.
fn take(left: &AtomicU64, most: u64) -> u64 {
    let before = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        Some(left.saturating_sub(most))
    });
    before.unwrap_or_else(|left| left).min(most)
}

fn sign(drawn: &Drawn, unsigned: &Unsigned, shared: &Shared) -> Option<Transaction> {
    let mut signed = drawn.signer.sign(&[*unsigned], &shared.namespaces);
    signed.pop()
}

fn draw(
    drawn: &mut Option<Drawn>,
    shared: &Shared,
    user: Option<usize>,
    due: Duration,
    expires_at: u64,
    batch: &mut Vec<Item>,
) {
    let Some(drawn) = drawn else {
        return;
    };
    let unsigned = match user {
        Some(user) if drawn.by_user => Some(drawn.generator.draw_of(user)),
        _ => drawn.generator.draw(1).pop(),
    };
    let Some(mut unsigned) = unsigned else {
        return;
    };
    unsigned.transfer.expires_at = expires_at;
    if let Some(transaction) = sign(drawn, &unsigned, shared) {
        batch.push(Item {
            due,
            unsigned: Some(unsigned),
            transaction,
            renewals: 0,
            sent: false,
            refused: None,
        });
    }
}
