// SPDX-License-Identifier: Apache-2.0
//! Logs and body stores with predictable content: each item follows from its
//! number, so that whatever is recovered can be told whole or not.

use bytes::Bytes;
use commonware_runtime::{Clock, Metrics, Storage, buffer::paged::CacheRef};
use commonware_utils::{NZU16, NZUsize};
use shardnode_primitives::{AccountId, Digest};
use shardnode_state::{Account, Leaf};
use shardnode_storage::{
    BodyStore, BodyStoreConfig, ExecutionRecord, Log, LogConfig, Recovered, Snapshot,
    SnapshotStore, SnapshotStoreConfig, StorageError,
};
use std::sync::Arc;

/// More than fit one piece of a snapshot.
const LEAVES: u64 = 4_100;

fn pages() -> CacheRef {
    CacheRef::new(NZU16!(4_084), NZUsize!(64))
}

pub(crate) async fn open_log<E: Storage + Clock + Metrics>(
    context: &E,
) -> Result<(Log<E>, Recovered), StorageError> {
    let config = LogConfig {
        partition: "shard".into(),
        page_cache: pages(),
    };
    Log::open(context.child("log"), config).await
}

pub(crate) async fn open_bodies<E: Storage + Clock + Metrics>(
    context: &E,
) -> Result<BodyStore<E>, StorageError> {
    let config = BodyStoreConfig {
        partition: "bodies".into(),
        page_cache: pages(),
    };
    BodyStore::open(context.child("bodies"), config).await
}

pub(crate) async fn open_snapshots<E: Storage + Clock + Metrics>(
    context: &E,
) -> Result<(SnapshotStore<E>, Option<Snapshot>), StorageError> {
    let config = SnapshotStoreConfig {
        partition: "snapshots".into(),
        page_cache: pages(),
    };
    SnapshotStore::open(context.child("snapshots"), config).await
}

fn digest(number: u64) -> Digest {
    let mut bytes = [0x5a; 32];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    bytes[24..].copy_from_slice(&number.to_be_bytes());
    Digest(bytes)
}

fn account(number: u64) -> Account {
    Account {
        balance: number,
        nonce: number,
    }
}

/// Bytes of a size that varies, up to more than a page.
fn bytes(number: u64) -> Bytes {
    let length = usize::try_from(number * 977 % 5_000).unwrap();
    let pattern = number.to_be_bytes();
    pattern.into_iter().cycle().take(length).collect()
}

/// The `number`-th record. Heights have gaps, as those of a shard that misses
/// chunks.
pub(crate) fn record(number: u64) -> ExecutionRecord {
    ExecutionRecord {
        height: number * 3,
        block: digest(number),
        state_root: digest(!number),
        changes: vec![
            (AccountId(digest(number).0), Some(account(number))),
            (AccountId(digest(number + 1).0), None),
        ],
        payload: bytes(number),
    }
}

/// The state after the `number`-th record.
pub(crate) fn snapshot(number: u64) -> Snapshot {
    let leaf = |index: u64| Leaf {
        id: AccountId(digest(index).0),
        next: AccountId(digest(index + 1).0),
        account: account(number + index),
    };
    Snapshot {
        height: number * 3,
        leaves: Arc::new((0..LEAVES).map(leaf).collect()),
        payload: bytes(number),
    }
}

/// The `number`-th body: three at each height.
pub(crate) fn body(number: u64) -> (u64, Digest, Bytes) {
    (number / 3, digest(number), bytes(number))
}
