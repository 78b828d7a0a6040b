// SPDX-License-Identifier: Apache-2.0
//! What a log keeps, finds and refuses.

use crate::fixture::{open_log, record, snapshot};
use commonware_runtime::{Runner as _, deterministic};
use shardnode_storage::{Engine as _, Recovered, StorageError};

#[test]
fn records_and_snapshots_come_back() {
    deterministic::Runner::default().start(|context| async move {
        let (mut log, recovered) = open_log(&context).await.unwrap();
        assert_eq!(recovered, Recovered::default());
        for number in 1..=5 {
            log = log.append(record(number)).await.unwrap();
        }
        drop(log);
        let (mut log, recovered) = open_log(&context).await.unwrap();
        assert_eq!(recovered.snapshot, None);
        assert_eq!(recovered.records, (1..=5).map(record).collect::<Vec<_>>());

        log = log.snapshot(&snapshot(5)).await.unwrap();
        drop(log);
        let (mut log, recovered) = open_log(&context).await.unwrap();
        assert_eq!(recovered.snapshot, Some(snapshot(5)));
        assert_eq!(recovered.records, []);
        for number in 6..=7 {
            log = log.append(record(number)).await.unwrap();
        }
        drop(log);
        let (_, recovered) = open_log(&context).await.unwrap();
        assert_eq!(recovered.snapshot, Some(snapshot(5)));
        assert_eq!(recovered.records, [record(6), record(7)]);
    });
}

#[test]
fn records_are_found_by_height_before_and_after_the_snapshot() {
    deterministic::Runner::default().start(|context| async move {
        let (mut log, _) = open_log(&context).await.unwrap();
        for number in 1..=40 {
            log = log.append(record(number)).await.unwrap();
        }
        log = log.snapshot(&snapshot(40)).await.unwrap();
        drop(log);
        let (mut log, _) = open_log(&context).await.unwrap();
        for number in 41..=50 {
            log = log.append(record(number)).await.unwrap();
        }
        for height in 0..=160 {
            let expected =
                (height % 3 == 0 && (3..=150).contains(&height)).then(|| record(height / 3));
            assert_eq!(log.record(height).await.unwrap(), expected, "{height}");
        }
    });
}

#[test]
fn pruning_keeps_what_recovery_needs() {
    deterministic::Runner::default().start(|context| async move {
        let (mut log, _) = open_log(&context).await.unwrap();
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
            let height = number * 3;
            assert_eq!(log.record(height).await.unwrap(), Some(record(number)));
        }
        drop(log);
        let (mut log, recovered) = open_log(&context).await.unwrap();
        assert_eq!(recovered.snapshot, Some(snapshot(1_000)));
        assert_eq!(recovered.records, []);
        assert_eq!(log.record(3_000).await.unwrap(), Some(record(1_000)));
        assert_eq!(log.record(3).await.unwrap(), None, "pruned");
    });
}

#[test]
fn pruning_keeps_what_is_asked_for() {
    deterministic::Runner::default().start(|context| async move {
        let (mut log, _) = open_log(&context).await.unwrap();
        for number in 1..=600 {
            log = log.append(record(number)).await.unwrap();
            if number % 300 == 0 {
                log = log.snapshot(&snapshot(number)).await.unwrap();
            }
        }
        // Position 256 begins a file, and holds record 257.
        for (below, kept) in [(256 * 3, 1), (257 * 3, 257), (u64::MAX, 257)] {
            log = log.prune(below).await.unwrap();
            assert_eq!(log.record(kept * 3).await.unwrap(), Some(record(kept)));
        }
        assert_eq!(log.record(256 * 3).await.unwrap(), None);
    });
}

#[test]
fn without_a_second_snapshot_nothing_is_pruned() {
    deterministic::Runner::default().start(|context| async move {
        let (mut log, _) = open_log(&context).await.unwrap();
        for number in 1..=300 {
            log = log.append(record(number)).await.unwrap();
        }
        log = log.snapshot(&snapshot(300)).await.unwrap();
        log = log.prune(u64::MAX).await.unwrap();
        assert_eq!(log.record(3).await.unwrap(), Some(record(1)));
    });
}

#[test]
fn heights_must_increase() {
    deterministic::Runner::default().start(|context| async move {
        for height in [0, 3, 6] {
            let (mut log, recovered) = open_log(&context).await.unwrap();
            if recovered.records.is_empty() {
                log = log.append(record(1)).await.unwrap();
                log = log.append(record(2)).await.unwrap();
            }
            let mut repeated = record(2);
            repeated.height = height;
            let Err(error) = log.append(repeated).await else {
                panic!("height {height} follows height 6");
            };
            assert!(matches!(
                error,
                StorageError::Order { last: 6, height: refused, .. } if refused == height
            ));
        }
        let (_, recovered) = open_log(&context).await.unwrap();
        assert_eq!(recovered.records, [record(1), record(2)]);
    });
}

#[test]
fn a_snapshot_must_be_of_a_record() {
    deterministic::Runner::default().start(|context| async move {
        for number in [0, 3] {
            let (mut log, recovered) = open_log(&context).await.unwrap();
            if recovered.records.is_empty() {
                log = log.append(record(1)).await.unwrap();
                log = log.append(record(2)).await.unwrap();
            }
            let Err(error) = log.snapshot(&snapshot(number)).await else {
                panic!("snapshot {number} after record 2");
            };
            assert!(matches!(
                error,
                StorageError::NotRecorded { height, .. } if height == number * 3
            ));
        }
    });
}

#[test]
fn a_snapshot_may_be_of_an_earlier_record() {
    deterministic::Runner::default().start(|context| async move {
        let (mut log, _) = open_log(&context).await.unwrap();
        for number in 1..=9 {
            log = log.append(record(number)).await.unwrap();
        }
        log = log.snapshot(&snapshot(7)).await.unwrap();
        log = log.append(record(10)).await.unwrap();
        drop(log);
        let (_, recovered) = open_log(&context).await.unwrap();
        assert_eq!(recovered.snapshot, Some(snapshot(7)));
        assert_eq!(recovered.records, (8..=10).map(record).collect::<Vec<_>>());
    });
}

#[test]
fn an_installed_snapshot_is_what_records_go_on_from() {
    for (before, snapshots) in [(0, 0), (4, 0), (4, 1), (4, 2), (300, 2)] {
        deterministic::Runner::default().start(|context| async move {
            let (mut log, _) = open_log(&context).await.unwrap();
            for number in 1..=before {
                log = log.append(record(number)).await.unwrap();
                if number > before - snapshots {
                    log = log.snapshot(&snapshot(number)).await.unwrap();
                }
            }
            log = log.install(&snapshot(1_000)).await.unwrap();
            drop(log);
            let (mut log, recovered) = open_log(&context).await.unwrap();
            assert_eq!(recovered.snapshot, Some(snapshot(1_000)));
            assert_eq!(recovered.records, []);
            for number in 1_001..=1_003 {
                log = log.append(record(number)).await.unwrap();
            }
            drop(log);
            let (mut log, recovered) = open_log(&context).await.unwrap();
            assert_eq!(recovered.snapshot, Some(snapshot(1_000)));
            let after: Vec<_> = (1_001..=1_003).map(record).collect();
            assert_eq!(recovered.records, after);

            // What is there is found, on both sides of the gap.
            for number in [1, before, before + 1, 999, 1_000, 1_001, 1_003, 1_004] {
                let there = (1..=before).contains(&number) || (1_001..=1_003).contains(&number);
                let found = log.record(number * 3).await.unwrap();
                assert_eq!(found, there.then(|| record(number)), "{number}");
            }
            log = log.snapshot(&snapshot(1_002)).await.unwrap();
            drop(log);
            let (_, recovered) = open_log(&context).await.unwrap();
            assert_eq!(recovered.snapshot, Some(snapshot(1_002)));
            assert_eq!(recovered.records, [record(1_003)]);
        });
    }
}

#[test]
fn nothing_is_installed_below_what_is_there() {
    deterministic::Runner::default().start(|context| async move {
        for number in [0, 1, 2] {
            let (mut log, recovered) = open_log(&context).await.unwrap();
            if recovered.records.is_empty() {
                log = log.append(record(1)).await.unwrap();
                log = log.append(record(2)).await.unwrap();
            }
            let Err(error) = log.install(&snapshot(number)).await else {
                panic!("snapshot {number} over record 2");
            };
            assert!(matches!(error, StorageError::Order { last: 6, .. }));
        }
        let (_, recovered) = open_log(&context).await.unwrap();
        assert_eq!(recovered.records, [record(1), record(2)]);
    });
}
