// SPDX-License-Identifier: Apache-2.0
//! Golden vectors: an encoding that changes breaks every network that runs.
//!
//! `vectors.json` holds them in hex. With `UPDATE_VECTORS` in the environment
//! the test writes the file instead of comparing with it.

use crate::world::{LIMITS, World, namespaces};
use commonware_codec::Encode as _;
use commonware_formatting::{from_hex, hex};
use commonware_parallel::Sequential;
use shardnode_primitives::genesis::private_key;
use shardnode_witness::{Subject, decode, encode, make_parts};
use std::{collections::BTreeMap, fs, num::NonZeroU16, path::PathBuf};

fn computed() -> BTreeMap<&'static str, String> {
    // One with transactions, receipts and accounts in it.
    let case = (0..8)
        .flat_map(|seed| World::play(seed).1)
        .filter(|case| {
            let transitions = &case.witness.transitions;
            let results = &case.expected.header.content.results;
            results.iter().any(|result| result.transfers > 0)
                && transitions.iter().any(|transition| {
                    let mut incoming = transition.incoming.iter();
                    incoming.any(|proven| !proven.bucket.receipts.is_empty())
                })
        })
        .min_by_key(|case| case.witness.encode().len())
        .unwrap();
    let encoded = encode(&case.witness).unwrap();
    let part = |owners, index: usize| {
        let parts = make_parts(
            &encoded,
            Subject::of(&case.expected.header),
            NonZeroU16::new(owners).unwrap(),
            &private_key([1; 32]),
            &namespaces(),
            &Sequential,
        );
        hex(&parts.unwrap()[index].encode())
    };
    BTreeMap::from([
        ("part.1.0", part(1, 0)),
        ("part.4.0", part(4, 0)),
        ("part.4.3", part(4, 3)),
        ("witness.encoded", hex(&encoded)),
        ("witness.raw", hex(&case.witness.encode())),
    ])
}

#[test]
fn encodings_and_signatures_are_the_golden_ones() {
    let path = PathBuf::from("tests/witness/vectors.json");
    let computed = computed();
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        let written = serde_json::to_string_pretty(&computed).unwrap() + "\n";
        fs::write(&path, written).unwrap();
        return;
    }
    let golden = fs::read_to_string(&path).unwrap();
    let golden: BTreeMap<&str, String> = serde_json::from_str(&golden).unwrap();
    for (name, value) in &computed {
        assert_eq!(golden.get(name), Some(value), "{name}");
    }
    assert_eq!(
        golden.len(),
        computed.len(),
        "a vector is no longer computed"
    );

    let encoded = from_hex(&golden["witness.encoded"]).unwrap();
    let decoded = decode(&encoded, &LIMITS).unwrap();
    assert_eq!(hex(&decoded.encode()), golden["witness.raw"]);
}
