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
//! one; 64 times in a second, and beyond that nothing is said. What lies in
//! memory for a peer that does not read is what it is sent until its connection
//! ends, for want of a write that comes to an end.
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
/// say, and those of this node to peers that [do not owe one](crate::asking);
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
    let asked = Arc::new(Questioned::new(clock.clone(), counts.unanswered));
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
            let bounds = (self.terms.allowance(), self.terms.open());
            if budget.take(number, price, bounds, now) {
                return true;
            }
        }
        let told = budget.is_told(now);
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

/// [`Answers`] with the recipients that may be sent to now.
pub struct Checked<'a, S: LimitedSender + 'a, C> {
    sender: S::Checked<'a>,
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
            sender: self.sender.check(recipients)?,
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
        self.sender.recipients()
    }

    fn send(self, message: impl Into<IoBufs> + Send, priority: bool) -> Unreliable<Feedback> {
        let message = message.into();
        let Some((number, kind)) = head(&message) else {
            return self.sender.send(message, priority);
        };
        let recipients = self.sender.recipients();
        if kind != QUESTION {
            let bytes = message.len() as u64;
            let mut peers = self.budgets.lock();
            for peer in &recipients {
                if let Some(budget) = peers.get_mut(peer) {
                    budget.answered(number, bytes);
                }
            }
            drop(peers);
            return self.sender.send(message, priority);
        }
        // A question goes to one peer.
        if recipients.iter().any(|peer| self.asked.passes_over(peer)) {
            return Unreliable::Rejected;
        }
        let sent = self.sender.send(message, priority);
        if sent.accepted() {
            for peer in &recipients {
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
