// SPDX-License-Identifier: Apache-2.0
//! What a leader proposes: headers that their committees endorsed, and nothing
//! that its own vote would have to wait for.
//!
//! A leader is sent thousands of messages for a block, and each changes one
//! shard at most. So the stake that endorses a header is added up as
//! endorsements come, and a shard is looked at only when something about it has
//! changed that can make its header fit: the header itself came, or what a vote
//! for it takes, or an endorsement with which a quorum has signed, or signatures
//! were verified. Signatures are verified together, off the actor, once the
//! stake of those who signed is a quorum. What comes while they are being
//! verified is verified together after that.

use super::{Actor, Body, ChunkKey, Done};
use crate::endorsements::{CandidateEndorsements, Judged, Slot, Unverified, judge};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Blocker, Receiver, Sender, block};
use commonware_parallel::Strategy as _;
use commonware_utils::channel::{fallible::OneshotExt as _, oneshot};
use shardnode_mailboxes::{
    Runtime,
    availability::{Collected, Missing, Wanted},
};
use shardnode_mandates::Committee;
use shardnode_network::chunk_requests::receipts_of;
use shardnode_primitives::{ChunkHeader, Digest, ShardId};
use shardnode_traces::{Begun, Detail, Name, Place};
use std::{collections::BTreeMap, time::SystemTime};

/// A leader that waits.
pub(super) struct Collecting {
    wanted: Wanted,
    reply: oneshot::Sender<Vec<Result<Collected, Missing>>>,
    /// By shard.
    shards: Vec<OfShard>,
}

struct OfShard {
    /// The stake of the members who endorse, by header.
    stakes: BTreeMap<Digest, u64>,
    found: Result<Collected, Missing>,
    /// The span of waiting for the first that is found.
    span: Option<Begun>,
}

impl Collecting {
    fn new(
        wanted: Wanted,
        reply: oneshot::Sender<Vec<Result<Collected, Missing>>>,
        held: &CandidateEndorsements,
    ) -> Self {
        let committees = (0u16..).zip(wanted.committees.iter());
        let shards = committees
            .take(wanted.previous.len())
            .map(|(shard, committee)| OfShard {
                stakes: held.stakes((wanted.height, ShardId(shard)), committee),
                found: Err(Missing::Header),
                span: None,
            })
            .collect();
        Self {
            wanted,
            reply,
            shards,
        }
    }

    pub(super) const fn deadline(&self) -> SystemTime {
        self.wanted.deadline
    }

    fn is_complete(&self) -> bool {
        self.shards.iter().all(|shard| shard.found.is_ok())
    }

    fn committee(&self, shard: ShardId) -> Option<&Committee<PublicKey>> {
        self.wanted.committees.get(shard.index())
    }

    /// Counts a new endorsement. Says whether those who signed are a quorum.
    fn count(&mut self, validator: &PublicKey, (height, shard): Slot, header: &Digest) -> bool {
        let Some(committee) = self.wanted.committees.get(shard.index()) else {
            return false;
        };
        let mut members = committee.members().iter();
        let member = members.find(|member| member.validator == *validator);
        let of_shard = self.shards.get_mut(shard.index());
        let (Some(member), Some(of_shard)) = (member, of_shard) else {
            return false;
        };
        if height != self.wanted.height {
            return false;
        }
        let stake = of_shard.stakes.entry(*header).or_default();
        *stake += member.stake;
        *stake >= committee.quorum()
    }

    /// Counts again, after some did not hold.
    fn recount(&mut self, (height, shard): Slot, held: &CandidateEndorsements) {
        if height != self.wanted.height {
            return;
        }
        let stakes = self
            .committee(shard)
            .map(|committee| held.stakes((height, shard), committee));
        if let (Some(stakes), Some(of_shard)) = (stakes, self.shards.get_mut(shard.index())) {
            of_shard.stakes = stakes;
        }
    }
}

impl<E, S, R, B> Actor<E, S, R, B>
where
    E: Runtime,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
{
    pub(super) fn on_collect(
        &mut self,
        wanted: Wanted,
        reply: oneshot::Sender<Vec<Result<Collected, Missing>>>,
    ) {
        let mut collecting = Collecting::new(wanted, reply, &self.endorsements_held);
        if self.traces.traces(collecting.wanted.height) {
            for (shard, of_shard) in (0u16..).zip(&mut collecting.shards) {
                let place = Place::chunk(collecting.wanted.height, ShardId(shard));
                let span = self
                    .traces
                    .begin(&self.context, Name::Endorsed, place, Detail::None);
                of_shard.span = Some(span);
            }
        }
        self.collects.push(collecting);
        self.all_changed();
    }

    /// Anything about any shard may have changed.
    pub(super) fn all_changed(&mut self) {
        self.changed.extend(self.identity.genesis.layout.iter());
    }

    /// A new endorsement is held.
    pub(super) fn count(&mut self, validator: &PublicKey, slot: Slot, header: &Digest) {
        for collecting in &mut self.collects {
            if collecting.count(validator, slot, header) {
                self.changed.insert(slot.1);
            }
        }
    }

    /// Answers who has all that it wants, or waited for as long as it wants to.
    pub(super) fn answer_collects(&mut self, now: SystemTime) {
        let changed = std::mem::take(&mut self.changed);
        let collects = std::mem::take(&mut self.collects);
        for mut collecting in collects {
            if collecting.reply.is_closed() {
                continue;
            }
            for shard in &changed {
                self.look(&mut collecting, *shard);
            }
            if collecting.is_complete() || collecting.deadline() <= now {
                let shards = collecting.shards.into_iter();
                let found = shards.map(|shard| shard.found).collect();
                collecting.reply.send_lossy(found);
            } else {
                self.collects.push(collecting);
            }
        }
    }

    /// Looks whether a shard has a header that fits.
    fn look(&mut self, collecting: &mut Collecting, shard: ShardId) {
        let wanted = &collecting.wanted;
        let slot = (wanted.height, shard);
        let of_shard = collecting.shards.get_mut(shard.index());
        let (Some(previous), Some(committee), Some(of_shard)) = (
            wanted.previous.get(shard.index()),
            wanted.committees.get(shard.index()),
            of_shard,
        ) else {
            return;
        };
        let kept = self.headers.get(&slot).into_iter().flatten();
        let fitting: Vec<_> = kept
            .filter(|(_, header)| {
                let content = &header.content;
                content.anchor == wanted.anchor && content.previous == *previous
            })
            .cloned()
            .collect();
        self.touched |= !fitting.is_empty();
        let mut missing = Missing::Header;
        for (hash, header) in fitting {
            let stake = of_shard.stakes.get(&hash).copied().unwrap_or_default();
            // Who lacks something of it begins to wait for that.
            let at_hand = self.at_hand(&header, hash);
            if stake < committee.quorum() {
                missing = missing.max(Missing::Endorsements);
                continue;
            }
            if !at_hand {
                missing = missing.max(Missing::Data);
                continue;
            }
            let verifying = self.verifying.contains(&hash);
            if verifying && of_shard.found.is_ok() {
                return;
            }
            let endorsed = self.endorsements_held.of(slot, &hash, committee);
            if !verifying && !endorsed.unverified.is_empty() {
                self.verify(slot, hash, endorsed.unverified);
            }
            if endorsed.stake < committee.quorum() {
                missing = missing.max(Missing::Endorsements);
                continue;
            }
            of_shard.found = Ok((header, endorsed.endorsements));
            if let Some(span) = of_shard.span.take() {
                span.end_as(&self.context, Detail::Header(hash));
            }
            return;
        }
        if let Err(before) = &mut of_shard.found {
            *before = missing;
        }
    }

    fn verify(&mut self, slot: Slot, header: Digest, unverified: Unverified) {
        let mut seed = [0; 32];
        self.context.fill_bytes(&mut seed);
        let (identity, strategy) = (self.identity.clone(), self.strategy.clone());
        self.verifying.insert(header);
        self.checks.push(async move {
            let judged = strategy.spawn(unverified.len(), move |strategy| {
                let namespaces = &identity.namespaces;
                judge(unverified, slot, header, namespaces, seed, &strategy)
            });
            Done::Verified(judged.await)
        });
    }

    /// Endorsements were verified. Who sent one that does not hold is cut off: it
    /// was its own.
    pub(super) fn on_verified(&mut self, judged: &Judged) {
        self.verifying.remove(&judged.header);
        self.endorsements_held.judged(judged);
        self.changed.insert(judged.slot.1);
        let (height, shard) = judged.slot;
        for validator in &judged.wrong {
            let reason = "endorsement without its sender's signature";
            block!(self.blocker, validator.clone(), %shard, height, "{reason}");
        }
        if !judged.wrong.is_empty() {
            for collecting in &mut self.collects {
                collecting.recount(judged.slot, &self.endorsements_held);
            }
        }
    }

    /// Whether everything is here that a vote for this header takes: the
    /// chunk, or the own part of it and the receipts for the own shard. A
    /// producer that keeps these from some voters would otherwise have each of
    /// them propose what none of them votes for.
    fn at_hand(&mut self, header: &ChunkHeader, hash: Digest) -> bool {
        let content = &header.content;
        let key = (content.height, hash);
        if self.identity.tracked() == Some(content.shard) {
            return is_ready(&self.chunks, &key);
        }
        let ask_at = self.ask_at(false);
        let mut receipts = true;
        for key in receipts_of(header, &self.identity) {
            receipts &= self.receipts.at_hand(key, ask_at);
        }
        receipts && (content.body_len == 0 || self.held.contains(&key))
    }
}

fn is_ready(chunks: &BTreeMap<ChunkKey, Body>, key: &ChunkKey) -> bool {
    matches!(chunks.get(key), Some(Body::Ready(chunk)) if chunk.valid)
}
