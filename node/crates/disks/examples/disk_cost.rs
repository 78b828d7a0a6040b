// SPDX-License-Identifier: Apache-2.0
//! What it costs that a disk can have a fault: writes to a file of this machine, by the
//! runtime's own storage and by a disk without a fault, in turns. What two of the same
//! kind differ by is what this can tell.

#![allow(clippy::unwrap_used)]
#![allow(clippy::print_stdout, reason = "it is what this is for")]

use commonware_runtime::{
    Blob as _, Clock, Runner as _, Storage, Supervisor as _, WriteOptions,
    tokio::{Config, Runner},
};
use prometheus_client::registry::Registry;
use shardnode_disks::{Disk, Faults, Metrics};
use std::time::Duration;

const TURNS: usize = 150;
const WRITES: u32 = 1_000;
const BYTES: usize = 64;

/// The time of one write.
async fn write(clock: &impl Clock, storage: &impl Storage, name: &[u8]) -> Duration {
    let (file, _) = storage.open("cost", name).await.unwrap();
    let start = clock.current();
    for _ in 0..WRITES {
        let written = file.write_at(0, vec![7; BYTES], WriteOptions::default());
        written.await.unwrap();
    }
    clock.current().duration_since(start).unwrap() / WRITES
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn main() {
    let config = Config::new().with_worker_threads(2);
    Runner::new(config).start(|context| async move {
        let metrics = Metrics::new(&mut Registry::default());
        let disk = Disk::new(context.child("disk"), Faults::default(), metrics);
        let (mut own, mut again, mut disks) = (Vec::new(), Vec::new(), Vec::new());
        for turn in 0..TURNS {
            // Each is the first, the second and the last as often as the others.
            for place in 0..3 {
                match (turn + place) % 3 {
                    0 => own.push(write(&context, &context, b"own").await),
                    1 => disks.push(write(&context, &disk, b"disk").await),
                    _ => again.push(write(&context, &context, b"again").await),
                }
            }
        }
        context.remove("cost", None).await.unwrap();
        let [own, again, disks] = [own, again, disks].map(median);
        println!("a write to the runtime's own storage: {own:?}");
        println!("once more:                            {again:?}");
        println!("and to a disk without a fault:        {disks:?}");
    });
}
