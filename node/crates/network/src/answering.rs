// SPDX-License-Identifier: Apache-2.0
//! What answering one peer may take of this node.
//!
//! Peers ask in the protocol of `commonware-resolver`, which answers whatever it
//! is asked: an answer has up to megabytes, and lies in memory until the peer
//! has read it, which it may never do. So [`answering`] stands between it and
//! the channel, and lets questions through
//!
//! - of those who need what they ask for, and nobody else;
//! - as far as the answers fit into the peer's [`Allowance`] of bytes: so many at
//!   once, and so many more with every second.
//!
//! A question counts as much as the largest answer to it until it is answered,
//! and as much as the answer after that. Whoever asks for more is told that there
//! is nothing, as by a node that has nothing, and asks another one. What lies in
//! memory for a peer that does not read is what it is sent until its connection
//! ends, for want of a write that comes to an end.

use crate::{
    Identity,
    channels::Channel,
    chunk_requests,
    limits::{most_block, most_body, most_certificate, most_page, most_receipts},
    state_requests,
};
use bytes::Bytes;
use commonware_actor::{Feedback, Unreliable};
use commonware_codec::DecodeExt as _;
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{CheckedSender, LimitedSender, Message, Receiver, Recipients, Sender as _};
use commonware_resolver::p2p::MAX_RESPONSE_OVERHEAD;
use commonware_runtime::{Clock, IoBufs};
use prometheus_client::metrics::counter::Counter;
use shardnode_primitives::ShardId;
use std::{
    collections::BTreeMap,
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// Bytes of answers that a peer may be sent at once, where the largest are small.
const BYTES: u64 = 32 << 20;
/// Bytes of answers that it may be sent in a second, over time, where blocks are
/// small.
const RATE: u64 = 4 << 20;
/// Pages of states are few, and whoever fetches one waits for all of them.
const PAGES: u64 = 32 << 20;
/// Answers of the largest size that fit into an allowance.
const LARGEST: u64 = 4;
/// How much faster than the chain grows a peer may catch up with it from this
/// node alone.
const FASTER: u64 = 4;

/// Of a message: a number (8), what it is (1), and the key of a question.
const HEAD: usize = 9;
/// No key is longer.
const LONGEST: usize = 128;
const QUESTION: u8 = 0;
const NOTHING: u8 = 2;

/// What a peer may be sent in answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes at once.
    pub bytes: u64,
    /// Bytes more with every second.
    pub rate: u64,
}

/// The most bytes of the answer to a peer's question, by its key; `None` if the
/// peer has no use for it.
type Price = Arc<dyn Fn(&PublicKey, Bytes) -> Option<u64> + Send + Sync>;

/// What a peer may ask on a channel.
#[derive(Clone)]
pub struct Terms {
    allowance: Allowance,
    price: Price,
}

impl fmt::Debug for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terms")
            .field("allowance", &self.allowance)
            .finish_non_exhaustive()
    }
}

impl Terms {
    /// What a peer may be sent.
    #[must_use]
    pub const fn allowance(&self) -> Allowance {
        self.allowance
    }

    /// On which answers of at most `largest` bytes are given, of which so many
    /// become of use with every block.
    fn new(
        identity: &Identity,
        largest: usize,
        of_a_block: usize,
        price: impl Fn(&PublicKey, Bytes) -> Option<u64> + Send + Sync + 'static,
    ) -> Self {
        let blocks = 1_000u64.div_ceil(identity.genesis.protocol.min_block_time_ms.max(1));
        let growth = (of_a_block as u64).saturating_mul(blocks);
        Self {
            allowance: Allowance {
                bytes: BYTES.max(LARGEST.saturating_mul(largest as u64)),
                rate: RATE.max(FASTER.saturating_mul(growth)),
            },
            price: Arc::new(price),
        }
    }

    /// Certificates, for everybody.
    #[must_use]
    pub fn certificates(identity: &Identity) -> Self {
        let most = most_certificate(identity);
        Self::new(identity, most, 2 * most, move |_, _| Some(most as u64))
    }

    /// Blocks, for everybody.
    #[must_use]
    pub fn blocks(identity: &Identity) -> Self {
        let most = most_block(identity);
        Self::new(identity, most, most, move |_, _| Some(most as u64))
    }

    /// Bodies for those who track the shard, parts of bodies for those who vote,
    /// and receipts for those who track the shard that they are for.
    #[must_use]
    pub fn chunks(identity: &Arc<Identity>) -> Self {
        let (body, receipts) = (most_body(identity), most_receipts(identity));
        let part = most_receipts(identity).min(part(identity));
        let asker = Arc::clone(identity);
        let price = move |peer: &PublicKey, key: Bytes| {
            let tracks = |shard: ShardId| tracks(&asker, peer, shard);
            match chunk_requests::Key::decode(key).ok()? {
                chunk_requests::Key::Body { shard, .. } => tracks(shard).then_some(body),
                chunk_requests::Key::Bucket { destination, .. } => {
                    tracks(destination).then_some(receipts)
                }
                chunk_requests::Key::Part { .. } => asker.genesis.producer(peer).map(|_| part),
            }
            .map(|most| most as u64)
        };
        // A node that is the only one to ask is asked for a body, the part of
        // every other one, and the receipts of all.
        let shards = usize::from(identity.genesis.layout.shards());
        let of_a_block = body
            .saturating_add(part.saturating_mul(shards))
            .saturating_add(receipts);
        Self::new(identity, body.max(receipts), of_a_block, price)
    }

    /// States, for those who track the shard, and for archives.
    #[must_use]
    pub fn states(identity: &Arc<Identity>) -> Self {
        let most = most_page();
        let asker = Arc::clone(identity);
        let mut terms = Self::new(identity, most, 0, move |peer, key| {
            let (state_requests::Key::Newest { shard, .. }
            | state_requests::Key::Page { shard, .. }) = state_requests::Key::decode(key).ok()?;
            let keeps = tracks(&asker, peer, shard) || asker.is_archive(peer);
            keeps.then_some(most as u64)
        });
        terms.allowance.rate = PAGES;
        terms
    }
}

/// The largest part of a body.
fn part(identity: &Identity) -> usize {
    const PROOF: usize = 1_024;
    let needed = identity.body_code().needed().max(1);
    most_body(identity).div_ceil(needed).saturating_add(PROOF)
}

fn tracks(identity: &Identity, peer: &PublicKey, shard: ShardId) -> bool {
    let producer = identity.genesis.producer(peer);
    producer.is_some_and(|producer| producer.shard == shard)
}

/// What one peer was sent and has not been made up for, as of `at`.
#[derive(Debug, Default)]
struct Budget {
    bytes: u64,
    at: Option<SystemTime>,
    /// What its questions count as that are not answered, by their numbers.
    asked: BTreeMap<u64, u64>,
}

impl Budget {
    fn take(&mut self, number: u64, price: u64, allowance: Allowance, now: SystemTime) -> bool {
        let passed = self.at.and_then(|at| now.duration_since(at).ok());
        let passed = passed.unwrap_or_default().as_millis();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        let recovered = allowance.rate.saturating_mul(passed) / 1_000;
        self.bytes = self.bytes.saturating_sub(recovered);
        self.at = Some(now);
        let bytes = self.bytes.saturating_add(price);
        if bytes > allowance.bytes || self.asked.contains_key(&number) {
            return false;
        }
        self.bytes = bytes;
        self.asked.insert(number, price);
        // What is never answered has been made up for by then.
        while self.asked.len() > QUESTIONS {
            self.asked.pop_first();
        }
        true
    }

    fn answered(&mut self, number: u64, bytes: u64) {
        if let Some(price) = self.asked.remove(&number) {
            self.bytes = self.bytes.saturating_sub(price.saturating_sub(bytes));
        }
    }
}

/// Questions of one peer that are remembered until they are answered.
const QUESTIONS: usize = 1_024;

#[derive(Debug, Default)]
struct Budgets(Mutex<BTreeMap<PublicKey, Budget>>);

impl Budgets {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PublicKey, Budget>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets questions through that come on a channel of requests as far as `terms`
/// say, and counts those that it does not.
pub fn answering<S, R, C>(
    (sender, receiver): Channel<S, R>,
    terms: Terms,
    clock: C,
    refused: Counter,
) -> Channel<Answers<S>, Questions<S, R, C>>
where
    S: LimitedSender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    C: Clock,
{
    let budgets = Arc::new(Budgets::default());
    let answers = Answers {
        sender: sender.clone(),
        budgets: budgets.clone(),
    };
    let questions = Questions {
        receiver,
        sender,
        terms,
        clock,
        budgets,
        refused,
    };
    (answers, questions)
}

/// The receiving half: what peers ask and may, and what they answer.
pub struct Questions<S, R, C> {
    receiver: R,
    sender: S,
    terms: Terms,
    clock: C,
    budgets: Arc<Budgets>,
    refused: Counter,
}

impl<S, R, C> fmt::Debug for Questions<S, R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions")
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}

impl<S, R, C> Questions<S, R, C>
where
    S: LimitedSender<PublicKey = PublicKey>,
    C: Clock,
{
    /// Whether a message may be looked at. Whoever asked too much is told that
    /// there is nothing.
    fn admit(&mut self, peer: &PublicKey, message: &[u8]) -> bool {
        let Some((number, kind, key)) = parse(message) else {
            return true;
        };
        if kind != QUESTION {
            return true;
        }
        let key = key.get(..key.len().min(LONGEST)).unwrap_or_default();
        let price = (self.terms.price)(peer, Bytes::copy_from_slice(key));
        let now = self.clock.current();
        let taken = price.is_some_and(|price| {
            let price = price.saturating_add(MAX_RESPONSE_OVERHEAD as u64);
            let mut peers = self.budgets.lock();
            let budget = peers.entry(peer.clone()).or_default();
            budget.take(number, price, self.terms.allowance, now)
        });
        if !taken {
            self.refused.inc();
            let mut nothing = number.to_be_bytes().to_vec();
            nothing.push(NOTHING);
            self.sender
                .send(Recipients::One(peer.clone()), nothing, false);
        }
        taken
    }
}

/// The number of a message, what it is, and what follows.
fn parse(message: &[u8]) -> Option<(u64, u8, &[u8])> {
    let (number, rest) = message.split_first_chunk()?;
    let (kind, key) = rest.split_first()?;
    Some((u64::from_be_bytes(*number), *kind, key))
}

impl<S, R, C> Receiver for Questions<S, R, C>
where
    S: LimitedSender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    C: Clock,
{
    type Error = R::Error;
    type PublicKey = PublicKey;

    async fn recv(&mut self) -> Result<Message<PublicKey>, R::Error> {
        loop {
            let (peer, message) = self.receiver.recv().await?;
            if self.admit(&peer, message.as_ref()) {
                return Ok((peer, message));
            }
        }
    }

    fn capacity(&self) -> NonZeroUsize {
        self.receiver.capacity()
    }
}

/// The sending half: what is answered, and what this node asks.
#[derive(Clone, Debug)]
pub struct Answers<S> {
    sender: S,
    budgets: Arc<Budgets>,
}

/// [`Answers`] with the recipients that may be sent to now.
pub struct Checked<'a, S: LimitedSender + 'a> {
    sender: S::Checked<'a>,
    budgets: &'a Budgets,
}

impl<S: LimitedSender<PublicKey = PublicKey>> LimitedSender for Answers<S> {
    type PublicKey = PublicKey;
    type Checked<'a> = Checked<'a, S>;

    fn check(&mut self, recipients: Recipients<PublicKey>) -> Result<Checked<'_, S>, SystemTime> {
        Ok(Checked {
            sender: self.sender.check(recipients)?,
            budgets: &self.budgets,
        })
    }
}

impl<S: LimitedSender<PublicKey = PublicKey>> CheckedSender for Checked<'_, S> {
    type PublicKey = PublicKey;

    fn recipients(&self) -> Vec<PublicKey> {
        self.sender.recipients()
    }

    fn send(self, message: impl Into<IoBufs> + Send, priority: bool) -> Unreliable<Feedback> {
        let message = message.into();
        if let Some((number, kind)) = head(&message)
            && kind != QUESTION
        {
            let bytes = message.len() as u64;
            let mut peers = self.budgets.lock();
            for peer in self.sender.recipients() {
                if let Some(budget) = peers.get_mut(&peer) {
                    budget.answered(number, bytes);
                }
            }
        }
        self.sender.send(message, priority)
    }
}

/// The number of a message, and what it is.
fn head(message: &IoBufs) -> Option<(u64, u8)> {
    let mut head = Vec::with_capacity(HEAD);
    for chunk in (0..message.chunk_count()).filter_map(|index| message.chunk_at(index)) {
        head.extend(chunk.iter().take(HEAD - head.len()));
        if head.len() == HEAD {
            break;
        }
    }
    parse(&head).map(|(number, kind, _)| (number, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const ALLOWANCE: Allowance = Allowance {
        bytes: 1_000,
        rate: 100,
    };

    fn at(second: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(second)
    }

    #[test]
    fn bytes_are_bounded_and_come_back_with_time() {
        let mut budget = Budget::default();
        let mut taken = |number, price, second| budget.take(number, price, ALLOWANCE, at(second));
        assert!(taken(1, 600, 0));
        assert!(!taken(2, 600, 0));
        assert!(taken(3, 400, 0), "the rest");
        assert!(!taken(4, 600, 5), "500 came back");
        assert!(taken(5, 600, 6));
    }

    #[test]
    fn an_answer_gives_back_what_it_does_not_take() {
        let mut budget = Budget::default();
        assert!(budget.take(1, 1_000, ALLOWANCE, at(0)));
        budget.answered(2, 0);
        assert!(!budget.take(3, 600, ALLOWANCE, at(0)), "another's answer");
        budget.answered(1, 300);
        budget.answered(1, 0);
        assert!(!budget.take(4, 800, ALLOWANCE, at(0)), "300 were taken");
        assert!(budget.take(5, 700, ALLOWANCE, at(0)));
    }

    #[test]
    fn a_number_is_asked_under_once_at_a_time() {
        let mut budget = Budget::default();
        assert!(budget.take(1, 10, ALLOWANCE, at(0)));
        assert!(!budget.take(1, 10, ALLOWANCE, at(0)));
        budget.answered(1, 10);
        assert!(budget.take(1, 10, ALLOWANCE, at(0)));
    }

    #[test]
    fn what_is_never_answered_is_forgotten() {
        let mut budget = Budget::default();
        let free = Allowance {
            bytes: u64::MAX,
            rate: 0,
        };
        for number in 0..3 * QUESTIONS as u64 {
            assert!(budget.take(number, 1, free, at(0)));
        }
        assert_eq!(budget.asked.len(), QUESTIONS);
    }

    #[test]
    fn a_head_is_read_across_buffers() {
        let mut message = IoBufs::from(vec![0, 0, 0]);
        message.append(vec![0, 0, 0, 1].into());
        assert_eq!(head(&message), None);
        message.append(vec![2, 1, 7, 7].into());
        assert_eq!(head(&message), Some((258, 1)));
    }
}
