// SPDX-License-Identifier: Apache-2.0
//! What a slow disk holds up, and what not.

use crate::{Here, ms, run, slow, write};
use commonware_runtime::{
    Blob as _, Clock as _, IoBufs, ReadOptions, Storage as _, Supervisor as _, WriteOptions,
};
use futures::{FutureExt as _, StreamExt as _, future::join_all};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

#[test]
fn what_writes_takes_longer_and_is_counted() {
    run(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        here.begin(slow(40), LONG);
        here.takes(ms(40), write(&file, b"abc")).await.unwrap();
        let durable = file.write_at(3, IoBufs::from(b"d"), WriteOptions::SYNC);
        here.takes(ms(40), durable).await.unwrap();
        here.takes(ms(40), file.resize(8)).await.unwrap();
        here.takes(ms(40), file.sync()).await.unwrap();
        let started = async { file.start_sync().await.await };
        here.takes(ms(40), started).await.unwrap();
        let removed = here.disk.remove("stores", Some(b"file"));
        here.takes(ms(40), removed).await.unwrap();

        for (operation, times) in [("write", 3.0), ("sync", 2.0), ("remove", 1.0)] {
            let (held, seconds) = here.held(operation).unwrap();
            assert_eq!(held, times, "{operation}");
            assert!(
                (seconds - times * 0.04).abs() < 1e-9,
                "{operation}: {seconds}"
            );
        }
    });
}

#[test]
fn what_reads_does_not() {
    run(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        write(&file, b"abcd").await.unwrap();
        here.begin(slow(1_000), LONG);
        let options = ReadOptions::default();
        here.takes(ms(0), file.read_at(0, 4, options))
            .await
            .unwrap();
        let buffer = vec![0; 4];
        let read = file.read_at_buf(0, 4, buffer, options);
        here.takes(ms(0), read).await.unwrap();
        let ranges = [(0, 2), (2, 2)];
        let read = file.read_many(&ranges, options).collect::<Vec<_>>();
        assert_eq!(here.takes(ms(0), read).await.len(), 2);
        let started = async { file.start_read_many(&ranges, options).await.await };
        here.takes(ms(0), started).await.unwrap();
        here.takes(ms(0), here.disk.scan("stores")).await.unwrap();
        let opened = here.disk.open("stores", b"other");
        here.takes(ms(0), opened).await.unwrap();
        for operation in ["write", "sync", "remove"] {
            assert_eq!(here.held(operation), None, "{operation}");
        }
    });
}

#[test]
fn operations_are_not_in_each_others_way() {
    run(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        here.begin(slow(40), LONG);
        let syncs = join_all((0..20).map(|_| file.sync()));
        for synced in here.takes(ms(40), syncs).await {
            synced.unwrap();
        }
        assert_eq!(here.held("sync").unwrap().0, 20.0);
    });
}

#[test]
fn what_is_refused_is_refused_as_late() {
    run(|context| async move {
        let here = Here::new(&context);
        here.begin(slow(40), LONG);
        let removed = here.disk.remove("nowhere", None);
        assert!(here.takes(ms(40), removed).await.is_err());
    });
}

/// One that waited for the handle before it did anything would be done late.
#[test]
fn a_sync_goes_on_while_nobody_waits_for_it() {
    run(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        write(&file, b"abc").await.unwrap();
        here.begin(slow(40), LONG);
        let mut sync = here.takes(ms(0), file.start_sync()).await;
        here.context.sleep(ms(30)).await;
        assert!((&mut sync).now_or_never().is_none());
        here.context.sleep(ms(20)).await;
        (&mut sync).now_or_never().unwrap().unwrap();
    });
}

#[test]
fn without_a_fault_nothing_is_held_up() {
    run(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        here.takes(ms(0), write(&file, b"abc")).await.unwrap();
        here.takes(ms(0), file.sync()).await.unwrap();
        let started = async { file.start_sync().await.await };
        here.takes(ms(0), started).await.unwrap();
        assert_eq!(here.held("sync"), None);
        let other = here.context.child("other");
        assert!(here.faults.ongoing(other.current()).is_none());
    });
}
