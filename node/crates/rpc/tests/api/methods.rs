// SPDX-License-Identifier: Apache-2.0
//! The methods of `/rpc`: results, parameters, errors.

use crate::fixture::{Fixture, HEIGHT, Pool, block, call, header, transaction};
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_cryptography::Digestible as _;
use commonware_formatting::hex;
use serde_json::{Value, json};
use shardnode_primitives::{ChunkBody, Refusal};
use shardnode_rpc::MOST_TOGETHER;

fn submit(pool: Pool) -> Result<Value, Value> {
    let node = Fixture {
        pool,
        ..Fixture::default()
    };
    let params = json!({"transaction": hex(&transaction(1).encode())});
    call(&node, "transfer_submit", &params)
}

fn disconnected() -> Fixture {
    Fixture {
        connected: false,
        ..Fixture::default()
    }
}

fn error(code: i32, message: &str) -> Value {
    json!({"code": code, "message": message})
}

#[test]
fn transfer_submit() {
    let hash = transaction(1).hash().to_string();
    assert_eq!(
        submit(Pool::Takes).unwrap(),
        json!({"hash": hash, "shard": 1})
    );
    assert_eq!(
        submit(Pool::Refuses(Refusal::Full)).unwrap_err(),
        json!({"code": -32_001, "message": "pool is full", "data": {"refused": "full"}})
    );
}

/// The node contract lists every refusal, by what the API calls it and with the
/// code that it has there.
#[test]
fn the_contract_has_a_row_for_every_refusal() {
    let contract = include_str!("../../../../../docs/node-contract.md");
    for one in Refusal::ALL {
        let error = submit(Pool::Refuses(one)).unwrap_err();
        let (code, reason) = (&error["code"], error["data"]["refused"].as_str().unwrap());
        assert_eq!(reason, one.reason());
        let row = format!("\n| `{reason}` | {code} | ");
        assert!(contract.contains(&row), "no row {row}");
        let metric = contract
            .lines()
            .find(|line| line.starts_with("| `shardnode_pool_rejected_total`"));
        assert!(metric.unwrap().contains(&format!("`{reason}`")), "{reason}");
    }
}

#[test]
fn transfers_submit() {
    let hashes = [1, 2, 3].map(|nonce| transaction(nonce).hash().to_string());
    let list = [1, 2, 3].map(|nonce| hex(&transaction(nonce).encode()));
    let params = json!({"transactions": list});
    for (pool, refused) in [
        (Pool::Takes, None),
        (Pool::Refuses(Refusal::Full), Some("full")),
        (Pool::Refuses(Refusal::Nonce), Some("nonce")),
    ] {
        let node = Fixture {
            pool,
            ..Fixture::default()
        };
        let mut expected = hashes
            .each_ref()
            .map(|hash| json!({"hash": hash, "shard": 1}));
        if let Some(refused) = refused {
            expected[1]["refused"] = refused.into();
            expected[2]["refused"] = refused.into();
        }
        let answer = call(&node, "transfers_submit", &params).unwrap();
        assert_eq!(answer, json!({"transfers": expected}));
    }
}

#[test]
fn lists_are_bounded_and_say_what_is_wrong_with_which() {
    let good = hex(&transaction(1).encode());
    let node = Fixture::default();
    let submit = |list: Vec<&str>| {
        let params = json!({"transactions": list});
        call(&node, "transfers_submit", &params)
    };
    assert!(submit(vec![&good; MOST_TOGETHER]).is_ok());
    let bounds = "transactions: must have 1 to 200 elements";
    for wrong in [vec![], vec![good.as_str(); MOST_TOGETHER + 1]] {
        assert_eq!(submit(wrong).unwrap_err(), error(-32_602, bounds));
    }
    let named = "transactions[1]: must be 306 hex digits";
    assert_eq!(
        submit(vec![&good, "00"]).unwrap_err(),
        error(-32_602, named)
    );
}

#[test]
fn transfers_outcome() {
    let known = json!({
        "hash": transaction(1).hash().to_string(),
        "signer": transaction(1).signer().to_string(),
    });
    let other = json!({"hash": "00".repeat(32), "signer": "ff".repeat(32)});
    let params = json!({"transfers": [other, known]});
    assert_eq!(
        call(&Fixture::default(), "transfers_outcome", &params).unwrap(),
        json!({"transfers": [
            {"status": "Unknown", "height": 0, "reason": ""},
            {"status": "Failed", "height": HEIGHT, "reason": "stale nonce"},
        ]})
    );
    assert_eq!(
        call(&disconnected(), "transfers_outcome", &params).unwrap_err(),
        error(-32_003, "no node of shard 1 answered")
    );
}

#[test]
fn transfer_outcome() {
    let params = json!({
        "hash": transaction(1).hash().to_string(),
        "signer": transaction(1).signer().to_string(),
    });
    let known = call(&Fixture::default(), "transfer_outcome", &params).unwrap();
    assert_eq!(
        known,
        json!({"status": "Failed", "height": HEIGHT, "reason": "stale nonce"})
    );
    let other = json!({"hash": "00".repeat(32), "signer": "ff".repeat(32)});
    let unknown = call(&Fixture::default(), "transfer_outcome", &other).unwrap();
    assert_eq!(
        unknown,
        json!({"status": "Unknown", "height": 0, "reason": ""})
    );
    assert_eq!(
        call(&disconnected(), "transfer_outcome", &params).unwrap_err(),
        error(-32_003, "no node of shard 1 answered")
    );
}

#[test]
fn account_get() {
    let params = json!({"id": "Ab".repeat(32)});
    assert_eq!(
        call(&Fixture::default(), "account_get", &params).unwrap(),
        json!({
            "id": "ab".repeat(32), "shard": 1, "exists": true,
            "balance": 10, "nonce": 3, "height": HEIGHT,
        })
    );
    assert_eq!(
        call(&disconnected(), "account_get", &params).unwrap_err(),
        error(-32_003, "no node of shard 1 answered")
    );
}

#[test]
fn account_prove() {
    let params = json!({"id": "Ab".repeat(32)});
    assert_eq!(
        call(&Fixture::default(), "account_prove", &params).unwrap(),
        json!({
            "id": "ab".repeat(32), "shard": 1, "exists": true,
            "balance": 10, "nonce": 3, "height": HEIGHT,
            "blockHeight": HEIGHT + 1, "blockHash": "0e".repeat(32), "proof": "00ff",
        })
    );
    assert_eq!(
        call(&disconnected(), "account_prove", &params).unwrap_err(),
        error(-32_003, "no node of shard 1 answered")
    );
}

#[test]
fn transfer_prove() {
    let (hash, signer) = (transaction(1).hash(), *transaction(1).signer());
    let params = json!({"hash": hash.to_string(), "signer": signer.to_string()});
    assert_eq!(
        call(&Fixture::default(), "transfer_prove", &params).unwrap(),
        json!({
            "status": "Failed", "height": HEIGHT, "reason": "stale nonce",
            "blockHeight": HEIGHT + 1, "blockHash": "0e".repeat(32), "proof": "00ff",
        })
    );
    assert_eq!(
        call(&disconnected(), "transfer_prove", &params).unwrap_err(),
        error(-32_003, "no node of shard 1 answered")
    );
}

fn expected_header(body: &ChunkBody) -> Value {
    let header = header(body);
    json!({
        "shard": 0, "height": HEIGHT, "sequence": HEIGHT - 1,
        "hash": header.hash().to_string(),
        "previous": "04".repeat(32), "anchor": "03".repeat(32),
        "bodyHash": body.hash().to_string(), "partsRoot": "0d".repeat(32),
        "bodyBytes": 306, "transactions": 2,
        "results": [{
            "height": HEIGHT - 1, "stateRoot": "02".repeat(32),
            "outcomesRoot": "05".repeat(32), "receiptsRoot": "06".repeat(32),
            "transfers": 3, "credits": 4,
        }],
        "uncommitted": [HEIGHT],
        "totals": {
            "height": HEIGHT - 1, "stateRoot": "02".repeat(32), "transfers": 100,
            "crossShard": 40, "credits": 90, "balance": 1000, "burnt": 60,
            "sent": 50, "received": 30,
        },
        "signature": header.signature.to_string(),
    })
}

#[test]
fn block_get() {
    let node = Fixture::default();
    let mut result = call(&node, "block_get", &json!({"height": HEIGHT})).unwrap();
    let chunks = result["chunks"].take();
    assert_eq!(
        result,
        json!({
            "height": HEIGHT, "hash": block(&node.body).digest().to_string(),
            "parent": "07".repeat(32), "timestampMs": 1_790_000_000_250u64, "chunks": null,
        })
    );
    assert_eq!(chunks.as_array().unwrap().len(), 2);
    assert_eq!(chunks[0], expected_header(&node.body));
    assert_eq!(
        (&chunks[1]["shard"], &chunks[1]["height"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(
        call(&node, "block_get", &json!({"height": HEIGHT + 1})).unwrap_err(),
        error(-32_003, "block 13 is not finalised yet")
    );
}

#[test]
fn chunk_get() {
    let node = Fixture::default();
    let params = json!({"height": HEIGHT, "shard": 0});
    let result = call(&node, "chunk_get", &params).unwrap();
    assert_eq!(result["header"], expected_header(&node.body));
    let transactions = result["transactions"].as_array().unwrap();
    assert_eq!(transactions.len(), 2);
    let second = transaction(2);
    let encoded = hex(&second.encode());
    assert_eq!(
        transactions[1],
        json!({
            "hash": second.hash().to_string(), "kind": "Transfer",
            "signer": encoded[2..66], "receiver": encoded[66..130],
            "amount": 7, "nonce": 2, "expiresAt": 4_000, "signature": encoded[178..],
        })
    );
    assert_eq!(result["from"], 0);
    assert_eq!(
        call(&disconnected(), "chunk_get", &params).unwrap_err(),
        error(-32_003, "no node of shard 1 answered")
    );
    assert_eq!(
        call(&node, "chunk_get", &json!({"height": HEIGHT, "shard": 1})).unwrap_err(),
        error(-32_003, "shard 1 has no chunk at height 12")
    );
}

#[test]
fn a_chunk_is_given_in_pieces() {
    let nonces = 1..=2_500;
    let transactions: Vec<_> = nonces.clone().map(transaction).collect();
    let node = Fixture {
        body: ChunkBody::of(&transactions),
        ..Fixture::default()
    };
    let mut given = Vec::new();
    for from in [0, 1_000, 2_000, 2_500, u32::MAX] {
        let params = json!({"height": HEIGHT, "shard": 0, "from": from});
        let result = call(&node, "chunk_get", &params).unwrap();
        assert_eq!(result["from"], from);
        let piece = result["transactions"].as_array().unwrap();
        given.extend(piece.iter().map(|given| given["nonce"].as_u64().unwrap()));
    }
    assert!(given.into_iter().eq(nonces));
}

#[test]
fn a_chunk_that_cannot_be_read_is_not_available() {
    let node = Fixture {
        body: ChunkBody(Bytes::from_static(b"short")),
        ..Fixture::default()
    };
    let params = json!({"height": HEIGHT, "shard": 0});
    let error = call(&node, "chunk_get", &params).unwrap_err();
    assert_eq!(error["code"], -32_003);
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("chunk of shard 0 at height 12 is unreadable"));
}

#[test]
fn wrong_parameters_are_named() {
    let digits = "00".repeat(32);
    let mut unknown_kind = transaction(1).encode().to_vec();
    unknown_kind[0] = 2;
    for (method, params, expected) in [
        (
            "block_get",
            json!({"height": 1, "depth": 2}),
            "depth: unknown field `depth`",
        ),
        ("block_get", json!({}), "missing field `height`"),
        ("block_get", Value::Null, "missing field `height`"),
        ("block_get", json!([1]), "params: must be an object"),
        ("block_get", json!({"height": "1"}), "height: invalid type"),
        ("block_get", json!({"height": -1}), "height: invalid value"),
        ("block_get", json!({"height": 1.5}), "height: invalid type"),
        (
            "chunk_get",
            json!({"height": 1, "shard": 65_536}),
            "shard: invalid value",
        ),
        (
            "account_prove",
            json!({"id": "00"}),
            "id: must be 64 hex digits",
        ),
        (
            "account_get",
            json!({"id": "00"}),
            "id: must be 64 hex digits",
        ),
        (
            "account_get",
            json!({"id": format!("0x{digits}")}),
            "id: must be 64 hex digits",
        ),
        (
            "account_get",
            json!({"id": format!("{digits} ")}),
            "id: must be 64 hex digits",
        ),
        (
            "transfer_outcome",
            json!({"hash": "zz".repeat(32), "signer": digits}),
            "hash: must be 64 hex digits",
        ),
        (
            "transfer_outcome",
            json!({"hash": digits, "signer": 1}),
            "signer: invalid type",
        ),
        (
            "transfer_submit",
            json!({"transaction": "00"}),
            "transaction: must be 306 hex digits",
        ),
        (
            "transfer_submit",
            json!({"transaction": hex(&unknown_kind)}),
            "transaction: is not a transaction",
        ),
    ] {
        let node = Fixture::default();
        let error = call(&node, method, &params).unwrap_err();
        assert_eq!(error["code"], -32_602, "{method} {params}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(expected), "{method} {params}: {message}");
        assert_eq!(node.submissions(), 0);
    }
}
