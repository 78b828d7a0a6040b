// SPDX-License-Identifier: Apache-2.0
//! The rules one by one.

use crate::disk::{Disk, Watch};
use commonware_runtime::{
    Blob as _, BlobVersion, Error, ReadOptions, Runner as _, Storage as _, Supervisor as _,
    WriteOptions, deterministic,
};
use commonware_utils::channel::oneshot;
use futures::{FutureExt as _, StreamExt as _};
use shardnode_open_files::{Bounded, File};
use std::{
    future::Future,
    num::NonZeroUsize,
    pin::pin,
    sync::{Arc, atomic::Ordering::Relaxed},
};

type Blob = File<Disk>;

struct Bench {
    storage: Bounded<Disk>,
    watch: Arc<Watch>,
}

impl Bench {
    /// A blob that is durable and holds its name.
    async fn file(&self, name: u8) -> Blob {
        let (blob, _) = self.storage.open("files", &[name]).await.unwrap();
        blob.write_at(0, vec![name], WriteOptions::SYNC)
            .await
            .unwrap();
        blob
    }

    fn open(&self) -> usize {
        assert_eq!(
            self.storage.open_count().get(),
            self.watch.open.load(Relaxed)
        );
        self.watch.open.load(Relaxed)
    }

    /// How many blobs were opened meanwhile.
    fn opened(&self) -> usize {
        self.watch.opened.swap(0, Relaxed)
    }
}

async fn read(blob: &Blob) -> Result<u8, Error> {
    let read = blob.read_at(0, 1, ReadOptions::default()).await?;
    Ok(read.coalesce().as_ref()[0])
}

fn bench<F: Future<Output = ()>>(bound: usize, test: impl FnOnce(Bench) -> F) {
    deterministic::Runner::default().start(|context| async move {
        let disk = Disk::new(context.child("disk"));
        let watch = disk.watch.clone();
        let storage = Bounded::new(disk, NonZeroUsize::new(bound).unwrap());
        test(Bench { storage, watch }).await;
    });
}

#[test]
fn the_one_used_least_recently_is_closed() {
    bench(2, |bench| async move {
        let files = [bench.file(0).await, bench.file(1).await];
        assert_eq!(read(&files[0]).await.unwrap(), 0);
        let third = bench.file(2).await;
        assert_eq!((bench.open(), bench.opened()), (2, 3));
        assert_eq!(read(&files[0]).await.unwrap(), 0);
        assert_eq!(read(&third).await.unwrap(), 2);
        assert_eq!(bench.opened(), 0);
        assert_eq!(read(&files[1]).await.unwrap(), 1);
        assert_eq!((bench.open(), bench.opened()), (2, 1));
        drop(files);
        assert_eq!(bench.open(), 1);
    });
}

#[test]
fn what_no_sync_covers_stays_open() {
    bench(1, |bench| async move {
        let files = [
            bench.file(0).await,
            bench.file(1).await,
            bench.file(2).await,
        ];
        files[0]
            .write_at(0, b"x", WriteOptions::default())
            .await
            .unwrap();
        files[1].resize(5).await.unwrap();
        assert_eq!(read(&files[2]).await.unwrap(), 2);
        assert_eq!(bench.open(), 2);
        // A durable write is not a sync of those before it.
        files[0]
            .write_at(1, b"y", WriteOptions::SYNC)
            .await
            .unwrap();
        assert_eq!(bench.open(), 2);
        files[0].sync().await.unwrap();
        assert_eq!(bench.open(), 1);
        files[1].start_sync().await.await.unwrap();
        assert_eq!(bench.open(), 1);
        assert_eq!(read(&files[0]).await.unwrap(), b'x');
        assert_eq!(bench.open(), 1);
        assert_eq!(bench.watch.closed_dirty.load(Relaxed), 0);
    });
}

#[test]
fn a_sync_covers_what_came_before_it() {
    bench(1, |bench| async move {
        let (first, other) = (bench.file(0).await, bench.file(1).await);
        bench.watch.parking.store(true, Relaxed);
        first
            .write_at(0, b"x", WriteOptions::default())
            .await
            .unwrap();
        let sync = first.start_sync().await;
        first
            .write_at(1, b"y", WriteOptions::default())
            .await
            .unwrap();
        bench.watch.parked.lock().clear();
        sync.await.unwrap();
        assert_eq!(read(&other).await.unwrap(), 1);
        assert_eq!(bench.open(), 1, "the other is closed after its use");
        bench.opened();
        assert_eq!(read(&first).await.unwrap(), b'x');
        assert_eq!(bench.opened(), 0, "the first is open");
    });
}

#[test]
fn an_abandoned_write_is_covered_by_no_sync() {
    bench(1, |bench| async move {
        let (first, other) = (bench.file(0).await, bench.file(1).await);
        assert_eq!(read(&first).await.unwrap(), 0);
        bench.watch.slow.store(u64::from(u32::MAX), Relaxed);
        assert!(
            first
                .write_at(0, b"x", WriteOptions::default())
                .now_or_never()
                .is_none()
        );
        bench.watch.slow.store(0, Relaxed);
        first.sync().await.unwrap();
        assert_eq!(read(&other).await.unwrap(), 1);
        bench.opened();
        assert_eq!(read(&first).await.unwrap(), 0);
        assert_eq!(bench.opened(), 0);
    });
}

#[test]
fn a_started_sync_is_in_flight_until_it_completed() {
    bench(1, |bench| async move {
        let (first, other) = (bench.file(0).await, bench.file(1).await);
        first
            .write_at(0, b"x", WriteOptions::default())
            .await
            .unwrap();
        bench.watch.parking.store(true, Relaxed);
        // Nobody waits for it.
        drop(first.start_sync().await);
        assert_eq!(read(&other).await.unwrap(), 1);
        bench.opened();
        assert_eq!(read(&first).await.unwrap(), b'x');
        assert_eq!(bench.opened(), 0, "it goes on");
        bench.watch.parked.lock().clear();
        assert_eq!(read(&other).await.unwrap(), 1);
        assert_eq!((bench.open(), bench.opened()), (1, 1));
        assert_eq!(read(&first).await.unwrap(), b'x');
        assert_eq!(bench.opened(), 1, "it completed, and the first was closed");
    });
}

#[test]
fn reads_that_go_on_keep_a_blob_open() {
    bench(1, |bench| async move {
        let (first, other) = (bench.file(0).await, bench.file(1).await);
        let options = ReadOptions::default();
        let handle = first.start_read_many(&[(0, 1)], options).await;
        assert_eq!(read(&other).await.unwrap(), 1);
        bench.opened();
        assert_eq!(read(&first).await.unwrap(), 0);
        assert_eq!(bench.opened(), 0);
        handle.await.unwrap();

        let ranges = [(0, 1), (0, 1)];
        let mut stream = Box::pin(first.read_many(&ranges, options));
        stream.next().await.unwrap().unwrap();
        assert_eq!(read(&other).await.unwrap(), 1);
        assert_eq!(bench.open(), 1, "the other is closed after its use");
        drop(stream);
        assert_eq!(bench.watch.closed_in_use.load(Relaxed), 0);
    });
}

#[test]
fn a_removed_blob_stays_readable() {
    for name in [Some(&[0u8][..]), None] {
        bench(1, |bench| async move {
            let (first, other) = (bench.file(0).await, bench.file(1).await);
            assert_eq!(bench.open(), 1);
            bench.storage.remove("files", name).await.unwrap();
            let kept = if name.is_some() { 1 } else { 2 };
            assert_eq!(bench.open(), kept);

            let (new, length) = bench.storage.open("files", &[0]).await.unwrap();
            assert_eq!(length, 0);
            new.write_at(0, b"n", WriteOptions::SYNC).await.unwrap();
            assert_eq!(read(&first).await.unwrap(), 0);
            assert_eq!(read(&other).await.unwrap(), 1);
            assert_eq!(read(&new).await.unwrap(), b'n');
            drop((first, other));
            assert!(bench.open() <= 1);
            let names = bench.storage.scan("files").await.unwrap();
            assert_eq!(names.len(), if name.is_some() { 2 } else { 1 });
        });
    }
}

#[test]
fn a_blob_that_is_opened_during_a_removal_stays_open() {
    for name in [Some(&[1u8][..]), None] {
        bench(1, |bench| async move {
            drop((bench.file(0).await, bench.file(1).await));
            let (begin, held) = oneshot::channel::<()>();
            *bench.watch.removal.lock() = Some(held);
            let mut remove = pin!(bench.storage.remove("files", name));
            assert!(remove.as_mut().now_or_never().is_none());
            let second = bench.file(1).await;
            drop(begin);
            remove.await.unwrap();

            drop(bench.storage.open("others", &[2]).await.unwrap());
            bench.opened();
            assert_eq!(read(&second).await.unwrap(), 1);
            assert_eq!(bench.opened(), 0);
            let (_new, length) = bench.storage.open("files", &[1]).await.unwrap();
            assert_eq!(length, 0);
        });
    }
}

#[test]
fn a_blob_that_is_being_opened_when_a_removal_begins_stays_open() {
    bench(1, |bench| async move {
        let _first = bench.file(0).await;
        bench.watch.slow.store(20, Relaxed);
        let open = bench.storage.open("files", &[1]);
        let (opened, removed) = futures::join!(open, bench.storage.remove("files", None));
        removed.unwrap();
        let (second, _) = opened.unwrap();
        drop(bench.storage.open("others", &[2]).await.unwrap());
        bench.opened();
        let _ = read(&second).await;
        assert_eq!(bench.opened(), 0);
    });
}

#[test]
fn nothing_is_removed_that_could_not_be_read_afterwards() {
    bench(1, |bench| async move {
        let (first, other) = (bench.file(0).await, bench.file(1).await);
        bench.watch.broken.store(true, Relaxed);
        let removed = bench.storage.remove("files", Some(&[0])).await;
        assert!(matches!(removed, Err(Error::ReadFailed)));
        bench.watch.broken.store(false, Relaxed);
        assert_eq!(read(&first).await.unwrap(), 0);
        assert_eq!(read(&other).await.unwrap(), 1);
    });
}

#[test]
fn a_name_is_open_once() {
    bench(1, |bench| async move {
        let (_first, _other) = (bench.file(0).await, bench.file(1).await);
        for name in [0, 1] {
            let again = bench.storage.open("files", &[name]).await;
            let Err(Error::BlobAlreadyOpen(partition, hex)) = again else {
                panic!("opened {name} again");
            };
            assert_eq!((partition.as_str(), hex), ("files", format!("0{name}")));
            let versions = BlobVersion::new(7)..=BlobVersion::new(9);
            let again = bench
                .storage
                .open_versioned("files", &[name], versions)
                .await;
            assert!(matches!(again, Err(Error::BlobVersionMismatch { .. })));
        }
        drop(_first);
        bench.storage.open("files", &[0]).await.unwrap();
    });
}

#[test]
fn a_name_that_is_opened_twice_at_once_has_one_handle() {
    bench(1, |bench| async move {
        bench.watch.slow.store(1_000, Relaxed);
        let mut slow = pin!(bench.storage.open("files", &[1]));
        assert!(slow.as_mut().now_or_never().is_none());
        bench.watch.slow.store(0, Relaxed);
        let first = bench.file(1).await;
        // Closes what the first has open.
        let _other = bench.file(2).await;
        assert!(matches!(slow.await, Err(Error::BlobAlreadyOpen(..))));
        assert_eq!(read(&first).await.unwrap(), 1);
    });
}

#[test]
fn a_blob_is_opened_again_with_its_version() {
    bench(1, |bench| async move {
        let versions = BlobVersion::new(3)..=BlobVersion::new(5);
        let open = bench.storage.open_versioned("files", &[9], versions);
        let (blob, _, version) = open.await.unwrap();
        assert_eq!(version, BlobVersion::new(5));
        blob.write_at(0, b"v", WriteOptions::SYNC).await.unwrap();
        let _other = bench.file(0).await;
        assert_eq!(read(&blob).await.unwrap(), b'v');
    });
}

#[test]
fn opening_is_tried_again_after_it_failed() {
    bench(1, |bench| async move {
        let (first, other) = (bench.file(0).await, bench.file(1).await);
        bench.watch.broken.store(true, Relaxed);
        assert!(matches!(read(&first).await, Err(Error::ReadFailed)));
        let (options, ranges) = (ReadOptions::default(), [(0, 1)]);
        let started = first.start_read_many(&ranges, options).await;
        assert!(matches!(started.await, Err(Error::ReadFailed)));
        let read_many: Vec<_> = first.read_many(&ranges, options).collect().await;
        assert!(matches!(read_many[..], [Err(Error::ReadFailed)]));
        // There is nothing to sync.
        first.sync().await.unwrap();
        first.start_sync().await.await.unwrap();
        assert!(bench.storage.open("files", &[2]).await.is_err());
        assert_eq!(bench.open(), 0);
        bench.watch.broken.store(false, Relaxed);
        assert_eq!(read(&first).await.unwrap(), 0);
        assert_eq!(read(&other).await.unwrap(), 1);
        assert_eq!(bench.open(), 1);
        bench.storage.open("files", &[2]).await.unwrap();
    });
}

#[test]
fn tasks_that_wait_for_a_blob_open_it_once() {
    bench(1, |bench| async move {
        let (first, _other) = (bench.file(0).await, bench.file(1).await);
        bench.watch.slow.store(9, Relaxed);
        bench.opened();
        let reads = futures::future::join_all((0..10).map(|_| read(&first))).await;
        assert!(reads.into_iter().all(|read| matches!(read, Ok(0))));
        assert_eq!(bench.opened(), 1);
    });
}

#[test]
fn who_gives_up_waiting_leaves_no_trace() {
    bench(1, |bench| async move {
        let (first, other) = (bench.file(0).await, bench.file(1).await);
        bench.watch.slow.store(u64::from(u32::MAX), Relaxed);
        for _ in 0..3 {
            assert!(read(&first).now_or_never().is_none());
            let open = bench.storage.open("files", &[2]);
            assert!(open.now_or_never().is_none());
            let remove = bench.storage.remove("elsewhere", None);
            assert!(remove.now_or_never().is_none());
        }
        bench.watch.slow.store(0, Relaxed);
        assert_eq!(bench.open(), 0);
        assert_eq!(read(&first).await.unwrap(), 0);
        assert_eq!(read(&other).await.unwrap(), 1);
        assert_eq!(bench.open(), 1);
    });
}
