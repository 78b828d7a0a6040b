// SPDX-License-Identifier: Apache-2.0
//! Headers that may enter the next blocks, their endorsements, and what a
//! leader proposes of them: nothing that its own vote would have to wait for.

use super::{Actor, Body, ChunkKey, chunk_key};
use commonware_codec::Encode as _;
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_p2p::{Blocker, Receiver, Recipients, Sender, block};
use commonware_utils::channel::fallible::OneshotExt as _;
use shardnode_blocks::in_flight::PER_SLOT;
use shardnode_mailboxes::{
    Runtime,
    availability::{Collected, Wanted},
};
use shardnode_network::chunk_requests::receipts_of;
use shardnode_primitives::{ChunkHeader, Endorsement};
use std::collections::BTreeMap;

impl<E, S, R, B> Actor<E, S, R, B>
where
    E: Runtime,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
{
    /// Keeps a header if it is signed by the producer whose turn it is.
    /// Returns whether it is kept. A producer sends headers of its own and no
    /// others, so one that sends another's word is cut off.
    pub(super) fn on_header(&mut self, peer: &PublicKey, header: ChunkHeader) -> bool {
        let (shard, height) = (header.content.shard, header.content.height);
        if !self.relevant(peer, shard, height) || !commits_to_the_past(&header) {
            return false;
        }
        if let Some(kept) = self.headers.get(&(height, shard)) {
            if kept.contains(&header) {
                return true;
            }
            // What there is no room for is not worth a look at its signature.
            if kept.len() >= PER_SLOT {
                return false;
            }
        }
        let signed = self
            .identity
            .genesis
            .producer_at(shard, height)
            .is_some_and(|producer| header.verify(&producer.key, &self.identity.namespaces));
        if !signed {
            let reason = "chunk header without its producer's signature";
            block!(self.blocker, peer.clone(), %shard, height, "{reason}");
            return false;
        }
        self.keep_header(header)
    }

    pub(super) fn keep_header(&mut self, header: ChunkHeader) -> bool {
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

    pub(super) fn on_own_endorsement(&mut self, endorsement: Endorsement) {
        let participants = self.identity.other_participants();
        let message = endorsement.encode();
        self.endorsements
            .0
            .send(Recipients::Some(participants), message, true);
        let me = self.identity.key.public_key();
        self.on_endorsement(me, endorsement);
    }

    pub(super) fn on_endorsement(&mut self, validator: PublicKey, endorsement: Endorsement) {
        let shards = self.identity.genesis.layout.shards();
        if self.in_flight(endorsement.height)
            && endorsement.shard.0 < shards
            && self.identity.is_validator(&validator)
        {
            self.endorsements_held.insert(validator, endorsement);
        }
    }

    pub(super) fn answer_collects(&mut self) {
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
        let identity = self.identity.clone();
        for (shard, (previous, committee)) in identity.genesis.layout.iter().zip(bases) {
            let kept = self.headers.get(&(wanted.height, shard));
            let kept = kept.into_iter().flatten().filter(|header| {
                let content = &header.content;
                content.anchor == wanted.anchor && content.previous == *previous
            });
            let headers: Vec<ChunkHeader> = kept.cloned().collect();
            let collected = headers.into_iter().find_map(|header| {
                if !self.at_hand(&header) {
                    return None;
                }
                let namespaces = &identity.namespaces;
                let endorsements = self
                    .endorsements_held
                    .quorum(&header, committee, namespaces)?;
                Some((header, endorsements))
            });
            fitting.extend(collected);
        }
        fitting
    }

    /// Whether everything is here that a vote for this header takes: the
    /// chunk, or the own part of it and the receipts for the own shard. A
    /// producer that keeps these from some voters would otherwise have each of
    /// them propose what none of them votes for.
    fn at_hand(&mut self, header: &ChunkHeader) -> bool {
        let content = &header.content;
        if self.identity.tracked() == Some(content.shard) {
            return is_ready(&self.chunks, header);
        }
        let ask_at = self.ask_at(false);
        let mut receipts = true;
        for key in receipts_of(header, &self.identity) {
            receipts &= self.receipts.at_hand(key, ask_at);
        }
        receipts && (content.body_len == 0 || self.held.contains(&chunk_key(header)))
    }
}

fn is_ready(chunks: &BTreeMap<ChunkKey, Body>, header: &ChunkHeader) -> bool {
    matches!(chunks.get(&chunk_key(header)), Some(Body::Ready(chunk)) if chunk.valid)
}

/// What is held for a header is held by the heights of its results.
fn commits_to_the_past(header: &ChunkHeader) -> bool {
    let mut results = header.content.results.iter();
    results.all(|result| result.height < header.content.height)
}
