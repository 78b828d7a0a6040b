// SPDX-License-Identifier: Apache-2.0
//! Golden vectors of the formats of nodes' messages and disks. The types in
//! them are those of the vectors of `primitives`.
//!
//! `vectors.json` holds them in hex. With `UPDATE_VECTORS` in the environment
//! the test writes the file instead of comparing with it.

use crate::corpus::vectors_of;
use bytes::Bytes;
use commonware_codec::{Decode as _, DecodeExt as _, Encode as _};
use commonware_formatting::{from_hex, hex};
use commonware_parallel::Sequential;
use shardnode_coding::{Code, Part};
use shardnode_execution::{
    Outcome,
    body::{Shown, divide},
    record::{Evidence, Executed, Proven},
};
use shardnode_ledger::Origin;
use shardnode_load::Workload;
use shardnode_loader::prepared::Writer;
use shardnode_network::{
    chunk_messages::ChunkMessage,
    chunk_requests::Key,
    client_messages::{Answer, ClientMessage, Question},
    state_requests as state_messages,
};
use shardnode_primitives::{
    AccountId, ChunkBody, ChunkHeader, Digest, ExecutionResult, Namespaces, ProvenBucket,
    Randomness, ShardId, ShardTotals, Transaction, genesis::private_key, hash::ZERO, merkle::Proof,
    outcome,
};
use shardnode_state::{Account, Changes, StateTree};
use shardnode_storage::{ExecutionRecord, SnapshotPiece, SnapshotPointer};
use shardnode_witness::{Subject, Transition, make_parts};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    num::NonZeroU16,
    path::PathBuf,
    sync::Arc,
};

pub(crate) const PRIMITIVES: &str = "crates/primitives/tests/primitives/vectors.json";
pub(crate) const VERIFIER: &str = "crates/verifier/tests/verifier/vectors.json";
pub(crate) const WITNESS: &str = "crates/witness/tests/witness/vectors.json";

/// Values of the vectors of `primitives`.
struct Values {
    transaction: Transaction,
    header: ChunkHeader,
    body: ChunkBody,
    bucket: ProvenBucket,
    result: ExecutionResult,
    totals: ShardTotals,
    randomness: Randomness,
}

impl Values {
    fn read() -> Self {
        let vectors = vectors_of(PRIMITIVES);
        let bytes = |name: &str| Bytes::from(from_hex(&vectors[name]).unwrap());
        Self {
            transaction: Transaction::decode(bytes("transaction")).unwrap(),
            header: ChunkHeader::decode_cfg(bytes("chunkHeader"), &4).unwrap(),
            body: ChunkBody(bytes("chunkBody")),
            bucket: ProvenBucket::decode_cfg(bytes("provenBucket"), &4).unwrap(),
            result: ExecutionResult::decode(bytes("executionResult")).unwrap(),
            totals: ShardTotals::decode(bytes("shardTotals")).unwrap(),
            randomness: Randomness::decode(bytes("randomness")).unwrap(),
        }
    }
}

const DIGEST: Digest = Digest([0x41; 32]);

fn account(number: u8) -> (AccountId, Account) {
    let account = Account {
        balance: 1_000 + u64::from(number),
        nonce: u64::from(number),
    };
    (AccountId([number; 32]), account)
}

fn tree() -> StateTree {
    StateTree::genesis([10, 20, 30, 40].map(account)).unwrap()
}

/// Of an account that exists and one that does not.
fn ids() -> BTreeSet<AccountId> {
    BTreeSet::from([account(20).0, account(25).0])
}

/// The first one is removed.
fn changes() -> Changes {
    Changes::from([(account(20).0, None)])
}

type Vectors = BTreeMap<&'static str, String>;

fn state() -> Vectors {
    let tree = tree();
    BTreeMap::from([
        ("account", hex(&account(20).1.encode())),
        ("accountProof", hex(&tree.prove(&account(20).0).encode())),
        (
            "accountProof.absent",
            hex(&tree.prove(&account(25).0).encode()),
        ),
        ("leaf", hex(&tree.leaves()[2].encode())),
        ("page", hex(&tree.pages().page(0).unwrap().encode())),
        (
            "partialState",
            hex(&tree.partial(&ids(), &changes()).encode()),
        ),
    ])
}

/// Parts of the body, as many as give it.
fn body_parts(values: &Values) -> Vec<Part> {
    let (needed, owners) = (NonZeroU16::new(2).unwrap(), NonZeroU16::new(4).unwrap());
    let code = Code::any(needed, owners);
    let (_, shares) = divide(&values.body, &code, &Sequential).unwrap();
    let parts = (0..)
        .zip(shares)
        .map(|(index, share)| Part { index, share });
    parts.skip(1).take(code.needed()).collect()
}

fn witness(values: &Values) -> Vectors {
    let transition = Transition {
        height: 257,
        body: Shown::Body(values.body.clone()),
        incoming: vec![values.bucket.clone()],
        pre_state: tree().partial(&ids(), &changes()),
    };
    let parts = make_parts(
        &Bytes::from_static(b"an encoded witness"),
        Subject::of(&values.header),
        NonZeroU16::new(4).unwrap(),
        &private_key([1; 32]),
        &Namespaces::new("vectors", &ZERO),
        &Sequential,
    );
    BTreeMap::from([
        ("manifest", hex(&parts.unwrap()[0].manifest().encode())),
        ("shown.body", hex(&transition.body.encode())),
        (
            "shown.parts",
            hex(&Shown::Parts(body_parts(values)).encode()),
        ),
        ("transition", hex(&transition.encode())),
    ])
}

fn storage() -> Vectors {
    let record = ExecutionRecord {
        height: 258,
        block: DIGEST,
        state_root: tree().root(),
        changes: vec![(account(20).0, Some(account(20).1)), (account(30).0, None)],
        payload: Bytes::from_static(b"payload"),
    };
    let pointer = SnapshotPointer {
        height: 258,
        pieces: 2,
        next_record: 250,
    };
    let leaves = SnapshotPiece::Leaves(tree().leaves().to_vec());
    let end = SnapshotPiece::End(Bytes::from_static(b"payload"));
    BTreeMap::from([
        ("executionRecord", hex(&record.encode())),
        ("snapshotPiece.end", hex(&end.encode())),
        ("snapshotPiece.leaves", hex(&leaves.encode())),
        ("snapshotPointer", hex(&pointer.encode())),
    ])
}

fn executed(values: &Values) -> Vectors {
    let executed = Executed {
        result: values.result.clone(),
        totals: values.totals.clone(),
        buckets: vec![values.bucket.clone(); 2],
        outcomes: Outcome::ALL.map(|outcome| (DIGEST, outcome)).to_vec(),
    };
    let evidence = Evidence {
        body_hash: values.body.hash(),
        parts_root: DIGEST,
        incoming: vec![values.bucket.clone()],
        pre_state: tree().partial(&ids(), &changes()),
    };
    let proven = Proven {
        executed: Arc::new(executed.clone()),
        evidence: Arc::new(evidence.clone()),
    };
    BTreeMap::from([
        ("evidence", hex(&evidence.encode())),
        ("executed", hex(&executed.encode())),
        ("proven", hex(&proven.encode())),
    ])
}

fn chunk_messages(values: &Values) -> Vectors {
    let (header, body) = (values.header.clone(), values.body.clone());
    let body_key = Key::Body {
        shard: ShardId(1),
        height: 258,
        hash: body.hash(),
    };
    let bucket_key = Key::Bucket {
        source: ShardId(1),
        height: 258,
        destination: ShardId(2),
        root: DIGEST,
    };
    let part_key = Key::Part {
        shard: ShardId(1),
        height: 258,
        index: 3,
        root: DIGEST,
    };
    let part = body_parts(values).remove(0);
    let messages = [
        ("chunkMessage.header", ChunkMessage::Header(header.clone())),
        (
            "chunkMessage.part",
            ChunkMessage::Part(header.clone(), part.share.clone()),
        ),
        ("chunkMessage.chunk", ChunkMessage::Chunk(header, body)),
        (
            "chunkMessage.bucket",
            ChunkMessage::Bucket(values.bucket.clone()),
        ),
    ];
    let mut vectors: Vectors = messages
        .into_iter()
        .map(|(name, message)| (name, hex(&message.encode())))
        .collect();
    vectors.insert("key.body", hex(&body_key.encode()));
    vectors.insert("key.bucket", hex(&bucket_key.encode()));
    vectors.insert("key.part", hex(&part_key.encode()));
    vectors.insert("part", hex(&part.encode()));
    vectors.insert("share", hex(&part.share.encode()));
    vectors
}

fn state_sync(values: &Values) -> Vectors {
    let newest = state_messages::Key::Newest {
        shard: ShardId(1),
        slot: 2,
    };
    let page = state_messages::Key::Page {
        shard: ShardId(1),
        height: 258,
        root: DIGEST,
        index: 3,
    };
    let offer = state_messages::Offer {
        height: 258,
        block: 259,
    };
    let origin = Origin {
        block: 259,
        totals: values.totals.clone(),
    };
    BTreeMap::from([
        ("offer", hex(&offer.encode())),
        ("origin", hex(&origin.encode())),
        ("stateKey.newest", hex(&newest.encode())),
        ("stateKey.page", hex(&page.encode())),
    ])
}

/// Of the second of three outcomes.
fn outcome_proof() -> Proof {
    let leaves = [0, 1, 0].map(|code| outcome::leaf(&DIGEST, code));
    Proof::of(&leaves, 1).unwrap()
}

fn client_messages(values: &Values) -> Vectors {
    let ask = |question| ClientMessage::Ask(7, question);
    let reply = |answer| ClientMessage::Reply(7, answer);
    let id = account(20).0;
    let messages = [
        (
            "clientMessage.ask.submit",
            ask(Question::Submit(values.transaction.clone())),
        ),
        ("clientMessage.ask.account", ask(Question::Account(id))),
        ("clientMessage.ask.outcome", ask(Question::Outcome(DIGEST))),
        ("clientMessage.ask.chunk", ask(Question::Chunk(258, DIGEST))),
        (
            "clientMessage.ask.submitAll",
            ask(Question::SubmitAll(vec![values.transaction.clone(); 2])),
        ),
        (
            "clientMessage.ask.outcomes",
            ask(Question::Outcomes(vec![DIGEST; 2])),
        ),
        (
            "clientMessage.reply.submittedAll",
            reply(Answer::SubmittedAll(vec![0, 2])),
        ),
        (
            "clientMessage.reply.outcomes",
            reply(Answer::Outcomes(vec![(257, 1), (0, 255)])),
        ),
        ("clientMessage.reply.submitted", reply(Answer::Submitted(2))),
        (
            "clientMessage.reply.account",
            reply(Answer::Account(257, tree().prove(&id))),
        ),
        (
            "clientMessage.reply.outcome",
            reply(Answer::Outcome(257, 1)),
        ),
        (
            "clientMessage.reply.chunk",
            reply(Answer::Chunk(values.body.0.clone())),
        ),
        (
            "clientMessage.ask.proveOutcome",
            ask(Question::ProveOutcome(DIGEST)),
        ),
        (
            "clientMessage.reply.provenOutcome",
            reply(Answer::ProvenOutcome(257, 1, outcome_proof())),
        ),
        ("clientMessage.reply.nothing", reply(Answer::Nothing)),
    ];
    messages
        .into_iter()
        .map(|(name, message)| (name, hex(&message.encode())))
        .collect()
}

/// A file of one transfer that was signed before.
fn prepared(values: &Values) -> Vectors {
    // Several tests compute the vectors at the same time.
    let (process, thread) = (std::process::id(), std::thread::current().id());
    let name = format!("shardnode-prepared-of-{process}-{thread:?}");
    let path = std::env::temp_dir().join(name);
    let workload = Workload {
        within_shard_percent: Some(40),
        ..Workload::default()
    };
    let mut writer = Writer::create(&path, ZERO, 1, workload).unwrap();
    writer
        .write(std::slice::from_ref(&values.transaction))
        .unwrap();
    let header = writer.finish().unwrap();
    let file = fs::read(&path).unwrap();
    fs::remove_file(path).unwrap();
    BTreeMap::from([
        ("prepared.file", hex(&file)),
        ("prepared.header", hex(&header.encode())),
    ])
}

/// All vectors, as the code makes them.
pub(crate) fn computed() -> Vectors {
    let values = Values::read();
    let mut vectors = BTreeMap::from([("reveal", hex(&values.randomness.reveal.encode()))]);
    vectors.extend(state());
    vectors.extend(witness(&values));
    vectors.extend(storage());
    vectors.extend(executed(&values));
    vectors.extend(chunk_messages(&values));
    vectors.extend(state_sync(&values));
    vectors.extend(client_messages(&values));
    vectors.extend(prepared(&values));
    vectors
}

#[test]
fn encodings_are_the_golden_ones() {
    let path = PathBuf::from("tests/fuzz/vectors.json");
    let computed = computed();
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        let written = serde_json::to_string_pretty(&computed).unwrap() + "\n";
        fs::write(&path, written).unwrap();
        return;
    }
    let golden = fs::read_to_string(&path).unwrap();
    let golden: BTreeMap<&str, String> = serde_json::from_str(&golden).unwrap();
    assert_eq!(computed, golden, "if that is meant: make vectors");
}
