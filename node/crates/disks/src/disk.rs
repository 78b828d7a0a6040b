// SPDX-License-Identifier: Apache-2.0
//! The storage, and what a fault does to an operation.

use crate::{
    error::full,
    fault::{Fault, Faults, Turn},
    file::File,
    metrics::{Metrics, Operation},
};
use commonware_runtime::{BlobVersion, Clock, Error, Spawner, Storage};
use futures::future::select;
use std::{fmt, ops::RangeInclusive, pin::pin, sync::Arc};

/// The storage of a runtime, with faults for a time; see the crate.
pub struct Disk<E>(Arc<Device<E>>);

/// What a disk and its files share.
pub(crate) struct Device<E> {
    /// Whose storage it is.
    pub(crate) context: E,
    faults: Faults,
    metrics: Metrics,
}

impl<E> Disk<E> {
    /// The storage of `context`, which may have `faults`.
    #[must_use]
    pub fn new(context: E, faults: Faults, metrics: Metrics) -> Self {
        Self(Arc::new(Device {
            context,
            faults,
            metrics,
        }))
    }
}

impl<E> fmt::Debug for Disk<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").finish_non_exhaustive()
    }
}

impl<E: Storage + Clock + Spawner> Storage for Disk<E> {
    type Blob = File<E>;

    async fn open_versioned(
        &self,
        partition: &str,
        name: &[u8],
        versions: RangeInclusive<BlobVersion>,
    ) -> Result<(File<E>, u64, BlobVersion), Error> {
        let opened = self.0.context.open_versioned(partition, name, versions);
        let (blob, length, version) = opened.await?;
        Ok((File::new(blob, self.0.clone()), length, version))
    }

    async fn remove(&self, partition: &str, name: Option<&[u8]>) -> Result<(), Error> {
        let removed = self.0.context.remove(partition, name);
        self.0.done(Operation::Remove, removed).await
    }

    async fn scan(&self, partition: &str) -> Result<Vec<Vec<u8>>, Error> {
        self.0.context.scan(partition).await
    }
}

impl<E: Clock> Device<E> {
    /// Does something that needs no room, and is done as late as the disk is now.
    pub(crate) async fn done<T>(
        &self,
        operation: Operation,
        doing: impl Future<Output = T> + Send,
    ) -> T {
        let Some(turn) = self.faults.now() else {
            return doing.await;
        };
        let done = doing.await;
        self.hold(operation, turn).await;
        done
    }

    /// Writes, if there is room.
    pub(crate) async fn written(
        &self,
        writing: impl Future<Output = Result<(), Error>> + Send,
    ) -> Result<(), Error> {
        if self
            .faults
            .now()
            .is_some_and(|turn| turn.fault == Fault::Full)
        {
            self.metrics.refused(Operation::Write);
            return Err(full().into());
        }
        self.done(Operation::Write, writing).await
    }

    /// What is wrong now.
    pub(crate) fn fault(&self) -> Option<Turn> {
        self.faults.now()
    }

    /// Holds up what was done, until the fault that it began with is over.
    pub(crate) async fn hold(&self, operation: Operation, turn: Turn) {
        let Fault::Slow { delay } = turn.fault else {
            return;
        };
        let began = self.context.current();
        select(
            pin!(self.context.sleep(delay)),
            pin!(self.faults.until_over(turn)),
        )
        .await;
        let held = self.context.current().duration_since(began);
        self.metrics
            .held(operation, held.unwrap_or_default().min(delay));
    }
}
