// SPDX-License-Identifier: Apache-2.0
//! Random operations give exactly what they give on the storage underneath,
//! before a crash and after it.

use crate::disk::Disk;
use commonware_runtime::{
    Blob, BlobVersion, ReadOptions, Runner as _, Storage, Supervisor as _, WriteOptions,
    deterministic::{self, Context},
};
use futures::{StreamExt as _, TryStreamExt as _};
use proptest::{collection::vec, prelude::*, sample::Index};
use shardnode_open_files::Bounded;
use std::{fmt::Debug, num::NonZeroUsize, sync::atomic::Ordering::Relaxed};

const PARTITIONS: [&str; 2] = ["one", "other"];

/// A partition and a name in it.
type Key = (usize, u8);

#[derive(Clone, Debug)]
enum Operation {
    Open(Key, u16),
    Read(Index, u64, usize),
    ReadMany(Index, u64),
    StartReadMany(Index, u64),
    Write(Index, u64, u8, bool),
    Resize(Index, u64),
    Sync(Index),
    StartSync(Index, bool),
    Close(Index),
    Remove(Key),
    RemovePartition(usize),
    Scan(usize),
}

fn operation() -> impl Strategy<Value = Operation> {
    let key = || (0..PARTITIONS.len(), 0u8..4);
    let index = any::<Index>;
    prop_oneof![
        6 => (key(), 0u16..3).prop_map(|(key, version)| Operation::Open(key, version)),
        6 => (index(), 0u64..40, 0usize..20).prop_map(|(i, at, len)| Operation::Read(i, at, len)),
        2 => (index(), 0u64..20).prop_map(|(i, at)| Operation::ReadMany(i, at)),
        2 => (index(), 0u64..20).prop_map(|(i, at)| Operation::StartReadMany(i, at)),
        6 => (index(), 0u64..40, any::<u8>(), any::<bool>())
            .prop_map(|(i, at, byte, sync)| Operation::Write(i, at, byte, sync)),
        1 => (index(), 0u64..60).prop_map(|(i, len)| Operation::Resize(i, len)),
        4 => index().prop_map(Operation::Sync),
        4 => (index(), any::<bool>()).prop_map(|(i, waits)| Operation::StartSync(i, waits)),
        2 => index().prop_map(Operation::Close),
        1 => key().prop_map(Operation::Remove),
        1 => (0..PARTITIONS.len()).prop_map(Operation::RemovePartition),
        1 => (0..PARTITIONS.len()).prop_map(Operation::Scan),
    ]
}

/// A live handle.
struct Live<B> {
    blob: B,
    key: Key,
    removed: bool,
    dirty: bool,
    /// Whether a sync was started that nobody waited for.
    syncing: bool,
}

/// One line for each operation. `look` is told how many blobs must be open.
async fn play<S: Storage>(
    storage: &S,
    operations: &[Operation],
    mut look: impl FnMut(usize),
) -> Vec<String> {
    let mut live: Vec<Live<S::Blob>> = Vec::new();
    let mut lines = Vec::new();
    for operation in operations {
        lines.push(one(storage, operation, &mut live).await);
        let pinned = live
            .iter()
            .filter(|live| live.removed || live.dirty || live.syncing);
        look(pinned.count());
    }
    lines
}

async fn one<S: Storage>(
    storage: &S,
    operation: &Operation,
    live: &mut Vec<Live<S::Blob>>,
) -> String {
    let options = ReadOptions::default();
    let found = match operation {
        Operation::Read(index, ..)
        | Operation::ReadMany(index, _)
        | Operation::StartReadMany(index, _)
        | Operation::Write(index, ..)
        | Operation::Resize(index, _)
        | Operation::Sync(index)
        | Operation::StartSync(index, _)
        | Operation::Close(index) => (!live.is_empty()).then(|| index.index(live.len())),
        _ => None,
    };
    if let Some(position) = found {
        if matches!(operation, Operation::Close(_)) {
            live.remove(position);
            return String::new();
        }
        let live = &mut live[position];
        let blob = &live.blob;
        // What becomes of changes to a removed blob is open.
        return match *operation {
            Operation::Read(_, offset, len) => {
                let read = blob.read_at(offset, len, options).await;
                line(read.map(|bufs| bufs.coalesce().as_ref().to_vec()))
            }
            Operation::ReadMany(_, offset) => {
                let read: Result<Vec<_>, _> = blob
                    .read_many(&[(offset, 3), (0, 1), (offset + 4, 0)], options)
                    .map(|read| {
                        read.map(|(index, bufs)| (index, bufs.coalesce().as_ref().to_vec()))
                    })
                    .try_collect()
                    .await;
                line(read)
            }
            Operation::StartReadMany(_, offset) => {
                let reads = blob.start_read_many(&[(offset, 2), (0, 1)], options).await;
                let read = reads.await;
                line(read.map(|all| {
                    let all = all.into_iter();
                    all.map(|bufs| bufs.coalesce().as_ref().to_vec())
                        .collect::<Vec<_>>()
                }))
            }
            _ if live.removed => String::new(),
            Operation::Write(_, offset, byte, sync) => {
                let options = if sync {
                    WriteOptions::SYNC
                } else {
                    WriteOptions::default()
                };
                live.dirty |= !sync;
                line(blob.write_at(offset, vec![byte; 5], options).await)
            }
            Operation::Resize(_, len) => {
                live.dirty = true;
                line(blob.resize(len).await)
            }
            Operation::Sync(_) => {
                live.dirty = false;
                line(blob.sync().await)
            }
            Operation::StartSync(_, waits) => {
                let sync = blob.start_sync().await;
                if waits {
                    live.dirty = false;
                    return line(sync.await);
                }
                live.syncing = true;
                String::new()
            }
            _ => unreachable!(),
        };
    }
    match *operation {
        Operation::Open(key, version) => {
            let versions = BlobVersion::new(0)..=BlobVersion::new(version);
            let (partition, name) = (PARTITIONS[key.0], [key.1]);
            match storage.open_versioned(partition, &name, versions).await {
                Ok((blob, length, version)) => {
                    live.push(Live {
                        blob,
                        key,
                        removed: false,
                        dirty: false,
                        syncing: false,
                    });
                    line((length, version))
                }
                Err(error) => line(error),
            }
        }
        Operation::Remove(key) => {
            let removed = storage.remove(PARTITIONS[key.0], Some(&[key.1])).await;
            // A handle whose removal failed is treated like one that succeeded.
            let concerned = live.iter_mut().filter(|live| live.key == key);
            concerned.for_each(|live| live.removed = true);
            line(removed)
        }
        Operation::RemovePartition(partition) => {
            let removed = storage.remove(PARTITIONS[partition], None).await;
            let concerned = live.iter_mut().filter(|live| live.key.0 == partition);
            concerned.for_each(|live| live.removed = true);
            line(removed)
        }
        Operation::Scan(partition) => line(storage.scan(PARTITIONS[partition]).await),
        _ => String::new(),
    }
}

fn line(result: impl Debug) -> String {
    format!("{result:?}")
}

/// Everything that a crash left.
async fn contents(storage: &Context) -> Vec<String> {
    let mut lines = Vec::new();
    for partition in PARTITIONS {
        for name in storage.scan(partition).await.unwrap_or_default() {
            let versions = BlobVersion::new(0)..=BlobVersion::new(9);
            let opened = storage.open_versioned(partition, &name, versions).await;
            let (blob, length, version) = opened.unwrap();
            let len = usize::try_from(length).unwrap();
            let read = blob.read_at(0, len, ReadOptions::default()).await.unwrap();
            lines.push(line((partition, name, version, read.coalesce().as_ref())));
        }
    }
    lines
}

fn run(operations: &[Operation], bound: Option<usize>) -> (Vec<String>, Vec<String>) {
    let runner = deterministic::Runner::default();
    let (lines, checkpoint) = runner.start_and_recover(|context| async move {
        let disk = Disk::new(context.child("disk"));
        let Some(bound) = bound else {
            return play(&disk, operations, |_| {}).await;
        };
        let watch = disk.watch.clone();
        let bounded = Bounded::new(disk, NonZeroUsize::new(bound).unwrap());
        let count = bounded.open_count();
        play(&bounded, operations, |pinned| {
            let open = watch.open.load(Relaxed);
            assert!(open <= bound.max(pinned), "{open} open, {pinned} must be");
            assert_eq!(count.get(), open);
            assert_eq!(watch.closed_in_use.load(Relaxed), 0);
        })
        .await
    });
    let runner = deterministic::Runner::from(checkpoint);
    (
        lines,
        runner.start(|context| async move { contents(&context).await }),
    )
}

proptest! {
    #[test]
    fn nobody_can_tell(operations in vec(operation(), 1..120), bound in 1usize..5) {
        let expected = run(&operations, None);
        prop_assert_eq!(run(&operations, Some(bound)), expected);
    }
}
