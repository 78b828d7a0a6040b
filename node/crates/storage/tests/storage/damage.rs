// SPDX-License-Identifier: Apache-2.0
//! Bytes that change on the disk after they were acknowledged.

use crate::fixture::{body, open_bodies, open_log, record, snapshot};
use commonware_runtime::{
    Blob as _, ReadOptions, Runner as _, Storage as _, WriteOptions,
    deterministic::{self, Context, FaultConfig},
};
use commonware_utils::probability;
use shardnode_storage::{Engine as _, Recovered, StorageError};
use std::error::Error as _;

/// Flips a bit at `offset` of the partition's `blob`-th blob; false if that is
/// past its end.
async fn damage(context: &Context, partition: &str, blob: usize, offset: u64) -> bool {
    let names = context.scan(partition).await.unwrap();
    let (blob, length) = context.open(partition, &names[blob]).await.unwrap();
    if offset >= length {
        return false;
    }
    let read = blob.read_at(offset, 1, ReadOptions::default()).await;
    let byte = read.unwrap().coalesce().as_ref()[0] ^ 0x10;
    blob.write_at(offset, vec![byte], WriteOptions::SYNC)
        .await
        .unwrap();
    true
}

async fn write_records(context: &Context, count: u64) {
    let (mut log, _) = open_log(context).await.unwrap();
    for number in 1..=count {
        log = log.append(record(number)).await.unwrap();
    }
}

/// Opens the log and reads every record.
async fn read_all(context: &Context) -> Result<Recovered, StorageError> {
    let (mut log, recovered) = open_log(context).await?;
    for record in &recovered.records {
        log.record(record.height).await?;
    }
    Ok(recovered)
}

#[test]
fn a_damaged_record_is_an_error() {
    const RECORDS: u64 = 6;
    let all: Vec<_> = (1..=RECORDS).map(record).collect();
    let (mut errors, mut last_lost) = (0, 0);
    for offset in (0..).step_by(61) {
        let outcome = deterministic::Runner::default().start(|context| async move {
            write_records(&context, RECORDS).await;
            if !damage(&context, "shard-records_data", 0, offset).await {
                return None;
            }
            Some(read_all(&context).await)
        });
        match outcome {
            None => break,
            Some(Err(error)) => {
                assert!(matches!(error, StorageError::Journal { .. }), "{error:?}");
                assert_eq!(error.to_string(), "journal shard-records failed");
                assert!(error.source().is_some());
                errors += 1;
            }
            // Bytes that hold nothing, and the newest record.
            Some(Ok(recovered)) if recovered.records == all => {}
            Some(Ok(recovered)) => {
                assert!(recovered.records == all[..all.len() - 1], "offset {offset}");
                last_lost += 1;
            }
        }
    }
    assert!(errors > 100, "{errors} errors");
    assert!(
        last_lost < errors / 2,
        "{last_lost} times without the newest"
    );
}

#[test]
fn a_damaged_record_below_a_snapshot_is_an_error_when_it_is_read() {
    deterministic::Runner::default().start(|context| async move {
        write_records(&context, 300).await;
        let (log, _) = open_log(&context).await.unwrap();
        let log = log.snapshot(&snapshot(300)).await.unwrap();
        drop(log);
        // In the first of two files, which recovery has no need to read.
        assert!(damage(&context, "shard-records_data", 0, 3_000).await);
        let (mut log, recovered) = open_log(&context).await.unwrap();
        assert_eq!(recovered.snapshot, Some(snapshot(300)));
        let mut damaged = 0;
        for number in 1..=300 {
            match log.record(number * 3).await {
                Ok(found) => assert_eq!(found, Some(record(number))),
                // The record itself, or one that the search came across.
                Err(StorageError::Journal { .. }) => damaged += 1,
                Err(error) => panic!("{error:?}"),
            }
        }
        assert!((1..300).contains(&damaged), "{damaged} errors");
    });
}

#[test]
fn a_damaged_record_keeps_nothing_from_being_pruned() {
    deterministic::Runner::default().start(|context| async move {
        write_records(&context, 900).await;
        let (log, _) = open_log(&context).await.unwrap();
        let log = log.snapshot(&snapshot(890)).await.unwrap();
        drop(log.snapshot(&snapshot(900)).await.unwrap());
        for blob in 0..3 {
            for offset in (0..50_000).step_by(1_000) {
                damage(&context, "shard-records_data", blob, offset).await;
            }
        }
        let (mut log, _) = open_log(&context).await.unwrap();
        for below in (3..=2_700).step_by(300) {
            log = log.prune(below).await.unwrap();
        }
        assert_eq!(log.record(2_700).await.unwrap(), Some(record(900)));
    });
}

async fn two_snapshots(context: &Context) {
    let (mut log, _) = open_log(context).await.unwrap();
    for number in 1..=8 {
        log = log.append(record(number)).await.unwrap();
        if number % 3 == 0 {
            log = log.snapshot(&snapshot(number)).await.unwrap();
            log = log.prune(u64::MAX).await.unwrap();
        }
    }
}

#[test]
fn recovery_goes_back_to_the_snapshot_before_a_damaged_one() {
    for offset in [0, 1_000, 300_000] {
        deterministic::Runner::default().start(|context| async move {
            two_snapshots(&context).await;
            assert!(damage(&context, "shard-snapshots-1_data", 0, offset).await);
            let (log, recovered) = open_log(&context).await.unwrap();
            assert_eq!(recovered.snapshot, Some(snapshot(3)));
            assert_eq!(recovered.records, (4..=8).map(record).collect::<Vec<_>>());

            // The next snapshot takes the damaged one's place.
            let log = log.append(record(9)).await.unwrap();
            let log = log.snapshot(&snapshot(9)).await.unwrap();
            drop(log);
            let (_, recovered) = open_log(&context).await.unwrap();
            assert_eq!(recovered.snapshot, Some(snapshot(9)));
            assert_eq!(recovered.records, []);
            assert!(damage(&context, "shard-snapshots-1_data", 0, offset).await);
            let (_, recovered) = open_log(&context).await.unwrap();
            assert_eq!(recovered.snapshot, Some(snapshot(3)));
        });
    }
}

#[test]
fn a_disk_that_fails_does_not_send_recovery_back() {
    let (mut failed, mut recovered) = (0, 0);
    for seed in 0..200 {
        let config = deterministic::Config::new().with_seed(seed);
        let end = deterministic::Runner::new(config).start(|context| async move {
            two_snapshots(&context).await;
            *context.storage_fault_config().write() = FaultConfig::default()
                .open(probability!(0.01))
                .read(probability!(0.01));
            open_log(&context).await.map(|(_, recovered)| recovered)
        });
        match end {
            Ok(found) => {
                assert_eq!(found.snapshot, Some(snapshot(6)), "seed {seed}");
                recovered += 1;
            }
            Err(_) => failed += 1,
        }
    }
    assert!(failed > 20, "{failed} times failed");
    assert!(recovered > 20, "{recovered} times recovered");
}

#[test]
fn two_damaged_snapshots_are_an_error() {
    deterministic::Runner::default().start(|context| async move {
        two_snapshots(&context).await;
        for slot in [0, 1] {
            let partition = format!("shard-snapshots-{slot}_data");
            assert!(damage(&context, &partition, 0, 1_000).await);
        }
        let Err(error) = open_log(&context).await else {
            panic!("no snapshot is whole");
        };
        // The newest one's.
        assert_eq!(error.to_string(), "journal shard-snapshots-1 failed");
    });
}

#[test]
fn a_missing_snapshot_is_an_error() {
    deterministic::Runner::default().start(|context| async move {
        write_records(&context, 3).await;
        let (log, _) = open_log(&context).await.unwrap();
        drop(log.snapshot(&snapshot(3)).await.unwrap());
        for suffix in ["data", "offsets-blobs", "offsets-metadata"] {
            let partition = format!("shard-snapshots-0_{suffix}");
            context.remove(&partition, None).await.unwrap();
        }
        let Err(error) = open_log(&context).await else {
            panic!("the snapshot is gone");
        };
        assert!(
            matches!(error, StorageError::Snapshot { height: 9, .. }),
            "{error:?}"
        );
    });
}

#[test]
fn missing_records_are_an_error() {
    deterministic::Runner::default().start(|context| async move {
        write_records(&context, 3).await;
        let (log, _) = open_log(&context).await.unwrap();
        drop(log.snapshot(&snapshot(3)).await.unwrap());
        for suffix in ["data", "offsets-blobs", "offsets-metadata"] {
            let partition = format!("shard-records_{suffix}");
            context.remove(&partition, None).await.unwrap();
        }
        let Err(error) = open_log(&context).await else {
            panic!("the records are gone");
        };
        assert_eq!(
            error.to_string(),
            "shard-records holds records 0..0, the snapshot goes on at 3"
        );
    });
}

#[test]
fn a_damaged_body_is_never_returned() {
    let mut noticed = 0;
    for offset in (0..).step_by(331) {
        let outcome = deterministic::Runner::default().start(|context| async move {
            let mut store = open_bodies(&context).await.unwrap();
            for number in 1..=6 {
                let (height, hash, body) = body(number);
                store = store.put(height, hash, body).await.unwrap();
            }
            drop(store);
            if !damage(&context, "bodies-values", 0, offset).await {
                return None;
            }
            let Ok(store) = open_bodies(&context).await else {
                return Some(6);
            };
            let mut unread = 0;
            for number in 1..=6 {
                let (height, hash, body) = body(number);
                match store.get(height, &hash).await {
                    Ok(Some(found)) => assert!(found == body, "body {number} at {offset}"),
                    Ok(None) | Err(StorageError::Archive { .. }) => unread += 1,
                    Err(error) => panic!("{error:?}"),
                }
            }
            Some(unread)
        });
        let Some(unread) = outcome else { break };
        noticed += u32::from(unread > 0);
    }
    assert!(noticed > 20, "{noticed} times noticed");
}

/// The snapshot before it leads to other records than those that follow.
#[test]
fn nothing_stands_in_for_a_damaged_installed_snapshot() {
    deterministic::Runner::default().start(|context| async move {
        two_snapshots(&context).await;
        let (log, _) = open_log(&context).await.unwrap();
        let log = log.install(&snapshot(100)).await.unwrap();
        let log = log.append(record(101)).await.unwrap();
        drop(log);
        assert!(damage(&context, "shard-snapshots-0_data", 0, 1_000).await);
        assert!(open_log(&context).await.is_err());
    });
}
