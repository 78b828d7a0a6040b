// SPDX-License-Identifier: Apache-2.0
//! What a node sends, on its way out, and what it hears, on its way in.
//!
//! Every node sends and hears through a [`Wire`]. An honest node's passes
//! everything on as it is; a byzantine node runs the same code, and its wire lies
//! for it, with the node's own keys ([`crate::byzantine`]).

use crate::{
    colluders::Endorser,
    lies::{Behaviour, Endorsed, Incoming, Liar, Outgoing, Shared},
    lock,
};
use bytes::Bytes;
use commonware_actor::{Feedback, Unreliable};
use commonware_codec::{Decode as _, DecodeExt as _};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_p2p::{CheckedSender, LimitedSender, Message, Recipients, Sender as _, simulated};
use commonware_runtime::{IoBufs, deterministic::Context};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use shardnode_network::{
    Identity, channels,
    chunk_messages::{ChunkMessage, MessageLimits},
};
use shardnode_primitives::{
    Endorsement,
    work::{self, Work},
};
use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::SystemTime,
};

type Link = simulated::Sender<PublicKey, Context>;
type Ear = simulated::Receiver<PublicKey>;

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

    /// Whether its node never lies.
    #[must_use]
    pub const fn is_honest(&self) -> bool {
        self.honest
    }

    /// From now on everything goes out, and comes in, as it is.
    pub fn behave(&self) {
        self.lies.store(false, Ordering::Relaxed);
    }

    /// The sender and the receiver of a node that was just started, on a registered
    /// channel.
    #[must_use]
    pub fn connect(self: &Arc<Self>, channel: u64, link: Link, ear: Ear) -> (Sender, Receiver) {
        lock(&self.links).insert(channel, link.clone());
        let wire = self.clone();
        let sender = Sender {
            link,
            channel,
            wire,
        };
        let wire = self.clone();
        let receiver = Receiver { ear, channel, wire };
        (sender, receiver)
    }

    /// Sends past the node's own code; says how many got it.
    pub fn send(&self, message: Outgoing) -> usize {
        let mut links = lock(&self.links);
        links.get_mut(&message.channel).map_or(0, |link| {
            let to = Recipients::Some(message.to);
            link.send(to, message.bytes, message.priority).len()
        })
    }

    /// Sends what its ways of lying have to say by themselves.
    pub fn tick(&self) {
        let _: Option<()> = self.first(|behaviour, liar| {
            behaviour.tick(liar, &mut |message| self.send(message));
            None
        });
    }

    /// Counts what hearing a message is for its node: what goes on below a node, and
    /// in consensus, counts nothing.
    fn hears(&self, channel: u64, bytes: usize) {
        work::count(Work::Message, 1);
        work::count(Work::MessageByte, bytes);
        let signatures = match channel {
            channels::VOTES => 1,
            channels::CERTIFICATES => self.identity.genesis.producers.len(),
            _ => 0,
        };
        work::count(Work::BatchedSignature, signatures);
    }

    /// What goes out instead of `message`; `None` leaves it as it is.
    fn lie(&self, message: &Outgoing) -> Option<Vec<Outgoing>> {
        self.first(|behaviour, liar| behaviour.lie(liar, message))
    }

    /// What goes out instead of the node hearing `message`; `None` if it hears it.
    fn hear(&self, message: &Incoming) -> Option<Vec<Outgoing>> {
        self.first(|behaviour, liar| behaviour.hear(liar, message))
    }

    /// What the first of its ways of lying comes to that comes to something.
    fn first<T>(
        &self,
        mut way: impl FnMut(&mut dyn Behaviour, &mut Liar<'_>) -> Option<T>,
    ) -> Option<T> {
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
            .find_map(|behaviour| way(behaviour.as_mut(), &mut liar))
    }

    /// Notes what an honest node endorses.
    fn note(&self, message: &Outgoing) {
        if !self.honest || message.channel != channels::ENDORSEMENTS {
            return;
        }
        if let Ok(word) = Endorsement::decode(message.bytes.clone()) {
            self.shared.note_endorsed(Endorsed {
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
            for _ in 0..self.shared.colluders.endorse(&header) {
                self.shared.count("blind endorsements");
            }
        }
    }
}

impl Endorser for Wire {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn send_all(&self, channel: u64, bytes: Bytes) {
        self.send(Outgoing {
            channel,
            to: self.others.clone(),
            bytes,
            priority: true,
        });
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
        let to = self.link.recipients();
        work::count(Work::Message, to.len());
        work::count(Work::MessageByte, bytes.len().saturating_mul(to.len()));
        let message = Outgoing {
            channel: self.channel,
            to,
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

/// A node's receiver on one channel.
pub struct Receiver {
    ear: Ear,
    channel: u64,
    wire: Arc<Wire>,
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receiver")
            .field("channel", &self.channel)
            .finish_non_exhaustive()
    }
}

impl commonware_p2p::Receiver for Receiver {
    type Error = <Ear as commonware_p2p::Receiver>::Error;
    type PublicKey = PublicKey;

    async fn recv(&mut self) -> Result<Message<PublicKey>, Self::Error> {
        loop {
            let (from, bytes) = self.ear.recv().await?;
            self.wire.hears(self.channel, bytes.as_ref().len());
            if self.wire.is_honest() {
                return Ok((from, bytes));
            }
            let message = Incoming {
                channel: self.channel,
                from: from.clone(),
                bytes: Bytes::from(bytes.clone()),
            };
            match self.wire.hear(&message) {
                None => return Ok((from, bytes)),
                Some(instead) => {
                    for message in instead {
                        self.wire.send(message);
                    }
                }
            }
        }
    }

    fn capacity(&self) -> NonZeroUsize {
        self.ear.capacity()
    }
}
