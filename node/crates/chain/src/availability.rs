// SPDX-License-Identifier: Apache-2.0
//! The actor that knows what is at hand of the chunks in flight: candidate
//! headers of all shards and their endorsements, bodies of the own shard,
//! receipts for the own shard.
//!
//! What a node needs and does not have it waits for, because producers send
//! everything to whoever needs it; what has not come after [`PATIENCE`] it
//! asks for (see [`crate::fetch`]).
//!
//! Bounds: candidates and receipts are kept for heights in
//! `(finalised, finalised + HORIZON]`, at most [`PER_SLOT`] for each shard and
//! height, and only from the producers of the shard that they belong to.

mod endorsed;

use self::endorsed::Endorsed;
use crate::{
    bodies::{self, CheckedChunk},
    channels::Channel,
    config::{Committees, Identity, bucket_limit},
    fetch::{Fetcher, Key},
    messages::{ChunkMessage, MessageLimits},
    runtime::Runtime,
    witness_validator,
};
use bytes::Bytes;
use commonware_codec::{Decode as _, DecodeExt as _, Encode as _};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_macros::select;
use commonware_p2p::{Receiver, Recipients, Sender};
use commonware_resolver::{Fetch, Resolver as _, TargetedResolver as _};
use commonware_runtime::Handle;
use commonware_utils::{
    channel::{fallible::OneshotExt as _, mpsc, oneshot},
    futures::Pool,
    vec::NonEmptyVec,
};
use shardnode_primitives::{
    ChunkBody, ChunkHeader, Digest, Endorsement, Endorsements, ProvenBucket, ShardId,
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
        buckets: Vec<ProvenBucket>,
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
    /// Sends a chunk of this node, and the receipts that its header is the
    /// first to commit to, to whoever needs them.
    pub async fn produced(
        &self,
        chunk: Arc<CheckedChunk>,
        body: ChunkBody,
        buckets: Vec<ProvenBucket>,
    ) {
        let message = Message::Produced {
            chunk,
            body,
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
    /// or at the deadline. Of the own shard only a header whose chunk is at
    /// hand.
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

struct Waiting<T> {
    replies: Vec<oneshot::Sender<T>>,
    header: Option<ChunkHeader>,
    ask_at: Option<SystemTime>,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self {
            replies: Vec::new(),
            header: None,
            ask_at: None,
        }
    }
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
    chunks: BTreeMap<(u64, Digest), Body>,
    received: BTreeMap<(u64, ShardId), Vec<ProvenBucket>>,
    buckets: BTreeMap<(u64, Key), Arc<ProvenBucket>>,
    chunk_waits: BTreeMap<(u64, Digest), Waiting<Arc<CheckedChunk>>>,
    bucket_waits: BTreeMap<Key, Waiting<Arc<ProvenBucket>>>,
    collects: Vec<(Wanted, oneshot::Sender<Vec<Collected>>)>,
    endorsed: Endorsed,
    gave_up: bool,
    checks: Pool<'static, Option<Option<Arc<CheckedChunk>>>>,
}

impl<E, S, R> Actor<E, S, R>
where
    E: Runtime,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
{
    /// Creates the actor; it runs once it is given a way to ask peers.
    pub fn new(
        context: E,
        identity: Arc<Identity>,
        bodies: bodies::Mailbox,
        network: Channel<S, R>,
        endorsements: Channel<S, R>,
        validator: witness_validator::Mailbox,
    ) -> (Self, Mailbox) {
        let (sender, inbox) = mpsc::channel(1_024);
        let actor = Self {
            limits: MessageLimits::of(&identity.genesis),
            context,
            identity,
            bodies,
            network,
            endorsements,
            validator,
            inbox,
            finalized: 0,
            headers: BTreeMap::new(),
            chunks: BTreeMap::new(),
            received: BTreeMap::new(),
            buckets: BTreeMap::new(),
            chunk_waits: BTreeMap::new(),
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
                checked = self.checks.next_completed() => {
                    let Some(chunk) = checked else { break };
                    if let Some(chunk) = chunk {
                        self.on_checked(&chunk);
                    }
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
            .filter_map(|wait| wait.ask_at)
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
                buckets,
            } => self.on_produced(&chunk, body, buckets),
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
                self.on_header(peer, header);
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

    fn on_body(&mut self, header: ChunkHeader, body: ChunkBody) {
        let key = (header.content.height, header.hash());
        if self.chunks.contains_key(&key) || body.hash() != header.content.body_hash {
            return;
        }
        self.chunks.insert(key, Body::Checking);
        let bodies = self.bodies.clone();
        self.checks
            .push(async move { bodies.intake(header, body, false).await.map(Some) });
    }

    fn on_checked(&mut self, chunk: &Arc<CheckedChunk>) {
        let key = (chunk.header.content.height, chunk.header.hash());
        self.chunks.insert(key, Body::Ready(chunk.clone()));
        if let Some(wait) = self.chunk_waits.remove(&key) {
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
        let key = (header.content.height, header.hash());
        if let Some(Body::Ready(chunk)) = self.chunks.get(&key) {
            reply.send_lossy(chunk.clone());
            return;
        }
        let ask_at = self.ask_at(at_once);
        let checking = self.chunks.contains_key(&key);
        let wait = self.chunk_waits.entry(key).or_default();
        wait.replies.retain(|reply| !reply.is_closed());
        wait.replies.push(reply);
        if wait.header.is_none() {
            wait.header = Some(header.clone());
            wait.ask_at = (!checking).then_some(ask_at);
            if !checking {
                // A restarted node may have it, and be the only one that does.
                let bodies = self.bodies.clone();
                self.checks.push(async move { bodies.recall(header).await });
            }
        } else if at_once && wait.ask_at.is_some() {
            wait.ask_at = Some(ask_at);
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
                    .filter_map(|(_, wait)| wait.header.clone())
                    .filter(|header| header.content.body_hash == hash)
                    .collect();
                for header in headers {
                    self.on_body(header, body.clone());
                }
                true
            }
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
        let before = self.chunk_waits.len() + self.bucket_waits.len();
        self.chunk_waits
            .retain(|_, wait| wait.replies.iter().any(|reply| !reply.is_closed()));
        self.bucket_waits
            .retain(|_, wait| wait.replies.iter().any(|reply| !reply.is_closed()));
        self.gave_up |= self.chunk_waits.len() + self.bucket_waits.len() < before;
    }

    fn ask_overdue(&mut self, fetcher: &mut Fetcher) {
        let now = self.context.current();
        let mut asks = Vec::new();
        for wait in self.chunk_waits.values_mut() {
            let Some(header) = wait.header.as_ref() else {
                continue;
            };
            if wait.ask_at.is_some_and(|at| at <= now) {
                wait.ask_at = None;
                let content = &header.content;
                asks.push(Key::Body {
                    shard: content.shard,
                    height: content.height,
                    hash: content.body_hash,
                });
            }
        }
        for (key, wait) in &mut self.bucket_waits {
            if wait.ask_at.is_some_and(|at| at <= now) {
                wait.ask_at = None;
                asks.push(*key);
            }
        }
        for key in asks {
            let (Key::Body { shard, .. } | Key::Bucket { source: shard, .. }) = key;
            let holders = self.identity.other_producers(shard);
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
        let bodies = self.chunk_waits.values().filter_map(|wait| {
            let content = &wait.header.as_ref()?.content;
            Some(Key::Body {
                shard: content.shard,
                height: content.height,
                hash: content.body_hash,
            })
        });
        let wanted: BTreeSet<Key> = bodies.chain(self.bucket_waits.keys().copied()).collect();
        fetcher.retain(move |key, ()| wanted.contains(key));
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
                let tracked = self.identity.tracked() == Some(shard);
                if !fits || (tracked && !at_hand(&self.chunks, header)) {
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

fn at_hand(chunks: &BTreeMap<(u64, Digest), Body>, header: &ChunkHeader) -> bool {
    let key = (header.content.height, header.hash());
    matches!(chunks.get(&key), Some(Body::Ready(chunk)) if chunk.valid)
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
