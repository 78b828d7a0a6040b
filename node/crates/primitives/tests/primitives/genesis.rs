// SPDX-License-Identifier: Apache-2.0
//! Checking genesis documents, and what they derive.

use commonware_cryptography::Signer as _;
use serde_json::{Value, json};
use shardnode_primitives::{
    AccountId, Genesis, GenesisDocument, ShardId, ShardLayout, genesis::private_key,
};
use std::collections::BTreeSet;

fn public_key(number: u8) -> String {
    AccountId::of(&private_key([number; 32]).public_key()).to_string()
}

fn validator(number: u8, shard: u16, slot: u16) -> Value {
    json!({
        "name": format!("s{shard}-p{slot}"), "publicKey": public_key(number),
        "role": "producer", "shard": shard, "slot": slot, "stake": 1_000,
    })
}

fn chunk_validator(number: u8) -> Value {
    json!({
        "name": format!("v{number}"), "publicKey": public_key(number),
        "role": "chunkValidator", "stake": 500,
    })
}

/// Two producers of shard 0 and one of shard 1.
fn valid() -> Value {
    json!({
        "network": "quickstart",
        "createdAtMs": 1_790_000_000_000_u64,
        "seed": "5e".repeat(32),
        "shards": 2,
        "accounts": {"perShard": 4, "initialBalance": 1_000},
        "protocol": {"executionLag": 1, "minBlockTimeMs": 250, "chunkWaitMs": 1000, "maxTransactionsPerChunk": 2_000,
            "mandatesPerShard": 8, "epochLength": 1_000, "congestionControl": "Enabled",
            "transferFee": 2, "leastBalance": 3},
        "validators": [validator(1, 0, 0), validator(2, 0, 1), validator(3, 1, 0)],
    })
}

fn parse(document: Value) -> GenesisDocument {
    serde_json::from_value(document).unwrap()
}

pub(crate) fn two_shards() -> GenesisDocument {
    parse(valid())
}

/// The valid document with the value at `pointer` replaced.
fn with(pointer: &str, value: Value) -> GenesisDocument {
    let mut document = valid();
    *document.pointer_mut(pointer).unwrap() = value;
    parse(document)
}

#[test]
fn a_document_becomes_what_it_says() {
    let genesis = two_shards().check().unwrap();
    assert_eq!(genesis.network, "quickstart");
    assert_eq!(genesis.created_at_ms, 1_790_000_000_000);
    assert_eq!(genesis.layout, ShardLayout::new(2));
    assert_eq!(genesis.account_count(), 8);
    assert_eq!(genesis.supply(), 8_000);
    let places: Vec<_> = genesis
        .producers
        .iter()
        .map(|validator| (validator.name.as_str(), validator.shard.0, validator.slot))
        .collect();
    assert_eq!(places, [("s0-p0", 0, 0), ("s0-p1", 0, 1), ("s1-p0", 1, 0)]);
    let second = private_key([2; 32]).public_key();
    assert_eq!(genesis.producer(&second).unwrap().name, "s0-p1");
    assert_eq!(genesis.producers_of(ShardId(0)).count(), 2);
    assert_eq!(genesis.producer(&private_key([9; 32]).public_key()), None);
}

#[test]
fn chunk_validators_have_stake_and_no_shard() {
    let mut document = valid();
    let validators = document["validators"].as_array_mut().unwrap();
    validators.extend([chunk_validator(5), chunk_validator(4)]);
    let genesis = parse(document).check().unwrap();
    let fourth = private_key([4; 32]).public_key();
    assert_eq!(genesis.chunk_validator(&fourth).unwrap().stake, 500);
    assert_eq!(genesis.producer(&fourth), None);
    assert_eq!(genesis.chunk_validators.len(), 2);
    assert_eq!(genesis.producers.len(), 3);
    let stakes: Vec<u64> = genesis.stakes().map(|(_, stake)| stake).collect();
    assert_eq!(stakes, [1_000, 1_000, 1_000, 500, 500]);
}

#[test]
fn wrong_documents_name_the_field() {
    let cases = [
        ("/network", json!(""), "network"),
        ("/network", json!("n".repeat(64)), "network"),
        ("/seed", json!(""), "seed"),
        ("/seed", json!("5e".repeat(31)), "seed"),
        ("/seed", json!("5e".repeat(33)), "seed"),
        ("/seed", json!("zz".repeat(32)), "seed"),
        ("/seed", json!(format!("0x{}", "5e".repeat(32))), "seed"),
        ("/seed", json!(format!("{} ", "5e".repeat(32))), "seed"),
        ("/shards", json!(0), "shards"),
        ("/shards", json!(1_025), "shards"),
        ("/accounts/perShard", json!(0), "accounts.perShard"),
        ("/accounts/perShard", json!(u32::MAX), "accounts.perShard"),
        (
            "/accounts/initialBalance",
            json!(u64::MAX / 8 + 1),
            "accounts.initialBalance",
        ),
        ("/protocol/executionLag", json!(0), "protocol.executionLag"),
        ("/protocol/executionLag", json!(5), "protocol.executionLag"),
        (
            "/protocol/minBlockTimeMs",
            json!(9),
            "protocol.minBlockTimeMs",
        ),
        ("/protocol/chunkWaitMs", json!(9), "protocol.chunkWaitMs"),
        (
            "/protocol/chunkWaitMs",
            json!(60_001),
            "protocol.chunkWaitMs",
        ),
        (
            "/protocol/maxTransactionsPerChunk",
            json!(0),
            "protocol.maxTransactionsPerChunk",
        ),
        (
            "/protocol/maxTransactionsPerChunk",
            json!(21_476),
            "protocol.maxTransactionsPerChunk",
        ),
        (
            "/protocol/mandatesPerShard",
            json!(0),
            "protocol.mandatesPerShard",
        ),
        (
            "/protocol/mandatesPerShard",
            json!(500_001),
            "protocol.mandatesPerShard",
        ),
        ("/protocol/epochLength", json!(15), "protocol.epochLength"),
        (
            "/protocol/leastBalance",
            json!(1_001),
            "accounts.initialBalance",
        ),
        ("/validators/1/stake", json!(0), "validators[1].stake"),
        ("/validators/1/stake", json!(u64::MAX), "validators"),
        ("/validators/1/slot", json!(null), "validators[1].slot"),
        ("/validators/1/shard", json!(null), "validators[1].shard"),
        (
            "/validators/1/role",
            json!("chunkValidator"),
            "validators[1].shard",
        ),
        (
            "/validators/1/publicKey",
            json!("02"),
            "validators[1].publicKey",
        ),
        // No point of the curve has this y.
        (
            "/validators/1/publicKey",
            json!(format!("02{}", "00".repeat(31))),
            "validators[1].publicKey",
        ),
        (
            "/validators/1/publicKey",
            json!(public_key(1)),
            "validators[1].publicKey",
        ),
        ("/validators/2/shard", json!(2), "validators[2].shard"),
        // Shard 1 without a producer, a slot left out, a slot taken twice.
        ("/validators/2/shard", json!(0), "validators"),
        ("/validators/1/slot", json!(2), "validators"),
        ("/validators/1/slot", json!(0), "validators"),
        ("/validators", json!([]), "validators"),
    ];
    for (pointer, value, field) in cases {
        let error = with(pointer, value.clone()).check().unwrap_err();
        assert_eq!(error.field, field, "{pointer} = {value}");
        assert_eq!(
            error.to_string(),
            format!("{}: {}", error.field, error.reason)
        );
    }
}

#[test]
fn limits_are_inclusive() {
    let cases = [
        ("/network", json!("n".repeat(63))),
        ("/network", json!("é".repeat(63))),
        ("/accounts/initialBalance", json!(u64::MAX / 8)),
        ("/protocol/executionLag", json!(4)),
        ("/protocol/minBlockTimeMs", json!(10)),
        ("/protocol/chunkWaitMs", json!(10)),
        ("/protocol/chunkWaitMs", json!(60_000)),
        ("/protocol/maxTransactionsPerChunk", json!(1)),
        ("/protocol/maxTransactionsPerChunk", json!(21_475)),
        ("/protocol/leastBalance", json!(1_000)),
        ("/protocol/leastBalance", json!(0)),
        ("/protocol/transferFee", json!(u64::MAX)),
        ("/protocol/mandatesPerShard", json!(1_500)),
        ("/protocol/epochLength", json!(16)),
        ("/validators/1/stake", json!(1)),
    ];
    for (pointer, value) in cases {
        let outcome = with(pointer, value.clone()).check();
        assert!(outcome.is_ok(), "{pointer} = {value}: {outcome:?}");
    }
}

#[test]
fn unknown_fields_and_roles_are_refused() {
    for pointer in ["", "/accounts", "/protocol", "/validators/0"] {
        let mut document = valid();
        let object = document.pointer_mut(pointer).unwrap();
        object["surplus"] = json!(1);
        let error = serde_json::from_value::<GenesisDocument>(document).unwrap_err();
        assert!(error.to_string().contains("surplus"), "{pointer}: {error}");
    }
    let mut document = valid();
    document["validators"][0]["role"] = json!("observer");
    assert!(serde_json::from_value::<GenesisDocument>(document).is_err());
}

#[test]
fn the_hash_covers_every_field() {
    let mut hashes = BTreeSet::from([two_shards().check().unwrap().hash()]);
    let swapped = json!([validator(2, 0, 0), validator(1, 0, 1), validator(3, 1, 0)]);
    let more = json!([
        validator(1, 0, 0),
        validator(2, 0, 1),
        validator(3, 1, 0),
        chunk_validator(4),
    ]);
    let fewer = json!([validator(1, 0, 0), validator(3, 1, 0)]);
    let changes = [
        ("/network", json!("quickstar")),
        ("/createdAtMs", json!(1)),
        ("/seed", json!("5f".repeat(32))),
        ("/accounts/perShard", json!(5)),
        ("/accounts/initialBalance", json!(1_001)),
        ("/protocol/executionLag", json!(2)),
        ("/protocol/minBlockTimeMs", json!(251)),
        ("/protocol/chunkWaitMs", json!(1_001)),
        ("/protocol/maxTransactionsPerChunk", json!(3_001)),
        ("/protocol/mandatesPerShard", json!(9)),
        ("/protocol/epochLength", json!(1_001)),
        ("/protocol/congestionControl", json!("Disabled")),
        ("/protocol/transferFee", json!(3)),
        ("/protocol/leastBalance", json!(4)),
        ("/validators/0/stake", json!(1_001)),
        ("/validators/0/name", json!("other")),
        ("/validators/0/publicKey", json!(public_key(4))),
        ("/validators", more),
        ("/validators", swapped),
        ("/validators", fewer),
    ];
    for (pointer, value) in changes {
        let hash = with(pointer, value).check().unwrap().hash();
        assert!(hashes.insert(hash), "{pointer} does not change the hash");
    }
    // One shard less: the third validator has to move as well.
    let mut document = valid();
    document["shards"] = json!(1);
    document["validators"] = json!([validator(1, 0, 0), validator(2, 0, 1), validator(3, 0, 2)]);
    let one_shard = parse(document).check().unwrap().hash();
    assert!(hashes.insert(one_shard), "shards do not change the hash");
}

#[test]
fn the_order_of_validators_is_no_difference() {
    let mut document = valid();
    document["validators"].as_array_mut().unwrap().reverse();
    let reversed = parse(document).check().unwrap();
    let genesis = two_shards().check().unwrap();
    assert_eq!(reversed.hash(), genesis.hash());
    assert_eq!(reversed.producers, genesis.producers);
}

#[test]
fn accounts_are_distinct_and_sign_for_themselves() {
    let genesis = two_shards().check().unwrap();
    let mut ids = BTreeSet::new();
    for index in 0..genesis.account_count() {
        let account = genesis.account(index);
        assert_eq!(account.id, AccountId::of(&account.key.public_key()));
        assert!(ids.insert(account.id), "account {index} repeats");
    }
    let other: Genesis = with("/seed", json!("5f".repeat(32))).check().unwrap();
    assert!(!ids.contains(&other.account(0).id));
}
