// SPDX-License-Identifier: Apache-2.0
//! A root over shards that are no coding of anything.

use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _, RangeCfg, Read as _};
use commonware_cryptography::{Hasher as _, blake3::Blake3};
use commonware_storage::bmt::Builder;
use shardnode_coding::{Code, Share, ShareLimits};
use shardnode_primitives::Digest;

/// The bytes of a coded share, without its proof.
fn shard(share: &Share) -> Option<Bytes> {
    let mut bytes = share.is_coded().then(|| share.encode())?;
    Bytes::read_cfg(&mut bytes, &RangeCfg::from(..)).ok()
}

/// The root over these shares of `length` bytes, one of them changed, and all
/// of them with proofs under it: every owner's share is right, and any that
/// give bytes give ones whose coding has another root. `None` if every owner
/// has a copy, which is always a coding of itself.
pub(super) fn commit(shares: &[Share], code: &Code, length: usize) -> Option<(Digest, Vec<Share>)> {
    let shards: Option<Vec<Bytes>> = shares.iter().map(shard).collect();
    let mut shards = shards?;
    let mut changed = shards.pop()?.to_vec();
    *changed.first_mut()? ^= 1;
    shards.push(changed.into());
    let mut builder = Builder::<Blake3>::new(shards.len());
    for shard in &shards {
        builder.add(&Blake3::hash(&[shard]));
    }
    let tree = builder.build();
    let limits = ShareLimits {
        code: *code,
        length,
    };
    let shares: Option<Vec<Share>> = (0u16..)
        .zip(&shards)
        .map(|(index, shard)| {
            let proof = tree.proof(u32::from(index)).ok()?;
            let bytes = [shard.encode(), index.encode(), proof.encode()].concat();
            Share::decode_cfg(bytes, &limits).ok()
        })
        .collect();
    Some((tree.root(), shares?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_parallel::Sequential;
    use shardnode_coding::CodeError;
    use std::num::NonZeroU16;

    #[test]
    fn every_share_is_right_and_none_give_bytes() {
        let places = |count| NonZeroU16::new(count).unwrap();
        for (needed, owners) in [(1, 2), (1, 3), (2, 4), (2, 6), (16, 48)] {
            let code = Code::any(places(needed), places(owners));
            let bytes = Bytes::from(vec![5; 290]);
            let (honest, shares) = code.divide(&bytes, &Sequential).unwrap();
            let (root, shares) = commit(&shares, &code, bytes.len()).unwrap();
            assert_ne!(root, honest);
            let checked: Vec<_> = (0u16..)
                .zip(&shares)
                .map(|(index, share)| code.check(&root, index, share).unwrap())
                .collect();
            let needed = usize::from(needed);
            for chosen in [&checked[..needed], &checked[checked.len() - needed..]] {
                let rebuilt = code.rebuild(&root, chosen.iter(), &Sequential);
                assert!(
                    matches!(rebuilt, Err(CodeError::Inconsistent(_))),
                    "{rebuilt:?}"
                );
            }
        }
    }

    #[test]
    fn copies_are_always_a_coding() {
        let code = Code::copies(NonZeroU16::MIN);
        let bytes = Bytes::from(vec![5; 290]);
        let (_, shares) = code.divide(&bytes, &Sequential).unwrap();
        assert!(commit(&shares, &code, bytes.len()).is_none());
    }
}
