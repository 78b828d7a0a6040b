// SPDX-License-Identifier: Apache-2.0
//! The runtime around the clock: all but the time is the inner runtime's.

use crate::fault::Faults;
use commonware_parallel::Rayon;
use commonware_runtime::{
    Clock, Error, Handle, Metrics, Name, Network, Resolver, SinkOf, Spawner, Strategizer, StreamOf,
    Supervisor,
    signal::Signal,
    telemetry::metrics::{Metric, Registered},
};
use rand_core::{TryCryptoRng, TryRng};
use std::{
    fmt,
    future::Future,
    net::{IpAddr, SocketAddr},
    num::NonZeroUsize,
    time::{Duration, SystemTime},
};

/// A runtime whose clock can be wrong; see the crate.
pub struct Clocked<E> {
    inner: E,
    faults: Faults,
}

impl<E> Clocked<E> {
    /// A runtime whose clock, and that of all of its children, may have `faults`.
    #[must_use]
    pub const fn new(inner: E, faults: Faults) -> Self {
        Self { inner, faults }
    }
}

impl<E: fmt::Debug> fmt::Debug for Clocked<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clocked")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

impl<E: Network> Network for Clocked<E> {
    type Listener = E::Listener;

    async fn bind(&self, socket: SocketAddr) -> Result<E::Listener, Error> {
        self.inner.bind(socket).await
    }

    async fn dial(&self, socket: SocketAddr) -> Result<(SinkOf<E>, StreamOf<E>), Error> {
        self.inner.dial(socket).await
    }
}

impl<E: Resolver> Resolver for Clocked<E> {
    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, Error> {
        self.inner.resolve(host).await
    }
}

impl<E: Supervisor> Supervisor for Clocked<E> {
    fn name(&self) -> Name {
        self.inner.name()
    }

    fn child(&self, label: &'static str) -> Self {
        Self {
            inner: self.inner.child(label),
            faults: self.faults.clone(),
        }
    }

    fn with_attribute(self, key: &'static str, value: impl fmt::Display) -> Self {
        Self {
            inner: self.inner.with_attribute(key, value),
            faults: self.faults,
        }
    }
}

impl<E: Spawner> Spawner for Clocked<E> {
    fn shared(self, blocking: bool) -> Self {
        Self {
            inner: self.inner.shared(blocking),
            faults: self.faults,
        }
    }

    fn dedicated(self) -> Self {
        Self {
            inner: self.inner.dedicated(),
            faults: self.faults,
        }
    }

    fn spawn<F, Fut, T>(self, f: F) -> Handle<T>
    where
        F: FnOnce(Self) -> Fut + Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        let faults = self.faults;
        self.inner.spawn(move |inner| f(Self { inner, faults }))
    }

    async fn stop(self, value: i32, timeout: Option<Duration>) -> Result<(), Error> {
        self.inner.stop(value, timeout).await
    }

    fn stopped(&self) -> Signal {
        self.inner.stopped()
    }
}

impl<E: Strategizer> Strategizer for Clocked<E> {
    fn strategy(&self, parallelism: NonZeroUsize) -> Rayon {
        self.inner.strategy(parallelism)
    }
}

impl<E: Metrics> Metrics for Clocked<E> {
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

impl<E: Clock> governor::clock::Clock for Clocked<E> {
    type Instant = SystemTime;

    fn now(&self) -> SystemTime {
        self.current()
    }
}

impl<E: Clock> governor::clock::ReasonablyRealtime for Clocked<E> {}

impl<E: Clock> Clock for Clocked<E> {
    fn current(&self) -> SystemTime {
        self.faults.offset().shown(self.inner.current())
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static + use<E> {
        self.inner.sleep(duration)
    }

    fn sleep_until(
        &self,
        deadline: SystemTime,
    ) -> impl Future<Output = ()> + Send + 'static + use<E> {
        self.inner.sleep_until(self.faults.offset().right(deadline))
    }
}

impl<E: TryRng> TryRng for Clocked<E> {
    type Error = E::Error;

    fn try_next_u32(&mut self) -> Result<u32, E::Error> {
        self.inner.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, E::Error> {
        self.inner.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), E::Error> {
        self.inner.try_fill_bytes(bytes)
    }
}

impl<E: TryCryptoRng> TryCryptoRng for Clocked<E> {}
