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
pub struct Bounded<E, S: Storage = E> {
    inner: E,
    files: Arc<Files<S>>,
}

impl<E: Storage + Supervisor> Bounded<E> {
    /// A runtime, and how many blobs it and all of its children together may
    /// have open.
    #[must_use]
    pub fn new(inner: E, bound: NonZeroUsize) -> Self {
        let storage = inner.child("open_files");
        Self::over(inner, storage, bound)
    }
}

impl<E, S: Storage> Bounded<E, S> {
    /// A runtime with the storage of another one, and how many of its blobs may be
    /// open.
    #[must_use]
    pub fn over(inner: E, storage: S, bound: NonZeroUsize) -> Self {
        let files = Files::new(storage, bound);
        Self { inner, files }
    }

    /// How many it has open.
    #[must_use]
    pub fn open_count(&self) -> OpenCount {
        self.files.table.lock().open_count()
    }
}

impl<E: Send + Sync + 'static, S: Storage> Storage for Bounded<E, S> {
    type Blob = File<S>;

    async fn open_versioned(
        &self,
        partition: &str,
        name: &[u8],
        versions: RangeInclusive<BlobVersion>,
    ) -> Result<(File<S>, u64, BlobVersion), Error> {
        self.files.open(partition, name, versions).await
    }

    async fn remove(&self, partition: &str, name: Option<&[u8]>) -> Result<(), Error> {
        self.files.remove(partition, name).await
    }

    async fn scan(&self, partition: &str) -> Result<Vec<Vec<u8>>, Error> {
        self.files.scan(partition).await
    }
}

impl<E: Supervisor, S: Storage> Supervisor for Bounded<E, S> {
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

impl<E: Spawner, S: Storage> Spawner for Bounded<E, S> {
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

impl<E: Strategizer, S: Storage> Strategizer for Bounded<E, S> {
    fn strategy(&self, parallelism: NonZeroUsize) -> Rayon {
        self.inner.strategy(parallelism)
    }
}

impl<E: Metrics, S: Storage> Metrics for Bounded<E, S> {
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

impl<E: Clock, S: Storage> governor::clock::Clock for Bounded<E, S> {
    type Instant = SystemTime;

    fn now(&self) -> SystemTime {
        self.inner.now()
    }
}

impl<E: Clock, S: Storage> governor::clock::ReasonablyRealtime for Bounded<E, S> {}

impl<E: Clock, S: Storage> Clock for Bounded<E, S> {
    fn current(&self) -> SystemTime {
        self.inner.current()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static + use<E, S> {
        self.inner.sleep(duration)
    }

    fn sleep_until(
        &self,
        deadline: SystemTime,
    ) -> impl Future<Output = ()> + Send + 'static + use<E, S> {
        self.inner.sleep_until(deadline)
    }
}

impl<E: TryRng, S: Storage> TryRng for Bounded<E, S> {
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

impl<E: TryCryptoRng, S: Storage> TryCryptoRng for Bounded<E, S> {}
