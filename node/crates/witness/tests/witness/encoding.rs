// SPDX-License-Identifier: Apache-2.0
//! What comes from a peer is bounded and checked before it is anything.

use crate::world::{LIMITS, World};
use commonware_codec::Encode as _;
use proptest::{prelude::*, sample::Index};
use shardnode_witness::{DecodeError, Limits, StateWitness, decode, encode, limits::VERSION};

fn witness() -> StateWitness {
    let (_, cases) = World::play(1);
    let largest = cases
        .into_iter()
        .max_by_key(|case| case.witness.encode().len());
    largest.unwrap().witness
}

fn frame(raw: &[u8]) -> Vec<u8> {
    [vec![VERSION], zstd::encode_all(raw, 1).unwrap()].concat()
}

fn limited(raw_bytes: usize) -> Limits {
    Limits {
        raw_bytes,
        ..LIMITS
    }
}

proptest! {
    #[test]
    fn hostile_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let magic = [&[VERSION, 0x28, 0xb5, 0x2f, 0xfd], &bytes[..]].concat();
        for bytes in [bytes.clone(), magic, frame(&bytes)] {
            if let Ok(decoded) = decode(&bytes, &LIMITS) {
                // Only what a witness encodes to decodes.
                prop_assert_eq!(decode(&encode(&decoded).unwrap(), &LIMITS).unwrap(), decoded);
            }
        }
    }

    #[test]
    fn damaged_frames_are_refused_or_change_nothing(at in any::<Index>(), bit in 0u8..8, cut in any::<Index>()) {
        let witness = witness();
        let bytes = encode(&witness).unwrap().to_vec();
        prop_assert!(decode(&bytes[..cut.index(bytes.len())], &LIMITS).is_err());
        let mut damaged = bytes.clone();
        damaged[at.index(bytes.len())] ^= 1 << bit;
        if let Ok(decoded) = decode(&damaged, &limited(witness.encode().len())) {
            prop_assert!(decoded.encode().len() <= witness.encode().len());
        }
    }

    #[test]
    fn damaged_content_is_refused_or_another_witness(at in any::<Index>(), bit in 0u8..8, cut in any::<Index>()) {
        let witness = witness();
        let raw = witness.encode().to_vec();
        prop_assert!(decode(&frame(&raw[..cut.index(raw.len())]), &LIMITS).is_err());
        let mut damaged = raw.clone();
        damaged[at.index(raw.len())] ^= 1 << bit;
        if let Ok(decoded) = decode(&frame(&damaged), &LIMITS) {
            prop_assert_eq!(decoded.encode().to_vec(), damaged);
        }
    }
}

#[test]
fn forms_that_encoding_does_not_give_are_refused() {
    let witness = witness();
    let raw = witness.encode().to_vec();
    let good = encode(&witness).unwrap().to_vec();
    let skippable = [
        &[VERSION, 0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7][..],
        &good[1..],
    ]
    .concat();
    let other_version = [&[VERSION - 1], &good[1..]].concat();
    let cases: [(&str, Vec<u8>, &str); 8] = [
        ("nothing", Vec::new(), "no bytes"),
        (
            "another version",
            other_version,
            "version 1, this node reads 2",
        ),
        ("no frame", vec![VERSION], "no zstd frame"),
        ("a frame to be skipped", skippable, "no zstd frame"),
        (
            "bytes after the end",
            [&good[..], &[0]].concat(),
            "1 bytes after the end",
        ),
        (
            "another frame",
            [&good[..], &good[1..]].concat(),
            "bytes after the end",
        ),
        (
            "content after the end",
            frame(&[&raw[..], &[0]].concat()),
            "cannot be decoded",
        ),
        (
            "cut short",
            good[..good.len() - 1].to_vec(),
            "cannot be decompressed",
        ),
    ];
    for (name, bytes, want) in cases {
        let error = decode(&bytes, &LIMITS).expect_err(name).to_string();
        assert!(error.contains(want), "{name}: {error}");
    }
    assert_eq!(decode(&good, &LIMITS).unwrap(), witness);
}

#[test]
fn sizes_are_bounded() {
    let witness = witness();
    let bytes = encode(&witness).unwrap();
    let raw = witness.encode().len();
    assert!(decode(&bytes, &limited(raw)).is_ok());
    let error = decode(&bytes, &limited(raw - 1)).unwrap_err();
    assert!(matches!(error, DecodeError::TooLarge { limit } if limit == raw - 1));

    // 64 MiB of zeroes in a few kilobytes.
    let bomb = frame(&vec![0; 64 << 20]);
    assert!(bomb.len() < 16 << 10);
    let error = decode(&bomb, &LIMITS).unwrap_err();
    assert!(matches!(error, DecodeError::TooLarge { .. }), "{error}");

    let transitions = witness.transitions.len();
    assert!(transitions > 0);
    let fewer = Limits {
        transitions: u8::try_from(transitions - 1).unwrap(),
        ..LIMITS
    };
    assert!(decode(&bytes, &fewer).is_err());

    // A window that takes more memory than the content.
    let mut encoder = zstd::stream::Encoder::new(vec![VERSION], 19).unwrap();
    encoder.window_log(24).unwrap();
    std::io::Write::write_all(&mut encoder, &witness.encode()).unwrap();
    let error = decode(&encoder.finish().unwrap(), &LIMITS).unwrap_err();
    assert!(matches!(error, DecodeError::Compression(_)), "{error}");
}

/// Lengths that promise more than there is.
#[test]
fn counts_without_content_are_refused() {
    let head = [0u8; 10];
    let varint = [0xff, 0xff, 0xff, 0xff, 0x0f];
    let transition = [&head[..], &[1], &[0; 8]].concat();
    let cases = [
        ("transitions", [&head[..], &varint].concat()),
        ("body", [&transition[..], &[0], &varint].concat()),
        ("parts", [&transition[..], &[1], &varint].concat()),
        (
            "buckets",
            [&transition[..], &[0, 0], &varint, &[0; 64]].concat(),
        ),
        (
            "leaves",
            [
                &transition[..],
                &[0, 0, 0],
                &[0, 0, 0, 9],
                &varint,
                &[0; 64],
            ]
            .concat(),
        ),
    ];
    for (name, raw) in cases {
        assert!(decode(&frame(&raw), &LIMITS).is_err(), "{name}");
    }
}
