// SPDX-License-Identifier: Apache-2.0
//! Shares that suffice give the bytes, and nobody can add to them.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, missing_docs)]

mod cost;
mod inconsistent;
mod vectors;

use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _};
use commonware_parallel::Sequential;
use proptest::{collection::vec, prelude::*, sample::Index};
use shardnode_coding::{CheckedShare, Code, CodeError, Part, Share, ShareLimits};
use shardnode_primitives::Digest;
use std::num::NonZeroU16;

fn any_of(needed: u16, owners: u16) -> Code {
    Code::any(
        NonZeroU16::new(needed).unwrap(),
        NonZeroU16::new(owners).unwrap(),
    )
}

fn content(length: usize) -> Bytes {
    (0..length).map(|at| (at * 7 + 3) as u8).collect()
}

/// As they arrive.
fn parts(code: Code, bytes: &Bytes) -> (Digest, Vec<Part>) {
    let (root, shares) = code.divide(bytes, &Sequential).unwrap();
    let length = bytes.len();
    let parts = (0..).zip(shares).map(|(index, share)| {
        let part = Part { index, share };
        let decoded = Part::decode_cfg(part.encode(), &ShareLimits { code, length }).unwrap();
        assert_eq!(decoded, part);
        decoded
    });
    (root, parts.collect())
}

fn check(code: Code, root: &Digest, part: &Part) -> Result<CheckedShare, CodeError> {
    code.check(root, part.index, &part.share)
}

#[test]
fn any_that_suffice_give_the_bytes() {
    for (needed, owners) in [(1, 1), (1, 2), (1, 3), (2, 4), (3, 7), (4, 7), (47, 140)] {
        let code = any_of(needed, owners);
        assert_eq!(code.needed(), usize::from(needed));
        for length in [0, 1, 290, 4_096] {
            let bytes = content(length);
            let (root, parts) = parts(code, &bytes);
            assert_eq!(parts.len(), usize::from(owners));
            for first in 0..parts.len() {
                let shares = parts.iter().cycle().skip(first);
                let shares: Vec<_> = shares
                    .take(code.needed())
                    .map(|part| check(code, &root, part).unwrap())
                    .collect();
                let rebuilt = code.rebuild(&root, shares.iter(), &Sequential);
                assert_eq!(rebuilt, Ok(bytes.clone()));
                let (got, needed) = (shares.len() - 1, code.needed());
                let rebuilt = code.rebuild(&root, shares.iter().skip(1), &Sequential);
                assert_eq!(rebuilt, Err(CodeError::Missing { got, needed }));
            }
        }
    }
}

#[test]
fn a_single_owner_has_a_copy() {
    let (_, copies) = parts(any_of(1, 1), &content(10));
    assert_eq!(copies[0].share, Share::Copy(content(10)));
    assert!(!copies[0].share.is_coded());
    let code = Code::copies(NonZeroU16::new(2).unwrap());
    let (root, copies) = parts(code, &content(10));
    assert_eq!(copies.len(), 2);
    assert_eq!((root, code.needed()), (parts_root(any_of(1, 1)), 1));
}

fn parts_root(code: Code) -> Digest {
    parts(code, &content(10)).0
}

#[test]
fn shares_are_bounded_and_of_their_code() {
    let code = any_of(2, 4);
    let (root, parts) = parts(code, &content(4_096));
    let bytes = parts[1].encode();
    let decodes = |code, length| Part::decode_cfg(bytes.clone(), &ShareLimits { code, length });
    assert!(decodes(code, 4_096).is_ok());
    assert!(decodes(code, 4_000).is_err());
    assert!(decodes(any_of(1, 1), 4_096).is_err());
    for other in [any_of(2, 5), any_of(1, 1)] {
        assert!(check(other, &root, &parts[1]).is_err());
    }
    let elsewhere = Part {
        index: 2,
        ..parts[1].clone()
    };
    assert!(check(code, &root, &elsewhere).is_err());
    let beyond = Part {
        index: 4,
        ..parts[1].clone()
    };
    let limits = ShareLimits {
        code,
        length: 4_096,
    };
    assert!(check(code, &root, &beyond).is_err());
    assert!(Part::decode_cfg(beyond.encode(), &limits).is_err());
}

proptest! {
    #[test]
    fn any_flipped_bit_is_refused(owners in 1u16..9, owner in any::<Index>(), at in any::<Index>(), bit in 0u8..8) {
        let code = any_of(1 + (owners - 1) / 3, owners);
        let length = 200;
        let (root, parts) = parts(code, &content(length));
        let mut bytes = owner.get(&parts).encode().to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(forged) = Part::decode_cfg(bytes, &ShareLimits { code, length }) {
            // A copy is the same for every owner.
            let moved = at < 2 && !forged.share.is_coded();
            prop_assert!(moved || check(code, &root, &forged).is_err(), "byte {}", at);
        }
    }

    #[test]
    fn hostile_bytes_are_refused(bytes in vec(any::<u8>(), 0..400), owners in 1u16..6, length in 0usize..300) {
        let code = any_of(1 + (owners - 1) / 3, owners);
        if let Ok(part) = Part::decode_cfg(bytes.clone(), &ShareLimits { code, length }) {
            prop_assert_eq!(part.encode().to_vec(), bytes);
            prop_assert!(check(code, &Digest([7; 32]), &part).is_err());
        }
    }
}
