// SPDX-License-Identifier: Apache-2.0
//! Many tasks at once on slow storage: nothing is lost, nobody waits for ever,
//! and afterwards no more is open than may be.

use crate::disk::Disk;
use commonware_runtime::{
    Blob as _, ReadOptions, Runner as _, Spawner as _, Storage as _, Supervisor as _, WriteOptions,
    deterministic,
};
use futures::{StreamExt as _, future::join_all};
use shardnode_open_files::{Bounded, File};
use std::{
    num::NonZeroUsize,
    sync::{Arc, atomic::Ordering::Relaxed},
};

const FILES: u8 = 6;
const TASKS: usize = 12;
const ROUNDS: u8 = 40;

/// A task has a byte of every file for itself.
async fn work(files: Arc<Vec<File<Disk>>>, task: usize) {
    let mut dice = task;
    for round in 0..ROUNDS {
        dice = dice.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let file = &files[(dice >> 16) % files.len()];
        let offset = task as u64;
        let options = if dice & 1024 == 0 {
            WriteOptions::SYNC
        } else {
            WriteOptions::default()
        };
        file.write_at(offset, vec![round], options).await.unwrap();
        match (dice >> 20) % 4 {
            0 => file.sync().await.unwrap(),
            1 => file.start_sync().await.await.unwrap(),
            2 => drop(file.start_sync().await),
            _ => {}
        }
        let options = ReadOptions::default();
        let read = match (dice >> 23) % 3 {
            0 => file.read_at(offset, 1, options).await.unwrap(),
            1 => {
                let reads = file.start_read_many(&[(offset, 1)], options).await;
                reads.await.unwrap().remove(0)
            }
            _ => {
                let ranges = [(offset, 1)];
                let mut reads = Box::pin(file.read_many(&ranges, options));
                reads.next().await.unwrap().unwrap().1
            }
        };
        assert_eq!(read.coalesce().as_ref(), [round]);
    }
}

#[test]
fn tasks_share_files() {
    for (seed, bound) in (0..20).zip((1..=4).cycle()) {
        let config = deterministic::Config::new().with_seed(seed);
        deterministic::Runner::new(config).start(|context| async move {
            let disk = Disk::new(context.child("disk"));
            let watch = disk.watch.clone();
            let storage = Bounded::new(disk, NonZeroUsize::new(bound).unwrap());
            let mut files = Vec::new();
            for name in 0..FILES {
                let (file, _) = storage.open("files", &[name]).await.unwrap();
                file.resize(TASKS as u64).await.unwrap();
                file.sync().await.unwrap();
                files.push(file);
            }
            let files = Arc::new(files);
            watch.slow.store(1 + seed % 7, Relaxed);
            let tasks = (0..TASKS).map(|task| {
                let files = files.clone();
                context.child("task").spawn(move |_| work(files, task))
            });
            for ended in join_all(tasks).await {
                ended.unwrap();
            }
            assert_eq!(watch.closed_dirty.load(Relaxed), 0);
            assert_eq!(watch.closed_in_use.load(Relaxed), 0);
            for file in files.iter() {
                file.sync().await.unwrap();
            }
            watch.slow.store(0, Relaxed);
            // Syncs that nobody waited for take their turns when they are looked
            // at, which is when a blob is opened.
            for _ in 0..10 {
                drop(storage.open("files", &[FILES]).await.unwrap());
            }
            assert!(watch.open.load(Relaxed) <= bound);
            assert_eq!(storage.open_count().get(), watch.open.load(Relaxed));
        });
    }
}
