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
//!   once, and so many more with every second;
//! - so many at a time that the answers, should they come together, fit into what
//!   this node may send at once ([`limits`](crate::limits)): beyond it they would be
//!   lost.
//!
//! A question counts as much as the largest answer to it until it is answered,
//! and as much as the answer after that, but 4 KiB at least. Whoever asks for more
//! is told that there is nothing, as by a node that has nothing, and asks another
//! one; as often as a node asks at most, and beyond that nothing is said. What lies in
//! memory for a peer that does not read is what it is sent until its connection
//! ends, for want of a write that comes to an end.
//!
//! This node keeps to the same: it asks no peer more, nor faster, than it would be
//! told of each question at least that there is nothing.
//!
//! What is no message of this protocol, or has a key that is none, no honest peer
//! sends: it is cut off.

mod budget;
mod terms;

pub use terms::{Allowance, Terms};

use self::{budget::Budget, terms::Price};
use crate::{asking::Questioned, channels::Channel};
use bytes::Bytes;
use commonware_actor::{Feedback, Unreliable};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{
    Blocker, CheckedSender, LimitedSender, Message, Receiver, Recipients, Sender as _, block,
};
use commonware_resolver::p2p::MAX_RESPONSE_OVERHEAD;
use commonware_runtime::{Clock, IoBufs};
use prometheus_client::metrics::counter::Counter;
use std::{
    collections::BTreeMap,
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// Of a message: a number (8), what it is (1), and the key of a question.
const HEAD: usize = 9;
/// No key is longer.
const LONGEST: usize = 128;
const QUESTION: u8 = 0;
const ANSWER: u8 = 1;
const NOTHING: u8 = 2;

/// Of all peers.
#[derive(Debug, Default)]
struct Budgets(Mutex<BTreeMap<PublicKey, Budget>>);

impl Budgets {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PublicKey, Budget>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is counted on a channel of requests.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Questions of peers that are not let through.
    pub refused: Counter,
    /// Questions of this node that peers left without an answer.
    pub unanswered: Counter,
}

/// Lets questions through that come on a channel of requests as far as `terms`
/// say, and those of this node to peers [that are asked now](crate::asking);
/// `blocker` cuts off who sends what is no message.
pub fn answering<S, R, B, C>(
    (sender, receiver): Channel<S, R>,
    terms: Terms,
    blocker: B,
    clock: C,
    counts: Counts,
) -> Channel<Answers<S, C>, Questions<S, R, B, C>>
where
    S: LimitedSender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
    C: Clock,
{
    let clock = Arc::new(clock);
    let budgets = Arc::new(Budgets::default());
    let asked = Questioned::new(clock.clone(), terms.questions(), counts.unanswered);
    let asked = Arc::new(asked);
    let answers = Answers {
        sender: sender.clone(),
        budgets: budgets.clone(),
        asked: asked.clone(),
    };
    let questions = Questions {
        receiver,
        sender,
        terms,
        blocker,
        clock,
        budgets,
        asked,
        refused: counts.refused,
    };
    (answers, questions)
}

/// The receiving half: what peers ask and may, and what they answer.
pub struct Questions<S, R, B, C> {
    receiver: R,
    sender: S,
    terms: Terms,
    blocker: B,
    clock: Arc<C>,
    budgets: Arc<Budgets>,
    asked: Arc<Questioned<C>>,
    refused: Counter,
}

impl<S, R, B, C> fmt::Debug for Questions<S, R, B, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions")
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}

impl<S, R, B, C> Questions<S, R, B, C>
where
    S: LimitedSender<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
    C: Clock,
{
    /// Whether a message may be looked at.
    fn admit(&mut self, peer: &PublicKey, message: &[u8]) -> bool {
        match parse(message) {
            Some((number, QUESTION, key)) => {
                let key = key.get(..key.len().min(LONGEST)).unwrap_or_default();
                let price = self.terms.price(peer, Bytes::copy_from_slice(key));
                if price != Price::Unreadable {
                    return self.admit_question(peer, number, price);
                }
            }
            Some((number, ANSWER | NOTHING, _)) => {
                self.asked.answered(peer, number);
                return true;
            }
            _ => {}
        }
        block!(self.blocker, peer.clone(), "no message of a request");
        false
    }

    /// Whether a question may be looked at. Whoever asked too much is told that
    /// there is nothing.
    fn admit_question(&mut self, peer: &PublicKey, number: u64, price: Price) -> bool {
        let now = self.clock.current();
        let mut peers = self.budgets.lock();
        let budget = peers.entry(peer.clone()).or_default();
        if let Price::Bytes(price) = price {
            let price = price.saturating_add(MAX_RESPONSE_OVERHEAD as u64);
            let bounds = (self.terms.allowance(), self.terms.questions());
            if budget.take(number, price, bounds, now) {
                return true;
            }
        }
        let told = budget.is_told(self.terms.questions(), now);
        drop(peers);
        self.refused.inc();
        if told {
            let mut nothing = number.to_be_bytes().to_vec();
            nothing.push(NOTHING);
            self.sender
                .send(Recipients::One(peer.clone()), nothing, false);
        }
        false
    }
}

/// The number of a message, what it is, and what follows.
fn parse(message: &[u8]) -> Option<(u64, u8, &[u8])> {
    let (number, rest) = message.split_first_chunk()?;
    let (kind, key) = rest.split_first()?;
    Some((u64::from_be_bytes(*number), *kind, key))
}

impl<S, R, B, C> Receiver for Questions<S, R, B, C>
where
    S: LimitedSender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
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
pub struct Answers<S, C> {
    sender: S,
    budgets: Arc<Budgets>,
    asked: Arc<Questioned<C>>,
}

impl<S: Clone, C> Clone for Answers<S, C> {
    fn clone(&self) -> Self {
        Self {
            sender: self.sender.clone(),
            budgets: self.budgets.clone(),
            asked: self.asked.clone(),
        }
    }
}

impl<S, C> fmt::Debug for Answers<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers")
            .field("asked", &self.asked)
            .finish_non_exhaustive()
    }
}

/// [`Answers`] with one who may be sent something.
///
/// Whether it is, is decided once it is known what: a check of the channel's rate
/// takes of it, so what is not asked now must not come to one.
pub struct Checked<'a, S, C> {
    sender: &'a mut S,
    recipients: Recipients<PublicKey>,
    budgets: &'a Budgets,
    asked: &'a Questioned<C>,
}

impl<S, C> LimitedSender for Answers<S, C>
where
    S: LimitedSender<PublicKey = PublicKey>,
    C: Clock,
{
    type PublicKey = PublicKey;
    type Checked<'a> = Checked<'a, S, C>;

    fn check(
        &mut self,
        recipients: Recipients<PublicKey>,
    ) -> Result<Checked<'_, S, C>, SystemTime> {
        Ok(Checked {
            sender: &mut self.sender,
            recipients,
            budgets: &self.budgets,
            asked: &self.asked,
        })
    }
}

impl<S, C> CheckedSender for Checked<'_, S, C>
where
    S: LimitedSender<PublicKey = PublicKey>,
    C: Clock,
{
    type PublicKey = PublicKey;

    fn recipients(&self) -> Vec<PublicKey> {
        match &self.recipients {
            Recipients::One(peer) => vec![peer.clone()],
            Recipients::Some(peers) => peers.clone(),
            // Questions and answers go to one peer each.
            Recipients::All => Vec::new(),
        }
    }

    fn send(self, message: impl Into<IoBufs> + Send, priority: bool) -> Unreliable<Feedback> {
        let message = message.into();
        let peers = self.recipients();
        let head = head(&message);
        let question = head.filter(|(_, kind)| *kind == QUESTION);
        match (head, question) {
            (_, Some(_)) => {
                if !peers.iter().all(|peer| self.asked.may_ask(peer)) {
                    return Unreliable::Rejected;
                }
            }
            (Some((number, _)), None) => {
                let bytes = message.len() as u64;
                let mut budgets = self.budgets.lock();
                for peer in &peers {
                    if let Some(budget) = budgets.get_mut(peer) {
                        budget.answered(number, bytes);
                    }
                }
            }
            (None, None) => {}
        }
        let Ok(checked) = self.sender.check(self.recipients) else {
            return Unreliable::Rejected;
        };
        let sent = checked.send(message, priority);
        if let Some((number, _)) = question.filter(|_| sent.accepted()) {
            for peer in &peers {
                self.asked.asks(peer, number);
            }
        }
        sent
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

    #[test]
    fn a_head_is_read_across_buffers() {
        let mut message = IoBufs::from(vec![0, 0, 0]);
        message.append(vec![0, 0, 0, 1].into());
        assert_eq!(head(&message), None);
        message.append(vec![2, 1, 7, 7].into());
        assert_eq!(head(&message), Some((258, 1)));
    }
}
