// SPDX-License-Identifier: Apache-2.0
//! The machine that a simulated node runs on.
//!
//! The deterministic runtime has one clock and one storage for everybody. A
//! [`Machine`] is that runtime as one node sees it: with a clock that is wrong
//! by a constant, [`Processors`] and a disk that take time, and a point at which it
//! stops, namely before a given one of its next writes, syncs or removals. What was not
//! synced by then is lost, as when the power fails.
//!
//! A machine that stops does not return from the operation: nothing on it
//! goes on until whoever watches [`Faults::stopped`] aborts the node.

mod disk;
mod processors;

pub use processors::Processors;

use self::processors::Busy;
use crate::costs;
use commonware_parallel::Rayon;
use commonware_runtime::{
    Clock, Error, Handle, Metrics, Name, Spawner, Strategizer, Supervisor,
    deterministic::Context,
    signal::Signal,
    telemetry::metrics::{Metric, Registered},
};
use commonware_utils::SystemTimeExt as _;
use futures::future::Either;
use rand_core::{TryCryptoRng, TryRng};
use std::{
    convert::Infallible,
    future::Future,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

/// How far a node's clock is from the right time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skew {
    /// It is right.
    #[default]
    None,
    /// It is ahead.
    Ahead(Duration),
    /// It is behind.
    Behind(Duration),
}

impl Skew {
    /// The wrong time at the right time `at`.
    fn of(self, at: SystemTime) -> SystemTime {
        match self {
            Self::None => at,
            Self::Ahead(by) => at.saturating_add_ext(by),
            Self::Behind(by) => at - by,
        }
    }

    /// The right time when the clock shows `at`; who waits for ever waits for
    /// the last time that there is.
    fn when(self, at: SystemTime) -> SystemTime {
        match self {
            Self::None => at,
            Self::Ahead(by) => at - by,
            Self::Behind(by) => at.saturating_add_ext(by),
        }
    }
}

/// No operation is this one.
const NEVER: u64 = u64::MAX;

/// What changes a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// Making durable what is on it.
    Sync,
    /// Anything else.
    Other,
}

/// What is wrong with a machine; it outlives the node that runs on it.
pub struct Faults {
    clock: Context,
    skew: Skew,
    delay_us: AtomicU64,
    /// Whether changes take what they take on a disk.
    costs: bool,
    operations: AtomicU64,
    stop_at: AtomicU64,
    stopped: AtomicBool,
}

impl Faults {
    /// A machine with nothing wrong but its clock. Disks wait on `clock`, if only
    /// for what changes to a disk [cost](crate::costs).
    #[must_use]
    pub fn new(clock: Context, skew: Skew, costs: bool) -> Arc<Self> {
        Arc::new(Self {
            clock,
            skew,
            costs,
            delay_us: AtomicU64::new(0),
            operations: AtomicU64::new(0),
            stop_at: AtomicU64::new(NEVER),
            stopped: AtomicBool::new(false),
        })
    }

    /// From now on every write, sync and removal takes this long.
    pub fn slow_disk(&self, delay: Duration) {
        let micros = u64::try_from(delay.as_micros()).unwrap_or(u64::MAX);
        self.delay_us.store(micros, Ordering::Relaxed);
    }

    /// Stops the machine before the operation that follows `operations` more.
    pub fn stop_after(&self, operations: u64) {
        let now = self.operations.load(Ordering::Relaxed);
        self.stop_at
            .store(now.saturating_add(operations), Ordering::Relaxed);
    }

    /// Whether the machine stopped.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Starts the machine again.
    pub fn start(&self) {
        self.stop_at.store(NEVER, Ordering::Relaxed);
        self.stopped.store(false, Ordering::Relaxed);
    }

    /// What an operation that changes the disk waits for.
    async fn before_change(&self, change: Change) {
        let mut delay = Duration::from_micros(self.delay_us.load(Ordering::Relaxed));
        if self.costs {
            delay += match change {
                Change::Sync => costs::SYNC,
                Change::Other => costs::CHANGE,
            };
        }
        if !delay.is_zero() {
            self.clock.sleep(delay).await;
        }
        let operation = self.operations.fetch_add(1, Ordering::Relaxed);
        if operation >= self.stop_at.load(Ordering::Relaxed) {
            self.stopped.store(true, Ordering::Relaxed);
            std::future::pending::<()>().await;
        }
    }
}

/// The runtime as one node sees it.
pub struct Machine {
    inner: Context,
    faults: Arc<Faults>,
    /// `None` for a machine whose work takes no time.
    processors: Option<Arc<Processors>>,
}

impl Machine {
    /// The runtime with the faults of a machine, and its processors.
    #[must_use]
    pub const fn new(
        inner: Context,
        faults: Arc<Faults>,
        processors: Option<Arc<Processors>>,
    ) -> Self {
        Self {
            inner,
            faults,
            processors,
        }
    }
}

impl Supervisor for Machine {
    fn name(&self) -> Name {
        self.inner.name()
    }

    fn child(&self, label: &'static str) -> Self {
        Self {
            inner: self.inner.child(label),
            faults: self.faults.clone(),
            processors: self.processors.clone(),
        }
    }

    fn with_attribute(self, key: &'static str, value: impl std::fmt::Display) -> Self {
        Self {
            inner: self.inner.with_attribute(key, value),
            faults: self.faults,
            processors: self.processors,
        }
    }
}

impl Spawner for Machine {
    fn shared(self, blocking: bool) -> Self {
        Self {
            inner: self.inner.shared(blocking),
            faults: self.faults,
            processors: self.processors,
        }
    }

    fn dedicated(self) -> Self {
        Self {
            inner: self.inner.dedicated(),
            faults: self.faults,
            processors: self.processors,
        }
    }

    fn spawn<F, Fut, T>(self, f: F) -> Handle<T>
    where
        F: FnOnce(Self) -> Fut + Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        let Self {
            inner,
            faults,
            processors,
        } = self;
        inner.spawn(move |inner| {
            let on = processors.clone();
            let task = f(Self {
                inner,
                faults,
                processors,
            });
            match on {
                Some(processors) => Either::Left(Busy::new(task, processors)),
                None => Either::Right(task),
            }
        })
    }

    async fn stop(self, value: i32, timeout: Option<Duration>) -> Result<(), Error> {
        self.inner.stop(value, timeout).await
    }

    fn stopped(&self) -> Signal {
        self.inner.stopped()
    }
}

impl Strategizer for Machine {
    fn strategy(&self, parallelism: NonZeroUsize) -> Rayon {
        self.inner.strategy(parallelism)
    }
}

impl Metrics for Machine {
    fn register<N: Into<String>, H: Into<String>, M: Metric>(
        &self,
        name: N,
        help: H,
        metric: M,
    ) -> Registered<M> {
        self.inner.register(name, help, metric)
    }

    fn encode(&self) -> String {
        self.inner.encode()
    }
}

impl governor::clock::Clock for Machine {
    type Instant = SystemTime;

    fn now(&self) -> SystemTime {
        self.current()
    }
}

impl governor::clock::ReasonablyRealtime for Machine {}

impl Clock for Machine {
    fn current(&self) -> SystemTime {
        self.faults.skew.of(self.inner.current())
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static + use<> {
        self.inner.sleep(duration)
    }

    fn sleep_until(
        &self,
        deadline: SystemTime,
    ) -> impl Future<Output = ()> + Send + 'static + use<> {
        self.inner.sleep_until(self.faults.skew.when(deadline))
    }
}

impl TryRng for Machine {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.inner.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.inner.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.inner.try_fill_bytes(bytes)
    }
}

impl TryCryptoRng for Machine {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn wrong_clocks_wake_at_the_right_time() {
        let right = UNIX_EPOCH + 10 * SECOND;
        for skew in [Skew::None, Skew::Ahead(SECOND), Skew::Behind(SECOND)] {
            assert_eq!(skew.when(skew.of(right)), right, "{skew:?}");
        }
        assert_eq!(Skew::Ahead(SECOND).of(right), right + SECOND);
        assert_eq!(Skew::Behind(SECOND).of(right), right - SECOND);
    }

    #[test]
    fn a_clock_that_is_behind_can_wait_for_ever() {
        let ever = SystemTime::limit();
        assert_eq!(Skew::Behind(SECOND).when(ever), ever);
    }
}
