// SPDX-License-Identifier: Apache-2.0
//! Machines that go down with writes half done: what was made durable through
//! a file that was closed and opened again is there.

use commonware_runtime::{
    Blob as _, Error, ReadOptions, Storage, Supervisor as _, WriteOptions,
    deterministic::{self, Checkpoint, Context, FaultConfig, PartialWriteMode, WriteConfig},
};
use commonware_utils::{Probability, probability};
use shardnode_open_files::Bounded;
use std::{
    num::NonZeroUsize,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

const FILES: u64 = 5;
const RECORD: usize = 16;

fn record(number: u64) -> Vec<u8> {
    number.to_be_bytes().repeat(RECORD / 8)
}

/// Where the `number`-th record is.
fn place(number: u64) -> (usize, u64) {
    ((number % FILES) as usize, number / FILES * RECORD as u64)
}

/// Opens all files, and reads every record that was acknowledged.
async fn open<S: Storage>(storage: &S, acknowledged: u64) -> Result<Vec<S::Blob>, Error> {
    let mut files = Vec::new();
    for name in 0..FILES {
        files.push(storage.open("records", &name.to_be_bytes()).await?.0);
    }
    for number in 0..acknowledged {
        let (file, offset) = place(number);
        let read = files[file].read_at(offset, RECORD, ReadOptions::default());
        let read = read.await?.coalesce();
        assert_eq!(read.as_ref(), record(number), "{number} of {acknowledged}");
    }
    Ok(files)
}

/// Writes one record after the other until the disk fails.
async fn write<S: Storage>(storage: &S, acknowledged: &AtomicU64) -> Result<(), Error> {
    let files = open(storage, acknowledged.load(Relaxed)).await?;
    for number in acknowledged.load(Relaxed).. {
        let (file, offset) = place(number);
        let file = &files[file];
        match number % 3 {
            0 => {
                let options = WriteOptions::SYNC;
                file.write_at(offset, record(number), options).await?;
            }
            kind => {
                let options = WriteOptions::default();
                file.write_at(offset, record(number), options).await?;
                if kind == 1 {
                    file.sync().await?;
                } else {
                    file.start_sync().await.await?;
                }
            }
        }
        acknowledged.store(number + 1, Relaxed);
    }
    Ok(())
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
        .open(probability!(0.01))
}

fn bounded(context: &Context) -> Bounded<Context> {
    Bounded::new(context.child("storage"), NonZeroUsize::MIN)
}

#[test]
fn what_was_acknowledged_is_there() {
    for seed in 0..40 {
        let acknowledged = &AtomicU64::new(0);
        let mut checkpoint: Option<Checkpoint> = None;
        for crash in 0..=12 {
            let config = deterministic::Config::new()
                .with_seed(seed)
                .with_storage_fault_config(faults(seed));
            let runner = checkpoint.take().map_or_else(
                || deterministic::Runner::new(config),
                deterministic::Runner::from,
            );
            let ((), next) = runner.start_and_recover(|context| async move {
                if crash == 12 {
                    *context.storage_fault_config().write() = FaultConfig::default();
                    let acknowledged = acknowledged.load(Relaxed);
                    open(&bounded(&context), acknowledged).await.unwrap();
                } else {
                    let _ = write(&bounded(&context), acknowledged).await;
                }
            });
            checkpoint = Some(next);
        }
        assert_ne!(acknowledged.load(Relaxed), 0, "seed {seed}");
    }
}
