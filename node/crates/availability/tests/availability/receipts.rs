// SPDX-License-Identifier: Apache-2.0
//! A producer that sends receipts for whatever height it likes.

use crate::{
    fixture::{Fixture, run},
    peers::{Sent, genesis, key},
};
use commonware_codec::Encode as _;
use commonware_cryptography::Signer as _;
use commonware_runtime::Clock as _;
use futures::{
    FutureExt as _,
    future::{Either, select},
};
use shardnode_network::{chunk_messages::ChunkMessage, chunk_requests::Key};
use shardnode_primitives::{AccountId, ProvenBucket, Receipt, ReceiptBucket, ShardId};
use std::{pin::pin, time::Duration};

/// The place of a node that tracks the second of two shards.
const ME: usize = 4;

/// Receipts of one amount from the first shard to the second, and their name.
fn bucket(height: u64, amount: u64) -> (Key, ProvenBucket) {
    let receipt = Receipt {
        sender: AccountId([1; 32]),
        receiver: AccountId([2; 32]),
        amount,
        nonce: 1,
    };
    let of = |destination| ReceiptBucket {
        source: ShardId(0),
        destination: ShardId(destination),
        height,
        receipts: vec![receipt; 100],
    };
    let (root, mut proven) = ProvenBucket::prove_all(vec![of(0), of(1)]);
    let key = Key::Bucket {
        source: ShardId(0),
        height,
        destination: ShardId(1),
        root,
    };
    (key, proven.swap_remove(1))
}

/// As the producer at this place sends it.
fn sent(place: usize, bucket: ProvenBucket) -> Sent {
    let message = ChunkMessage::Bucket(bucket);
    (key(place).public_key(), message.encode())
}

/// Whether the receipts are here without being asked for.
async fn is_here(fixture: &Fixture, key: Key) -> bool {
    let wait = pin!(fixture.mailbox.bucket(key, false));
    let sleep = pin!(fixture.context.sleep(Duration::from_millis(10)));
    matches!(select(wait, sleep).await, Either::Left((Some(_), _)))
}

#[test]
fn what_nobody_waits_for_is_kept_only_if_a_next_header_can_commit_to_it() {
    run(genesis(2, 4, 32), ME, |mut fixture| async move {
        let messages = (0..=20).flat_map(|height| {
            let sent = move |amount| sent(0, bucket(height, amount).1);
            (1..=3).map(sent)
        });
        fixture.chunks.send(messages);
        fixture.start();
        fixture.settle().await;
        assert_eq!(fixture.chunks.unread(), 0);
        let mut kept = Vec::new();
        for height in 0..=20 {
            for amount in 1..=3 {
                if is_here(&fixture, bucket(height, amount).0).await {
                    kept.push((height, amount));
                }
            }
        }
        // Nothing is finalised, the execution lag is 1, and there are 10 blocks a second.
        let expected: Vec<_> = (1..=11).map(|height| (height, 1)).collect();
        assert_eq!(kept, expected);
        assert!(fixture.blocker.cut_off().is_empty());
    });
}

#[test]
fn what_somebody_waits_for_is_taken_in_at_any_height() {
    run(genesis(2, 4, 32), ME, |mut fixture| async move {
        let (key, honest) = bucket(15, 7);
        let mailbox = fixture.mailbox.clone();
        let mut wait = Box::pin(async move { mailbox.bucket(key, false).await });
        assert!((&mut wait).now_or_never().is_none());
        let false_ones = (100..110).map(|amount| sent(0, bucket(15, amount).1));
        fixture.chunks.send(false_ones);
        fixture.chunks.send([sent(1, honest)]);
        fixture.start();
        fixture.settle().await;
        assert!(wait.now_or_never().flatten().is_some());
    });
}
