// SPDX-License-Identifier: Apache-2.0
//! The endorsements at hand, by header.
//!
//! A connection proves who endorses, so a false signature spoils only its
//! sender's own word. Signatures are therefore verified where they are used,
//! by the leader that is about to put them into a block.
//!
//! One validator can endorse at most [`PER_VALIDATOR`] headers of a shard and
//! height, so what it can make others keep is bounded.

use commonware_cryptography::ed25519::PublicKey;
use shardnode_blocks::in_flight::PER_SLOT;
use shardnode_mandates::Committee;
use shardnode_primitives::{ChunkHeader, Digest, Endorsement, Endorsements, Namespaces, ShardId};
use std::collections::BTreeMap;

/// No more headers than are kept.
const PER_VALIDATOR: usize = PER_SLOT;

#[derive(Debug)]
struct Kept {
    endorsement: Endorsement,
    verified: bool,
}

type BySigner = BTreeMap<PublicKey, BTreeMap<Digest, Kept>>;

/// The endorsements at hand.
#[derive(Debug, Default)]
pub(crate) struct CandidateEndorsements(BTreeMap<(u64, ShardId), BySigner>);

impl CandidateEndorsements {
    /// Keeps an endorsement that came from `validator`.
    pub(crate) fn insert(&mut self, validator: PublicKey, endorsement: Endorsement) {
        let slot = (endorsement.height, endorsement.shard);
        let signed = self
            .0
            .entry(slot)
            .or_default()
            .entry(validator)
            .or_default();
        if signed.len() < PER_VALIDATOR {
            let kept = Kept {
                endorsement,
                verified: false,
            };
            signed.entry(kept.endorsement.header).or_insert(kept);
        }
    }

    /// The committee's endorsements of `header`, if they are a quorum; false
    /// ones are forgotten.
    pub(crate) fn quorum(
        &mut self,
        header: &ChunkHeader,
        committee: &Committee<PublicKey>,
        namespaces: &Namespaces,
    ) -> Option<Endorsements> {
        let slot = (header.content.height, header.content.shard);
        let by_signer = self.0.get_mut(&slot)?;
        let hash = header.hash();
        let endorsed = committee.stake_of(|member| {
            let signed = by_signer.get(member);
            signed.is_some_and(|signed| signed.contains_key(&hash))
        });
        if endorsed < committee.quorum() {
            return None;
        }
        let (mut signatures, mut stake) = (Vec::new(), 0);
        for member in committee.members() {
            let signed = by_signer.get_mut(&member.validator);
            let signature = signed.and_then(|signed| {
                let kept = signed.get_mut(&hash)?;
                kept.verified =
                    kept.verified || kept.endorsement.verify(&member.validator, namespaces);
                if !kept.verified {
                    signed.remove(&hash);
                    return None;
                }
                Some(kept.endorsement.signature.clone())
            });
            if signature.is_some() {
                stake += member.stake;
            }
            signatures.push(signature);
        }
        (stake >= committee.quorum()).then_some(signatures.into_iter().collect())
    }

    /// Forgets everything up to `height`.
    pub(crate) fn forget_to(&mut self, height: u64) {
        self.0.retain(|(at, _), _| *at > height);
    }
}
