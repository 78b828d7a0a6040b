// SPDX-License-Identifier: Apache-2.0
//! Headers that may enter the next blocks, and their endorsements.

use super::Actor;
use commonware_codec::Encode as _;
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_p2p::{Blocker, Receiver, Recipients, Sender, block};
use shardnode_blocks::in_flight::PER_SLOT;
use shardnode_mailboxes::Runtime;
use shardnode_primitives::{ChunkHeader, Endorsement};

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
            if kept.iter().any(|(_, kept)| *kept == header) {
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
        if kept.iter().any(|(_, kept)| *kept == header) {
            return true;
        }
        if kept.len() >= PER_SLOT {
            return false;
        }
        let hash = header.hash();
        self.validator.header(header.clone());
        self.trace_heard(&header, hash);
        self.headers.entry(slot).or_default().push((hash, header));
        self.changed.insert(slot.1);
        true
    }

    pub(super) fn on_own_endorsement(&mut self, endorsement: Endorsement) {
        let participants = self.identity.other_participants();
        let message = endorsement.encode();
        self.endorsements
            .0
            .send(Recipients::Some(participants), message, true);
        let me = self.identity.key.public_key();
        self.on_endorsement(&me, endorsement);
    }

    pub(super) fn on_endorsement(&mut self, validator: &PublicKey, endorsement: Endorsement) {
        let shards = self.identity.genesis.layout.shards();
        let Endorsement {
            shard,
            height,
            header,
            ..
        } = endorsement;
        if self.in_flight(height)
            && shard.0 < shards
            && self.identity.is_validator(validator)
            && self
                .endorsements_held
                .insert(validator.clone(), endorsement)
        {
            self.count(validator, (height, shard), &header);
        }
    }
}

/// What is held for a header is held by the heights of its results.
fn commits_to_the_past(header: &ChunkHeader) -> bool {
    let mut results = header.content.results.iter();
    results.all(|result| result.height < header.content.height)
}
