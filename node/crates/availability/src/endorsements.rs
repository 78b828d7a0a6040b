// SPDX-License-Identifier: Apache-2.0
//! The endorsements at hand, by header.
//!
//! A connection proves who endorses, so a false signature spoils only its
//! sender's own word. Signatures are therefore verified where they are used,
//! for the leader that is about to put them into a block.
//!
//! One validator can endorse at most [`PER_VALIDATOR`] headers of a shard and
//! height, so what it can make others keep is bounded.

use commonware_cryptography::{
    BatchEntry, BatchVerifier as _, Verifier as _,
    ed25519::{PublicKey, Signature},
};
use commonware_parallel::Strategy;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use shardnode_blocks::in_flight::PER_SLOT;
use shardnode_mandates::Committee;
use shardnode_primitives::{
    Digest, Endorsement, Endorsements, Namespaces, ShardId,
    endorsement::message,
    work::{self, Work},
};
use std::collections::BTreeMap;

/// No more headers than are kept.
const PER_VALIDATOR: usize = PER_SLOT;

/// A height and a shard.
pub(crate) type Slot = (u64, ShardId);

#[derive(Debug)]
struct Kept {
    signature: Signature,
    verified: bool,
}

/// Endorsements of one header that are about to be verified.
pub(crate) type Unverified = Vec<(PublicKey, Signature)>;

/// The endorsements at hand.
#[derive(Debug, Default)]
pub(crate) struct CandidateEndorsements(
    BTreeMap<Slot, BTreeMap<PublicKey, BTreeMap<Digest, Kept>>>,
);

/// What there is of one header.
pub(crate) struct Endorsed {
    /// The stake of the members whose signatures hold.
    pub(crate) stake: u64,
    /// Their signatures.
    pub(crate) endorsements: Endorsements,
    /// The other members'.
    pub(crate) unverified: Unverified,
}

/// What became of unverified endorsements.
pub(crate) struct Judged {
    pub(crate) slot: Slot,
    pub(crate) header: Digest,
    /// Whose signatures hold.
    pub(crate) right: Vec<PublicKey>,
    /// Whose do not.
    pub(crate) wrong: Vec<PublicKey>,
}

impl CandidateEndorsements {
    /// Keeps an endorsement that came from `validator`, if there is room. Says
    /// whether it is kept and was not there before.
    pub(crate) fn insert(&mut self, validator: PublicKey, endorsement: Endorsement) -> bool {
        let slot = (endorsement.height, endorsement.shard);
        let signed = self
            .0
            .entry(slot)
            .or_default()
            .entry(validator)
            .or_default();
        if signed.len() >= PER_VALIDATOR || signed.contains_key(&endorsement.header) {
            return false;
        }
        let kept = Kept {
            signature: endorsement.signature,
            verified: false,
        };
        signed.insert(endorsement.header, kept);
        true
    }

    /// The stake of the members who endorse, verified or not, by header.
    pub(crate) fn stakes(
        &self,
        slot: Slot,
        committee: &Committee<PublicKey>,
    ) -> BTreeMap<Digest, u64> {
        let mut stakes = BTreeMap::new();
        let Some(by_signer) = self.0.get(&slot) else {
            return stakes;
        };
        work::count(Work::Member, committee.members().len());
        for member in committee.members() {
            let signed = by_signer.get(&member.validator);
            for header in signed.into_iter().flat_map(BTreeMap::keys) {
                *stakes.entry(*header).or_default() += member.stake;
            }
        }
        stakes
    }

    /// The committee's endorsements of the header with this hash.
    pub(crate) fn of(
        &self,
        slot: Slot,
        header: &Digest,
        committee: &Committee<PublicKey>,
    ) -> Endorsed {
        work::count(Work::Member, committee.members().len());
        let by_signer = self.0.get(&slot);
        let kept = |member: &PublicKey| by_signer?.get(member)?.get(header);
        let mut stake = 0;
        let mut unverified = Vec::new();
        let verified = committee.members().iter().map(|member| {
            let kept = kept(&member.validator)?;
            if kept.verified {
                stake += member.stake;
                return Some(kept.signature.clone());
            }
            unverified.push((member.validator.clone(), kept.signature.clone()));
            None
        });
        let endorsements = verified.collect();
        Endorsed {
            stake,
            endorsements,
            unverified,
        }
    }

    /// Remembers who was right, and forgets what others signed.
    pub(crate) fn judged(&mut self, judged: &Judged) {
        let Some(by_signer) = self.0.get_mut(&judged.slot) else {
            return;
        };
        for validator in &judged.right {
            let signed = by_signer.get_mut(validator);
            if let Some(kept) = signed.and_then(|signed| signed.get_mut(&judged.header)) {
                kept.verified = true;
            }
        }
        for validator in &judged.wrong {
            if let Some(signed) = by_signer.get_mut(validator) {
                signed.remove(&judged.header);
            }
        }
    }

    /// Forgets everything up to `height`.
    pub(crate) fn forget_to(&mut self, height: u64) {
        self.0.retain(|(at, _), _| *at > height);
    }
}

/// Verifies endorsements of the header with this hash: together, and one by one
/// only if some do not hold.
pub(crate) fn judge(
    unverified: Unverified,
    slot: Slot,
    header: Digest,
    namespaces: &Namespaces,
    seed: [u8; 32],
    strategy: &impl Strategy,
) -> Judged {
    let (namespace, message) = (&namespaces.endorsement, message(slot.1, slot.0, &header));
    work::count(Work::BatchedSignature, unverified.len());
    let all_hold = PublicKey::verify_batch(
        &mut ChaCha20Rng::from_seed(seed),
        &unverified,
        |_, (validator, signature)| BatchEntry {
            namespace,
            message: &message,
            public_key: validator,
            signature,
        },
        strategy,
    );
    let (right, wrong): (Vec<_>, Vec<_>) = strategy
        .map_collect_vec(unverified, |(validator, signature)| {
            work::count(Work::Signature, usize::from(!all_hold));
            let holds = all_hold || validator.verify(namespace, &message, &signature);
            (validator, holds)
        })
        .into_iter()
        .partition(|(_, holds)| *holds);
    let validators = |of: Vec<(PublicKey, bool)>| of.into_iter().map(|(who, _)| who).collect();
    Judged {
        slot,
        header,
        right: validators(right),
        wrong: validators(wrong),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use commonware_parallel::Sequential;
    use shardnode_mandates::Mandates;
    use shardnode_primitives::hash::ZERO;

    const SLOT: Slot = (5, ShardId(0));

    fn namespaces() -> Namespaces {
        Namespaces::new("test", &ZERO)
    }

    /// An endorsement of a header by its hash.
    fn endorsement(key: &PrivateKey, header: Digest) -> Endorsement {
        let signed = message(SLOT.1, SLOT.0, &header);
        Endorsement {
            shard: SLOT.1,
            height: SLOT.0,
            header,
            signature: key.sign(&namespaces().endorsement, &signed),
        }
    }

    fn keys() -> Vec<PrivateKey> {
        (0..4).map(PrivateKey::from_seed).collect()
    }

    fn committee() -> Committee<PublicKey> {
        let stakes = keys().into_iter().map(|key| (key.public_key(), 10));
        let mandates = Mandates::new(stakes, 1, 4).unwrap();
        mandates.deal([0; 32], 5).swap_remove(0)
    }

    #[test]
    fn a_validator_counts_once_for_a_header_and_for_no_more_than_are_kept() {
        let mut held = CandidateEndorsements::default();
        let key = &keys()[0];
        let who = key.public_key();
        let [one, two, three] = [1, 2, 3].map(|byte| Digest([byte; 32]));
        assert!(held.insert(who.clone(), endorsement(key, one)));
        assert!(!held.insert(who.clone(), endorsement(key, one)), "again");
        assert!(held.insert(who.clone(), endorsement(key, two)));
        assert!(!held.insert(who, endorsement(key, three)), "one too many");
        let stakes = held.stakes(SLOT, &committee());
        assert_eq!(stakes, BTreeMap::from([(one, 10), (two, 10)]));
    }

    #[test]
    fn false_endorsements_are_found_and_do_not_count() {
        let mut held = CandidateEndorsements::default();
        let header = Digest([1; 32]);
        let liar = keys()[2].public_key();
        for key in keys() {
            let signer = if key.public_key() == liar {
                &keys()[0]
            } else {
                &key
            };
            assert!(held.insert(key.public_key(), endorsement(signer, header)));
        }
        let committee = committee();
        let before = held.of(SLOT, &header, &committee);
        assert_eq!((before.stake, before.unverified.len()), (0, 4));
        let namespaces = namespaces();
        let judged = judge(
            before.unverified,
            SLOT,
            header,
            &namespaces,
            [0; 32],
            &Sequential,
        );
        assert_eq!(judged.wrong, [liar]);
        assert_eq!(judged.right.len(), 3);
        held.judged(&judged);
        let after = held.of(SLOT, &header, &committee);
        assert_eq!((after.stake, after.unverified.len()), (30, 0));
        assert_eq!(after.endorsements.count(), 3);
        assert_eq!(held.stakes(SLOT, &committee)[&header], 30);
    }
}
