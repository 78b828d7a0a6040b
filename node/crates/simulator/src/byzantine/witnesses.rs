// SPDX-License-Identifier: Apache-2.0
//! A producer whose witnesses show nothing: parts are missing, or what they
//! give is not what was executed.

use super::manifest;
use crate::lies::{Behaviour, Liar, Outgoing};
use bytes::Bytes;
use commonware_codec::{Decode as _, DecodeExt as _, Encode as _};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_parallel::Sequential;
use rand_core::Rng as _;
use shardnode_execution::body::Shown;
use shardnode_network::channels;
use shardnode_primitives::{ChunkBody, Digest, ReceiptBucket};
use shardnode_state::PartialState;
use shardnode_witness::{PartSet, StateWitness, WitnessPart, decode, encode, make_parts};
use std::collections::BTreeMap;

/// Sends one part in `keeps`, and forwards none.
pub struct WithheldWitnesses {
    keeps: u64,
}

impl WithheldWitnesses {
    /// Sends one part in `keeps`.
    #[must_use]
    pub const fn new(keeps: u64) -> Self {
        Self { keeps }
    }
}

impl Behaviour for WithheldWitnesses {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        if message.channel != channels::WITNESSES || liar.once_in(self.keeps) {
            return None;
        }
        liar.shared.count("withheld witness parts");
        Some(Vec::new())
    }
}

/// Replaces each witness by one with something else in it, properly encoded,
/// divided and signed.
#[derive(Default)]
pub struct ForgedWitnesses {
    whole: BTreeMap<Digest, Collected>,
}

#[derive(Default)]
struct Collected {
    parts: PartSet,
    to: BTreeMap<u16, PublicKey>,
}

/// Whether there was a receipt to increase.
fn increase(bucket: &mut ReceiptBucket) -> bool {
    let receipt = bucket.receipts.first_mut();
    receipt.map(|receipt| receipt.amount += 1).is_some()
}

/// The same leaves and nodes, but for one bit somewhere.
fn other_state(state: &PartialState, liar: &mut Liar<'_>) -> Option<PartialState> {
    let mut bytes = state.encode().to_vec();
    let place = liar.rng.next_u64().checked_rem(bytes.len() as u64)?;
    *bytes.get_mut(usize::try_from(place).ok()?)? ^= 1;
    PartialState::decode(Bytes::from(bytes)).ok()
}

/// Changes something; false if there is nothing to change.
fn forge(witness: &mut StateWitness, liar: &mut Liar<'_>) -> bool {
    let kind = liar.rng.next_u64() % 6;
    let Some(transition) = witness.transitions.last_mut() else {
        return false;
    };
    // Not every place has another value.
    if kind >= 4
        && let Some(state) = other_state(&transition.pre_state, liar)
    {
        liar.shared.count("forged states in witnesses");
        transition.pre_state = state;
        return true;
    }
    let mut buckets = transition.incoming.iter_mut();
    match kind {
        0 if buckets.any(|proven| increase(&mut proven.bucket)) => {}
        1 if !transition.incoming.is_empty() => {
            transition.incoming.pop();
        }
        2 => witness.height += 1,
        _ => {
            let mut body = transition
                .body
                .body()
                .map_or(Vec::new(), |body| body.0.to_vec());
            let Some(byte) = body.last_mut() else {
                return false;
            };
            *byte ^= 1;
            transition.body = Shown::Body(ChunkBody(Bytes::from(body)));
        }
    }
    true
}

impl ForgedWitnesses {
    /// Once all parts of a witness are here: the parts of another one.
    fn forged(&mut self, header: Digest, liar: &mut Liar<'_>) -> Option<Vec<(PublicKey, Bytes)>> {
        let collected = self.whole.get(&header)?;
        let manifest = *collected.parts.manifest()?;
        if collected.to.len() < usize::from(manifest.owners.get()) {
            return Some(Vec::new());
        }
        let collected = self.whole.remove(&header)?;
        let identity = liar.identity;
        let bytes = collected.parts.rebuild(&Sequential).ok()?;
        let mut witness = decode(&bytes, &identity.witness_limits()).ok()?;
        if forge(&mut witness, liar) {
            liar.shared.count("forged witnesses");
        }
        let parts = make_parts(
            &encode(&witness).ok()?,
            manifest.subject,
            manifest.owners,
            &identity.key,
            &identity.namespaces,
            &Sequential,
        )
        .ok()?;
        let to = collected.to.into_values();
        Some(
            to.zip(parts.iter().map(commonware_codec::Encode::encode))
                .collect(),
        )
    }
}

impl Behaviour for ForgedWitnesses {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        if message.channel != channels::WITNESSES {
            return None;
        }
        let subject = manifest(&message.bytes)?.subject;
        let me = liar.identity.key.public_key();
        let producer = liar
            .identity
            .genesis
            .producer_at(subject.shard, subject.height)?;
        if producer.key != me {
            return None;
        }
        let limits = liar.identity.part_limits();
        let part = WitnessPart::decode_cfg(message.bytes.clone(), &limits).ok()?;
        let collected = self.whole.entry(subject.header_hash).or_default();
        collected
            .to
            .insert(part.index(), message.to.first()?.clone());
        collected
            .parts
            .insert(part, &me, &liar.identity.namespaces)
            .ok()?;
        let parts = self.forged(subject.header_hash, liar)?.into_iter();
        Some(
            parts
                .map(|(to, part)| message.with(part).to(vec![to]))
                .collect(),
        )
    }
}
