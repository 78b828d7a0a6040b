// SPDX-License-Identifier: Apache-2.0
//! A disk with faults: everything that writes takes as long as it should, what is kept
//! is what the inner storage keeps, and without a fault nothing is different.

#![allow(clippy::unwrap_used, clippy::panic)]

mod expiry;
mod full;
mod kept;
mod slow;

use commonware_runtime::{
    Blob as _, Clock as _, Error, IoBufs, Runner as _, Storage as _, Supervisor as _, WriteOptions,
    deterministic::{Config, Context, Runner},
};
use prometheus_client::{encoding::text::encode, registry::Registry};
use shardnode_disks::{Disk, Fault, Faults, File, Metrics};
use std::time::Duration;

/// The deterministic clock goes on by this much whenever anything happens.
const CYCLE: Duration = Duration::from_micros(1);
/// All that happens around one operation.
const LITTLE: Duration = Duration::from_micros(200);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn slow(millis: u64) -> Fault {
    Fault::Slow { delay: ms(millis) }
}

/// Runs a test in a deterministic runtime.
fn run<F: Future<Output = ()>>(test: impl FnOnce(Context) -> F) {
    Runner::new(Config::new().with_seed(7).with_cycle(CYCLE)).start(test);
}

/// A disk, and the faults that it has.
struct Here {
    context: Context,
    disk: Disk<Context>,
    faults: Faults,
    registry: Registry,
}

impl Here {
    fn new(context: &Context) -> Self {
        let mut registry = Registry::default();
        let metrics = Metrics::new(&mut registry);
        let faults = Faults::default();
        Self {
            context: context.child("here"),
            disk: Disk::new(context.child("disk"), faults.clone(), metrics),
            faults,
            registry,
        }
    }

    async fn file(&self) -> File<Context> {
        self.disk.open("stores", b"file").await.unwrap().0
    }

    fn begin(&self, fault: Fault, duration: Duration) {
        self.faults
            .begin(self.context.child("fault"), fault, duration);
    }

    /// How long something takes.
    async fn time<T>(&self, doing: impl Future<Output = T>) -> (Duration, T) {
        let began = self.context.current();
        let done = doing.await;
        (self.context.current().duration_since(began).unwrap(), done)
    }

    /// Checks that something takes so long.
    async fn takes<T>(&self, expected: Duration, doing: impl Future<Output = T>) -> T {
        let (time, done) = self.time(doing).await;
        assert!(
            time >= expected && time <= expected + LITTLE,
            "{time:?}, not {expected:?}"
        );
        done
    }

    /// How often an operation was held up, and how long all together; `None` if never.
    fn held(&self, operation: &str) -> Option<(f64, f64)> {
        let held = self.counted("disk_held_operations", operation)?;
        Some((held, self.counted("disk_hold_seconds", operation)?))
    }

    /// How often an operation was refused; `None` if never.
    fn refused(&self, operation: &str) -> Option<f64> {
        self.counted("disk_refused_operations", operation)
    }

    fn counted(&self, metric: &str, operation: &str) -> Option<f64> {
        let mut text = String::new();
        encode(&mut text, &self.registry).unwrap();
        let start = format!("{metric}_total{{operation=\"{operation}\"}} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&start));
        line.map(|value| value.parse().unwrap())
    }
}

async fn write(file: &File<Context>, bytes: &'static [u8]) -> Result<(), Error> {
    let bytes = IoBufs::from(bytes);
    file.write_at(0, bytes, WriteOptions::default()).await
}
