// SPDX-License-Identifier: Apache-2.0
//! What a node sends, on its way out.
//!
//! Every node sends through a [`Wire`]. An honest node's passes everything on
//! as it is; a byzantine node runs the same code, and its wire lies for it,
//! with the node's own keys ([`crate::byzantine`]).

use crate::byzantine::{Behaviour, Colluders};
use bytes::Bytes;
use commonware_actor::{Feedback, Unreliable};
use commonware_codec::{Decode as _, DecodeExt as _};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_p2p::{CheckedSender, LimitedSender, Recipients, Sender as _, simulated};
use commonware_runtime::{IoBufs, deterministic::Context};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use shardnode_chain::{
    Identity, channels,
    messages::{ChunkMessage, MessageLimits},
};
use shardnode_primitives::{Digest, Endorsement, ShardId};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::SystemTime,
};

/// Messages that are kept for whoever wants to send them again.
const TAPE: usize = 256;

type Link = simulated::Sender<PublicKey, Context>;

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

/// Holds on, whatever became of other holders.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Counts something that was done on purpose.
    pub fn count(&self, kind: &'static str) {
        *lock(&self.injected).entry(kind).or_default() += 1;
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

    /// A message that somebody sent not long ago, by a number at random.
    #[must_use]
    pub fn old_message(&self, at: u64) -> Option<Outgoing> {
        let tape = lock(&self.tape);
        let index = at.checked_rem(tape.len() as u64)?;
        usize::try_from(index)
            .ok()
            .and_then(|index| tape.get(index).cloned())
    }

    fn record(&self, message: &Outgoing) {
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

struct Behaviours {
    all: Vec<Box<dyn Behaviour>>,
    rng: ChaCha8Rng,
}

/// What one node sends through; it outlives restarts of the node.
pub struct Wire {
    identity: Arc<Identity>,
    others: Vec<PublicKey>,
    shared: Arc<Shared>,
    behaviours: Mutex<Behaviours>,
    links: Mutex<BTreeMap<u64, Link>>,
    honest: bool,
    lies: AtomicBool,
    records: bool,
}

impl Wire {
    /// The wire of the node with this identity, which behaves like this.
    /// `records` keeps what it sends for others to send again.
    #[must_use]
    pub fn new(
        identity: Arc<Identity>,
        others: Vec<PublicKey>,
        shared: Arc<Shared>,
        behaviours: Vec<Box<dyn Behaviour>>,
        seed: u64,
        records: bool,
    ) -> Arc<Self> {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Arc::new(Self {
            identity,
            others,
            shared,
            honest: behaviours.is_empty(),
            lies: AtomicBool::new(!behaviours.is_empty()),
            behaviours: Mutex::new(Behaviours {
                all: behaviours,
                rng,
            }),
            links: Mutex::new(BTreeMap::new()),
            records,
        })
    }

    /// Whether it is of the node with this key.
    #[must_use]
    pub fn is(&self, key: &PublicKey) -> bool {
        self.identity.key.public_key() == *key
    }

    /// Who sends.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// From now on everything goes out as it is.
    pub fn behave(&self) {
        self.lies.store(false, Ordering::Relaxed);
    }

    /// The sender of a node that was just started, on a registered channel.
    #[must_use]
    pub fn connect(self: &Arc<Self>, channel: u64, link: Link) -> Sender {
        lock(&self.links).insert(channel, link.clone());
        Sender {
            link,
            channel,
            wire: self.clone(),
        }
    }

    /// Sends past the node's own code.
    pub fn send(&self, message: Outgoing) {
        if let Some(link) = lock(&self.links).get_mut(&message.channel) {
            let to = Recipients::Some(message.to);
            link.send(to, message.bytes, message.priority);
        }
    }

    /// Sends to everybody, past the node's own code.
    pub fn send_all(&self, channel: u64, bytes: Bytes) {
        self.send(Outgoing {
            channel,
            to: self.others.clone(),
            bytes,
            priority: true,
        });
    }

    /// What goes out instead of `message`; `None` leaves it as it is.
    fn lie(&self, message: &Outgoing) -> Option<Vec<Outgoing>> {
        if !self.lies.load(Ordering::Relaxed) {
            return None;
        }
        let mut behaviours = lock(&self.behaviours);
        let Behaviours { all, rng } = &mut *behaviours;
        let mut liar = Liar {
            identity: &self.identity,
            others: &self.others,
            shared: &self.shared,
            rng,
        };
        all.iter_mut()
            .find_map(|behaviour| behaviour.lie(&mut liar, message))
    }

    /// Notes what an honest node endorses.
    fn note(&self, message: &Outgoing) {
        if !self.honest || message.channel != channels::ENDORSEMENTS {
            return;
        }
        if let Ok(word) = Endorsement::decode(message.bytes.clone()) {
            lock(&self.shared.endorsed).push(Endorsed {
                validator: self.identity.key.public_key(),
                shard: word.shard,
                height: word.height,
            });
        }
    }

    /// Tells colluders what goes out.
    fn overhear(&self, message: &Outgoing) {
        if message.channel != channels::CHUNKS || !self.shared.colluders.any() {
            return;
        }
        let limits = MessageLimits::of(&self.identity.genesis);
        if let Ok(ChunkMessage::Header(header)) =
            ChunkMessage::decode_cfg(message.bytes.clone(), &limits)
        {
            self.shared.colluders.endorse(&header, &self.shared);
        }
    }
}

/// A node's sender on one channel.
#[derive(Clone)]
pub struct Sender {
    link: Link,
    channel: u64,
    wire: Arc<Wire>,
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender")
            .field("channel", &self.channel)
            .finish_non_exhaustive()
    }
}

/// A [`Sender`] with the recipients that it may send to now.
pub struct Checked<'a> {
    link: <Link as LimitedSender>::Checked<'a>,
    channel: u64,
    wire: Arc<Wire>,
}

impl LimitedSender for Sender {
    type PublicKey = PublicKey;
    type Checked<'a> = Checked<'a>;

    fn check(&mut self, recipients: Recipients<PublicKey>) -> Result<Checked<'_>, SystemTime> {
        Ok(Checked {
            link: self.link.check(recipients)?,
            channel: self.channel,
            wire: self.wire.clone(),
        })
    }
}

impl CheckedSender for Checked<'_> {
    type PublicKey = PublicKey;

    fn recipients(&self) -> Vec<PublicKey> {
        self.link.recipients()
    }

    fn send(self, message: impl Into<IoBufs> + Send, priority: bool) -> Unreliable<Feedback> {
        let bytes = Bytes::from(message.into().coalesce());
        let message = Outgoing {
            channel: self.channel,
            to: self.link.recipients(),
            bytes: bytes.clone(),
            priority,
        };
        match self.wire.lie(&message) {
            None => {
                self.wire.note(&message);
                self.wire.overhear(&message);
                if self.wire.records {
                    self.wire.shared.record(&message);
                }
                self.link.send(bytes, priority)
            }
            Some(instead) => {
                for message in instead {
                    self.wire.overhear(&message);
                    self.wire.send(message);
                }
                Unreliable::new(Feedback::Ok)
            }
        }
    }
}
