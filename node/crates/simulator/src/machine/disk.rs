// SPDX-License-Identifier: Apache-2.0
//! The disk of a machine: the runtime's storage, slower, up to the point at
//! which the machine stops. Reading is as fast as ever: nodes wait for their
//! disks when they write.

use super::{Change, Faults, Machine};
use commonware_runtime::{
    Blob, BlobVersion, Error, Handle, IoBufs, IoBufsMut, ReadOptions, Storage, WriteOptions,
    deterministic::Context,
};
use futures::Stream;
use std::{future::Future, ops::RangeInclusive, sync::Arc};

/// An open file of a machine.
pub struct File {
    inner: <Context as Storage>::Blob,
    faults: Arc<Faults>,
}

impl Machine {
    /// Whether a file is there, so that opening it changes nothing.
    async fn holds(&self, partition: &str, name: &[u8]) -> bool {
        let names = self.inner.scan(partition).await.unwrap_or_default();
        names.iter().any(|held| held == name)
    }
}

impl Storage for Machine {
    type Blob = File;

    async fn open_versioned(
        &self,
        partition: &str,
        name: &[u8],
        versions: RangeInclusive<BlobVersion>,
    ) -> Result<(File, u64, BlobVersion), Error> {
        if !self.holds(partition, name).await {
            self.faults.before_change(Change::Other).await;
        }
        let (inner, length, version) = self.inner.open_versioned(partition, name, versions).await?;
        let faults = self.faults.clone();
        Ok((File { inner, faults }, length, version))
    }

    async fn remove(&self, partition: &str, name: Option<&[u8]>) -> Result<(), Error> {
        self.faults.before_change(Change::Other).await;
        self.inner.remove(partition, name).await
    }

    async fn scan(&self, partition: &str) -> Result<Vec<Vec<u8>>, Error> {
        self.inner.scan(partition).await
    }
}

impl Blob for File {
    fn read_at_buf(
        &self,
        offset: u64,
        len: usize,
        bufs: impl Into<IoBufsMut> + Send,
        options: ReadOptions,
    ) -> impl Future<Output = Result<IoBufsMut, Error>> + Send {
        self.inner.read_at_buf(offset, len, bufs, options)
    }

    fn read_at(
        &self,
        offset: u64,
        len: usize,
        options: ReadOptions,
    ) -> impl Future<Output = Result<IoBufsMut, Error>> + Send {
        self.inner.read_at(offset, len, options)
    }

    fn read_many(
        &self,
        ranges: &[(u64, usize)],
        options: ReadOptions,
    ) -> impl Stream<Item = Result<(usize, IoBufsMut), Error>> + Send {
        self.inner.read_many(ranges, options)
    }

    fn start_read_many(
        &self,
        ranges: &[(u64, usize)],
        options: ReadOptions,
    ) -> impl Future<Output = Handle<Vec<IoBufsMut>>> + Send {
        self.inner.start_read_many(ranges, options)
    }

    async fn write_at(
        &self,
        offset: u64,
        bufs: impl Into<IoBufs> + Send,
        options: WriteOptions,
    ) -> Result<(), Error> {
        self.faults.before_change(Change::Other).await;
        self.inner.write_at(offset, bufs, options).await
    }

    async fn resize(&self, len: u64) -> Result<(), Error> {
        self.faults.before_change(Change::Other).await;
        self.inner.resize(len).await
    }

    async fn sync(&self) -> Result<(), Error> {
        self.faults.before_change(Change::Sync).await;
        self.inner.sync().await
    }

    async fn start_sync(&self) -> Handle<()> {
        self.faults.before_change(Change::Sync).await;
        self.inner.start_sync().await
    }
}
