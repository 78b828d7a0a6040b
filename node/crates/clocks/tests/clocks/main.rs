// SPDX-License-Identifier: Apache-2.0
//! A runtime whose clock is wrong for a time: it shows what it should, timers run as
//! fast as before, and without a fault nothing is different.

#![allow(clippy::unwrap_used)]

mod expiry;
mod jumps;
mod limits;

use commonware_runtime::{
    Clock as _, Runner as _, Supervisor as _,
    deterministic::{Config, Context, Runner},
};
use prometheus_client::{encoding::text::encode, registry::Registry};
use shardnode_clocks::{Clocked, Fault, Faults, Metrics, Offset};
use std::time::{Duration, UNIX_EPOCH};

/// The deterministic clock goes on by this much whenever anything happens.
const CYCLE: Duration = Duration::from_micros(1);
/// All that happens around one operation.
const LITTLE: Duration = Duration::from_micros(200);
const LONG: Duration = Duration::from_secs(3_600);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn off(millis: i64) -> Fault {
    let offset = Offset::from_millis(millis);
    Fault { offset }
}

/// Runs a test in a deterministic runtime, long after the beginning of all time.
fn run<F: Future<Output = ()>>(test: impl FnOnce(Context) -> F) {
    Runner::new(Config::new().with_seed(7).with_cycle(CYCLE)).start(|context| async move {
        context.sleep(LONG).await;
        test(context).await;
    });
}

/// A clock, and the faults that it has.
struct Here {
    /// With the right time.
    context: Context,
    clock: Clocked<Context>,
    faults: Faults,
    registry: Registry,
}

impl Here {
    fn new(context: &Context) -> Self {
        let mut registry = Registry::default();
        let faults = Faults::new(Metrics::new(&mut registry));
        Self {
            context: context.child("here"),
            clock: Clocked::new(context.child("clock"), faults.clone()),
            faults,
            registry,
        }
    }

    fn begin(&self, fault: Fault, duration: Duration) {
        self.faults
            .begin(self.context.child("fault"), fault, duration);
    }

    /// How far the clock is ahead, in milliseconds.
    fn ahead(&self) -> i128 {
        let millis = |at: std::time::SystemTime| {
            i128::try_from(at.duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
        };
        millis(self.clock.current()) - millis(self.context.current())
    }

    /// Checks that something takes so long, by the right time.
    async fn takes<T>(&self, expected: Duration, doing: impl Future<Output = T>) -> T {
        let began = self.context.current();
        let done = doing.await;
        let time = self.context.current().duration_since(began).unwrap();
        assert!(
            time >= expected && time <= expected + LITTLE,
            "{time:?}, not {expected:?}"
        );
        done
    }

    /// What the metric of it tells.
    fn measured(&self) -> f64 {
        let mut text = String::new();
        encode(&mut text, &self.registry).unwrap();
        let start = "clock_offset_seconds ";
        let line = text.lines().find_map(|line| line.strip_prefix(start));
        line.unwrap().parse().unwrap()
    }
}
