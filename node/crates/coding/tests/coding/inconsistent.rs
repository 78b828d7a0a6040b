// SPDX-License-Identifier: Apache-2.0
//! A root over shards that are no coding of anything: everybody finds out,
//! whichever shares they have.

use crate::any_of;
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _};
use commonware_cryptography::{Hasher as _, blake3::Blake3};
use commonware_parallel::Sequential;
use commonware_storage::bmt::Builder;
use proptest::{collection::vec, prelude::*};
use shardnode_coding::{CheckedShare, CodeError, Part, ShareLimits};
use shardnode_primitives::Digest;

/// The root over any shards, and their parts.
fn commit(shards: &[Vec<u8>], limits: ShareLimits) -> (Digest, Vec<Part>) {
    let mut builder = Builder::<Blake3>::new(shards.len());
    for shard in shards {
        builder.add(&Blake3::hash(&[shard]));
    }
    let tree = builder.build();
    let parts = (0u16..).zip(shards).map(|(index, shard)| {
        let bytes = [
            index.encode(),
            Bytes::from(shard.clone()).encode(),
            index.encode(),
            tree.proof(u32::from(index)).unwrap().encode(),
        ];
        Part::decode_cfg(bytes.concat(), &limits).unwrap()
    });
    (tree.root(), parts.collect())
}

proptest! {
    #[test]
    fn everybody_comes_to_the_same_verdict(
        honest in vec(any::<u8>(), 1..40),
        changed in 0usize..7,
        flipped in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let code = any_of(3, 7);
        let limits = ShareLimits { code, length: honest.len() };
        let (root, shares) = code.divide(&Bytes::from(honest.clone()), &Sequential).unwrap();
        // The shards alone: their proofs are in front of nothing else.
        let mut shards: Vec<Vec<u8>> = shares
            .iter()
            .map(|share| {
                let bytes = share.encode();
                let width = usize::from(bytes[0]);
                bytes[1..=width].to_vec()
            })
            .collect();
        shards[changed][0] ^= flipped;
        if cut && shards[changed].len() > 2 {
            let shorter = shards[changed].len() - 2;
            shards[changed].truncate(shorter);
        }
        let (forged, parts) = commit(&shards, limits);
        let is_coding = forged == root;
        let checked: Vec<CheckedShare> = parts
            .iter()
            .map(|part| code.check(&forged, part.index, &part.share).unwrap())
            .collect();
        for a in 0..7 {
            for b in a + 1..7 {
                for c in b + 1..7 {
                    let chosen = [&checked[a], &checked[b], &checked[c]];
                    let rebuilt = code.rebuild(&forged, chosen.into_iter(), &Sequential);
                    if is_coding {
                        prop_assert_eq!(rebuilt, Ok(Bytes::from(honest.clone())));
                    } else {
                        prop_assert!(matches!(rebuilt, Err(CodeError::Inconsistent(_))), "{:?}", rebuilt);
                    }
                }
            }
        }
    }
}
