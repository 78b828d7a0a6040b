// SPDX-License-Identifier: Apache-2.0
//! Crashes in the middle of everything: a node that is killed while its disk
//! lives on, and a machine that goes down with writes half done.

use crate::fixture::{body, open_bodies, open_log, record, snapshot};
use commonware_runtime::{
    Clock, Metrics, Runner as _, Storage, Supervisor as _,
    deterministic::{self, Checkpoint, Context, FaultConfig, PartialWriteMode, WriteConfig},
    mocks::{DelayedSyncContext, PendingSyncs, release_next_pending_syncs},
    reschedule,
};
use commonware_utils::{Probability, probability};
use shardnode_storage::{Engine as _, Recovered, StorageError};
use std::{
    future::Future,
    sync::atomic::{AtomicU64, Ordering},
};

/// What was acknowledged, and how much further a store may have got.
#[derive(Default)]
struct Progress {
    records: AtomicU64,
    snapshot: AtomicU64,
    bodies: AtomicU64,
}

fn check(recovered: &Recovered, progress: &Progress) -> u64 {
    let start = recovered
        .snapshot
        .as_ref()
        .map_or(0, |snapshot| snapshot.height / 3);
    if let Some(found) = &recovered.snapshot {
        assert!(*found == snapshot(start), "a whole snapshot");
    }
    let acknowledged = progress.snapshot.load(Ordering::Relaxed);
    assert!(
        start >= acknowledged,
        "snapshot {acknowledged}, found {start}"
    );

    let last = start + recovered.records.len() as u64;
    let expected: Vec<_> = (start + 1..=last).map(record).collect();
    assert!(recovered.records == expected, "whole records without gaps");
    let acknowledged = progress.records.load(Ordering::Relaxed);
    assert!(
        (acknowledged..=acknowledged + 1).contains(&last),
        "record {acknowledged}, found {last}"
    );
    last
}

/// Appends, with a snapshot every fifth record, until the disk fails.
async fn write_log<E: Storage + Clock + Metrics>(
    context: &E,
    progress: &Progress,
) -> Result<(), StorageError> {
    let (mut log, recovered) = open_log(context).await?;
    let last = check(&recovered, progress);
    progress.records.store(last, Ordering::Relaxed);
    for number in last + 1.. {
        log = log.append(record(number)).await?;
        progress.records.store(number, Ordering::Relaxed);
        if number % 5 == 0 {
            log = log.snapshot(&snapshot(number)).await?;
            progress.snapshot.store(number, Ordering::Relaxed);
            log = log.prune(number * 3).await?;
        }
    }
    Ok(())
}

/// Puts one body after the other until the disk fails.
async fn write_bodies<E: Storage + Clock + Metrics>(
    context: &E,
    progress: &Progress,
) -> Result<(), StorageError> {
    let mut store = open_bodies(context).await?;
    let acknowledged = progress.bodies.load(Ordering::Relaxed);
    for number in 0..acknowledged {
        let (height, hash, body) = body(number);
        let found = store.get(height, &hash).await?;
        assert!(found == Some(body), "body {number} of {acknowledged}");
    }
    for number in acknowledged.. {
        let (height, hash, body) = body(number);
        store = store.put(height, hash, body).await?;
        progress.bodies.store(number + 1, Ordering::Relaxed);
    }
    Ok(())
}

/// Drives `work` until so many writes are on their way to the disk, lets all
/// but the last arrive, and drops it.
async fn kill_at_sync<F>(
    syncs: u64,
    context: &Context,
    work: impl FnOnce(DelayedSyncContext<Context>) -> F,
) where
    F: Future<Output = Result<(), StorageError>>,
{
    let pending = PendingSyncs::default();
    let context = DelayedSyncContext {
        inner: context.child("work"),
        pending: pending.clone(),
    };
    let mut work = std::pin::pin!(work(context));
    let mut begun = 0;
    loop {
        if let std::task::Poll::Ready(end) = futures::poll!(work.as_mut()) {
            panic!("the disk does not fail: {end:?}");
        }
        if pending.lock().is_empty() {
            reschedule().await;
            continue;
        }
        begun += 1;
        if begun == syncs {
            break;
        }
        release_next_pending_syncs(&pending, 1);
    }
}

#[test]
fn a_killed_node_finds_what_was_acknowledged() {
    for seed in 0..20 {
        let config = deterministic::Config::new().with_seed(seed);
        deterministic::Runner::new(config).start(|context| async move {
            let progress = &Progress::default();
            for kill in 0..12 {
                let syncs = 1 + (seed * 31 + kill * 17) % 41;
                kill_at_sync(syncs, &context, |context| async move {
                    write_log(&context, progress).await
                })
                .await;
                kill_at_sync(syncs, &context, |context| async move {
                    write_bodies(&context, progress).await
                })
                .await;
                // The killed node's files are closed.
                reschedule().await;
            }
            let (_, recovered) = open_log(&context).await.unwrap();
            check(&recovered, progress);
            assert!(progress.snapshot.load(Ordering::Relaxed) > 0);
            assert!(progress.bodies.load(Ordering::Relaxed) > 0);
        });
    }
}

fn faults(seed: u64) -> FaultConfig {
    let mode = if seed.is_multiple_of(2) {
        PartialWriteMode::Prefix
    } else {
        PartialWriteMode::Subset
    };
    let write = WriteConfig {
        failure_rate: probability!(0.02),
        retention_rate: Probability::new(seed % 5, 4).unwrap(),
        mode,
    };
    FaultConfig::default()
        .write(write)
        .sync(probability!(0.02))
        .remove(probability!(0.1))
}

/// Runs `work` from crash to crash on one disk; at last, on a disk that works.
fn crash_often<F, W>(seed: u64, progress: &Progress, work: W)
where
    W: Fn(Context, bool) -> F,
    F: Future<Output = ()>,
{
    let mut checkpoint: Option<Checkpoint> = None;
    for crash in 0..=12 {
        let config = deterministic::Config::new()
            .with_seed(seed)
            .with_storage_fault_config(faults(seed));
        let runner = checkpoint.take().map_or_else(
            || deterministic::Runner::new(config),
            deterministic::Runner::from,
        );
        let (work, works) = (&work, crash == 12);
        let ((), next) = runner.start_and_recover(|context| async move {
            if works {
                *context.storage_fault_config().write() = FaultConfig::default();
            }
            work(context, works).await;
        });
        checkpoint = Some(next);
    }
    assert_ne!(
        progress.records.load(Ordering::Relaxed) + progress.bodies.load(Ordering::Relaxed),
        0,
        "seed {seed} acknowledged something"
    );
}

#[test]
fn torn_writes_leave_whole_records_and_all_acknowledged() {
    for seed in 0..60 {
        let progress = &Progress::default();
        crash_often(seed, progress, |context, works| async move {
            if works {
                let (_, recovered) = open_log(&context).await.unwrap();
                check(&recovered, progress);
            } else {
                // An injected failure is as good a moment to crash as any.
                let _ = write_log(&context, progress).await;
            }
        });
    }
}

#[test]
fn torn_writes_leave_all_acknowledged_bodies() {
    for seed in 0..60 {
        let progress = &Progress::default();
        crash_often(seed, progress, |context, works| async move {
            if works {
                let store = open_bodies(&context).await.unwrap();
                for number in 0..progress.bodies.load(Ordering::Relaxed) {
                    let (height, hash, body) = body(number);
                    let found = store.get(height, &hash).await.unwrap();
                    assert!(found == Some(body), "body {number}");
                }
            } else {
                let _ = write_bodies(&context, progress).await;
            }
        });
    }
}

/// Killed at every write of an installation in turn: the old state, whole, or
/// the new one.
#[test]
fn an_installation_is_done_or_has_not_begun() {
    let (mut before, mut after) = (0, 0);
    for syncs in 1..=12 {
        let config = deterministic::Config::new().with_seed(syncs);
        let recovered = deterministic::Runner::new(config).start(|context| async move {
            let (mut log, _) = open_log(&context).await.unwrap();
            for number in 1..=12 {
                log = log.append(record(number)).await.unwrap();
                if number % 5 == 0 {
                    log = log.snapshot(&snapshot(number)).await.unwrap();
                }
            }
            drop(log);
            kill_at_sync(syncs, &context, |context| async move {
                let (log, _) = open_log(&context).await?;
                let mut log = log.install(&snapshot(100)).await?;
                for number in 101.. {
                    log = log.append(record(number)).await?;
                }
                Ok(())
            })
            .await;
            reschedule().await;
            open_log(&context).await.unwrap().1
        });
        let found = recovered.snapshot.unwrap();
        if found == snapshot(100) {
            let last = 100 + recovered.records.len() as u64;
            let records: Vec<_> = (101..=last).map(record).collect();
            assert!(recovered.records == records, "{syncs}");
            after += 1;
        } else {
            assert!(found == snapshot(10), "{syncs}");
            assert_eq!(recovered.records, [record(11), record(12)], "{syncs}");
            before += 1;
        }
    }
    assert!(before > 1 && after > 1, "{before} before, {after} after");
}
