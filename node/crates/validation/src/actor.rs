// SPDX-License-Identifier: Apache-2.0
//! The actor: which header is checked when, and what is said of it.

use crate::{
    checks::{Verdict, Verification, compare, traced, until, validate},
    metrics::Metrics,
    seats::{Seat, Seats},
};
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _};
use commonware_cryptography::{Digested, ed25519::PublicKey};
use commonware_macros::select;
use commonware_p2p::{Blocker, Receiver, Recipients, Sender, block};
use commonware_parallel::Rayon;
use commonware_runtime::Handle;
use commonware_utils::{
    channel::{mpsc, oneshot},
    futures::Pool,
};
use shardnode_blocks::{
    History,
    in_flight::{PER_SLOT, in_flight},
};
use shardnode_execution::signatures::{BatchSize, KeyCache};
use shardnode_mailboxes::{Runtime, availability, ledger, witness_validator::Message};
use shardnode_network::{Identity, channels::Channel};
use shardnode_primitives::{Block, ChunkHeader, Digest, Endorsement, ShardId};
use shardnode_traces::{Detail, Name, Place, Recorder};
use shardnode_witness::{PartSet, PartsError, WitnessPart};
use std::{collections::BTreeMap, sync::Arc, time::SystemTime};
use tracing::{debug, warn};

/// Decoded signers of other shards: a member sees some of them all over again.
const KEYS: usize = 262_144;

/// Heights above the finalised one for which parts are kept: a member that is
/// further behind does not endorse in time.
pub(crate) const PARTS_HORIZON: u64 = 4;

/// What the actor works with.
pub struct Parts<S, R, B> {
    /// Who this node is.
    pub identity: Arc<Identity>,
    /// How signatures are verified.
    pub signature_batch: BatchSize,
    /// Where endorsements go and chunks of the own shard are.
    pub availability: availability::Mailbox,
    /// The own shard's results.
    pub ledger: ledger::Mailbox,
    /// Finalised blocks.
    pub history: History,
    /// The parts of witnesses.
    pub network: Channel<S, R>,
    /// Cuts misbehaving peers off.
    pub blocker: B,
    /// What is measured.
    pub metrics: Arc<Metrics>,
    /// CPU work.
    pub strategy: Rayon,
    /// Spans.
    pub traces: Recorder,
}

/// One header of a shard and height.
#[derive(Default)]
struct Candidate {
    header: Option<ChunkHeader>,
    parts: Option<PartSet>,
    first_part: Option<SystemTime>,
    forwarded: bool,
    /// Dropped with the candidate: ends the check of what nobody waits for.
    check: Option<oneshot::Sender<()>>,
}

type Slot = BTreeMap<Digest, Candidate>;

impl Candidate {
    /// Whether the part at `index` leads to a check, or is the own one, at
    /// `place`, that is passed on.
    fn needs(&self, index: u16, place: u16, owners: usize) -> bool {
        let here = |index| {
            let parts = self.parts.as_ref();
            parts.is_some_and(|parts| parts.part(index).is_some())
        };
        let complete = || {
            let parts = self.parts.as_ref();
            parts.is_some_and(|parts| parts.is_complete(owners))
        };
        let own = index == place && !self.forwarded;
        !here(index) && (own || (self.check.is_none() && !complete()))
    }
}

/// The actor.
pub struct Actor<E: Runtime, S, R, B> {
    context: E,
    parts: Parts<S, R, B>,
    inbox: mpsc::Receiver<Message>,
    slots: BTreeMap<(u64, ShardId), Slot>,
    seats: Seats,
    keys: Arc<KeyCache>,
    checks: Pool<'static, Option<(ChunkHeader, Verdict)>>,
}

impl<E, S, R, B> Actor<E, S, R, B>
where
    E: Runtime,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
{
    /// Creates the actor.
    pub fn new(context: E, parts: Parts<S, R, B>, inbox: mpsc::Receiver<Message>) -> Self {
        let seats = Seats::new(parts.identity.clone());
        Self {
            context,
            parts,
            inbox,
            slots: BTreeMap::new(),
            seats,
            keys: Arc::new(KeyCache::new(KEYS)),
            checks: Pool::default(),
        }
    }

    /// Runs until nobody is left to talk to.
    pub fn start(self) -> Handle<()> {
        let context = self.context.child("run");
        context.spawn(move |_| self.run())
    }

    async fn run(mut self) {
        loop {
            // In the order of [`shardnode_mailboxes::turns`].
            select! {
                checked = self.checks.next_completed() => {
                    if let Some((header, verdict)) = checked {
                        self.on_verdict(&header, verdict).await;
                    }
                },
                message = self.inbox.recv() => {
                    match message {
                        Some(Message::Header(header)) => self.on_header(*header),
                        Some(Message::Finalized(block)) => self.on_finalized(block),
                        None => break,
                    }
                },
                received = self.parts.network.1.recv() => {
                    let Ok((peer, bytes)) = received else { break };
                    self.on_part(&peer, bytes.into());
                },
            }
        }
    }

    fn finalized(&self) -> u64 {
        self.parts.history.tip().inner().height
    }

    fn in_flight(&self, height: u64) -> bool {
        in_flight(height, self.finalized())
    }

    /// This node's part in the committee of a slot.
    fn seat(&mut self, (height, shard): (u64, ShardId)) -> Option<Arc<Seat>> {
        let tip = self.parts.history.tip().inner();
        self.seats.get(tip, height, shard)
    }

    /// The candidate with this hash, if there is room for it.
    fn candidate(&mut self, slot: (u64, ShardId), hash: Digest) -> Option<&mut Candidate> {
        let slot = self.slots.entry(slot).or_default();
        if slot.len() >= PER_SLOT && !slot.contains_key(&hash) {
            return None;
        }
        Some(slot.entry(hash).or_default())
    }

    fn on_header(&mut self, header: ChunkHeader) {
        let slot = (header.content.height, header.content.shard);
        if !self.in_flight(slot.0) {
            return;
        }
        let hash = header.hash();
        if let Some(candidate) = self.candidate(slot, hash) {
            candidate.header = Some(header);
            self.progress(slot);
        }
    }

    /// Takes in a part, and what its producer did not sign not even for long
    /// enough to take a candidate's place.
    ///
    /// A part comes to its owner from its producer, which made it, and to the
    /// others from its owner, which passes it on once it has checked it: whoever
    /// sends another one, or one that does not hold, is cut off. Parts of two
    /// witnesses for one header are not the owner's fault, which may have seen one
    /// of them only.
    ///
    /// A part is hashed here and now: no more than the shares of one witness for
    /// each of a slot's candidates ever are, each of which comes from another peer
    /// or costs it its connection.
    fn on_part(&mut self, peer: &PublicKey, bytes: Bytes) {
        let limit = self.parts.identity.part_limits();
        let part = match WitnessPart::decode_cfg(bytes, &limit) {
            Ok(part) => part,
            Err(error) => {
                block!(self.parts.blocker, peer.clone(), %error, "undecodable witness part");
                return;
            }
        };
        let slot = (part.height(), part.shard());
        let identity = self.parts.identity.clone();
        let Some(producer) = identity.genesis.producer_at(slot.1, slot.0) else {
            return;
        };
        if !identity.is_validator(peer) {
            return;
        }
        // Nobody but a member that does not track the shard has a use for it.
        let Some(seat) = self.seat(slot) else {
            return;
        };
        let Some(place) = seat.place else {
            return;
        };
        if let Some(reason) = misdirected(&part, peer, &producer.key, &seat, place) {
            let (shard, height) = (slot.1, slot.0);
            block!(self.parts.blocker, peer.clone(), %shard, height, "{reason}");
            return;
        }
        let hash = part.header_hash();
        let candidates = self.slots.get(&slot);
        let known = candidates.and_then(|candidates| candidates.get(&hash));
        if known.is_some_and(|known| !known.needs(part.index(), place, seat.owners.len())) {
            return;
        }
        let mut others = candidates
            .into_iter()
            .flatten()
            .filter(|(at, _)| **at != hash);
        if slot.0 > self.finalized() + 1 && others.any(|(_, other)| other.parts.is_some()) {
            return;
        }
        if known.is_none() && candidates.is_some_and(|candidates| candidates.len() >= PER_SLOT) {
            // What there is no room for is not worth a look at its signature.
            return;
        }
        let known = known.is_some_and(|candidate| candidate.parts.is_some());
        let (shard, height) = (slot.1, slot.0);
        if !known && !part.is_signed_by(&producer.key, &identity.namespaces) {
            let reason = "witness part without its producer's signature";
            block!(self.parts.blocker, peer.clone(), %shard, height, "{reason}");
            return;
        }
        let now = self.context.current();
        let Some(candidate) = self.candidate(slot, hash) else {
            return;
        };
        let parts = candidate.parts.get_or_insert_default();
        match parts.insert(part, &producer.key, &identity.namespaces) {
            Ok(_) => {}
            Err(error @ (PartsError::Signature { .. } | PartsError::Share { .. })) => {
                block!(self.parts.blocker, peer.clone(), %shard, height, %error, "witness part refused");
                return;
            }
            Err(error) => {
                debug!(%peer, %shard, height, %error, "witness part refused");
                return;
            }
        }
        candidate.first_part.get_or_insert(now);
        self.progress(slot);
    }

    fn on_finalized(&mut self, block: Digested<Block>) {
        let height = block.inner().height;
        self.seats.finalized(height);
        self.parts.history.push(block);
        self.slots.retain(|(at, _), _| *at > height);
        let ready: Vec<_> = self
            .slots
            .keys()
            .copied()
            .filter(|(at, _)| *at == height + 1)
            .collect();
        for slot in ready {
            self.progress(slot);
        }
    }

    /// Does what can be done for the candidates of a slot.
    fn progress(&mut self, slot: (u64, ShardId)) {
        let (height, shard) = slot;
        if height != self.finalized() + 1 {
            return;
        }
        let Some(seat) = self.seat(slot) else {
            return;
        };
        let Seat { owners, place } = &*seat;
        let identity = self.parts.identity.clone();
        let Some(candidates) = self.slots.get_mut(&slot) else {
            return;
        };
        let (traces, place_of) = (&self.parts.traces, Place::chunk(height, shard));
        for (hash, candidate) in candidates {
            if let (Some(parts), Some(place)) = (&mut candidate.parts, *place) {
                forward(
                    &mut self.parts.network.0,
                    parts,
                    place,
                    owners,
                    &mut candidate.forwarded,
                );
            }
            let started = candidate.check.is_some();
            let Some(header) = candidate.header.clone().filter(|_| !started) else {
                continue;
            };
            let history = self.parts.history.clone();
            let (wanted, unwanted) = oneshot::channel();
            let detail = Detail::Header(*hash);
            if place.is_none() {
                candidate.check = Some(wanted);
                let step = traces.begin(&self.context, Name::Compare, place_of, detail);
                let context = self.context.child("compare");
                let availability = self.parts.availability.clone();
                let ledger = self.parts.ledger.clone();
                let check = compare(header, history, identity.clone(), availability, ledger);
                let check = traced(context, step, check);
                self.checks.push(until(unwanted, check));
                continue;
            }
            let parts = candidate.parts.as_ref();
            let complete = parts.is_some_and(|parts| parts.is_complete(owners.len()));
            if !complete && !header.content.results.is_empty() {
                continue;
            }
            candidate.check = Some(wanted);
            if let Some(first) = candidate.first_part {
                let elapsed = self.context.current().duration_since(first);
                let elapsed = elapsed.unwrap_or_default();
                let exemplar = traces.exemplar(&self.context, height);
                self.parts.metrics.witness_received(elapsed, exemplar);
                traces.end(&self.context, Name::WitnessReceive, place_of, detail, first);
            }
            let step = traces.begin(&self.context, Name::Validate, place_of, detail);
            let mut seed = [0; 32];
            self.context.fill_bytes(&mut seed);
            let verification = Verification {
                keys: self.keys.clone(),
                batch: self.parts.signature_batch,
                seed,
                strategy: self.parts.strategy.clone(),
            };
            let context = self.context.child("validate");
            let parts = candidate.parts.take();
            let check = validate(
                context,
                header,
                parts,
                history,
                identity.clone(),
                verification,
            );
            let check = traced(self.context.child("trace"), step, check);
            self.checks.push(until(unwanted, check));
        }
    }

    async fn on_verdict(&mut self, header: &ChunkHeader, verdict: Verdict) {
        let (shard, height) = (header.content.shard, header.content.height);
        let refused = match verdict {
            Verdict::Right { elapsed } => {
                let exemplar = self.parts.traces.exemplar(&self.context, height);
                self.parts.metrics.endorsed(elapsed, exemplar);
                let place = Place::chunk(height, shard);
                let step =
                    self.parts
                        .traces
                        .begin(&self.context, Name::Endorse, place, Detail::None);
                let identity = &self.parts.identity;
                let endorsement = Endorsement::sign(header, &identity.key, &identity.namespaces);
                let detail = Detail::Header(endorsement.header);
                self.parts.availability.endorsed(endorsement).await;
                step.end_as(&self.context, detail);
                return;
            }
            Verdict::Wrong(wrong) => wrong,
        };
        self.parts.metrics.refused();
        warn!(%shard, height, reason = %refused, "chunk not endorsed");
    }
}

/// What is wrong with it that `peer` sends this part to the owner at `place`.
fn misdirected(
    part: &WitnessPart,
    peer: &PublicKey,
    producer: &PublicKey,
    seat: &Seat,
    place: u16,
) -> Option<&'static str> {
    if usize::from(part.manifest().owners.get()) != seat.owners.len() {
        return Some("witness part for another number of owners");
    }
    let index = part.index();
    let owner = seat.owners.get(usize::from(index));
    let from_producer = peer == producer && index == place;
    let from_owner = owner == Some(peer) && index != place;
    (!from_producer && !from_owner).then_some("witness part of another owner")
}

/// Sends the own part to the other owners, once.
fn forward<S: Sender<PublicKey = PublicKey>>(
    sender: &mut S,
    parts: &PartSet,
    place: u16,
    owners: &[PublicKey],
    forwarded: &mut bool,
) {
    if *forwarded {
        return;
    }
    let Some(own) = parts.part(place) else {
        return;
    };
    *forwarded = true;
    // Without coding everybody has the whole witness from the producer.
    if !own.is_coded() {
        return;
    }
    let others: Vec<PublicKey> = (0u16..)
        .zip(owners)
        .filter(|(index, _)| *index != place)
        .map(|(_, owner)| owner.clone())
        .collect();
    sender.send(Recipients::Some(others), own.encode(), false);
}
