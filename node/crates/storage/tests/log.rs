// SPDX-License-Identifier: Apache-2.0
//! The log under crashes: what was acknowledged is there, what was not is
//! whole or absent.

#![allow(clippy::cast_possible_truncation, clippy::panic, clippy::unwrap_used)]

use bytes::Bytes;
use commonware_macros::select;
use commonware_runtime::{
    Clock as _, Runner as _, Supervisor as _,
    buffer::paged::CacheRef,
    deterministic::{self, Context, FaultConfig, PartialWriteMode, WriteConfig},
};
use commonware_utils::{NZU16, NZUsize, probability};
use shardnode_primitives::{AccountId, Digest};
use shardnode_state::{Account, StateTree};
use shardnode_storage::{
    BodyStore, BodyStoreConfig, Engine as _, ExecutionRecord, Log, LogConfig, Recovered, Snapshot,
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

fn pages() -> CacheRef {
    CacheRef::new(NZU16!(4_084), NZUsize!(64))
}

async fn open(context: &Context) -> (Log<Context>, Recovered) {
    let config = LogConfig {
        partition: "shard".into(),
        page_cache: pages(),
    };
    Log::open(context.child("log"), config).await.unwrap()
}

/// Heights have gaps, as those of a shard that misses chunks.
fn record(number: u64) -> ExecutionRecord {
    let account = Account {
        balance: number,
        nonce: number,
    };
    ExecutionRecord {
        height: number * 3,
        block: Digest([number as u8; 32]),
        state_root: Digest([number as u8 ^ 0xff; 32]),
        changes: vec![(AccountId([number as u8; 32]), account)],
        payload: Bytes::from(vec![number as u8; 700]),
    }
}

fn snapshot(number: u64) -> Snapshot {
    let account = |i: u16| {
        let mut id = [1; 32];
        id[..2].copy_from_slice(&i.to_be_bytes());
        (AccountId(id), Account::default())
    };
    // More leaves than fit one piece.
    let tree = StateTree::genesis((0..5_000).map(account).collect::<BTreeMap<_, _>>()).unwrap();
    Snapshot {
        height: number * 3,
        leaves: tree.leaves().to_vec(),
        payload: Bytes::from(vec![number as u8; 9]),
    }
}

#[test]
fn records_and_snapshots_come_back() {
    deterministic::Runner::default().start(|context| async move {
        let (mut log, recovered) = open(&context).await;
        assert_eq!(recovered, Recovered::default());
        for number in 1..=5 {
            log = log.append(record(number)).await.unwrap();
        }
        drop(log);
        let (mut log, recovered) = open(&context).await;
        assert_eq!(recovered.snapshot, None);
        assert_eq!(recovered.records, (1..=5).map(record).collect::<Vec<_>>());

        log = log.snapshot(&snapshot(5)).await.unwrap();
        for number in 6..=7 {
            log = log.append(record(number)).await.unwrap();
        }
        assert_eq!(log.record(12).await.unwrap(), Some(record(4)));
        assert_eq!(
            log.record(13).await.unwrap(),
            None,
            "no chunk at this height"
        );
        assert_eq!(log.record(99).await.unwrap(), None);
        drop(log);
        let (_, recovered) = open(&context).await;
        assert_eq!(recovered.snapshot, Some(snapshot(5)));
        assert_eq!(recovered.records, vec![record(6), record(7)]);
    });
}

#[test]
fn pruning_keeps_what_recovery_needs() {
    deterministic::Runner::default().start(|context| async move {
        let (mut log, _) = open(&context).await;
        for number in 1..=1_000 {
            log = log.append(record(number)).await.unwrap();
            if number % 100 == 0 {
                log = log.snapshot(&snapshot(number)).await.unwrap();
                log = log.prune(u64::MAX).await.unwrap();
            }
        }
        assert_eq!(log.record(3).await.unwrap(), None, "pruned");
        // All records after the older snapshot are there.
        for number in 901..=1_000 {
            assert_eq!(log.record(number * 3).await.unwrap(), Some(record(number)));
        }
        drop(log);
        let (_, recovered) = open(&context).await;
        assert_eq!(recovered.snapshot, Some(snapshot(1_000)));
        assert!(recovered.records.is_empty());
    });
}

/// Appends, with a snapshot every seventh record, until the time is up.
/// `acknowledged` counts what was durable.
async fn work(context: Context, acknowledged: Arc<AtomicU64>) {
    let (mut log, recovered) = open(&context).await;
    let last = recovered
        .records
        .last()
        .map(|record| record.height)
        .or_else(|| recovered.snapshot.as_ref().map(|snapshot| snapshot.height))
        .unwrap_or(0);
    let floor = acknowledged.load(Ordering::Relaxed);
    assert!(
        last >= floor * 3,
        "acknowledged {floor}, recovered to height {last}"
    );
    let first = recovered
        .snapshot
        .as_ref()
        .map_or(0, |snapshot| snapshot.height / 3)
        + 1;
    let expected: Vec<_> = (first..=last / 3).map(record).collect();
    assert_eq!(recovered.records, expected, "whole records without gaps");
    for number in last / 3 + 1.. {
        // Simulated storage takes no time of its own.
        context.sleep(Duration::from_millis(1)).await;
        log = log.append(record(number)).await.unwrap();
        acknowledged.store(number, Ordering::Relaxed);
        if number % 7 == 0 {
            log = log.snapshot(&snapshot(number)).await.unwrap();
            log = log.prune(number).await.unwrap();
        }
    }
}

#[test]
fn torn_writes_lose_nothing_acknowledged() {
    for seed in 0..20 {
        let faults = || {
            FaultConfig::default().write(WriteConfig {
                failure_rate: probability!(0.0),
                retention_rate: probability!(0.5),
                mode: PartialWriteMode::Subset,
            })
        };
        let config = || {
            deterministic::Config::new()
                .with_seed(seed)
                .with_storage_fault_config(faults())
        };
        let acknowledged = Arc::new(AtomicU64::new(0));
        let mut checkpoint = None;
        for crash in 0..6 {
            let runner = match checkpoint.take() {
                None => deterministic::Runner::new(config()),
                Some(checkpoint) => deterministic::Runner::from(checkpoint),
            };
            let acknowledged = acknowledged.clone();
            let ((), next) = runner.start_and_recover(|context| async move {
                let crash_after = Duration::from_millis(13 + 7 * crash + seed);
                let crash = context.sleep(crash_after);
                let work = work(context.child("work"), acknowledged);
                futures::pin_mut!(work);
                select! {
                    _ = crash => {},
                    () = work => {},
                }
            });
            checkpoint = Some(next);
        }
        assert!(
            acknowledged.load(Ordering::Relaxed) > 0,
            "seed {seed} did some work"
        );
    }
}

#[test]
fn bodies_are_found_by_hash_and_let_go_by_height() {
    deterministic::Runner::default().start(|context| async move {
        let open = || async {
            let config = BodyStoreConfig {
                partition: "bodies".into(),
                page_cache: pages(),
            };
            BodyStore::open(context.child("bodies"), config)
                .await
                .unwrap()
        };
        let (one, other) = (Digest([1; 32]), Digest([2; 32]));
        let mut store = open().await;
        store = store.put(5, one, Bytes::from_static(b"one")).await.unwrap();
        // A producer that signs two chunks for a height, and one that repeats itself.
        store = store
            .put(5, other, Bytes::from_static(b"other"))
            .await
            .unwrap();
        store = store.put(5, one, Bytes::from_static(b"one")).await.unwrap();
        store = store
            .put(1_000, one, Bytes::from_static(b"one"))
            .await
            .unwrap();
        drop(store);
        let store = open().await;
        assert_eq!(store.get(5, &one).await.unwrap().unwrap(), &b"one"[..]);
        assert_eq!(store.get(5, &other).await.unwrap().unwrap(), &b"other"[..]);
        assert_eq!(store.get(6, &one).await.unwrap(), None);
        let store = store.prune(900).await.unwrap();
        assert_eq!(store.get(5, &other).await.unwrap(), None);
        assert_eq!(store.get(1_000, &one).await.unwrap().unwrap(), &b"one"[..]);
    });
}
