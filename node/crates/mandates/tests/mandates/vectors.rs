// SPDX-License-Identifier: Apache-2.0
//! Golden vectors: validators that deal differently accept different blocks.
//!
//! With `UPDATE_VECTORS` in the environment the test writes `vectors.json`
//! instead of comparing with it.

use serde::{Deserialize, Serialize};
use shardnode_mandates::Mandates;
use std::{fs, path::PathBuf};

/// The committees of one network at one height.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Vector {
    /// Of validator 0, 1, ….
    stakes: Vec<u64>,
    shards: u16,
    per_shard: u32,
    /// Every byte of the epoch's seed.
    seed_byte: u8,
    height: u64,
    price: u64,
    /// By shard, the validator and its stake for every place.
    committees: Vec<Vec<(u16, u64)>>,
}

fn vector(stakes: &[u64], shards: u16, per_shard: u32, seed_byte: u8, height: u64) -> Vector {
    let mandates = Mandates::new((0u16..).zip(stakes.iter().copied()), shards, per_shard).unwrap();
    let committees = mandates.deal([seed_byte; 32], height);
    let pairs = |committee: &shardnode_mandates::Committee<u16>| {
        let members = committee.members().iter();
        members
            .map(|member| (member.validator, member.stake))
            .collect()
    };
    Vector {
        stakes: stakes.to_vec(),
        shards,
        per_shard,
        seed_byte,
        height,
        price: mandates.price(),
        committees: committees.iter().map(pairs).collect(),
    }
}

#[test]
fn committees_are_those_of_the_vectors() {
    let uneven = [1_000, 999, 500, 333, 7, 0, 5_000, 1];
    let vectors = vec![
        vector(&[10; 4], 2, 6, 0x00, 0),
        vector(&[10; 4], 2, 6, 0x00, 1),
        vector(&[10; 4], 2, 6, 0x01, 1),
        vector(&uneven, 3, 7, 0x5e, 1_000_000),
        vector(&uneven, 1, 1, 0x5e, 2),
        vector(&[u64::MAX / 5; 5], 5, 2, 0xff, u64::MAX),
    ];
    let path = PathBuf::from("tests/mandates/vectors.json");
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        let lines: Vec<String> = vectors
            .iter()
            .map(|vector| serde_json::to_string(vector).unwrap())
            .collect();
        fs::write(path, format!("[\n  {}\n]\n", lines.join(",\n  "))).unwrap();
        return;
    }
    let golden: Vec<Vector> = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(vectors, golden);
}
