// SPDX-License-Identifier: Apache-2.0
//! A handle that outlives its open file.

use crate::{
    files::{Files, Lease},
    table::{Id, Name},
};
use commonware_runtime::{
    Blob, Error, Handle, IoBufs, IoBufsMut, ReadOptions, Storage, WriteOptions,
};
use futures::{FutureExt as _, Stream, StreamExt as _, channel::mpsc, future, stream};
use std::{pin::pin, sync::Arc};

/// A blob that is open, or is opened when it is used next.
pub struct File<S: Storage> {
    files: Arc<Files<S>>,
    id: Id,
    pub(crate) name: Arc<Name>,
}

impl<S: Storage> File<S> {
    pub(crate) const fn new(files: Arc<Files<S>>, id: Id, name: Arc<Name>) -> Self {
        Self { files, id, name }
    }

    async fn lease(&self) -> Result<Lease<S>, Error> {
        self.files.lease(self.id, &self.name).await
    }

    /// Whether the blob is closed, and so has nothing to sync.
    fn is_closed(&self) -> bool {
        self.files.table.lock().closed(self.id).is_some()
    }

    fn begin_mutation(&self) {
        self.files.table.lock().begin_mutation(self.id);
    }

    fn complete_mutation(&self, durable: bool) {
        self.files.table.lock().complete_mutation(self.id, durable);
    }
}

impl<S: Storage> Drop for File<S> {
    fn drop(&mut self) {
        // The last handle of a large file that was removed frees its space:
        // not under the lock.
        let blob = self.files.table.lock().forget(self.id);
        drop(blob);
    }
}

impl<S: Storage> Blob for File<S> {
    async fn read_at_buf(
        &self,
        offset: u64,
        len: usize,
        bufs: impl Into<IoBufsMut> + Send,
        options: ReadOptions,
    ) -> Result<IoBufsMut, Error> {
        let lease = self.lease().await?;
        lease.blob.read_at_buf(offset, len, bufs, options).await
    }

    async fn read_at(
        &self,
        offset: u64,
        len: usize,
        options: ReadOptions,
    ) -> Result<IoBufsMut, Error> {
        let lease = self.lease().await?;
        lease.blob.read_at(offset, len, options).await
    }

    fn read_many(
        &self,
        ranges: &[(u64, usize)],
        options: ReadOptions,
    ) -> impl Stream<Item = Result<(usize, IoBufsMut), Error>> + Send {
        // The inner stream borrows the blob, so one future holds both and
        // hands on what it yields: at most one result a range, and an error.
        let (mut sender, receiver) = mpsc::channel(ranges.len());
        let reads = async move {
            let lease = match self.lease().await {
                Ok(lease) => lease,
                Err(error) => return Some(Err(error)),
            };
            let mut reads = pin!(lease.blob.read_many(ranges, options));
            while let Some(read) = reads.next().await {
                if sender.try_send(read).is_err() {
                    return Some(Err(Error::ReadFailed));
                }
            }
            None
        };
        stream::select(receiver, stream::once(reads).filter_map(future::ready))
    }

    async fn start_read_many(
        &self,
        ranges: &[(u64, usize)],
        options: ReadOptions,
    ) -> Handle<Vec<IoBufsMut>> {
        let lease = match self.lease().await {
            Ok(lease) => lease,
            Err(error) => return Handle::ready(Err(error)),
        };
        let reads = lease.blob.start_read_many(ranges, options).await;
        let operation = lease.detach();
        Handle::from_future(async move {
            let read = reads.await;
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
        let lease = self.lease().await?;
        self.begin_mutation();
        lease.blob.write_at(offset, bufs, options).await?;
        self.complete_mutation(options.contains(WriteOptions::SYNC));
        Ok(())
    }

    async fn resize(&self, len: u64) -> Result<(), Error> {
        let lease = self.lease().await?;
        self.begin_mutation();
        lease.blob.resize(len).await?;
        self.complete_mutation(false);
        Ok(())
    }

    async fn sync(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Ok(());
        }
        let lease = self.lease().await?;
        let covers = self.files.table.lock().begin_sync(self.id);
        lease.blob.sync().await?;
        self.files.table.lock().complete_sync(self.id, covers);
        Ok(())
    }

    async fn start_sync(&self) -> Handle<()> {
        if self.is_closed() {
            return Handle::ready(Ok(()));
        }
        let lease = match self.lease().await {
            Ok(lease) => lease,
            Err(error) => return Handle::ready(Err(error)),
        };
        let covers = self.files.table.lock().begin_sync(self.id);
        let sync = lease.blob.start_sync().await.shared();
        let (files, id) = (self.files.clone(), self.id);
        files.table.lock().start_sync(id, covers, sync.clone());
        Handle::from_future(async move {
            let result = sync.await;
            files.table.lock().settle(id);
            result
        })
    }
}
