// SPDX-License-Identifier: Apache-2.0
//! Everybody judges a body alike, whichever way they came to it.

use crate::transfer;
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _};
use commonware_parallel::Sequential;
use shardnode_coding::{Code, Part};
use shardnode_execution::body::{self, Judged, Shown, ShownLimits, Unshown};
use shardnode_primitives::{
    ChunkBody, ChunkContent, ShardId, ShardTotals, Transaction, hash::ZERO,
};
use std::num::NonZeroU16;

const CODE: Code = Code::any(NonZeroU16::new(3).unwrap(), NonZeroU16::new(7).unwrap());
const LIMITS: ShownLimits = ShownLimits {
    code: CODE,
    transactions: 10,
};

fn transactions() -> Vec<Transaction> {
    vec![transfer(1, 2, 1, 6), transfer(1, 2, 1, 7)]
}

/// A chunk whose header is honest about everything but `transactions` and what
/// its parts are of.
fn chunk(body: &ChunkBody, transactions: u32, coded: &ChunkBody) -> ChunkContent {
    ChunkContent {
        shard: ShardId(0),
        height: 1,
        sequence: 1,
        anchor: ZERO,
        previous: ZERO,
        body_hash: body.hash(),
        parts_root: body::divide(coded, &CODE, &Sequential).unwrap().0,
        body_len: u32::try_from(body.0.len()).unwrap(),
        transactions,
        results: Vec::new(),
        uncommitted: vec![1],
        totals: ShardTotals::genesis(ZERO, 0),
    }
}

fn parts(body: &ChunkBody, places: [u16; 3]) -> Shown {
    let (_, shares) = body::divide(body, &CODE, &Sequential).unwrap();
    let part = |index: u16| Part {
        index,
        share: shares[usize::from(index)].clone(),
    };
    Shown::Parts(places.map(part).to_vec())
}

fn check(shown: &Shown, chunk: &ChunkContent, signed: bool) -> Result<Judged, Unshown> {
    // As it arrives.
    let shown = Shown::decode_cfg(shown.encode(), &LIMITS).unwrap();
    body::check(shown, chunk, &CODE, &Sequential, |_| signed)
}

#[test]
fn a_body_and_its_parts_come_to_the_same_verdict() {
    let body = ChunkBody::of(&transactions());
    let cut = ChunkBody(body.0.slice(..body.0.len() - 1));
    let mut other = body.0.to_vec();
    other[0] ^= 1;
    let other = ChunkBody(Bytes::from(other));
    let cases = [
        ("as the header says", &body, 2, &body, true, true),
        ("a bad signature", &body, 2, &body, false, false),
        ("another number", &body, 1, &body, true, false),
        ("cut short", &cut, 2, &cut, true, false),
        ("parts of another body", &body, 2, &other, true, false),
    ];
    for (name, body, count, coded, signed, valid) in cases {
        let chunk = chunk(body, count, coded);
        let want = valid.then(transactions);
        let whole = check(&Shown::Body(body.clone()), &chunk, signed).unwrap();
        assert_eq!(whole.transactions, want, "{name}");
        assert_eq!(whole.shown, Shown::Body(body.clone()), "{name}");
        assert_eq!(whole.shown.body(), Some(body), "{name}");
        for places in [[0, 1, 2], [4, 5, 6], [1, 3, 6]] {
            let parts = parts(coded, places);
            assert_eq!(parts.body(), None, "{name} {places:?}");
            let judged = check(&parts, &chunk, signed).unwrap();
            assert_eq!(judged.transactions, want, "{name} {places:?}");
            // Parts stay where they show that there is no body.
            let known = if body == coded {
                whole.shown.clone()
            } else {
                parts
            };
            assert_eq!(judged.shown, known, "{name} {places:?}");
        }
    }
}

/// Its parts have room in a witness where the body has not.
#[test]
fn a_body_longer_than_its_header_says_is_shown_by_parts() {
    let three = [transactions(), transactions()[..1].to_vec()].concat();
    let mut long = ChunkBody::of(&three).0.to_vec();
    long.push(0);
    let long = ChunkBody(Bytes::from(long));
    let mut chunk = chunk(&long, 3, &long);
    chunk.body_len -= 1;
    let limits = ShownLimits {
        code: CODE,
        transactions: 3,
    };
    let parts = parts(&long, [2, 4, 6]);
    assert!(Shown::decode_cfg(Shown::Body(long).encode(), &limits).is_err());
    let shown = Shown::decode_cfg(parts.encode(), &limits).unwrap();
    let judged = body::check(shown, &chunk, &CODE, &Sequential, |_| true);
    let transactions = None;
    let want = Judged {
        shown: parts,
        transactions,
    };
    assert_eq!(judged, Ok(want));
}

#[test]
fn an_empty_body_is_in_no_parts() {
    let empty = ChunkBody::of(&[]);
    let shown = Shown::Body(empty.clone());
    let unasked = |_: &[Transaction]| unreachable!("nothing to verify");
    let honest = chunk(&empty, 0, &empty);
    assert_eq!(honest.parts_root, ZERO);
    let judged = body::check(shown.clone(), &honest, &CODE, &Sequential, unasked).unwrap();
    assert_eq!(judged.transactions, Some(Vec::new()));
    let other = chunk(&empty, 0, &ChunkBody::of(&transactions()));
    let judged = body::check(shown, &other, &CODE, &Sequential, unasked).unwrap();
    assert_eq!(judged.transactions, None);
}

/// A header can name the hash of no bytes and the root over their coding, next
/// to a length that is not theirs.
#[test]
fn parts_of_no_bytes_show_that_there_is_no_body() {
    let empty = ChunkBody::of(&[]);
    let (root, shares) = CODE.divide(&empty.0, &Sequential).unwrap();
    let mut chunk = chunk(&ChunkBody::of(&transactions()), 2, &empty);
    (chunk.body_hash, chunk.parts_root) = (empty.hash(), root);
    let parts: Vec<Part> = (0u16..)
        .zip(shares)
        .take(3)
        .map(|(index, share)| Part { index, share })
        .collect();
    let recovered = body::recover(&parts, &chunk, &CODE, &Sequential);
    assert_eq!(recovered, Ok(None));
    for shown in [Shown::Parts(parts), Shown::Body(empty)] {
        let judged = check(&shown, &chunk, true).unwrap();
        assert_eq!(judged.transactions, None, "{shown:?}");
    }
}

#[test]
fn what_is_of_another_chunk_shows_nothing() {
    let body = ChunkBody::of(&transactions());
    let other = ChunkBody::of(&transactions()[..1]);
    let chunk = chunk(&body, 2, &body);
    assert!(matches!(
        check(&Shown::Body(other.clone()), &chunk, true),
        Err(Unshown::Hash { .. })
    ));
    assert!(matches!(
        check(&parts(&other, [0, 1, 2]), &chunk, true),
        Err(Unshown::Part { index: 0, .. })
    ));
    // The same part again counts once.
    assert!(matches!(
        check(&parts(&body, [1, 1, 2]), &chunk, true),
        Err(Unshown::Parts(_))
    ));
}

#[test]
fn as_many_parts_as_needed_are_decoded() {
    let Shown::Parts(mut parts) = parts(&ChunkBody::of(&transactions()), [0, 1, 2]) else {
        unreachable!()
    };
    parts.push(parts[0].clone());
    for count in [2, 4] {
        let shown = Shown::Parts(parts[..count].to_vec());
        assert!(
            Shown::decode_cfg(shown.encode(), &LIMITS).is_err(),
            "{count}"
        );
    }
    assert!(Shown::decode_cfg(vec![2, 0], &LIMITS).is_err());
}
