// SPDX-License-Identifier: Apache-2.0
//! Which blobs are open, and which of them may be closed. Nothing here waits.

use commonware_formatting::hex;
use commonware_runtime::{BlobVersion, Error, Handle};
use commonware_utils::sync::AsyncMutex;
use futures::future::Shared;
use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// How many blobs are open or being opened.
#[derive(Clone, Debug, Default)]
pub struct OpenCount(Arc<AtomicUsize>);

impl OpenCount {
    /// As many as now.
    #[must_use]
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a handle was opened as.
pub(crate) struct Name {
    pub(crate) partition: String,
    pub(crate) name: Vec<u8>,
    /// Whose turn it is to open the blob again.
    pub(crate) turn: AsyncMutex<()>,
}

/// Tells handles apart, also those of one name.
pub(crate) type Id = u64;

/// What is being removed: a name, or a whole partition.
struct Removal {
    partition: String,
    name: Option<Vec<u8>>,
}

impl Removal {
    fn concerns(&self, name: &Name) -> bool {
        self.partition == name.partition
            && self
                .name
                .as_ref()
                .is_none_or(|removed| *removed == name.name)
    }
}

/// A sync that was started and may not have completed.
struct Started {
    /// Mutations that had completed before.
    covers: u64,
    sync: Shared<Handle<()>>,
}

/// One live handle.
struct Entry<B> {
    name: Arc<Name>,
    /// Of the blob, once it was opened.
    version: Option<BlobVersion>,
    /// While it is open.
    blob: Option<Arc<B>>,
    /// Whether it stays open, since it was removed.
    removed: bool,
    /// In flight.
    operations: usize,
    /// Writes and resizes begun, without those that are durable of themselves.
    begun: u64,
    /// Those that succeeded.
    completed: u64,
    /// Those that had succeeded before a sync that did.
    synced: u64,
    syncs: Vec<Started>,
    /// When it was used last, if it may be closed.
    idle: Option<u64>,
}

impl<B> Entry<B> {
    /// Rule 2.
    const fn may_be_closed(&self) -> bool {
        self.blob.is_some()
            && self.operations == 0
            && self.begun == self.synced
            && self.syncs.is_empty()
            && !self.removed
    }

    /// Credits the syncs that completed.
    fn credit(&mut self) {
        let synced = &mut self.synced;
        self.syncs.retain(|started| {
            let Some(result) = started.sync.peek() else {
                return true;
            };
            if result.is_ok() {
                *synced = (*synced).max(started.covers);
            }
            false
        });
    }
}

/// The table of all live handles.
pub(crate) struct Table<B> {
    bound: usize,
    open: OpenCount,
    /// The next id, and the next time.
    next: u64,
    entries: BTreeMap<Id, Entry<B>>,
    /// Live handles whose blobs may be closed some time. The inner storage
    /// knows the names of all others.
    names: BTreeMap<(String, Vec<u8>), Id>,
    /// The blobs that may be closed, by their last use.
    idle: BTreeMap<u64, Id>,
    removals: BTreeMap<u64, Removal>,
}

impl<B> Table<B> {
    pub(crate) fn new(bound: NonZeroUsize) -> Self {
        Self {
            bound: bound.get(),
            open: OpenCount::default(),
            next: 0,
            entries: BTreeMap::new(),
            names: BTreeMap::new(),
            idle: BTreeMap::new(),
            removals: BTreeMap::new(),
        }
    }

    pub(crate) fn open_count(&self) -> OpenCount {
        self.open.clone()
    }

    const fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// A handle that is about to be opened, with that operation in flight; an
    /// error if the name has one (rule 7).
    pub(crate) fn admit(
        &mut self,
        partition: &str,
        name: &[u8],
        versions: &RangeInclusive<BlobVersion>,
    ) -> Result<(Id, Arc<Name>), Error> {
        let key = (partition.to_owned(), name.to_vec());
        let live = self.names.get(&key).and_then(|id| self.entries.get(id));
        if let Some(found) = live.and_then(|entry| entry.version) {
            if versions.contains(&found) {
                return Err(Error::BlobAlreadyOpen(partition.to_owned(), hex(name)));
            }
            let expected = versions.clone();
            return Err(Error::BlobVersionMismatch { expected, found });
        }
        let (partition, name) = key;
        let name = Arc::new(Name {
            partition,
            name,
            turn: AsyncMutex::new(()),
        });
        let entry = Entry {
            name: name.clone(),
            version: None,
            blob: None,
            removed: self.removals.values().any(|it| it.concerns(&name)),
            operations: 1,
            begun: 0,
            completed: 0,
            synced: 0,
            syncs: Vec::new(),
            idle: None,
        };
        let id = self.next();
        self.entries.insert(id, entry);
        Ok((id, name))
    }

    /// The blob that was opened for a handle. Without the handle nobody needs
    /// it any more, nor if the name has got another one meanwhile (rule 7).
    pub(crate) fn opened(
        &mut self,
        id: Id,
        blob: B,
        version: BlobVersion,
    ) -> Result<Arc<B>, (B, Error)> {
        let Some(entry) = self.entries.get_mut(&id) else {
            return Err((blob, Error::Closed));
        };
        if entry.version.is_none() && !entry.removed {
            let Name {
                partition, name, ..
            } = &*entry.name;
            let key = (partition.clone(), name.clone());
            if self.names.contains_key(&key) {
                let error = Error::BlobAlreadyOpen(partition.clone(), hex(name));
                return Err((blob, error));
            }
            self.names.insert(key, id);
        }
        let blob = Arc::new(blob);
        entry.version = Some(version);
        entry.blob = Some(blob.clone());
        Ok(blob)
    }

    /// The handle is dropped, and the caller drops its blob.
    #[must_use]
    pub(crate) fn forget(&mut self, id: Id) -> Option<Arc<B>> {
        let entry = self.entries.remove(&id)?;
        self.unname(id, &entry.name);
        if let Some(used) = entry.idle {
            self.idle.remove(&used);
        }
        if entry.blob.is_some() {
            self.release();
        }
        entry.blob
    }

    fn unname(&mut self, id: Id, name: &Name) {
        let key = (name.partition.clone(), name.name.clone());
        if self.names.get(&key) == Some(&id) {
            self.names.remove(&key);
        }
    }

    /// Whether a blob that is opened now exceeds the bound.
    pub(crate) fn is_crowded(&self) -> bool {
        self.open.get() >= self.bound && self.idle.is_empty()
    }

    /// Counts a blob that is about to be opened, in the place of others.
    pub(crate) fn reserve(&mut self) {
        self.close_above(self.bound - 1);
        self.open.0.fetch_add(1, Ordering::Relaxed);
    }

    /// One less is open, or being opened.
    pub(crate) fn release(&mut self) {
        self.open.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Closes blobs, those used least recently first, until so many are open.
    fn close_above(&mut self, bound: usize) {
        while self.open.get() > bound
            && let Some((_, id)) = self.idle.pop_first()
        {
            if let Some(entry) = self.entries.get_mut(&id) {
                entry.idle = None;
                entry.blob = None;
                self.release();
            }
        }
    }

    /// An operation begins.
    pub(crate) fn begin(&mut self, id: Id) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.operations += 1;
            if let Some(used) = entry.idle.take() {
                self.idle.remove(&used);
            }
        }
    }

    /// An operation ended.
    pub(crate) fn end(&mut self, id: Id) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.operations -= 1;
            self.settle(id);
        }
    }

    /// Looks whether a blob may be closed, and closes what is above the bound.
    pub(crate) fn settle(&mut self, id: Id) {
        let now = self.next();
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.credit();
        if entry.may_be_closed() && entry.idle.is_none() {
            entry.idle = Some(now);
            self.idle.insert(now, id);
            self.close_above(self.bound);
        }
    }

    /// Whether a handle was not dropped.
    pub(crate) fn is_live(&self, id: Id) -> bool {
        self.entries.contains_key(&id)
    }

    /// The blob of a handle while it is open.
    pub(crate) fn blob(&self, id: Id) -> Option<Arc<B>> {
        self.entries.get(&id)?.blob.clone()
    }

    /// The version of a handle whose blob is closed and was open before.
    pub(crate) fn closed(&self, id: Id) -> Option<BlobVersion> {
        let entry = self.entries.get(&id)?;
        entry.version.filter(|_| entry.blob.is_none())
    }

    /// A write or resize begins.
    pub(crate) fn begin_mutation(&mut self, id: Id) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.begun += 1;
        }
    }

    /// A write or resize succeeded, and is durable or not.
    pub(crate) fn complete_mutation(&mut self, id: Id, durable: bool) {
        if let Some(entry) = self.entries.get_mut(&id) {
            if durable {
                entry.begun -= 1;
            } else {
                entry.completed += 1;
            }
        }
    }

    /// How many writes and resizes a sync that begins now covers.
    pub(crate) fn begin_sync(&self, id: Id) -> u64 {
        self.entries.get(&id).map_or(0, |entry| entry.completed)
    }

    /// A sync succeeded.
    pub(crate) fn complete_sync(&mut self, id: Id, covers: u64) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.synced = entry.synced.max(covers);
        }
    }

    /// A sync goes on by itself.
    pub(crate) fn start_sync(&mut self, id: Id, covers: u64, sync: Shared<Handle<()>>) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.syncs.push(Started { covers, sync });
        }
    }

    /// The syncs that go on by themselves, and of which handles.
    pub(crate) fn started_syncs(&self) -> Vec<(Id, Shared<Handle<()>>)> {
        let started = self.entries.iter().flat_map(|(id, entry)| {
            let syncs = entry.syncs.iter();
            syncs.map(|started| (*id, started.sync.clone()))
        });
        started.collect()
    }

    /// Something is about to be removed. What it concerns is not closed any
    /// more; the handles that were opened before are returned.
    pub(crate) fn begin_removal(
        &mut self,
        partition: &str,
        name: Option<&[u8]>,
    ) -> (u64, Vec<(Id, Arc<Name>)>) {
        let removal = Removal {
            partition: partition.to_owned(),
            name: name.map(<[u8]>::to_vec),
        };
        let mut concerned = Vec::new();
        for (id, entry) in &mut self.entries {
            if !removal.concerns(&entry.name) {
                continue;
            }
            entry.removed = true;
            if let Some(used) = entry.idle.take() {
                self.idle.remove(&used);
            }
            if entry.version.is_some() {
                concerned.push((*id, entry.name.clone()));
            }
        }
        let key = self.next();
        self.removals.insert(key, removal);
        (key, concerned)
    }

    /// The blobs of these handles are open, and the inner storage knows their
    /// names.
    pub(crate) fn hand_over(&mut self, handles: &[(Id, Arc<Name>)]) {
        for (id, name) in handles {
            self.unname(*id, name);
        }
    }

    /// It was removed, or not.
    pub(crate) fn end_removal(&mut self, key: u64) {
        self.removals.remove(&key);
    }
}
