// SPDX-License-Identifier: Apache-2.0
//! Byzantine validators.
//!
//! A byzantine validator runs the code of an honest one. It lies at the last
//! moment, to what its node sends, or lies instead of having its node hear
//! something, and signs its lies with its own keys, which are all it has. Several of them can [collude](crate::colluders).

mod blocks;
mod bodies;
mod chunks;
mod crowding;
mod failing;
mod flooding;
mod ignoring;
mod no_coding;
mod noise;
mod receipts;
mod results;
mod witnesses;

pub use self::{
    blocks::{DoubleVotes, EquivocatedBlocks},
    bodies::{BodyLie, OtherBodies},
    chunks::{DoubleSignedChunks, ParcelledParts, WithheldBodies, WithheldParts},
    crowding::CrowdedWitnesses,
    flooding::{Flood, flooded},
    ignoring::IgnoredTransactions,
    noise::{Garbage, Replays},
    receipts::{ForgedReceipts, PartialReceipts},
    results::{FalseResults, Lie},
    witnesses::{ForgedWitnesses, WithheldWitnesses},
};

use crate::lies::{Liar, Outgoing};
use bytes::Bytes;
use commonware_codec::{Decode as _, DecodeExt as _, Encode as _, FixedSize as _};
use commonware_cryptography::{
    Signer as _,
    ed25519::{PublicKey, Signature},
};
use rand_core::Rng as _;
use shardnode_network::{
    Identity, channels,
    chunk_messages::{ChunkMessage, MessageLimits},
};
use shardnode_primitives::{ChunkHeader, Digest};
use shardnode_witness::Manifest;
use std::collections::BTreeMap;

impl Liar<'_> {
    /// True once in `times`.
    fn once_in(&mut self, times: u64) -> bool {
        self.rng.next_u64().is_multiple_of(times)
    }

    fn chunk_message(&self, message: &Outgoing) -> Option<ChunkMessage> {
        let limits = MessageLimits::of(&self.identity.genesis);
        (message.channel == channels::CHUNKS)
            .then(|| ChunkMessage::decode_cfg(message.bytes.clone(), &limits).ok())
            .flatten()
    }

    /// Divides recipients into two halves, always the same ones.
    fn halves(&self, to: &[PublicKey]) -> (Vec<PublicKey>, Vec<PublicKey>) {
        to.iter()
            .cloned()
            .partition(|key| key.as_ref()[0].is_multiple_of(2))
    }
}

/// The manifest of an encoded witness part.
fn manifest(part: &Bytes) -> Option<Manifest> {
    let there = part.len() >= Manifest::SIZE;
    there
        .then(|| Manifest::decode(part.slice(..Manifest::SIZE)).ok())
        .flatten()
}

/// An encoded witness part, signed as one for another header.
fn part_for(part: &Bytes, header: Digest, identity: &Identity) -> Option<Bytes> {
    let mut manifest = manifest(part)?;
    manifest.subject.header_hash = header;
    let manifest = manifest.encode();
    let signature = identity
        .key
        .sign(&identity.namespaces.witness, &manifest)
        .encode();
    let share = part.get(Manifest::SIZE + Signature::SIZE..)?;
    Some([&manifest[..], &signature[..], share].concat().into())
}

/// Headers that stand in for a node's own, and the witness parts that wait
/// for them: a part can be made before its header goes out.
#[derive(Default)]
struct StandIns {
    headers: BTreeMap<Digest, Option<ChunkHeader>>,
    early: BTreeMap<Digest, Vec<Outgoing>>,
}

impl StandIns {
    /// The stand-in of `header`, made by `make` the first time. `None` if it
    /// stays as it is.
    fn of(
        &mut self,
        header: &ChunkHeader,
        make: impl FnOnce() -> Option<ChunkHeader>,
    ) -> Option<ChunkHeader> {
        self.headers
            .entry(header.hash())
            .or_insert_with(make)
            .clone()
    }

    /// The parts that waited for `header`, as parts for their stand-in.
    fn released(&mut self, header: &ChunkHeader, liar: &Liar<'_>) -> Vec<Outgoing> {
        let early = self.early.remove(&header.hash()).unwrap_or_default();
        early
            .into_iter()
            .flat_map(|part| self.part(&part, liar).unwrap_or_else(|| vec![part]))
            .collect()
    }

    /// What goes out instead of a witness part.
    fn part(&mut self, message: &Outgoing, liar: &Liar<'_>) -> Option<Vec<Outgoing>> {
        let own = manifest(&message.bytes)?.subject;
        let producer = liar.identity.genesis.producer_at(own.shard, own.height);
        if producer.is_none_or(|producer| producer.key != liar.identity.key.public_key()) {
            // It forwards a part of somebody else.
            return None;
        }
        match self.headers.get(&own.header_hash) {
            None => {
                let early = self.early.entry(own.header_hash).or_default();
                early.push(message.clone());
                Some(Vec::new())
            }
            Some(None) => None,
            Some(Some(instead)) => {
                let part = part_for(&message.bytes, instead.hash(), liar.identity)?;
                Some(vec![message.with(part)])
            }
        }
    }
}
