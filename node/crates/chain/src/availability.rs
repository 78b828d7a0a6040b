// SPDX-License-Identifier: Apache-2.0
//! The actor that knows what is at hand of the chunks in flight: candidate
//! headers of all shards and their endorsements, bodies of the own shard, the
//! own parts of the bodies of all other shards, receipts for the own shard.
//!
//! What a node needs and does not have it waits for, because producers send
//! everything to whoever needs it; what has not come after [`PATIENCE`] it
//! asks for (see [`crate::fetch`]).
//!
//! # Bodies
//!
//! A producer divides the body of its chunk into one part for each voter
//! ([`crate::config::body_code`]). It sends the body to the shard's other
//! trackers, and every other voter its part, before the header. A voter votes
//! for a block only with the body, or its part of it, of every new chunk in
//! the block, so the honest votes of a certificate alone stand for a tracker
//! with the body, or for as many parts as give it.
//!
//! A tracker asks the shard's other trackers for a body, and if they do not
//! answer within [`recovery::ANSWER`], every voter for its part. A voter asks
//! the trackers for its own part, and if a vote waits for it and they do not
//! answer, the other voters for theirs. A body without transactions is known
//! by its hash.
//!
//! # Bounds
//!
//! Candidates, parts and receipts are kept for heights in
//! `(finalised, finalised + HORIZON]`, at most [`PER_SLOT`] for each shard and
//! height, and only from the producers of the shard that they belong to.
//! [`crate::parts`] bounds what is held of older parts. Other voters' parts of
//! a body are made for them as long as it can enter a block, for one body at a
//! time.

mod endorsed;
mod recovery;

use self::{
    endorsed::Endorsed,
    recovery::{ANSWER, Wanted as ChunkWanted},
};
use crate::{
    bodies::{self, CheckedChunk},
    channels::Channel,
    config::{Committees, Identity, bucket_limit},
    fetch::{Fetcher, Key},
    messages::{ChunkMessage, MessageLimits, share_limits},
    metrics::Metrics,
    parts,
    runtime::Runtime,
    witness_validator,
};
use bytes::Bytes;
use commonware_codec::{Decode as _, DecodeExt as _, Encode as _};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_macros::select;
use commonware_p2p::{Receiver, Recipients, Sender};
use commonware_parallel::{Rayon, Strategy as _};
use commonware_resolver::{Fetch, Resolver as _, TargetedResolver as _};
use commonware_runtime::Handle;
use commonware_utils::{
    channel::{fallible::OneshotExt as _, mpsc, oneshot},
    futures::Pool,
    vec::NonEmptyVec,
};
use shardnode_coding::{Part, Share};
use shardnode_execution::body::{self, Shown};
use shardnode_primitives::{
    ChunkBody, ChunkContent, ChunkHeader, Digest, Endorsement, Endorsements, ProvenBucket, ShardId,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, SystemTime},
};
use tracing::debug;

/// How long a producer has to send what it made before others are asked.
const PATIENCE: Duration = Duration::from_millis(400);
/// Heights above the finalised one for which chunks are kept.
pub(crate) const HORIZON: u64 = 16;
/// Headers or buckets kept for one shard at one height: an honest producer
/// makes one.
pub(crate) const PER_SLOT: usize = 2;
/// Checked chunks and receipts kept below the finalised height, for a ledger
/// that is still executing.
const KEEP_BELOW: u64 = 64;

/// What a leader wants: for every shard a header for `height` on this base.
#[derive(Debug)]
pub struct Wanted {
    /// The block's height.
    pub height: u64,
    /// The anchor that its chunks must have.
    pub anchor: Digest,
    /// The hashes of the parent's headers, by shard.
    pub previous: Vec<Digest>,
    /// Who must endorse, by shard.
    pub committees: Committees,
    /// When to make do with what is there.
    pub deadline: SystemTime,
}

/// A header that its committee endorsed.
pub type Collected = (ChunkHeader, Endorsements);

enum Message {
    Produced {
        chunk: Arc<CheckedChunk>,
        body: ChunkBody,
        shares: Vec<Share>,
        buckets: Vec<ProvenBucket>,
    },
    Part {
        header: Box<ChunkHeader>,
        reply: oneshot::Sender<bool>,
    },
    ServePart {
        shard: ShardId,
        height: u64,
        index: u16,
        root: Digest,
        reply: oneshot::Sender<Bytes>,
    },
    Chunk {
        header: Box<ChunkHeader>,
        at_once: bool,
        reply: oneshot::Sender<Arc<CheckedChunk>>,
    },
    Bucket {
        key: Key,
        at_once: bool,
        reply: oneshot::Sender<Arc<ProvenBucket>>,
    },
    Collect {
        wanted: Wanted,
        reply: oneshot::Sender<Vec<Collected>>,
    },
    Endorsed(Endorsement),
    Finalized(u64),
    Fetched {
        key: Key,
        value: Bytes,
        reply: oneshot::Sender<bool>,
    },
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<Message>);

impl Mailbox {
    /// Sends a chunk of this node, the shares of its body, and the receipts
    /// that its header is the first to commit to, to whoever needs them.
    pub async fn produced(
        &self,
        chunk: Arc<CheckedChunk>,
        body: ChunkBody,
        shares: Vec<Share>,
        buckets: Vec<ProvenBucket>,
    ) {
        let message = Message::Produced {
            chunk,
            body,
            shares,
            buckets,
        };
        let _ = self.0.send(message).await;
    }

    /// Waits for the chunk of the own shard with this header. `at_once` asks
    /// peers without waiting for them to send it.
    pub async fn chunk(&self, header: ChunkHeader, at_once: bool) -> Option<Arc<CheckedChunk>> {
        let (reply, response) = oneshot::channel();
        let message = Message::Chunk {
            header: Box::new(header),
            at_once,
            reply,
        };
        self.0.send(message).await.ok()?;
        response.await.ok()
    }

    /// Waits for the own part of the body of another shard's chunk; false if
    /// there is no such body.
    pub async fn part(&self, header: ChunkHeader) -> Option<bool> {
        let (reply, response) = oneshot::channel();
        let header = Box::new(header);
        self.0.send(Message::Part { header, reply }).await.ok()?;
        response.await.ok()
    }

    /// The part of the voter at place `index`, for a peer; the channel closes
    /// if it cannot be had from this node.
    #[must_use]
    pub fn serve_part(
        &self,
        shard: ShardId,
        height: u64,
        index: u16,
        root: Digest,
    ) -> oneshot::Receiver<Bytes> {
        let (reply, response) = oneshot::channel();
        let _ = self.0.try_send(Message::ServePart {
            shard,
            height,
            index,
            root,
            reply,
        });
        response
    }

    /// Waits for the receipts named by a [`Key::Bucket`].
    pub async fn bucket(&self, key: Key, at_once: bool) -> Option<Arc<ProvenBucket>> {
        let (reply, response) = oneshot::channel();
        let message = Message::Bucket {
            key,
            at_once,
            reply,
        };
        self.0.send(message).await.ok()?;
        response.await.ok()
    }

    /// The endorsed headers that fit, as soon as there is one for every shard
    /// or at the deadline. Only headers whose chunk is at hand, or the own
    /// part of it.
    pub async fn collect(&self, wanted: Wanted) -> Vec<Collected> {
        let (reply, response) = oneshot::channel();
        let _ = self.0.send(Message::Collect { wanted, reply }).await;
        response.await.unwrap_or_default()
    }

    /// Sends an endorsement of this node to everybody who may lead.
    pub async fn endorsed(&self, endorsement: Endorsement) {
        let _ = self.0.send(Message::Endorsed(endorsement)).await;
    }

    /// Forgets what finalised blocks made obsolete.
    pub async fn finalized(&self, height: u64) {
        let _ = self.0.send(Message::Finalized(height)).await;
    }

    /// An answer to a request; the response says whether it is right.
    #[must_use]
    pub fn fetched(&self, key: Key, value: Bytes) -> oneshot::Receiver<bool> {
        let (reply, response) = oneshot::channel();
        let _ = self.0.try_send(Message::Fetched { key, value, reply });
        response
    }
}

enum Body {
    Checking,
    Ready(Arc<CheckedChunk>),
}

#[derive(Default)]
struct Waiting {
    replies: Vec<oneshot::Sender<Arc<ProvenBucket>>>,
    ask_at: Option<SystemTime>,
}

/// A chunk, by its height and its header's hash.
type ChunkKey = (u64, Digest);

fn chunk_key(header: &ChunkHeader) -> ChunkKey {
    (header.content.height, header.hash())
}

/// What was done beside the actor.
enum Done {
    /// The body of a chunk of the own shard was judged; `None` if there is no
    /// body.
    Chunk(Option<Arc<CheckedChunk>>),
    /// The own part of this chunk's body is held.
    Held(ChunkKey),
    /// The own part of this chunk's body is not stored.
    NotHeld,
    /// Enough parts were collected; `None` if they show that there is no body.
    Recovered(Box<ChunkHeader>, Option<Share>),
    /// A body was divided for voters that ask for their parts.
    Divided(ChunkKey, Option<Arc<Vec<Share>>>),
    /// An actor that this one needs has ended.
    Ended,
}

/// The actor.
pub struct Actor<E: Runtime, S, R> {
    context: E,
    identity: Arc<Identity>,
    limits: MessageLimits,
    bodies: bodies::Mailbox,
    network: Channel<S, R>,
    endorsements: Channel<S, R>,
    validator: witness_validator::Mailbox,
    inbox: mpsc::Receiver<Message>,
    finalized: u64,
    headers: BTreeMap<(u64, ShardId), Vec<ChunkHeader>>,
    chunks: BTreeMap<ChunkKey, Body>,
    received: BTreeMap<(u64, ShardId), Vec<ProvenBucket>>,
    buckets: BTreeMap<(u64, Key), Arc<ProvenBucket>>,
    chunk_waits: BTreeMap<ChunkKey, ChunkWanted<Arc<CheckedChunk>>>,
    parts: parts::Mailbox,
    held: BTreeSet<ChunkKey>,
    part_waits: BTreeMap<ChunkKey, ChunkWanted<bool>>,
    divided: BTreeMap<ChunkKey, Arc<Vec<Share>>>,
    dividing: bool,
    bucket_waits: BTreeMap<Key, Waiting>,
    collects: Vec<(Wanted, oneshot::Sender<Vec<Collected>>)>,
    endorsed: Endorsed,
    gave_up: bool,
    checks: Pool<'static, Done>,
    metrics: Arc<Metrics>,
    strategy: Rayon,
}

/// What the actor works with.
pub struct Parts<S, R> {
    /// Who this node is.
    pub identity: Arc<Identity>,
    /// Bodies of the own shard.
    pub bodies: bodies::Mailbox,
    /// Own parts of the bodies of other shards.
    pub parts: parts::Mailbox,
    /// Chunks, parts and receipts.
    pub network: Channel<S, R>,
    /// Endorsements.
    pub endorsements: Channel<S, R>,
    /// Told of headers.
    pub validator: witness_validator::Mailbox,
    /// What is measured.
    pub metrics: Arc<Metrics>,
    /// CPU work.
    pub strategy: Rayon,
}

impl<E, S, R> Actor<E, S, R>
where
    E: Runtime,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
{
    /// Creates the actor; it runs once it is given a way to ask peers.
    pub fn new(context: E, parts: Parts<S, R>) -> (Self, Mailbox) {
        let (sender, inbox) = mpsc::channel(1_024);
        let actor = Self {
            limits: MessageLimits::of(&parts.identity.genesis),
            context,
            identity: parts.identity,
            bodies: parts.bodies,
            parts: parts.parts,
            network: parts.network,
            endorsements: parts.endorsements,
            validator: parts.validator,
            metrics: parts.metrics,
            strategy: parts.strategy,
            inbox,
            finalized: 0,
            headers: BTreeMap::new(),
            chunks: BTreeMap::new(),
            received: BTreeMap::new(),
            buckets: BTreeMap::new(),
            chunk_waits: BTreeMap::new(),
            held: BTreeSet::new(),
            part_waits: BTreeMap::new(),
            divided: BTreeMap::new(),
            dividing: false,
            bucket_waits: BTreeMap::new(),
            collects: Vec::new(),
            endorsed: Endorsed::default(),
            gave_up: false,
            checks: Pool::default(),
        };
        (actor, Mailbox(sender))
    }

    /// Runs until nobody is left to talk to.
    pub fn start(self, fetcher: Fetcher) -> Handle<()> {
        let context = self.context.child("run");
        context.spawn(move |_| self.run(fetcher))
    }

    async fn run(mut self, mut fetcher: Fetcher) {
        loop {
            let wake = self.next_deadline();
            let sleep = self.context.sleep_until(wake);
            select! {
                message = self.inbox.recv() => {
                    let Some(message) = message else { break };
                    self.on_message(message);
                },
                received = self.network.1.recv() => {
                    let Ok((peer, bytes)) = received else { break };
                    self.on_network(&peer, bytes.into());
                },
                received = self.endorsements.1.recv() => {
                    let Ok((peer, bytes)) = received else { break };
                    match Endorsement::decode(Bytes::from(bytes)) {
                        Ok(endorsement) => self.on_endorsement(peer, endorsement),
                        Err(error) => debug!(%peer, %error, "undecodable endorsement"),
                    }
                },
                done = self.checks.next_completed() => match done {
                    Done::Ended => break,
                    done => self.on_done(done),
                },
                _ = sleep => {},
            }
            self.ask_overdue(&mut fetcher);
            self.stop_asking(&mut fetcher);
            self.answer_collects();
        }
    }

    fn next_deadline(&self) -> SystemTime {
        let asks = self
            .chunk_waits
            .values()
            .filter_map(ChunkWanted::deadline)
            .chain(self.part_waits.values().filter_map(ChunkWanted::deadline))
            .chain(self.bucket_waits.values().filter_map(|wait| wait.ask_at));
        let collects = self.collects.iter().map(|(wanted, _)| wanted.deadline);
        asks.chain(collects)
            .min()
            .unwrap_or_else(|| self.context.current() + Duration::from_secs(3_600))
    }

    fn on_message(&mut self, message: Message) {
        match message {
            Message::Produced {
                chunk,
                body,
                shares,
                buckets,
            } => self.on_produced(&chunk, body, shares, buckets),
            Message::Part { header, reply } => self.on_part_wanted(*header, reply),
            Message::ServePart {
                shard,
                height,
                index,
                root,
                reply,
            } => self.on_part_asked(shard, height, index, root, reply),
            Message::Chunk {
                header,
                at_once,
                reply,
            } => self.on_chunk_wanted(*header, at_once, reply),
            Message::Bucket {
                key,
                at_once,
                reply,
            } => self.on_bucket_wanted(key, at_once, reply),
            Message::Collect { wanted, reply } => self.collects.push((wanted, reply)),
            Message::Endorsed(endorsement) => self.on_own_endorsement(endorsement),
            Message::Finalized(height) => self.on_finalized(height),
            Message::Fetched { key, value, reply } => {
                let right = self.on_fetched(key, value);
                reply.send_lossy(right);
            }
        }
    }

    fn send(&mut self, recipients: Recipients<PublicKey>, message: &ChunkMessage, priority: bool) {
        self.network.0.send(recipients, message.encode(), priority);
    }

    fn on_produced(
        &mut self,
        chunk: &Arc<CheckedChunk>,
        body: ChunkBody,
        shares: Vec<Share>,
        buckets: Vec<ProvenBucket>,
    ) {
        // What others need in order to vote goes out before the header that
        // makes a leader propose.
        let header = chunk.header.clone();
        let shard = header.content.shard;
        let trackers = self.identity.other_producers(shard);
        if !trackers.is_empty() {
            let message = ChunkMessage::Chunk(header.clone(), body);
            self.send(Recipients::Some(trackers), &message, false);
        }
        for (place, owner) in self.identity.part_owners(shard) {
            if let Some(share) = shares.get(usize::from(place)) {
                let message = ChunkMessage::Part(header.clone(), share.clone());
                self.send(Recipients::One(owner), &message, false);
            }
        }
        self.divided.insert(chunk_key(&header), Arc::new(shares));
        for bucket in buckets {
            let destination = bucket.bucket.destination;
            let trackers = self.identity.other_producers(destination);
            if destination != shard && !trackers.is_empty() {
                self.send(
                    Recipients::Some(trackers),
                    &ChunkMessage::Bucket(bucket),
                    false,
                );
            }
        }
        self.send(Recipients::All, &ChunkMessage::Header(header.clone()), true);
        self.keep_header(header);
        self.on_checked(chunk);
    }

    fn on_own_endorsement(&mut self, endorsement: Endorsement) {
        let participants = self.identity.other_participants();
        let message = endorsement.encode();
        self.endorsements
            .0
            .send(Recipients::Some(participants), message, true);
        let me = self.identity.key.public_key();
        self.on_endorsement(me, endorsement);
    }

    fn on_endorsement(&mut self, validator: PublicKey, endorsement: Endorsement) {
        if self.in_flight(endorsement.height) && self.identity.is_validator(&validator) {
            self.endorsed.insert(validator, endorsement);
        }
    }

    /// Whether chunks at `height` can still enter a block.
    const fn in_flight(&self, height: u64) -> bool {
        height > self.finalized && height <= self.finalized.saturating_add(HORIZON)
    }

    /// Whether `peer` may tell about chunks of `shard` at `height`.
    fn relevant(&self, peer: &PublicKey, shard: ShardId, height: u64) -> bool {
        self.in_flight(height)
            && self
                .identity
                .genesis
                .producers_of(shard)
                .any(|validator| validator.key == *peer)
    }

    fn on_network(&mut self, peer: &PublicKey, bytes: Bytes) {
        let message = match ChunkMessage::decode_cfg(bytes, &self.limits) {
            Ok(message) => message,
            Err(error) => {
                debug!(%peer, %error, "undecodable chunk message");
                return;
            }
        };
        match message {
            ChunkMessage::Header(header) => {
                if self.on_header(peer, header.clone()) {
                    self.expect(header);
                }
            }
            ChunkMessage::Part(header, share) => {
                if self.on_header(peer, header.clone()) {
                    self.on_own_part(header, &share);
                }
            }
            ChunkMessage::Chunk(header, body) => {
                if self.identity.tracked() == Some(header.content.shard)
                    && self.on_header(peer, header.clone())
                {
                    self.on_body(header, body);
                }
            }
            ChunkMessage::Bucket(bucket) => self.on_bucket(peer, bucket),
        }
    }

    /// Keeps a header if it is signed by the producer whose turn it is.
    /// Returns whether it is kept.
    fn on_header(&mut self, peer: &PublicKey, header: ChunkHeader) -> bool {
        let (shard, height) = (header.content.shard, header.content.height);
        if !self.relevant(peer, shard, height) {
            return false;
        }
        if self
            .headers
            .get(&(height, shard))
            .is_some_and(|kept| kept.contains(&header))
        {
            return true;
        }
        let signed = self
            .identity
            .genesis
            .producer_at(shard, height)
            .is_some_and(|producer| header.verify(&producer.key, &self.identity.namespaces));
        if !signed {
            debug!(%peer, %shard, height, "chunk header without its producer's signature");
            return false;
        }
        self.keep_header(header)
    }

    fn keep_header(&mut self, header: ChunkHeader) -> bool {
        let slot = (header.content.height, header.content.shard);
        let kept = self.headers.entry(slot).or_default();
        if kept.contains(&header) {
            return true;
        }
        if kept.len() >= PER_SLOT {
            return false;
        }
        self.validator.header(header.clone());
        kept.push(header);
        true
    }

    /// Takes in a body, but none that is longer than its header says: parts
    /// show that the chunk is invalid.
    fn on_body(&mut self, header: ChunkHeader, body: ChunkBody) {
        let content = &header.content;
        let fits = body.0.len() <= content.body_len as usize;
        if fits && body.hash() == content.body_hash {
            self.on_shown(header, Shown::Body(body));
        }
    }

    fn on_shown(&mut self, header: ChunkHeader, shown: Shown) {
        let key = chunk_key(&header);
        if self.chunks.contains_key(&key) {
            return;
        }
        self.chunks.insert(key, Body::Checking);
        if let Some(wait) = self.chunk_waits.get_mut(&key) {
            wait.settle();
        }
        let (bodies, metrics) = (self.bodies.clone(), self.metrics.clone());
        let recovered = shown.body().is_none();
        self.checks.push(async move {
            let Some(judged) = bodies.intake(header, shown, false).await else {
                return Done::Ended;
            };
            if recovered {
                metrics.recovered(judged.as_ref().is_some_and(|chunk| chunk.valid));
            }
            Done::Chunk(judged)
        });
    }

    fn on_done(&mut self, done: Done) {
        match done {
            Done::Chunk(Some(chunk)) => self.on_checked(&chunk),
            Done::Held(key) => self.on_held(key),
            Done::Recovered(header, share) => self.on_recovered(*header, share),
            Done::Divided(key, shares) => {
                self.dividing = false;
                if let Some(shares) = shares {
                    self.divided.insert(key, shares);
                }
            }
            Done::Chunk(None) | Done::NotHeld | Done::Ended => {}
        }
    }

    fn on_checked(&mut self, chunk: &Arc<CheckedChunk>) {
        let key = chunk_key(&chunk.header);
        self.chunks.insert(key, Body::Ready(chunk.clone()));
        if let Some(wait) = self.chunk_waits.remove(&key) {
            self.gave_up |= wait.asked;
            for reply in wait.replies {
                reply.send_lossy(chunk.clone());
            }
        }
    }

    fn on_chunk_wanted(
        &mut self,
        header: ChunkHeader,
        at_once: bool,
        reply: oneshot::Sender<Arc<CheckedChunk>>,
    ) {
        let key = chunk_key(&header);
        if let Some(Body::Ready(chunk)) = self.chunks.get(&key) {
            reply.send_lossy(chunk.clone());
            return;
        }
        if header.content.body_len == 0 {
            self.on_body(header.clone(), ChunkBody::of(&[]));
        }
        let ask_at = self.ask_at(at_once);
        let checking = self.chunks.contains_key(&key);
        let new = !self.chunk_waits.contains_key(&key);
        let wait = self
            .chunk_waits
            .entry(key)
            .or_insert_with(|| ChunkWanted::new(header.clone()));
        wait.add(reply);
        if checking {
            return;
        }
        if new || (at_once && wait.ask_at.is_some()) {
            wait.ask_at = Some(ask_at);
            wait.collect_at = Some(ask_at + ANSWER);
        }
        if new {
            // A restarted node may have it, and be the only one that does.
            let bodies = self.bodies.clone();
            self.checks.push(async move {
                let recalled = bodies.recall(header).await;
                recalled.map_or(Done::Ended, Done::Chunk)
            });
        }
    }

    /// Whether this node votes with a part of the bodies of `shard`.
    fn holds_parts_of(&self, shard: ShardId) -> bool {
        self.identity.tracked().is_some_and(|own| own != shard)
    }

    /// A header without what comes with it.
    fn expect(&mut self, header: ChunkHeader) {
        let content = &header.content;
        if self.holds_parts_of(content.shard) {
            self.want_part(header);
        } else if self.identity.tracked() == Some(content.shard) && content.body_len == 0 {
            self.on_body(header, ChunkBody::of(&[]));
        }
    }

    /// Waits for the own part of the body with this header, unless it is held.
    fn want_part(&mut self, header: ChunkHeader) -> Option<&mut ChunkWanted<bool>> {
        let (content, key) = (&header.content, chunk_key(&header));
        if content.body_len == 0 || self.held.contains(&key) {
            return None;
        }
        let ask_at = self.ask_at(false);
        if !self.part_waits.contains_key(&key) {
            // It may be from before a restart.
            let (parts, root) = (self.parts.clone(), content.parts_root);
            self.checks.push(async move {
                match parts.holds(key.0, root).await {
                    true => Done::Held(key),
                    false => Done::NotHeld,
                }
            });
            let mut wait = ChunkWanted::new(header);
            wait.ask_at = Some(ask_at);
            self.part_waits.insert(key, wait);
        }
        self.part_waits.get_mut(&key)
    }

    fn on_part_wanted(&mut self, header: ChunkHeader, reply: oneshot::Sender<bool>) {
        let collect_at = self.ask_at(false) + ANSWER;
        match self.want_part(header) {
            Some(wait) => {
                wait.add(reply);
                // A vote is worth asking everybody.
                wait.collect_at.get_or_insert(collect_at);
            }
            None => {
                reply.send_lossy(true);
            }
        }
    }

    /// Keeps the own part of a body, if that is what it is.
    fn on_own_part(&mut self, header: ChunkHeader, share: &Share) -> bool {
        let (content, key) = (&header.content, chunk_key(&header));
        let (height, root) = (content.height, content.parts_root);
        let Some(place) = self.identity.place() else {
            return false;
        };
        if !self.holds_parts_of(content.shard) || self.held.contains(&key) {
            return true;
        }
        if let Err(error) = self.identity.body_code().check(&root, place, share) {
            debug!(shard = %content.shard, height, %error, "part of a body refused");
            self.expect(header);
            return false;
        }
        if let Some(wait) = self.part_waits.get_mut(&key) {
            wait.settle();
        }
        let (parts, share) = (self.parts.clone(), share.encode());
        self.checks.push(async move {
            let kept = parts.keep(height, root, share).await;
            kept.map_or(Done::Ended, |()| Done::Held(key))
        });
        true
    }

    fn on_held(&mut self, key: ChunkKey) {
        if key.0 > self.finalized {
            self.held.insert(key);
        }
        self.answer_part_waits(key, true);
    }

    fn answer_part_waits(&mut self, key: ChunkKey, there: bool) {
        if let Some(wait) = self.part_waits.remove(&key) {
            self.gave_up |= wait.asked;
            for reply in wait.replies {
                reply.send_lossy(there);
            }
        }
    }

    /// A voter asks for its part.
    fn on_part_asked(
        &mut self,
        shard: ShardId,
        height: u64,
        index: u16,
        root: Digest,
        reply: oneshot::Sender<Bytes>,
    ) {
        if self.holds_parts_of(shard) {
            if self.identity.place() == Some(index) {
                self.parts.serve(height, root, reply);
            }
            return;
        }
        let none = Digest([0; 32])..=Digest([0xff; 32]);
        let (first, last) = none.into_inner();
        let known = self.chunks.range((height, first)..=(height, last));
        let found = known.into_iter().find_map(|(key, body)| match body {
            Body::Ready(chunk) if chunk.valid && chunk.header.content.parts_root == root => {
                Some((*key, chunk.clone()))
            }
            _ => None,
        });
        let Some((key, chunk)) = found.filter(|_| height > self.finalized) else {
            return;
        };
        if let Some(shares) = self.divided.get(&key) {
            if let Some(share) = shares.get(usize::from(index)) {
                reply.send_lossy(share.encode());
            }
        } else if !self.dividing {
            // Whoever asks asks again.
            self.dividing = true;
            let (code, strategy) = (self.identity.body_code(), self.strategy.clone());
            self.checks.push(async move {
                let divided = strategy.spawn(chunk.transactions.len().max(1), move |strategy| {
                    let body = ChunkBody::of(&chunk.transactions);
                    body::divide(&body, &code, &strategy)
                });
                let shares = divided.await.ok().map(|(_, shares)| Arc::new(shares));
                Done::Divided(key, shares)
            });
        }
    }

    /// A part that was asked for: the own one, or one to recover a body from.
    fn on_part_fetched(&mut self, height: u64, index: u16, root: &Digest, value: &Bytes) -> bool {
        let at = (height, Digest([0; 32]))..=(height, Digest([0xff; 32]));
        let wants = |header: &ChunkHeader| header.content.parts_root == *root;
        let mut chunks = self.chunk_waits.range_mut(at.clone());
        let mut parts = self.part_waits.range_mut(at);
        let code = self.identity.body_code();
        let decode = |header: &ChunkHeader| {
            Share::decode_cfg(value.clone(), &share_limits(header, &self.limits))
        };
        if let Some((_, wait)) = chunks.find(|(_, wait)| wants(&wait.header)) {
            let Ok(share) = decode(&wait.header) else {
                return false;
            };
            let header = wait.header.clone();
            return match wait.collect(&code, index, share) {
                Ok(enough) => {
                    if let Some(parts) = enough {
                        self.on_shown(header, Shown::Parts(parts));
                    }
                    true
                }
                Err(_) => false,
            };
        }
        let Some((_, wait)) = parts.find(|(_, wait)| wants(&wait.header)) else {
            // Nobody waits for it any more.
            return true;
        };
        let Ok(share) = decode(&wait.header) else {
            return false;
        };
        let header = wait.header.clone();
        if self.identity.place() == Some(index) {
            return self.on_own_part(header, &share);
        }
        match wait.collect(&code, index, share) {
            Ok(enough) => {
                if let Some(parts) = enough {
                    self.recover_part(header, parts);
                }
                true
            }
            Err(_) => false,
        }
    }

    /// Makes the own part from those of others.
    fn recover_part(&mut self, header: ChunkHeader, parts: Vec<Part>) {
        let Some(place) = self.identity.place() else {
            return;
        };
        let (code, strategy) = (self.identity.body_code(), self.strategy.clone());
        self.checks.push(async move {
            let content = header.content.clone();
            let length = content.body_len as usize;
            let recovered = strategy.spawn(length, move |strategy| {
                let body = body::recover(&parts, &content, &code, &strategy).ok()??;
                let (_, mut shares) = body::divide(&body, &code, &strategy).ok()?;
                Some(shares.swap_remove(usize::from(place)))
            });
            Done::Recovered(Box::new(header), recovered.await)
        });
    }

    fn on_recovered(&mut self, header: ChunkHeader, share: Option<Share>) {
        self.metrics.recovered(share.is_some());
        match share {
            Some(share) => {
                self.on_own_part(header, &share);
            }
            None => self.answer_part_waits(chunk_key(&header), false),
        }
    }

    fn ask_at(&self, at_once: bool) -> SystemTime {
        let now = self.context.current();
        if at_once { now } else { now + PATIENCE }
    }

    fn on_bucket(&mut self, peer: &PublicKey, proven: ProvenBucket) {
        let bucket = &proven.bucket;
        let (source, height) = (bucket.source, bucket.height);
        // A bucket of the execution at `height` is sent with a later chunk.
        let fresh = height.saturating_add(KEEP_BELOW) >= self.finalized;
        let known_peer = self
            .identity
            .genesis
            .producers_of(source)
            .any(|validator| validator.key == *peer);
        if self.identity.tracked() != Some(bucket.destination)
            || !fresh
            || !known_peer
            || height > self.finalized.saturating_add(HORIZON)
        {
            return;
        }
        let waiting: Option<Key> = self
            .bucket_waits
            .keys()
            .copied()
            .find(|key| answers(key, &proven));
        if let Some(key) = waiting {
            self.on_bucket_found(key, proven);
            return;
        }
        let kept = self.received.entry((height, source)).or_default();
        if kept.len() < PER_SLOT && !kept.contains(&proven) {
            kept.push(proven);
        }
    }

    fn on_bucket_found(&mut self, key: Key, proven: ProvenBucket) -> bool {
        let bucket = Arc::new(proven);
        let height = bucket.bucket.height;
        self.buckets.insert((height, key), bucket.clone());
        if let Some(wait) = self.bucket_waits.remove(&key) {
            for reply in wait.replies {
                reply.send_lossy(bucket.clone());
            }
        }
        true
    }

    fn on_bucket_wanted(
        &mut self,
        key: Key,
        at_once: bool,
        reply: oneshot::Sender<Arc<ProvenBucket>>,
    ) {
        let Key::Bucket { source, height, .. } = key else {
            return;
        };
        if let Some(bucket) = self.buckets.get(&(height, key)) {
            reply.send_lossy(bucket.clone());
            return;
        }
        let ask_at = self.ask_at(at_once);
        let wait = self.bucket_waits.entry(key).or_default();
        wait.replies.retain(|reply| !reply.is_closed());
        wait.replies.push(reply);
        if wait.ask_at.is_none() && wait.replies.len() == 1 {
            wait.ask_at = Some(ask_at);
        }
        let found = self
            .received
            .get(&(height, source))
            .and_then(|kept| kept.iter().find(|proven| answers(&key, proven)))
            .cloned();
        if let Some(bucket) = found {
            self.on_bucket_found(key, bucket);
        }
    }

    fn on_fetched(&mut self, key: Key, value: Bytes) -> bool {
        match key {
            Key::Body { height, hash, .. } => {
                let body = ChunkBody(value);
                if body.hash() != hash {
                    return false;
                }
                let headers: Vec<ChunkHeader> = self
                    .chunk_waits
                    .range((height, Digest([0; 32]))..=(height, Digest([0xff; 32])))
                    .map(|(_, wait)| wait.header.clone())
                    .filter(|header| header.content.body_hash == hash)
                    .collect();
                for header in headers {
                    self.on_body(header, body.clone());
                }
                true
            }
            Key::Part {
                height,
                index,
                root,
                ..
            } => self.on_part_fetched(height, index, &root, &value),
            Key::Bucket { .. } => {
                let limit = bucket_limit(&self.identity.genesis);
                match ProvenBucket::decode_cfg(value, &limit) {
                    Ok(proven) if answers(&key, &proven) => self.on_bucket_found(key, proven),
                    _ => false,
                }
            }
        }
    }

    fn on_finalized(&mut self, height: u64) {
        self.finalized = self.finalized.max(height);
        let finalized = self.finalized;
        self.headers.retain(|(height, _), _| *height > finalized);
        self.endorsed.forget_to(finalized);
        let keep = |height: &u64| height.saturating_add(KEEP_BELOW) > finalized;
        self.chunks.retain(|(height, _), _| keep(height));
        self.received.retain(|(height, _), _| keep(height));
        self.buckets.retain(|(height, _), _| keep(height));
        self.divided.retain(|(height, _), _| *height > finalized);
        self.held.retain(|(height, _)| *height > finalized);
        self.parts.finalized(finalized);
        let waits =
            |this: &Self| this.chunk_waits.len() + this.part_waits.len() + this.bucket_waits.len();
        let before = waits(self);
        self.chunk_waits.retain(|_, wait| wait.is_open());
        self.part_waits
            .retain(|(height, _), wait| *height > finalized || wait.is_open());
        self.bucket_waits
            .retain(|_, wait| wait.replies.iter().any(|reply| !reply.is_closed()));
        self.gave_up |= waits(self) < before;
    }

    fn ask_overdue(&mut self, fetcher: &mut Fetcher) {
        let now = self.context.current();
        let mut asks = Vec::new();
        let code = self.identity.body_code();
        for wait in self.chunk_waits.values_mut() {
            wait.tells(now, &code);
            if wait.asks(now) {
                let holders = self.identity.other_producers(wait.header.content.shard);
                asks.push((body_of(&wait.header), holders));
            }
            if wait.collects(now) {
                asks.extend(parts_of(&wait.header, &self.identity));
            }
        }
        for wait in self.part_waits.values_mut() {
            wait.tells(now, &code);
            let content = &wait.header.content;
            let holders = self.identity.other_producers(content.shard);
            let own = self.identity.place().map(|place| part_of(content, place));
            if wait.asks(now) {
                asks.extend(own.map(|own| (own, holders)));
            }
            if wait.collects(now) {
                asks.extend(parts_of(&wait.header, &self.identity));
            }
        }
        for (key, wait) in &mut self.bucket_waits {
            if wait.ask_at.is_some_and(|at| at <= now) {
                wait.ask_at = None;
                if let Key::Bucket { source, .. } = key {
                    asks.push((*key, self.identity.other_producers(*source)));
                }
            }
        }
        for (key, holders) in asks {
            if let Ok(targets) = NonEmptyVec::try_from(holders) {
                fetcher.fetch_targeted(Fetch::from(key), targets);
            }
        }
    }

    /// Ends requests for what nobody waits for any more, such as the chunks of
    /// a block that consensus gave up.
    fn stop_asking(&mut self, fetcher: &mut Fetcher) {
        if !std::mem::take(&mut self.gave_up) {
            return;
        }
        let chunks = self.chunk_waits.values().map(|wait| &wait.header);
        let parts = self.part_waits.values().map(|wait| &wait.header);
        let root = |header: &ChunkHeader| (header.content.height, header.content.parts_root);
        let roots: BTreeSet<(u64, Digest)> = chunks.clone().chain(parts).map(root).collect();
        let buckets = self.bucket_waits.keys().copied();
        let wanted: BTreeSet<Key> = chunks.map(body_of).chain(buckets).collect();
        fetcher.retain(move |key, ()| match key {
            Key::Part { height, root, .. } => roots.contains(&(*height, *root)),
            Key::Body { .. } | Key::Bucket { .. } => wanted.contains(key),
        });
    }

    fn answer_collects(&mut self) {
        let now = self.context.current();
        let collects = std::mem::take(&mut self.collects);
        for (wanted, reply) in collects {
            if reply.is_closed() {
                continue;
            }
            let fitting = self.fitting(&wanted);
            if fitting.len() == wanted.previous.len() || wanted.deadline <= now {
                reply.send_lossy(fitting);
            } else {
                self.collects.push((wanted, reply));
            }
        }
    }

    fn fitting(&mut self, wanted: &Wanted) -> Vec<Collected> {
        let mut fitting = Vec::new();
        let bases = wanted.previous.iter().zip(wanted.committees.iter());
        for (shard, (previous, committee)) in self.identity.genesis.layout.iter().zip(bases) {
            let kept = self.headers.get(&(wanted.height, shard));
            let collected = kept.into_iter().flatten().find_map(|header| {
                let content = &header.content;
                let fits = content.anchor == wanted.anchor && content.previous == *previous;
                let at_hand = if self.identity.tracked() == Some(shard) {
                    is_ready(&self.chunks, header)
                } else {
                    content.body_len == 0 || self.held.contains(&chunk_key(header))
                };
                if !fits || !at_hand {
                    return None;
                }
                let namespaces = &self.identity.namespaces;
                let endorsements = self.endorsed.quorum(header, committee, namespaces)?;
                Some((header.clone(), endorsements))
            });
            fitting.extend(collected);
        }
        fitting
    }
}

fn is_ready(chunks: &BTreeMap<ChunkKey, Body>, header: &ChunkHeader) -> bool {
    matches!(chunks.get(&chunk_key(header)), Some(Body::Ready(chunk)) if chunk.valid)
}

fn body_of(header: &ChunkHeader) -> Key {
    let content = &header.content;
    Key::Body {
        shard: content.shard,
        height: content.height,
        hash: content.body_hash,
    }
}

const fn part_of(content: &ChunkContent, index: u16) -> Key {
    Key::Part {
        shard: content.shard,
        height: content.height,
        index,
        root: content.parts_root,
    }
}

/// The parts of a body that others hold, and who does.
fn parts_of(header: &ChunkHeader, identity: &Identity) -> Vec<(Key, Vec<PublicKey>)> {
    let owners = identity.part_owners(header.content.shard);
    let part = |(place, owner)| (part_of(&header.content, place), vec![owner]);
    owners.into_iter().map(part).collect()
}

/// Whether `proven` is what `key` names, proof included.
fn answers(key: &Key, proven: &ProvenBucket) -> bool {
    let Key::Bucket {
        source,
        height,
        destination,
        root,
    } = key
    else {
        return false;
    };
    let bucket = &proven.bucket;
    bucket.source == *source
        && bucket.height == *height
        && bucket.destination == *destination
        && proven.verifies(root)
}
