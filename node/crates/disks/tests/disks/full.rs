// SPDX-License-Identifier: Apache-2.0
//! What a full disk refuses, and what not.

use crate::{Here, ms, run, slow, write};
use commonware_runtime::{
    Blob as _, Clock as _, Error, IoBufs, ReadOptions, Storage as _, WriteOptions,
};
use shardnode_disks::Fault;
use std::{io::ErrorKind, time::Duration};

const LONG: Duration = Duration::from_secs(60);
/// How much later than it was asked for a disk is full.
const LEAD: Duration = Duration::from_millis(250);

fn assert_full(result: Result<(), Error>) {
    let Err(Error::Io(error)) = result else {
        panic!("{result:?}");
    };
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert!(error.to_string().starts_with("No space left on device"));
}

#[test]
fn nothing_can_be_written_until_the_fault_ends() {
    run(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        write(&file, b"abcd").await.unwrap();
        here.begin(Fault::Full, LONG);
        assert!(here.faults.ongoing(here.context.current()).is_some());
        write(&file, b"abcd").await.unwrap();
        here.context.sleep(LEAD + ms(1)).await;
        assert_full(write(&file, b"efgh").await);
        let durable = file.write_at(0, IoBufs::from(b"efgh"), WriteOptions::SYNC);
        assert_full(durable.await);
        assert_full(file.resize(8).await);
        assert_eq!(here.refused("write"), Some(3.0));

        // What was written is there, and can be made durable.
        file.sync().await.unwrap();
        file.start_sync().await.await.unwrap();
        let read = file.read_at(0, 4, ReadOptions::default()).await.unwrap();
        assert_eq!(read.coalesce().as_ref(), b"abcd");
        here.disk.open("stores", b"other").await.unwrap();
        here.disk.remove("stores", Some(b"other")).await.unwrap();

        here.faults.end();
        write(&file, b"efgh").await.unwrap();
        assert_eq!(here.held("write"), None);
    });
}

#[test]
fn a_full_disk_ends_being_so_by_itself() {
    run(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        here.begin(slow(1), LONG);
        here.begin(Fault::Full, 2 * LEAD);
        here.context.sleep(LEAD + ms(1)).await;
        assert_full(write(&file, b"abcd").await);
        here.context.sleep(LEAD).await;
        write(&file, b"abcd").await.unwrap();
    });
}

#[test]
fn one_that_ends_before_the_disk_is_full_never_has_it_so() {
    run(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        here.begin(Fault::Full, LONG);
        here.faults.end();
        here.context.sleep(2 * LEAD).await;
        write(&file, b"abcd").await.unwrap();
        // And one that is shorter.
        here.begin(Fault::Full, ms(10));
        here.context.sleep(2 * LEAD).await;
        write(&file, b"abcd").await.unwrap();
        assert_eq!(here.refused("write"), None);
    });
}
