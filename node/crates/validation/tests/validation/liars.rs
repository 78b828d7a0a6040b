// SPDX-License-Identifier: Apache-2.0
//! Peers that send parts which their owner must have checked, and honest ones.

use crate::{
    fixture::{Fixture, HEIGHT, run},
    peers::{genesis, key},
};
use bytes::Bytes;
use commonware_codec::{Encode, FixedSize as _};
use commonware_cryptography::Signer as _;
use shardnode_witness::Manifest;

/// The place of a member that tracks the second of two shards, and of somebody
/// who passes parts on.
const MEMBER: usize = 4;
const OWNER: usize = 5;

/// What an owner sends, and whether it costs it its connection.
type Case = (&'static str, Vec<Bytes>, bool);

fn cases(fixture: &Fixture) -> Vec<Case> {
    let header = fixture.header(0);
    let parts: Vec<Bytes> = fixture
        .witness(&header, 4)
        .iter()
        .map(Encode::encode)
        .collect();
    let changed = |at: usize| {
        let mut bytes = parts[0].to_vec();
        bytes[at] ^= 1;
        Bytes::from(bytes)
    };
    let of_the_own_shard = {
        let part = fixture.witness(&fixture.header(1), 4)[0].encode();
        let mut bytes = part.to_vec();
        bytes[Manifest::SIZE] ^= 1;
        Bytes::from(bytes)
    };
    let of_another_witness = fixture.witness_of(&header, 4, &[8; 900])[1].encode();
    let early = |by: u64| {
        let mut header = header.clone();
        header.content.height += by;
        let bytes = fixture.witness(&header, 4)[0].encode();
        let mut bytes = bytes.to_vec();
        // What is too early is not looked at.
        bytes[Manifest::SIZE] ^= 1;
        Bytes::from(bytes)
    };
    vec![
        ("parts", parts.clone(), false),
        (
            "a part that was passed on twice",
            vec![parts[0].clone(), parts[0].clone()],
            false,
        ),
        (
            "a part that its producer did not sign",
            vec![changed(Manifest::SIZE)],
            true,
        ),
        (
            "a second part with another signature that does not hold",
            vec![parts[1].clone(), changed(Manifest::SIZE)],
            true,
        ),
        (
            "a part of a share that is not under the manifest",
            vec![changed(parts[0].len() - 1)],
            true,
        ),
        (
            "parts of two witnesses that the producer signed",
            vec![parts[0].clone(), of_another_witness],
            false,
        ),
        (
            "a part for a height too far ahead",
            vec![early(HEIGHT + 4)],
            false,
        ),
        // This member compares such headers with its own results.
        (
            "a part of its own shard that nobody signed",
            vec![of_the_own_shard],
            false,
        ),
        ("no part", vec![Bytes::from_static(&[1, 2, 3])], true),
    ]
}

#[test]
fn who_passes_on_what_it_must_have_checked_is_cut_off_and_nobody_else() {
    let mut number = 0;
    let mut last = false;
    while !last {
        run(genesis(2, 4, 32), MEMBER, |mut fixture| {
            let mut cases = cases(&fixture);
            last = number + 1 == cases.len();
            let (name, sent, cut_off) = cases.swap_remove(number);
            async move {
                let owner = key(OWNER).public_key();
                let expected: Vec<_> = cut_off.then(|| owner.clone()).into_iter().collect();
                let sent = sent.into_iter().map(|bytes| (owner.clone(), bytes));
                fixture.parts.send(sent);
                fixture.start();
                fixture.settle().await;
                assert_eq!(fixture.blocker.cut_off(), expected, "{name}");
            }
        });
        number += 1;
    }
}
