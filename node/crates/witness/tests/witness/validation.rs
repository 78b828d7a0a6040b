// SPDX-License-Identifier: Apache-2.0
//! Honest witnesses are accepted; what is not theirs, bit for bit, is not.

use crate::world::{Case, LIMITS, World, check};
use commonware_codec::{Decode as _, Encode as _};
use proptest::{prelude::*, sample::Index};
use shardnode_primitives::ShardId;
use shardnode_witness::{StateWitness, decode, encode};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn honest_witnesses_are_accepted(seed in any::<u64>()) {
        for case in World::play(seed).1 {
            let bytes = encode(&case.witness).unwrap();
            let decoded = decode(&bytes, &LIMITS).unwrap();
            prop_assert_eq!(&decoded, &case.witness);
            prop_assert!(case.check().is_ok(), "{:?}", case.check());
        }
    }

    #[test]
    fn any_flipped_bit_is_refused(seed in any::<u64>(), flips in proptest::collection::vec((any::<Index>(), 0u8..8), 8)) {
        let (_, cases) = World::play(seed);
        for (case, (at, bit)) in cases.iter().rev().zip(flips) {
            let mut bytes = case.witness.encode().to_vec();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            if let Ok(forged) = StateWitness::decode_cfg(bytes, &LIMITS) {
                prop_assert!(check(forged, &case.expected).is_err(), "byte {}", at);
            }
        }
    }

    #[test]
    fn a_witness_shows_one_header_only(seed in any::<u64>()) {
        let (_, cases) = World::play(seed);
        let transitions = |case: &Case| case.witness.transitions.len();
        for (index, case) in cases.iter().enumerate() {
            for other in cases[index + 1..].iter().filter(|other| transitions(other) > 0) {
                prop_assert!(check(case.witness.clone(), &other.expected).is_err());
                // Nor under another name.
                let mut renamed = case.witness.clone();
                renamed.shard = other.witness.shard;
                renamed.height = other.witness.height;
                prop_assert!(check(renamed, &other.expected).is_err());
            }
        }
    }
}

/// The random histories have everything in them that a witness can show.
#[test]
fn histories_have_everything_in_them() {
    let mut seen = [0; 11];
    for seed in 0..24 {
        let (world, cases) = World::play(seed);
        assert!(!cases.is_empty());
        assert_eq!(world.state(ShardId(0)).root().0.len(), 32);
        let here = world.seen;
        let here = [
            here.transfers,
            here.failures,
            here.created,
            here.removed,
            here.invalid_bodies,
            here.miscoded,
            here.missed,
            here.receipts,
            here.several_transitions,
            here.held_back,
            here.left_due,
        ];
        for (sum, more) in seen.iter_mut().zip(here) {
            *sum += more;
        }
    }
    assert!(seen.iter().all(|sum| *sum >= 10), "{seen:?}");
}
