// SPDX-License-Identifier: Apache-2.0
//! A blob of a disk.

use crate::{disk::Device, metrics::Operation};
use commonware_runtime::{
    Blob, Clock, Error, Handle, IoBufs, IoBufsMut, ReadOptions, Spawner, Storage, WriteOptions,
};
use futures::Stream;
use std::{fmt, sync::Arc};

/// A blob of a [`Disk`](crate::Disk).
pub struct File<E: Storage> {
    inner: E::Blob,
    device: Arc<Device<E>>,
}

impl<E: Storage> File<E> {
    pub(crate) const fn new(inner: E::Blob, device: Arc<Device<E>>) -> Self {
        Self { inner, device }
    }
}

impl<E: Storage> fmt::Debug for File<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").finish_non_exhaustive()
    }
}

impl<E: Storage + Clock + Spawner> Blob for File<E> {
    async fn read_at_buf(
        &self,
        offset: u64,
        len: usize,
        bufs: impl Into<IoBufsMut> + Send,
        options: ReadOptions,
    ) -> Result<IoBufsMut, Error> {
        self.inner.read_at_buf(offset, len, bufs, options).await
    }

    async fn read_at(
        &self,
        offset: u64,
        len: usize,
        options: ReadOptions,
    ) -> Result<IoBufsMut, Error> {
        self.inner.read_at(offset, len, options).await
    }

    fn read_many(
        &self,
        ranges: &[(u64, usize)],
        options: ReadOptions,
    ) -> impl Stream<Item = Result<(usize, IoBufsMut), Error>> + Send {
        self.inner.read_many(ranges, options)
    }

    async fn start_read_many(
        &self,
        ranges: &[(u64, usize)],
        options: ReadOptions,
    ) -> Handle<Vec<IoBufsMut>> {
        self.inner.start_read_many(ranges, options).await
    }

    async fn write_at(
        &self,
        offset: u64,
        bufs: impl Into<IoBufs> + Send,
        options: WriteOptions,
    ) -> Result<(), Error> {
        let written = self.inner.write_at(offset, bufs, options);
        self.device.written(written).await
    }

    async fn resize(&self, len: u64) -> Result<(), Error> {
        let resized = self.inner.resize(len);
        self.device.written(resized).await
    }

    async fn sync(&self) -> Result<(), Error> {
        let synced = self.inner.sync();
        self.device.done(Operation::Sync, synced).await
    }

    async fn start_sync(&self) -> Handle<()> {
        let fault = self.device.fault();
        let sync = self.inner.start_sync().await;
        let Some(turn) = fault else {
            return sync;
        };
        let device = self.device.clone();
        // It is done when it is, whether or not anybody waits for it.
        let held = self
            .device
            .context
            .child("sync")
            .spawn(move |_| async move {
                let synced = sync.await;
                device.hold(Operation::Sync, turn).await;
                synced
            });
        Handle::from_future(async move { held.await? })
    }
}
