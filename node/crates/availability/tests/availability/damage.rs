// SPDX-License-Identifier: Apache-2.0
//! Peers that ask for what cannot be read from this node's disk.

use crate::peers::{genesis, key};
use bytes::Bytes;
use commonware_runtime::{
    Blob as _, ReadOptions, Runner as _, Storage as _, Strategizer as _, Supervisor as _,
    WriteOptions,
    buffer::paged::CacheRef,
    deterministic::{self, Context},
};
use commonware_utils::{NZU16, NZUsize, channel::oneshot};
use prometheus_client::registry::Registry;
use shardnode_availability::{Metrics, bodies, held_parts};
use shardnode_execution::signatures::BatchSize;
use shardnode_network::Identity;
use shardnode_primitives::Digest;
use shardnode_storage::{BodyStore, BodyStoreConfig};
use std::sync::Arc;

/// In an old file, and one in the newest: what is damaged there is dropped at the
/// start, like what was being written when the node was killed.
const DAMAGED: (u64, Digest) = (7, Digest([1; 32]));
const WHOLE: (u64, Digest) = (1_000, Digest([2; 32]));

async fn open(context: &Context) -> BodyStore<Context> {
    let config = BodyStoreConfig {
        partition: "bodies".into(),
        page_cache: CacheRef::new(NZU16!(1_024), NZUsize!(16)),
    };
    BodyStore::open(context.child("store"), config)
        .await
        .unwrap()
}

/// A store of two values, of which the first is damaged.
async fn damaged(context: &Context) -> BodyStore<Context> {
    let value = Bytes::from(vec![7; 3_000]);
    let store = open(context).await;
    let store = store
        .put(DAMAGED.0, DAMAGED.1, value.clone())
        .await
        .unwrap();
    drop(store.put(WHOLE.0, WHOLE.1, value).await.unwrap());
    let names = context.scan("bodies-values").await.unwrap();
    let (blob, _) = context.open("bodies-values", &names[0]).await.unwrap();
    let read = blob.read_at(1_000, 1, ReadOptions::default()).await;
    let byte = read.unwrap().coalesce().as_ref()[0] ^ 0x10;
    let written = blob.write_at(1_000, vec![byte], WriteOptions::SYNC).await;
    written.unwrap();
    drop(blob);
    let store = open(context).await;
    let read = store.get(DAMAGED.0, &DAMAGED.1).await;
    assert!(read.is_err(), "{read:?}");
    store
}

#[test]
fn a_damaged_body_is_not_served_and_ends_nothing() {
    deterministic::Runner::default().start(|context| async move {
        let store = damaged(&context).await;
        let identity = Arc::new(Identity::new(genesis(2, 4, 32), key(0)).unwrap());
        let strategy = context.strategy(NZUsize!(1));
        let (actor, mailbox) = bodies::Actor::new(identity, BatchSize::Whole, strategy, store);
        let handle = actor.start(context.child("bodies"));
        for _ in 0..2 {
            assert!(mailbox.serve(DAMAGED.0, DAMAGED.1).await.is_err());
            assert!(mailbox.serve(WHOLE.0, WHOLE.1).await.is_ok());
        }
        drop(handle);
    });
}

#[test]
fn a_damaged_part_is_not_served_and_ends_nothing() {
    deterministic::Runner::default().start(|context| async move {
        let store = damaged(&context).await;
        let metrics = Arc::new(Metrics::new(&mut Registry::default()));
        let (actor, mailbox) = held_parts::Actor::new(Some(store), 10, metrics);
        let handle = actor.start(context.child("parts"));
        for ((height, root), there) in [(DAMAGED, false), (WHOLE, true), (DAMAGED, false)] {
            let (reply, response) = oneshot::channel();
            mailbox.serve(height, root, reply);
            assert_eq!(response.await.is_ok(), there);
        }
        drop(handle);
    });
}
