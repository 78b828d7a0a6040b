// SPDX-License-Identifier: Apache-2.0
//! A storage that is watched: what it has open, how it is closed, and how long
//! its operations take.

use commonware_runtime::{
    Blob, BlobVersion, Error, Handle, IoBufs, IoBufsMut, Name, ReadOptions, Storage, Supervisor,
    WriteOptions, deterministic::Context, reschedule,
};
use commonware_utils::{channel::oneshot, sync::Mutex};
use futures::{Stream, StreamExt as _, stream};
use std::{
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

/// What is seen, and what is asked for.
#[derive(Default)]
pub(crate) struct Watch {
    /// Blobs open now.
    pub(crate) open: AtomicUsize,
    /// Blobs opened ever.
    pub(crate) opened: AtomicUsize,
    /// Blobs that were closed with writes that no sync covers.
    pub(crate) closed_dirty: AtomicUsize,
    /// Blobs that were closed with an operation in flight.
    pub(crate) closed_in_use: AtomicUsize,
    /// Opening fails.
    pub(crate) broken: AtomicBool,
    /// Operations take up to so many turns.
    pub(crate) slow: AtomicU64,
    /// Syncs that are started complete when they are released.
    pub(crate) parking: AtomicBool,
    pub(crate) parked: Mutex<Vec<oneshot::Sender<()>>>,
    /// The next removal begins when this is dropped.
    pub(crate) removal: Mutex<Option<oneshot::Receiver<()>>>,
    dice: AtomicU64,
}

impl Watch {
    async fn take_turns(&self) {
        let limit = self.slow.load(Relaxed);
        if limit == 0 {
            return;
        }
        let dice = self.dice.load(Relaxed);
        let dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.dice.store(dice, Relaxed);
        for _ in 0..(dice >> 33) % (limit + 1) {
            reschedule().await;
        }
    }
}

/// The storage.
pub(crate) struct Disk {
    inner: Context,
    pub(crate) watch: Arc<Watch>,
}

impl Disk {
    pub(crate) fn new(inner: Context) -> Self {
        let watch = Arc::default();
        Self { inner, watch }
    }
}

impl Supervisor for Disk {
    fn name(&self) -> Name {
        self.inner.name()
    }

    fn child(&self, label: &'static str) -> Self {
        Self {
            inner: self.inner.child(label),
            watch: self.watch.clone(),
        }
    }

    fn with_attribute(self, key: &'static str, value: impl std::fmt::Display) -> Self {
        Self {
            inner: self.inner.with_attribute(key, value),
            watch: self.watch,
        }
    }
}

impl Storage for Disk {
    type Blob = Watched;

    async fn open_versioned(
        &self,
        partition: &str,
        name: &[u8],
        versions: RangeInclusive<BlobVersion>,
    ) -> Result<(Watched, u64, BlobVersion), Error> {
        self.watch.take_turns().await;
        if self.watch.broken.load(Relaxed) {
            return Err(Error::ReadFailed);
        }
        let (inner, length, version) = self.inner.open_versioned(partition, name, versions).await?;
        self.watch.open.fetch_add(1, Relaxed);
        self.watch.opened.fetch_add(1, Relaxed);
        let blob = Watched {
            inner,
            watch: self.watch.clone(),
            dirty: AtomicBool::new(false),
            operations: Arc::default(),
        };
        blob.watch.take_turns().await;
        Ok((blob, length, version))
    }

    async fn remove(&self, partition: &str, name: Option<&[u8]>) -> Result<(), Error> {
        self.watch.take_turns().await;
        let held = self.watch.removal.lock().take();
        if let Some(held) = held {
            let _ = held.await;
        }
        self.inner.remove(partition, name).await?;
        self.watch.take_turns().await;
        Ok(())
    }

    async fn scan(&self, partition: &str) -> Result<Vec<Vec<u8>>, Error> {
        self.inner.scan(partition).await
    }
}

/// A blob of it.
pub(crate) struct Watched {
    inner: <Context as Storage>::Blob,
    watch: Arc<Watch>,
    dirty: AtomicBool,
    operations: Arc<()>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.open.fetch_sub(1, Relaxed);
        if self.dirty.load(Relaxed) {
            self.watch.closed_dirty.fetch_add(1, Relaxed);
        }
        if Arc::strong_count(&self.operations) > 1 {
            self.watch.closed_in_use.fetch_add(1, Relaxed);
        }
    }
}

impl Blob for Watched {
    async fn read_at_buf(
        &self,
        offset: u64,
        len: usize,
        bufs: impl Into<IoBufsMut> + Send,
        options: ReadOptions,
    ) -> Result<IoBufsMut, Error> {
        self.watch.take_turns().await;
        self.inner.read_at_buf(offset, len, bufs, options).await
    }

    async fn read_at(
        &self,
        offset: u64,
        len: usize,
        options: ReadOptions,
    ) -> Result<IoBufsMut, Error> {
        self.watch.take_turns().await;
        self.inner.read_at(offset, len, options).await
    }

    fn read_many(
        &self,
        ranges: &[(u64, usize)],
        options: ReadOptions,
    ) -> impl Stream<Item = Result<(usize, IoBufsMut), Error>> + Send {
        let ranges = stream::iter(ranges.iter().enumerate());
        ranges.then(move |(index, &(offset, len))| async move {
            Ok((index, self.read_at(offset, len, options).await?))
        })
    }

    async fn start_read_many(
        &self,
        ranges: &[(u64, usize)],
        options: ReadOptions,
    ) -> Handle<Vec<IoBufsMut>> {
        let mut read = Ok(Vec::new());
        for &(offset, len) in ranges {
            match (&mut read, self.read_at(offset, len, options).await) {
                (Ok(read), Ok(bufs)) => read.push(bufs),
                (read, Err(error)) => *read = Err(error),
                (Err(_), Ok(_)) => {}
            }
        }
        let (watch, operation) = (self.watch.clone(), self.operations.clone());
        Handle::from_future(async move {
            watch.take_turns().await;
            drop(operation);
            read
        })
    }

    async fn write_at(
        &self,
        offset: u64,
        bufs: impl Into<IoBufs> + Send,
        options: WriteOptions,
    ) -> Result<(), Error> {
        let bufs = bufs.into();
        if !options.contains(WriteOptions::SYNC) {
            self.dirty.store(true, Relaxed);
        }
        self.watch.take_turns().await;
        self.inner.write_at(offset, bufs, options).await
    }

    async fn resize(&self, len: u64) -> Result<(), Error> {
        self.dirty.store(true, Relaxed);
        self.watch.take_turns().await;
        self.inner.resize(len).await
    }

    async fn sync(&self) -> Result<(), Error> {
        self.watch.take_turns().await;
        self.inner.sync().await?;
        self.dirty.store(false, Relaxed);
        Ok(())
    }

    async fn start_sync(&self) -> Handle<()> {
        let synced = self.sync().await;
        let (sender, receiver) = oneshot::channel();
        if self.watch.parking.load(Relaxed) {
            self.watch.parked.lock().push(sender);
        }
        let (watch, operation) = (self.watch.clone(), self.operations.clone());
        Handle::from_future(async move {
            // Completed, or nobody parks it.
            let _ = receiver.await;
            watch.take_turns().await;
            drop(operation);
            synced
        })
    }
}
