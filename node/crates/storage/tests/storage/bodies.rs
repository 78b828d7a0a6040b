// SPDX-License-Identifier: Apache-2.0
//! Bodies by height and hash.

use crate::fixture::open_bodies;
use bytes::Bytes;
use commonware_runtime::{Runner as _, deterministic};
use shardnode_primitives::Digest;

#[test]
fn bodies_are_found_by_hash_and_let_go_by_height() {
    deterministic::Runner::default().start(|context| async move {
        let (one, other) = (Digest([1; 32]), Digest([2; 32]));
        let mut store = open_bodies(&context).await.unwrap();
        store = store.put(5, one, Bytes::from_static(b"one")).await.unwrap();
        // A producer that signs two chunks for a height, and one that repeats
        // itself.
        for _ in 0..2 {
            let body = Bytes::from_static(b"other");
            store = store.put(5, other, body).await.unwrap();
        }
        let body = Bytes::from_static(b"one");
        store = store.put(1_000, one, body).await.unwrap();
        drop(store);

        let store = open_bodies(&context).await.unwrap();
        assert_eq!(store.get(5, &one).await.unwrap().unwrap(), &b"one"[..]);
        assert_eq!(store.get(5, &other).await.unwrap().unwrap(), &b"other"[..]);
        assert_eq!(store.get(6, &one).await.unwrap(), None);
        assert_eq!(store.get(1_000, &other).await.unwrap(), None);
        let store = store.prune(900).await.unwrap();
        assert_eq!(store.get(5, &other).await.unwrap(), None);
        assert_eq!(store.get(1_000, &one).await.unwrap().unwrap(), &b"one"[..]);
    });
}

#[test]
fn an_empty_body_is_kept_like_any_other() {
    deterministic::Runner::default().start(|context| async move {
        let hash = Digest([0; 32]);
        let mut store = open_bodies(&context).await.unwrap();
        for height in 1..=600 {
            store = store.put(height, hash, Bytes::new()).await.unwrap();
        }
        drop(store);
        let store = open_bodies(&context).await.unwrap();
        let store = store.prune(512).await.unwrap();
        for height in [1, 511, 512, 600, 601] {
            let kept = store.get(height, &hash).await.unwrap();
            let expected = (512..=600).contains(&height).then(Bytes::new);
            assert_eq!(kept, expected, "{height}");
        }
    });
}
