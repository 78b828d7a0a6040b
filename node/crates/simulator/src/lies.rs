// SPDX-License-Identifier: Apache-2.0
//! What a liar is given: a message on its way out or in, and what all of a run
//! know.

use crate::{colluders::Colluders, lock};
use bytes::Bytes;
use commonware_cryptography::ed25519::PublicKey;
use rand_chacha::ChaCha8Rng;
use shardnode_network::Identity;
use shardnode_primitives::{Digest, ShardId};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Mutex,
};

/// Messages that are kept for whoever wants to send them again.
const TAPE: usize = 256;

/// A message on its way out.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// On which channel.
    pub channel: u64,
    /// To whom.
    pub to: Vec<PublicKey>,
    /// What.
    pub bytes: Bytes,
    /// Before others.
    pub priority: bool,
}

impl Outgoing {
    /// The same, to the same, with another content.
    #[must_use]
    pub fn with(&self, bytes: Bytes) -> Self {
        Self {
            bytes,
            ..self.clone()
        }
    }

    /// The same to others.
    #[must_use]
    pub fn to(&self, to: Vec<PublicKey>) -> Self {
        Self { to, ..self.clone() }
    }
}

/// A message on its way in.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// On which channel.
    pub channel: u64,
    /// From whom.
    pub from: PublicKey,
    /// What.
    pub bytes: Bytes,
}

/// An endorsement that an honest node sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endorsed {
    /// The node.
    pub validator: PublicKey,
    /// The shard.
    pub shard: ShardId,
    /// The height.
    pub height: u64,
}

/// What all wires of a run share.
#[derive(Default)]
pub struct Shared {
    /// How often what was done on purpose.
    pub injected: Mutex<BTreeMap<&'static str, u64>>,
    /// Who endorses whatever any producer sends.
    pub colluders: Colluders,
    tape: Mutex<VecDeque<Outgoing>>,
    bodiless: Mutex<BTreeSet<Digest>>,
    endorsed: Mutex<Vec<Endorsed>>,
}

impl Shared {
    /// Counts something that was done on purpose.
    pub fn count(&self, kind: &'static str) {
        self.count_many(kind, 1);
    }

    /// The same, so many times.
    pub fn count_many(&self, kind: &'static str, times: usize) {
        *lock(&self.injected).entry(kind).or_default() += times as u64;
    }

    /// A liar made the header with this hash without a valid body.
    pub fn note_bodiless(&self, header: Digest) {
        lock(&self.bodiless).insert(header);
    }

    /// Whether a liar made the header with this hash without a valid body.
    #[must_use]
    pub fn is_bodiless(&self, header: &Digest) -> bool {
        lock(&self.bodiless).contains(header)
    }

    /// What honest nodes endorsed since the last time.
    #[must_use]
    pub fn take_endorsed(&self) -> Vec<Endorsed> {
        std::mem::take(&mut *lock(&self.endorsed))
    }

    /// An honest node endorses.
    pub(crate) fn note_endorsed(&self, endorsed: Endorsed) {
        lock(&self.endorsed).push(endorsed);
    }

    /// A message that somebody sent not long ago, by a number at random.
    #[must_use]
    pub fn old_message(&self, at: u64) -> Option<Outgoing> {
        let tape = lock(&self.tape);
        let index = at.checked_rem(tape.len() as u64)?;
        usize::try_from(index)
            .ok()
            .and_then(|index| tape.get(index).cloned())
    }

    pub(crate) fn record(&self, message: &Outgoing) {
        let mut tape = lock(&self.tape);
        tape.push_back(message.clone());
        if tape.len() > TAPE {
            tape.pop_front();
        }
    }
}

/// Who lies, and with what.
pub struct Liar<'a> {
    /// The node, with its keys.
    pub identity: &'a Identity,
    /// Everybody else.
    pub others: &'a [PublicKey],
    /// What all wires share.
    pub shared: &'a Shared,
    /// Its own chance.
    pub rng: &'a mut ChaCha8Rng,
}

/// One way of lying.
pub trait Behaviour: Send {
    /// What goes out instead of `message`. `None` if it stays as it is.
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>>;

    /// What goes out instead of its node hearing `message`. `None` if it hears it.
    fn hear(&mut self, _liar: &mut Liar<'_>, _message: &Incoming) -> Option<Vec<Outgoing>> {
        None
    }

    /// Sends what goes out of its own accord, each time that the network is looked
    /// at; `send` says how many got a message.
    fn tick(&mut self, _liar: &mut Liar<'_>, _send: &mut dyn FnMut(Outgoing) -> usize) {}
}
