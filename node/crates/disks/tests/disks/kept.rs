// SPDX-License-Identifier: Apache-2.0
//! What is kept is what the inner storage keeps.

use crate::{CYCLE, Here, ms, slow, write};
use commonware_runtime::{
    Blob as _, ReadOptions, Runner as _, Storage as _,
    deterministic::{Config, Runner},
};
use std::time::Duration;

/// A crash loses what was not synced, and nothing that was, though the disk was slow.
#[test]
fn what_was_synced_while_the_disk_was_slow_outlives_a_crash() {
    let config = Config::new().with_seed(7).with_cycle(CYCLE);
    let ((), crashed) = Runner::new(config).start_and_recover(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        here.begin(slow(40), Duration::from_secs(60));
        write(&file, b"kept").await.unwrap();
        file.sync().await.unwrap();
        write(&file, b"lost").await.unwrap();
    });
    Runner::from(crashed).start(|context| async move {
        let here = Here::new(&context);
        let (file, length) = here.disk.open("stores", b"file").await.unwrap();
        assert_eq!(length, 4);
        let read = file.read_at(0, 4, ReadOptions::default()).await.unwrap();
        assert_eq!(read.coalesce().as_ref(), b"kept");
        // A process that begins knows of no fault.
        here.takes(ms(0), file.sync()).await.unwrap();
    });
}
