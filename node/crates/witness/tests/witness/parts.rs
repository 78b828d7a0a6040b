// SPDX-License-Identifier: Apache-2.0
//! Parts: any that suffice give the witness, and nobody can add to them.

use crate::world::{Draw, namespaces};
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _};
use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
use commonware_parallel::Sequential;
use proptest::{prelude::*, sample::Index};
use shardnode_coding::CodeError;
use shardnode_primitives::{Digest, ShardId, genesis::private_key};
use shardnode_witness::{
    Manifest, PartLimits, PartSet, PartsError, Subject, WitnessPart, make_parts,
};
use std::num::NonZeroU16;

const LIMITS: PartLimits = PartLimits {
    length: 4_096,
    owners: 200,
};

fn subject() -> Subject {
    Subject {
        shard: ShardId(3),
        height: 77,
        header_hash: Digest([0x5c; 32]),
    }
}

fn producer() -> PrivateKey {
    private_key([9; 32])
}

fn content(length: usize) -> Bytes {
    (0..length).map(|at| (at * 7 + 3) as u8).collect()
}

/// As they arrive.
fn parts(witness: &Bytes, owners: u16) -> Vec<WitnessPart> {
    let owners = NonZeroU16::new(owners).unwrap();
    let made = make_parts(
        witness,
        subject(),
        owners,
        &producer(),
        &namespaces(),
        &Sequential,
    );
    made.unwrap()
        .into_iter()
        .map(|part| {
            let decoded = WitnessPart::decode_cfg(part.encode(), &LIMITS).unwrap();
            assert_eq!(decoded, part);
            decoded
        })
        .collect()
}

fn insert(set: &mut PartSet, part: &WitnessPart) -> Result<bool, PartsError> {
    set.insert(part.clone(), &producer().public_key(), &namespaces())
}

#[test]
fn any_that_suffice_give_the_witness() {
    let needed = [1, 1, 1, 2, 3, 3, 4, 4, 5, 6];
    let sizes = (1..).zip(needed).chain([(48, 28), (140, 84)]);
    for (owners, needed) in sizes {
        let mut draw = Draw(u64::from(owners));
        for length in [0, 1, 1_000, 4_096] {
            let witness = content(length);
            let mut parts = parts(&witness, owners);
            assert_eq!(parts.len(), usize::from(owners));
            // Any order, so any subset.
            for at in (1..parts.len()).rev() {
                parts.swap(at, draw.below(at as u64 + 1) as usize);
            }
            let mut set = PartSet::default();
            for (count, part) in parts.iter().enumerate() {
                assert_eq!(part.manifest().needed(), needed);
                let complete = count >= needed;
                assert_eq!(set.is_complete(usize::from(owners)), complete);
                assert!(!set.is_complete(usize::from(owners) + 1));
                let rebuilt = set.rebuild(&Sequential);
                if complete {
                    assert_eq!(rebuilt.unwrap(), witness);
                } else {
                    let missing = CodeError::Missing {
                        got: count,
                        needed: if count == 0 { 1 } else { needed },
                    };
                    assert_eq!(rebuilt, Err(missing.into()));
                }
                assert_eq!(insert(&mut set, part), Ok(true));
                assert_eq!(insert(&mut set, part), Ok(false));
                assert_eq!(set.part(part.index()), Some(part));
            }
            assert_eq!(set.rebuild(&Sequential), Ok(witness));
        }
    }
}

#[test]
fn a_part_says_what_it_is_of() {
    for owners in [1, 2, 3, 9] {
        for (index, part) in (0..).zip(parts(&content(100), owners)) {
            assert_eq!(part.index(), index);
            assert_eq!((part.shard(), part.height()), (ShardId(3), 77));
            assert_eq!(part.header_hash(), subject().header_hash);
            assert_eq!(part.is_coded(), owners >= 3);
            assert!(part.is_signed_by(&producer().public_key(), &namespaces()));
        }
    }
}

#[test]
fn others_parts_are_refused() {
    let witness = content(300);
    let own = parts(&witness, 4);
    let other = parts(&content(301), 4);
    let mut set = PartSet::default();
    insert(&mut set, &own[0]).unwrap();
    assert_eq!(
        insert(&mut set, &other[1]),
        Err(PartsError::Foreign { index: 1 })
    );

    let stranger = private_key([8; 32]).public_key();
    for mut set in [PartSet::default(), set] {
        // A signature that is known to be the producer's is not checked again.
        let known = !set.is_empty();
        let verdict = set.insert(own[1].clone(), &stranger, &namespaces());
        assert_eq!(verdict.is_ok(), known);
    }
    let elsewhere = shardnode_primitives::Namespaces::new("elsewhere", &Digest([0; 32]));
    let verdict = PartSet::default().insert(own[1].clone(), &producer().public_key(), &elsewhere);
    assert_eq!(verdict, Err(PartsError::Signature { index: 1 }));
}

/// The bytes of a part before its signature, and after it.
fn split(part: &WitnessPart) -> (Vec<u8>, Vec<u8>) {
    let bytes = part.encode();
    let manifest = part.manifest().encode().len();
    (bytes[..manifest].to_vec(), bytes[manifest + 64..].to_vec())
}

/// The part with another manifest, which the producer signs as well.
fn resigned(part: &WitnessPart, change: impl Fn(&mut Manifest)) -> Vec<u8> {
    let mut manifest = *part.manifest();
    change(&mut manifest);
    let manifest = manifest.encode();
    let signature = producer().sign(&namespaces().witness, &manifest);
    [&manifest[..], signature.as_ref(), &split(part).1].concat()
}

#[test]
fn a_producer_that_lies_in_the_manifest_gives_nothing() {
    for owners in [2, 5] {
        let own = parts(&content(299), owners);
        let with = |change: &dyn Fn(&mut Manifest)| {
            let mut set = PartSet::default();
            let decoded = own
                .iter()
                .map(|part| WitnessPart::decode_cfg(resigned(part, change), &LIMITS));
            for part in decoded {
                if insert(&mut set, &part.ok()?).is_err() {
                    return None;
                }
            }
            set.rebuild(&Sequential).ok()
        };
        assert_eq!(with(&|_| ()), Some(content(299)));
        assert_eq!(with(&|manifest| manifest.length -= 1), None);
        assert_eq!(with(&|manifest| manifest.length += 1), None);
        assert_eq!(with(&|manifest| manifest.commitment.0[0] ^= 1), None);
        assert_eq!(
            with(&|manifest| manifest.owners = manifest.owners.saturating_add(1)),
            None
        );
    }
}

#[test]
fn parts_are_bounded() {
    let part = &parts(&content(4_096), 6)[5];
    let bytes = part.encode();
    let decodes = |limits: PartLimits| WitnessPart::decode_cfg(bytes.clone(), &limits).is_ok();
    assert!(decodes(LIMITS));
    assert!(!decodes(PartLimits {
        length: 4_095,
        ..LIMITS
    }));
    assert!(decodes(PartLimits {
        owners: 6,
        ..LIMITS
    }));
    assert!(!decodes(PartLimits {
        owners: 5,
        ..LIMITS
    }));
    // A share wider than the length in the manifest gives.
    let shorter = resigned(part, |manifest| manifest.length = 10);
    assert!(WitnessPart::decode_cfg(shorter, &LIMITS).is_err());
    // A place beyond the owners.
    let (manifest, mut rest) = split(part);
    rest[1] = 6;
    let beyond = [manifest, vec![0; 64], rest].concat();
    assert!(WitnessPart::decode_cfg(beyond, &LIMITS).is_err());
}

proptest! {
    #[test]
    fn any_flipped_bit_is_refused(owners in 1u16..9, owner in any::<Index>(), at in any::<Index>(), bit in 0u8..8) {
        let parts = parts(&content(200), owners);
        let part = owner.get(&parts);
        let mut bytes = part.encode().to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(forged) = WitnessPart::decode_cfg(bytes, &LIMITS) {
            // Of two copies, each is the other with another place.
            if parts.contains(&forged) {
                return Ok(());
            }
            for before in [None, Some(&parts[0]), Some(part)] {
                let mut set = PartSet::default();
                if let Some(before) = before {
                    insert(&mut set, before).unwrap();
                }
                let verdict = insert(&mut set, &forged);
                // What is there already is not looked at again.
                prop_assert!(verdict != Ok(true), "byte {}", at);
            }
        }
    }

    #[test]
    fn hostile_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400), owners in 0u16..5, length in 0u32..300) {
        // Random owners and lengths are hardly ever within the limits.
        let mut small = bytes.clone();
        if small.len() > 48 {
            small[42..44].copy_from_slice(&owners.to_be_bytes());
            small[44..48].copy_from_slice(&length.to_be_bytes());
        }
        for bytes in [bytes, small] {
            if let Ok(part) = WitnessPart::decode_cfg(bytes.clone(), &LIMITS) {
                prop_assert_eq!(part.encode().to_vec(), bytes);
                prop_assert!(insert(&mut PartSet::default(), &part).is_err());
            }
        }
    }
}
