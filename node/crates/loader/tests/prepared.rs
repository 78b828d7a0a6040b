// SPDX-License-Identifier: Apache-2.0
//! Files of transfers that were signed before: whole and right, or refused.

#![allow(clippy::unwrap_used)]

use commonware_codec::FixedSize as _;
use commonware_runtime::{Runner as _, tokio::Runner};
use shardnode_load::{Receivers, Workload};
use shardnode_loader::{
    prepare::prepare,
    prepared::{Header, Prepared},
};
use shardnode_primitives::{Digest, Genesis, GenesisDocument, Namespaces};
use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
};

const COUNT: u64 = 301;

fn genesis() -> Genesis {
    let validators: Vec<_> = (0..2u8)
        .map(|shard| {
            let key = shardnode_primitives::genesis::private_key([shard + 1; 32]);
            let public = commonware_cryptography::Signer::public_key(&key);
            serde_json::json!({
                "name": format!("n{shard}"), "role": "producer", "stake": 1_000,
                "shard": shard, "slot": 0, "publicKey": public.to_string(),
            })
        })
        .collect();
    let document: GenesisDocument = serde_json::from_value(serde_json::json!({
        "network": "test", "createdAtMs": 0, "seed": "11".repeat(32), "shards": 2,
        "accounts": {"perShard": 10, "initialBalance": 1_000_000},
        "protocol": {
            "executionLag": 1, "minBlockTimeMs": 100, "chunkWaitMs": 1_000,
            "maxTransactionsPerChunk": 100, "mandatesPerShard": 8, "epochLength": 1000,
            "congestionControl": "Enabled", "transferFee": 1, "leastBalance": 1,
        },
        "validators": validators,
    }))
    .unwrap();
    document.check().unwrap()
}

fn workload() -> Workload {
    Workload {
        receivers: Receivers::Uniform,
        within_shard_percent: Some(40),
        ..Workload::default()
    }
}

/// A file of its own for each test.
fn file(test: &str) -> (PathBuf, Genesis) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("prepared-{test}"));
    let genesis = genesis();
    let shared = Arc::new(genesis.clone());
    let made = path.clone();
    Runner::default().start(|context| async move {
        prepare(
            &context,
            NonZeroUsize::MIN,
            shared,
            workload(),
            COUNT,
            &made,
        )
        .await
        .unwrap();
    });
    (path, genesis)
}

fn refusal(path: &Path, genesis: Digest) -> String {
    Prepared::open(path, genesis).unwrap_err().to_string()
}

#[test]
fn holds_what_was_signed_for_the_network() {
    let (path, genesis) = file("whole");
    let mut prepared = Prepared::open(&path, genesis.hash()).unwrap();
    assert_eq!(prepared.header().count, COUNT);
    assert_eq!(prepared.header().workload, workload());
    let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
    let mut read = Vec::new();
    loop {
        let some = prepared.next(100).unwrap();
        if some.is_empty() {
            break;
        }
        read.extend(some);
    }
    assert_eq!(read.len() as u64, COUNT);
    assert!(read.iter().all(|one| one.verify(&namespaces)));
    // The shards take turns.
    for (place, one) in read.iter().enumerate() {
        let shard = genesis.layout.shard_of(one.signer());
        assert_eq!(usize::from(shard.0), place % 2, "transfer {place}");
    }
    // The same seed, the same file.
    let (again, _) = file("whole-again");
    assert_eq!(fs::read(path).unwrap(), fs::read(again).unwrap());
}

#[test]
fn another_networks_file_is_refused() {
    let (path, genesis) = file("foreign");
    let other = Digest([7; 32]);
    let message = refusal(&path, other);
    let expected = format!(
        "is for the network with genesis hash {}, this one has {other}",
        genesis.hash()
    );
    assert!(message.ends_with(&expected), "{message}");
}

#[test]
fn a_file_that_is_not_whole_is_refused() {
    let (path, genesis) = file("cut");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let message = refusal(&path, genesis.hash());
    assert!(message.ends_with("it is not whole"), "{message}");
    fs::write(&path, &whole[..Header::SIZE - 1]).unwrap();
    let message = refusal(&path, genesis.hash());
    assert!(
        message.contains("is no file of prepared transfers"),
        "{message}"
    );
}

#[test]
fn no_bit_can_be_changed() {
    let (path, genesis) = file("changed");
    let whole = fs::read(&path).unwrap();
    let last = whole.len() - 1;
    // One of every field of the header, and of the first and the last transfer.
    for at in [0, 9, 11, 49, 50, 51, 52, 53, 84, 85, 90, last] {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&path, changed).unwrap();
        assert!(Prepared::open(&path, genesis.hash()).is_err(), "byte {at}");
    }
}
