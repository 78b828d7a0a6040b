// SPDX-License-Identifier: Apache-2.0
//! Snapshots of a state that comes from elsewhere.

use crate::fixture::{open_snapshots, snapshot};
use commonware_runtime::{Runner as _, deterministic};
use shardnode_storage::StorageError;

#[test]
fn the_newest_snapshot_is_found_again() {
    deterministic::Runner::default().start(|context| async move {
        let (mut store, found) = open_snapshots(&context).await.unwrap();
        assert_eq!(found, None);
        for number in 1..=3 {
            store = store.keep(&snapshot(number)).await.unwrap();
            drop(store);
            let found;
            (store, found) = open_snapshots(&context).await.unwrap();
            assert_eq!(found, Some(snapshot(number)));
        }
    });
}

#[test]
fn a_snapshot_is_above_those_before() {
    deterministic::Runner::default().start(|context| async move {
        let (store, _) = open_snapshots(&context).await.unwrap();
        let store = store.keep(&snapshot(2)).await.unwrap();
        let Err(StorageError::Order { height, last, .. }) = store.keep(&snapshot(2)).await else {
            panic!("kept twice");
        };
        assert_eq!((height, last), (6, 6));
        let (_, found) = open_snapshots(&context).await.unwrap();
        assert_eq!(found, Some(snapshot(2)));
    });
}
