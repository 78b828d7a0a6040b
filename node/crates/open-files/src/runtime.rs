// SPDX-License-Identifier: Apache-2.0
//! The runtime around the storage: all but storage is the inner runtime's.

use crate::{blob::File, files::Files, table::OpenCount};
use commonware_parallel::Rayon;
use commonware_runtime::{
    BlobVersion, Clock, Error, Handle, Metrics, Name, Spawner, Storage, Strategizer, Supervisor,
    signal::Signal,
    telemetry::metrics::{Metric, Registered},
};
use rand_core::{TryCryptoRng, TryRng};
use std::{
    fmt,
    future::Future,
    num::NonZeroUsize,
    ops::RangeInclusive,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// A runtime whose storage keeps at most so many files open; see the crate.
pub struct Bounded<E: Storage> {
    inner: E,
    files: Arc<Files<E>>,
}

impl<E: Storage + Supervisor> Bounded<E> {
    /// A runtime, and how many blobs it and all of its children together may
    /// have open.
    #[must_use]
    pub fn new(inner: E, bound: NonZeroUsize) -> Self {
        let files = Files::new(inner.child("open_files"), bound);
        Self { inner, files }
    }

    /// How many it has open.
    #[must_use]
    pub fn open_count(&self) -> OpenCount {
        self.files.table.lock().open_count()
    }
}

impl<E: Storage> Storage for Bounded<E> {
    type Blob = File<E>;

    async fn open_versioned(
        &self,
        partition: &str,
        name: &[u8],
        versions: RangeInclusive<BlobVersion>,
    ) -> Result<(File<E>, u64, BlobVersion), Error> {
        self.files.open(partition, name, versions).await
    }

    async fn remove(&self, partition: &str, name: Option<&[u8]>) -> Result<(), Error> {
        self.files.remove(partition, name).await
    }

    async fn scan(&self, partition: &str) -> Result<Vec<Vec<u8>>, Error> {
        self.files.scan(partition).await
    }
}

impl<E: Storage + Supervisor> Supervisor for Bounded<E> {
    fn name(&self) -> Name {
        self.inner.name()
    }

    fn child(&self, label: &'static str) -> Self {
        Self {
            inner: self.inner.child(label),
            files: self.files.clone(),
        }
    }

    fn with_attribute(self, key: &'static str, value: impl fmt::Display) -> Self {
        Self {
            inner: self.inner.with_attribute(key, value),
            files: self.files,
        }
    }
}

impl<E: Storage + Spawner> Spawner for Bounded<E> {
    fn shared(self, blocking: bool) -> Self {
        Self {
            inner: self.inner.shared(blocking),
            files: self.files,
        }
    }

    fn dedicated(self) -> Self {
        Self {
            inner: self.inner.dedicated(),
            files: self.files,
        }
    }

    fn spawn<F, Fut, T>(self, f: F) -> Handle<T>
    where
        F: FnOnce(Self) -> Fut + Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        let files = self.files;
        self.inner.spawn(move |inner| f(Self { inner, files }))
    }

    async fn stop(self, value: i32, timeout: Option<Duration>) -> Result<(), Error> {
        self.inner.stop(value, timeout).await
    }

    fn stopped(&self) -> Signal {
        self.inner.stopped()
    }
}

impl<E: Storage + Strategizer> Strategizer for Bounded<E> {
    fn strategy(&self, parallelism: NonZeroUsize) -> Rayon {
        self.inner.strategy(parallelism)
    }
}

impl<E: Storage + Metrics> Metrics for Bounded<E> {
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

impl<E: Storage + Clock> governor::clock::Clock for Bounded<E> {
    type Instant = SystemTime;

    fn now(&self) -> SystemTime {
        self.inner.now()
    }
}

impl<E: Storage + Clock> governor::clock::ReasonablyRealtime for Bounded<E> {}

impl<E: Storage + Clock> Clock for Bounded<E> {
    fn current(&self) -> SystemTime {
        self.inner.current()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static + use<E> {
        self.inner.sleep(duration)
    }

    fn sleep_until(
        &self,
        deadline: SystemTime,
    ) -> impl Future<Output = ()> + Send + 'static + use<E> {
        self.inner.sleep_until(deadline)
    }
}

impl<E: Storage + TryRng> TryRng for Bounded<E> {
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

impl<E: Storage + TryCryptoRng> TryCryptoRng for Bounded<E> {}
