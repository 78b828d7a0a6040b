// SPDX-License-Identifier: Apache-2.0
//! The actor: what comes in, and who is answered.

pub(crate) mod asking;
mod candidate_headers;
mod leading;
mod own_chunks;
mod own_parts;

use self::leading::Collecting;
use crate::{
    endorsements::{CandidateEndorsements, Judged, Slot},
    held_parts,
    metrics::Metrics,
    receipts::{KEEP_BELOW, Receipts},
    recovery::Awaited,
    serving::Fetcher,
};
use bytes::Bytes;
use commonware_codec::{Decode as _, DecodeExt as _, Encode as _};
use commonware_cryptography::ed25519::PublicKey;
use commonware_macros::select;
use commonware_p2p::{Blocker, Receiver, Recipients, Sender, block};
use commonware_parallel::Rayon;
use commonware_runtime::Handle;
use commonware_utils::{
    channel::{fallible::OneshotExt as _, mpsc},
    futures::Pool,
};
use shardnode_blocks::in_flight::in_flight;
use shardnode_coding::{Part, Share};
use shardnode_mailboxes::{
    Runtime,
    availability::{Inbox, Mailbox, Message, Question, mailbox},
    bodies::{self, CheckedChunk},
    ledger,
    turns::Turns,
    witness_validator,
};
use shardnode_network::{
    Identity,
    channels::Channel,
    chunk_messages::{BucketHead, ChunkMessage, MessageLimits},
    chunk_requests::Key,
    identity::bucket_limit,
};
use shardnode_primitives::{ChunkBody, ChunkHeader, Digest, Endorsement, ProvenBucket, ShardId};
use shardnode_traces::{Begun, Detail, Name, Place, Recorder};
use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::Arc,
};

enum Body {
    Checking,
    Ready(Arc<CheckedChunk>),
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
    /// The own part of the body of this chunk of this shard is held.
    Held(ShardId, ChunkKey),
    /// The own part of this chunk's body is not stored.
    NotHeld,
    /// Enough parts were collected; `None` if they show that there is no body.
    Recovered(Box<ChunkHeader>, Option<Share>),
    /// A body was divided for voters that ask for their parts.
    Divided(ChunkKey, Option<Arc<Vec<Share>>>),
    /// The parts that show that a chunk has no body were looked up; none if its
    /// body shows that it is invalid.
    LookedUp(ChunkKey, Vec<Part>),
    /// Endorsements were verified.
    Verified(Judged),
    /// An actor that this one needs has ended.
    Ended,
}

/// What a peer sent.
enum Heard {
    Chunk(PublicKey, Bytes),
    Endorsement(PublicKey, Bytes),
    Question(Question),
}

/// What a peer sent next, on the channels in turn; `None` if one is closed.
async fn hear<R: Receiver<PublicKey = PublicKey>>(
    turns: &mut Turns,
    endorsements: &mut R,
    chunks: &mut R,
    questions: &mut mpsc::Receiver<Question>,
) -> Option<Heard> {
    let endorsements = pin!(async {
        let (peer, bytes) = endorsements.recv().await.ok()?;
        Some(Heard::Endorsement(peer, bytes.into()))
    });
    let chunks = pin!(async {
        let (peer, bytes) = chunks.recv().await.ok()?;
        Some(Heard::Chunk(peer, bytes.into()))
    });
    let questions = pin!(async { questions.recv().await.map(Heard::Question) });
    turns.next([endorsements, chunks, questions]).await
}

/// The actor.
pub struct Actor<E: Runtime, S, R, B> {
    context: E,
    identity: Arc<Identity>,
    limits: MessageLimits,
    bodies: bodies::Mailbox,
    ledger: ledger::Mailbox,
    network: Channel<S, R>,
    endorsements: Channel<S, R>,
    blocker: B,
    validator: witness_validator::Mailbox,
    inbox: Inbox,
    finalized: u64,
    /// With their hashes.
    headers: BTreeMap<Slot, Vec<(Digest, ChunkHeader)>>,
    chunks: BTreeMap<ChunkKey, Body>,
    receipts: Receipts,
    chunk_waits: BTreeMap<ChunkKey, Awaited<Arc<CheckedChunk>>>,
    parts: held_parts::Mailbox,
    held: BTreeSet<ChunkKey>,
    part_waits: BTreeMap<ChunkKey, Awaited<bool>>,
    divided: BTreeMap<ChunkKey, Arc<Vec<Share>>>,
    dividing: bool,
    /// The parts that were looked up last.
    shown: Option<(ChunkKey, Vec<Part>)>,
    collects: Vec<Collecting>,
    /// Shards of which something may fit that did not.
    changed: BTreeSet<ShardId>,
    endorsements_held: CandidateEndorsements,
    /// Headers of which endorsements are being verified.
    verifying: BTreeSet<Digest>,
    /// Whether somebody may have to be asked earlier than it was known.
    touched: bool,
    gave_up: bool,
    checks: Pool<'static, Done>,
    metrics: Arc<Metrics>,
    strategy: Rayon,
    traces: Recorder,
    /// Chunks of traced heights whose header was heard of, and whose body or part
    /// of it is not here yet.
    heard: BTreeMap<ChunkKey, Begun>,
}

/// What the actor works with.
pub struct Parts<S, R, B> {
    /// Who this node is.
    pub identity: Arc<Identity>,
    /// Bodies of the own shard.
    pub bodies: bodies::Mailbox,
    /// Receipts that the own shard has credited.
    pub ledger: ledger::Mailbox,
    /// Own parts of the bodies of other shards.
    pub parts: held_parts::Mailbox,
    /// Chunks, parts and receipts.
    pub network: Channel<S, R>,
    /// Endorsements.
    pub endorsements: Channel<S, R>,
    /// Cuts misbehaving peers off.
    pub blocker: B,
    /// Told of headers.
    pub validator: witness_validator::Mailbox,
    /// What is measured.
    pub metrics: Arc<Metrics>,
    /// CPU work.
    pub strategy: Rayon,
    /// Spans.
    pub traces: Recorder,
}

impl<E, S, R, B> Actor<E, S, R, B>
where
    E: Runtime,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
{
    /// Creates the actor; it runs once it is given a way to ask peers.
    pub fn new(context: E, parts: Parts<S, R, B>) -> (Self, Mailbox) {
        let (mailbox, inbox) = mailbox();
        let protocol = parts.identity.genesis.protocol;
        let actor = Self {
            limits: MessageLimits::of(&parts.identity.genesis),
            context,
            identity: parts.identity,
            bodies: parts.bodies,
            ledger: parts.ledger,
            parts: parts.parts,
            network: parts.network,
            endorsements: parts.endorsements,
            blocker: parts.blocker,
            validator: parts.validator,
            metrics: parts.metrics,
            strategy: parts.strategy,
            traces: parts.traces,
            heard: BTreeMap::new(),
            inbox,
            finalized: 0,
            headers: BTreeMap::new(),
            chunks: BTreeMap::new(),
            receipts: Receipts::new(protocol.execution_lag, protocol.min_block_time_ms),
            chunk_waits: BTreeMap::new(),
            held: BTreeSet::new(),
            part_waits: BTreeMap::new(),
            divided: BTreeMap::new(),
            dividing: false,
            shown: None,
            collects: Vec::new(),
            changed: BTreeSet::new(),
            endorsements_held: CandidateEndorsements::default(),
            verifying: BTreeSet::new(),
            touched: false,
            gave_up: false,
            checks: Pool::default(),
        };
        (actor, mailbox)
    }

    /// Runs until nobody is left to talk to.
    pub fn start(self, fetcher: Fetcher) -> Handle<()> {
        let context = self.context.child("run");
        context.spawn(move |_| self.run(fetcher))
    }

    async fn run(mut self, mut fetcher: Fetcher) {
        let mut turns = Turns::default();
        let mut wake = self.next_deadline();
        loop {
            let sleep = self.context.sleep_until(wake);
            // In the order of [`shardnode_mailboxes::turns`].
            select! {
                done = self.checks.next_completed() => match done {
                    Done::Ended => break,
                    done => self.on_done(done),
                },
                message = self.inbox.messages.recv() => {
                    let Some(message) = message else { break };
                    self.on_message(message);
                },
                heard = hear(
                    &mut turns,
                    &mut self.endorsements.1,
                    &mut self.network.1,
                    &mut self.inbox.questions,
                ) => {
                    let Some(heard) = heard else { break };
                    self.on_heard(heard);
                },
                _ = sleep => {},
            }
            let now = self.context.current();
            self.answer_collects(now);
            if wake <= now || std::mem::take(&mut self.touched) {
                self.ask_overdue(now, &mut fetcher);
                wake = self.next_deadline();
            }
            self.stop_asking(&mut fetcher);
        }
    }

    fn on_heard(&mut self, heard: Heard) {
        match heard {
            Heard::Chunk(peer, bytes) => self.on_network(&peer, bytes),
            Heard::Endorsement(peer, bytes) => match Endorsement::decode(bytes) {
                Ok(endorsement) => self.on_endorsement(&peer, endorsement),
                Err(error) => {
                    block!(self.blocker, peer, %error, "undecodable endorsement");
                }
            },
            Heard::Question(question) => self.on_question(question),
        }
    }

    fn on_message(&mut self, message: Message) {
        self.touched = true;
        match message {
            Message::Produced {
                chunk,
                body,
                shares,
                buckets,
            } => self.on_produced(&chunk, body, shares, buckets),
            Message::Part { header, reply } => self.on_part_wanted(*header, reply),
            Message::Chunk {
                header,
                at_once,
                reply,
            } => self.on_chunk_wanted(*header, at_once, reply),
            Message::Bucket {
                key,
                at_once,
                reply,
            } => self.receipts.wanted(key, self.ask_at(at_once), reply),
            Message::Collect { wanted, reply } => self.on_collect(wanted, reply),
            Message::Endorsed(endorsement) => self.on_own_endorsement(endorsement),
            Message::Finalized {
                height,
                uncommitted,
            } => self.on_finalized(height, uncommitted),
            Message::Fetched { key, value, reply } => {
                let right = self.on_fetched(key, value);
                reply.send_lossy(right);
            }
        }
    }

    fn on_question(&mut self, Question { key, reply }: Question) {
        match key {
            Key::Part {
                shard,
                height,
                index,
                root,
            } => self.on_part_asked(shard, height, index, root, reply),
            Key::Bucket {
                source,
                height,
                root,
                ..
            } => match self.receipts.get(&key) {
                Some(bucket) => {
                    reply.send_lossy(bucket.encode());
                }
                // Forgotten here, they are in the record of who credited them.
                None => self.ledger.serve_credited(source, height, root, reply),
            },
            Key::Body { .. } => {}
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
        let place = Place::chunk(header.content.height, shard);
        let step = self
            .traces
            .begin(&self.context, Name::Distribute, place, Detail::None);
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
        step.end(&self.context);
        self.keep_header(header);
        // Its producer did not wait for it.
        self.heard.remove(&chunk_key(&chunk.header));
        self.on_checked(chunk);
    }

    /// Whether chunks at `height` can still enter a block.
    const fn in_flight(&self, height: u64) -> bool {
        in_flight(height, self.finalized)
    }

    /// Whether `peer` may tell about chunks of `shard` at `height`.
    fn relevant(&self, peer: &PublicKey, shard: ShardId, height: u64) -> bool {
        self.in_flight(height) && self.is_producer(peer, shard)
    }

    fn is_producer(&self, peer: &PublicKey, shard: ShardId) -> bool {
        let mut producers = self.identity.genesis.producers_of(shard);
        producers.any(|producer| producer.key == *peer)
    }

    fn on_network(&mut self, peer: &PublicKey, bytes: Bytes) {
        if BucketHead::of(&bytes).is_some_and(|head| !self.takes(peer, &head)) {
            return;
        }
        let message = match ChunkMessage::decode_cfg(bytes, &self.limits) {
            Ok(message) => message,
            Err(error) => {
                block!(self.blocker, peer.clone(), %error, "undecodable chunk message");
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
                if self.on_header(peer, header.clone()) && !self.on_own_part(header, &share) {
                    block!(
                        self.blocker,
                        peer.clone(),
                        "part of another body than its header's"
                    );
                }
            }
            ChunkMessage::Chunk(header, body) => {
                if self.identity.tracked() == Some(header.content.shard)
                    && self.on_header(peer, header.clone())
                    && !self.on_body(header, body)
                {
                    block!(self.blocker, peer.clone(), "another body than its header's");
                }
            }
            ChunkMessage::Bucket(bucket) => self.on_bucket(peer, bucket),
        }
    }

    /// Begins the span of waiting for the body, or the own part of it, of a chunk
    /// that was just heard of.
    fn trace_heard(&mut self, header: &ChunkHeader, hash: Digest) {
        let content = &header.content;
        if !self.traces.traces(content.height) {
            return;
        }
        let name = match self.identity.tracked() {
            Some(own) if own == content.shard => Name::ReceiveBody,
            Some(_) if content.body_len > 0 => Name::ReceivePart,
            _ => return,
        };
        let place = Place::chunk(content.height, content.shard);
        let detail = Detail::Header(hash);
        let step = self.traces.begin(&self.context, name, place, detail);
        self.heard.insert((content.height, hash), step);
    }

    /// What it waited for is here.
    fn trace_here(&mut self, key: &ChunkKey) {
        if let Some(step) = self.heard.remove(key) {
            step.end(&self.context);
        }
    }

    /// Whether receipts of `peer` with this head are worth decoding.
    fn takes(&self, peer: &PublicKey, head: &BucketHead) -> bool {
        self.identity.tracked() == Some(head.destination)
            && self.receipts.takes(peer, head)
            && self.is_producer(peer, head.source)
    }

    /// Receipts that [are taken](Self::takes).
    fn on_bucket(&mut self, peer: &PublicKey, bucket: ProvenBucket) {
        self.changed.insert(bucket.bucket.source);
        self.receipts.insert(peer, bucket);
    }

    fn on_done(&mut self, done: Done) {
        self.touched = true;
        match done {
            Done::Chunk(Some(chunk)) => {
                self.on_checked(&chunk);
                self.on_judged(&chunk);
            }
            Done::Held(shard, key) => self.on_held(shard, key),
            Done::Recovered(header, share) => self.on_recovered(*header, share),
            Done::Divided(key, shares) => {
                self.dividing = false;
                if let Some(shares) = shares {
                    self.divided.insert(key, shares);
                }
            }
            Done::LookedUp(key, parts) => {
                self.dividing = false;
                self.shown = Some((key, parts));
            }
            Done::Verified(judged) => self.on_verified(&judged),
            Done::Chunk(None) | Done::NotHeld | Done::Ended => {}
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
            } => self.on_part_fetched(height, index, &root, value),
            Key::Bucket { source, .. } => {
                self.changed.insert(source);
                let limit = bucket_limit(&self.identity.genesis);
                match ProvenBucket::decode_cfg(value, &limit) {
                    Ok(bucket) => self.receipts.answered(key, bucket),
                    Err(_) => false,
                }
            }
        }
    }

    fn on_finalized(&mut self, height: u64, uncommitted: BTreeSet<(ShardId, u64)>) {
        // Who leads waits for receipts again that are forgotten here.
        self.all_changed();
        self.finalized = self.finalized.max(height);
        let finalized = self.finalized;
        self.headers.retain(|(height, _), _| *height > finalized);
        self.endorsements_held.forget_to(finalized);
        let keep = |height: &u64| height.saturating_add(KEEP_BELOW) > finalized;
        self.chunks.retain(|(height, _), _| keep(height));
        self.divided.retain(|(height, _), _| *height > finalized);
        self.shown.take_if(|((height, _), _)| !keep(height));
        self.heard.retain(|(height, _), _| *height > finalized);
        self.held.retain(|(height, _)| *height > finalized);
        self.parts.finalized(finalized);
        let before = self.chunk_waits.len() + self.part_waits.len();
        self.chunk_waits.retain(|_, wait| wait.is_open());
        self.part_waits
            .retain(|(height, _), wait| *height > finalized || wait.is_open());
        self.gave_up |= self.chunk_waits.len() + self.part_waits.len() < before;
        self.gave_up |= self.receipts.finalized(finalized, uncommitted);
    }
}
