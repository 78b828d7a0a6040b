// SPDX-License-Identifier: Apache-2.0
//! Golden vectors: an encoding, hash or signature that changes breaks every
//! network that runs and every client.
//!
//! `vectors.json` holds them in hex. With `UPDATE_VECTORS` in the environment
//! the test writes the file instead of comparing with it.

use crate::genesis::two_shards;
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_consensus::{
    simplex::types::Context,
    types::{Epoch, Round, View},
};
use commonware_cryptography::{Digestible as _, Signer as _};
use commonware_formatting::hex;
use shardnode_primitives::{
    AccountId, Block, ChunkBody, ChunkContent, ChunkHeader, Digest, DuePosition, Endorsement,
    Endorsements, ExecutionResult, Namespaces, ProvenBucket, Randomness, Receipt, ReceiptBucket,
    ShardId, ShardTotals, Transaction, Transfer, genesis::private_key, merkle,
};
use std::{collections::BTreeMap, fs, path::PathBuf};

fn account(number: u8) -> AccountId {
    AccountId::of(&private_key([number; 32]).public_key())
}

fn transactions(namespaces: &Namespaces) -> Vec<Transaction> {
    [1, 2]
        .map(|number| {
            let transfer = Transfer {
                signer: account(number),
                receiver: account(number + 1),
                amount: 0x0102_0304_0506_0708,
                nonce: u64::from(number),
                expires_at: 0x0a0b_0c0d,
            };
            transfer.sign(&private_key([number; 32]), namespaces)
        })
        .to_vec()
}

fn buckets() -> Vec<ReceiptBucket> {
    (0..3)
        .map(|destination| ReceiptBucket {
            source: ShardId(1),
            height: 258,
            destination: ShardId(destination),
            receipts: (0..destination)
                .map(|number| Receipt {
                    sender: account(1),
                    nonce: u64::from(number) + 1,
                    receiver: account(2),
                    amount: 1_000 + u64::from(number),
                })
                .collect(),
        })
        .collect()
}

fn result() -> ExecutionResult {
    ExecutionResult {
        height: 257,
        state_root: Digest([0x11; 32]),
        outcomes_root: Digest([0x12; 32]),
        receipts_root: Digest([0x13; 32]),
        transfers: 3,
        credits: 4,
    }
}

fn totals() -> ShardTotals {
    ShardTotals {
        height: 257,
        state_root: Digest([0x11; 32]),
        transfers: 5,
        cross_shard: 2,
        credits: 6,
        balance: 7_000,
        burnt: 70,
        sent: 80,
        received: 90,
        next_due: DuePosition::after(256, ShardId(0)),
    }
}

fn content(body: &ChunkBody) -> ChunkContent {
    ChunkContent {
        shard: ShardId(0),
        height: 258,
        sequence: 256,
        anchor: Digest([0x21; 32]),
        previous: Digest([0x22; 32]),
        body_hash: body.hash(),
        parts_root: Digest([0x23; 32]),
        body_len: 306,
        transactions: 2,
        results: vec![result()],
        uncommitted: vec![258],
        totals: totals(),
    }
}

fn computed() -> BTreeMap<&'static str, String> {
    let genesis = two_shards().check().unwrap();
    let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
    let key = private_key([1; 32]);

    let transactions = transactions(&namespaces);
    let body = ChunkBody::of(&transactions);
    let content = content(&body);
    let header = ChunkHeader::sign(content.clone(), &key, &namespaces);
    let endorsement = Endorsement::sign(&header, &key, &namespaces);
    let genesis_header = ChunkHeader::genesis(ShardId(1), totals()).unwrap();
    let block = Block {
        context: Context {
            round: Round::new(Epoch::new(0), View::new(300)),
            leader: key.public_key(),
            parent: (View::new(299), Digest([0x31; 32])),
        },
        height: 258,
        timestamp_ms: 1_790_000_001_000,
        randomness: Randomness::genesis(genesis.first_epoch_seed())
            .child(258, 1_000, &key)
            .unwrap(),
        chunks: vec![header.clone(), genesis_header.clone()],
        endorsements: vec![
            [None, Some(endorsement.signature.clone())]
                .into_iter()
                .collect(),
            Endorsements::default(),
        ],
    };
    let (receipts_root, proven) = ProvenBucket::prove_all(buckets());
    let leaves: Vec<Digest> = (0..5u8).map(|content| merkle::leaf(&[content])).collect();

    BTreeMap::from([
        ("account.0.id", account_id_hex(&genesis, 0)),
        ("account.7.id", account_id_hex(&genesis, 7)),
        ("accountId", hex(&account(1).encode())),
        ("block", hex(&block.encode())),
        ("block.digest", hex(&block.digest().0)),
        ("chunkBody", hex(&body.0)),
        (
            "chunkBody.empty.hash",
            hex(&ChunkBody(Bytes::new()).hash().0),
        ),
        ("chunkBody.hash", hex(&body.hash().0)),
        ("chunkContent", hex(&content.encode())),
        ("chunkHeader", hex(&header.encode())),
        ("chunkHeader.genesis", hex(&genesis_header.encode())),
        ("chunkHeader.hash", hex(&header.hash().0)),
        ("chunkHeader.signature", hex(header.signature.as_ref())),
        ("duePosition", hex(&totals().next_due.encode())),
        ("endorsement", hex(&endorsement.encode())),
        ("endorsements", hex(&block.endorsements[0].encode())),
        ("executionResult", hex(&result().encode())),
        ("genesis.hash", hex(&genesis.hash().0)),
        (
            "merkleProof",
            hex(&merkle::Proof::of(&leaves, 4).unwrap().encode()),
        ),
        ("merkleRoot", hex(&merkle::root(leaves).0)),
        ("merkleRoot.empty", hex(&merkle::root(Vec::new()).0)),
        ("namespace.chunk", hex(&namespaces.chunk)),
        ("namespace.consensus", hex(&namespaces.consensus)),
        ("namespace.endorsement", hex(&namespaces.endorsement)),
        ("namespace.p2p", hex(&namespaces.p2p)),
        ("namespace.transaction", hex(&namespaces.transaction)),
        ("namespace.witness", hex(&namespaces.witness)),
        ("provenBucket", hex(&proven[2].encode())),
        ("randomness", hex(&block.randomness.encode())),
        ("receipt", hex(&buckets()[2].receipts[1].encode())),
        ("receiptBucket", hex(&buckets()[2].encode())),
        (
            "receiptBucket.commitment",
            hex(&buckets()[2].commitment().0),
        ),
        ("receiptsRoot", hex(&receipts_root.0)),
        ("shardId", hex(&ShardId(0x0102).encode())),
        ("shardTotals", hex(&totals().encode())),
        ("transaction", hex(&transactions[0].encode())),
        ("transaction.hash", hex(&transactions[0].hash().0)),
        (
            "transaction.signature",
            hex(transactions[0].signed_message().1.as_ref()),
        ),
    ])
}

fn account_id_hex(genesis: &shardnode_primitives::Genesis, index: u32) -> String {
    hex(&genesis.account(index).id.0)
}

#[test]
fn encodings_hashes_and_signatures_are_the_golden_ones() {
    let path = PathBuf::from("tests/primitives/vectors.json");
    let computed = computed();
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        fs::write(
            &path,
            serde_json::to_string_pretty(&computed).unwrap() + "\n",
        )
        .unwrap();
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
}
