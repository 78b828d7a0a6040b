// SPDX-License-Identifier: Apache-2.0
//! Faults begin and end while operations go on.

use crate::{Here, ms, run, slow};
use commonware_runtime::{Blob as _, Clock as _, Spawner as _, Supervisor as _};
use futures::join;
use shardnode_disks::Ongoing;
use std::time::Duration;

#[test]
fn a_fault_ends_by_itself() {
    run(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        here.begin(slow(40), ms(100));
        here.context.sleep(ms(30)).await;
        let Ongoing { fault, left } = here.faults.ongoing(here.context.current()).unwrap();
        assert_eq!(fault, slow(40));
        assert!(left <= ms(70) && left > ms(69), "{left:?}");
        here.context.sleep(ms(75)).await;
        assert!(here.faults.ongoing(here.context.current()).is_none());
        here.takes(ms(0), file.sync()).await.unwrap();
    });
}

/// Whoever asked for it is no more. The fault is of the node that has the disk.
#[test]
fn a_fault_ends_though_nobody_is_left_to_end_it() {
    run(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        let (faults, node) = (here.faults.clone(), here.context.child("fault"));
        let asked = here.context.child("asked").spawn(move |_| async move {
            faults.begin(node, slow(40), ms(100));
        });
        asked.await.unwrap();
        here.takes(ms(40), file.sync()).await.unwrap();
        here.context.sleep(ms(100)).await;
        here.takes(ms(0), file.sync()).await.unwrap();
    });
}

#[test]
fn what_is_held_up_is_done_when_the_fault_ends() {
    run(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        let end = async {
            here.context.sleep(ms(10)).await;
            here.faults.end();
        };
        here.begin(slow(1_000), Duration::from_secs(60));
        let (synced, ()) = here.takes(ms(10), async { join!(file.sync(), end) }).await;
        synced.unwrap();
        let (held, seconds) = here.held("sync").unwrap();
        assert!(
            held == 1.0 && (0.009..0.011).contains(&seconds),
            "{seconds}"
        );
        // There is none to end.
        here.faults.end();
    });
}

#[test]
fn another_fault_takes_the_place_of_one() {
    run(|context| async move {
        let here = Here::new(&context);
        let file = here.file().await;
        here.begin(slow(1_000), ms(50));
        let next = async {
            here.context.sleep(ms(10)).await;
            here.begin(slow(70), Duration::from_secs(60));
        };
        // What one held up is not held up by the next.
        let (synced, ()) = here.takes(ms(10), async { join!(file.sync(), next) }).await;
        synced.unwrap();
        // The time of the first does not end the second.
        here.context.sleep(ms(60)).await;
        here.takes(ms(70), file.sync()).await.unwrap();
    });
}
