// SPDX-License-Identifier: Apache-2.0
//! Opens and removes blobs of the inner storage.

use crate::{
    blob::File,
    table::{Id, Name, Table},
};
use commonware_runtime::{BlobVersion, Error, Storage};
use commonware_utils::sync::Mutex;
use futures::FutureExt as _;
use std::{num::NonZeroUsize, ops::RangeInclusive, sync::Arc};

/// The inner storage, and what of it is open.
pub(crate) struct Files<S: Storage> {
    storage: S,
    pub(crate) table: Mutex<Table<S::Blob>>,
}

impl<S: Storage> Files<S> {
    pub(crate) fn new(storage: S, bound: NonZeroUsize) -> Arc<Self> {
        Arc::new(Self {
            storage,
            table: Mutex::new(Table::new(bound)),
        })
    }

    /// Opens a blob for a new handle.
    pub(crate) async fn open(
        self: &Arc<Self>,
        partition: &str,
        name: &[u8],
        versions: RangeInclusive<BlobVersion>,
    ) -> Result<(File<S>, u64, BlobVersion), Error> {
        let (id, name) = self.table.lock().admit(partition, name, &versions)?;
        let file = File::new(self.clone(), id, name);
        let _operation = Operation::begun(self, id);
        let (_, length, version) = self.open_inner(id, &file.name, versions).await?;
        Ok((file, length, version))
    }

    /// Begins an operation on a blob, which is opened again if it is closed.
    pub(crate) async fn lease(self: &Arc<Self>, id: Id, name: &Name) -> Result<Lease<S>, Error> {
        let operation = Operation::begin(self, id);
        let lease = |blob| Lease { blob, operation };
        if let Some(blob) = self.table.lock().blob(id) {
            return Ok(lease(blob));
        }
        let _turn = name.turn.lock().await;
        let version = {
            let table = self.table.lock();
            if let Some(blob) = table.blob(id) {
                return Ok(lease(blob));
            }
            // Only a removal can ask for a handle that was dropped.
            table.closed(id).ok_or(Error::Closed)?
        };
        let (blob, ..) = self.open_inner(id, name, version..=version).await?;
        Ok(lease(blob))
    }

    async fn open_inner(
        self: &Arc<Self>,
        id: Id,
        name: &Name,
        versions: RangeInclusive<BlobVersion>,
    ) -> Result<(Arc<S::Blob>, u64, BlobVersion), Error> {
        if self.table.lock().is_crowded() {
            self.settle_syncs();
        }
        let reservation = Reservation::new(self);
        let (blob, length, version) = self
            .storage
            .open_versioned(&name.partition, &name.name, versions)
            .await?;
        let opened = self.table.lock().opened(id, blob, version);
        let blob = opened.map_err(|(_, error)| error)?;
        reservation.fulfil();
        Ok((blob, length, version))
    }

    /// Notices syncs that completed and that nobody waited for.
    fn settle_syncs(&self) {
        let started = self.table.lock().started_syncs();
        for (id, sync) in started {
            if sync.now_or_never().is_some() {
                self.table.lock().settle(id);
            }
        }
    }

    /// Removes a name or a partition. Handles that it concerns stay readable.
    pub(crate) async fn remove(
        self: &Arc<Self>,
        partition: &str,
        name: Option<&[u8]>,
    ) -> Result<(), Error> {
        let (key, handles) = self.table.lock().begin_removal(partition, name);
        let _removal = Removal { files: self, key };
        for (id, name) in &handles {
            if let Err(error) = self.lease(*id, name).await
                && self.table.lock().is_live(*id)
            {
                return Err(error);
            }
        }
        self.table.lock().hand_over(&handles);
        self.storage.remove(partition, name).await
    }

    pub(crate) async fn scan(&self, partition: &str) -> Result<Vec<Vec<u8>>, Error> {
        self.storage.scan(partition).await
    }
}

/// A place for a blob that is being opened.
struct Reservation<'a, S: Storage> {
    files: &'a Files<S>,
    fulfilled: bool,
}

impl<'a, S: Storage> Reservation<'a, S> {
    fn new(files: &'a Files<S>) -> Self {
        files.table.lock().reserve();
        Self {
            files,
            fulfilled: false,
        }
    }

    /// The blob takes it.
    fn fulfil(mut self) {
        self.fulfilled = true;
    }
}

impl<S: Storage> Drop for Reservation<'_, S> {
    fn drop(&mut self) {
        if !self.fulfilled {
            self.files.table.lock().release();
        }
    }
}

/// A removal in progress.
struct Removal<'a, S: Storage> {
    files: &'a Files<S>,
    key: u64,
}

impl<S: Storage> Drop for Removal<'_, S> {
    fn drop(&mut self) {
        self.files.table.lock().end_removal(self.key);
    }
}

/// An operation in flight.
pub(crate) struct Operation<S: Storage> {
    files: Arc<Files<S>>,
    id: Id,
}

impl<S: Storage> Operation<S> {
    fn begin(files: &Arc<Files<S>>, id: Id) -> Self {
        files.table.lock().begin(id);
        Self::begun(files, id)
    }

    fn begun(files: &Arc<Files<S>>, id: Id) -> Self {
        let files = files.clone();
        Self { files, id }
    }
}

impl<S: Storage> Drop for Operation<S> {
    fn drop(&mut self) {
        self.files.table.lock().end(self.id);
    }
}

/// An open blob and an operation on it. The blob is let go of first, so that
/// whoever closes it drops it.
pub(crate) struct Lease<S: Storage> {
    pub(crate) blob: Arc<S::Blob>,
    operation: Operation<S>,
}

impl<S: Storage> Lease<S> {
    /// Lets go of the blob while the operation goes on by itself: a handle
    /// that is dropped meanwhile closes it.
    pub(crate) fn detach(self) -> Operation<S> {
        self.operation
    }
}
