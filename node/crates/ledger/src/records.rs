// SPDX-License-Identifier: Apache-2.0
//! What is known of the records of executions without reading them, and the last
//! ones that were read: whoever asks for what there is not costs no read.
//!
//! Of every execution since the start, and of every record that was read, the
//! root of its receipts is known. A record that is not there, or unreadable, is
//! not looked for again.

use commonware_codec::EncodeSize as _;
use shardnode_execution::record::{Executed, Proven};
use shardnode_primitives::{Digest, ProvenBucket, ShardId};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

/// Records kept in memory that were read: whoever catches up asks for one after
/// the other, several do so at once, and each wants another part of them.
const READ: usize = 8;
/// The most bytes of these; at least one is kept.
const READ_BYTES: usize = 32 << 20;

/// What is known of the record of a height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// The root of the execution's receipts.
    Root(Digest),
    /// There is none that can be read.
    Nothing,
}

/// What others can ask for of a record that was read.
pub(crate) struct Stored {
    pub(crate) executed: Arc<Executed>,
    /// The receipts that were credited.
    pub(crate) incoming: Vec<ProvenBucket>,
    bytes: usize,
}

impl Stored {
    pub(crate) fn new(proven: Proven) -> Self {
        let Proven { executed, evidence } = proven;
        let incoming = Arc::unwrap_or_clone(evidence).incoming;
        Self {
            bytes: executed.encode_size() + incoming.encode_size(),
            executed,
            incoming,
        }
    }

    /// The receipts from `source` at `height` that were credited.
    pub(crate) fn credited(&self, from: (ShardId, u64)) -> Option<&ProvenBucket> {
        credited(&self.incoming, from)
    }
}

/// The receipts from `source` at `height` among these.
pub(crate) fn credited(
    incoming: &[ProvenBucket],
    (source, height): (ShardId, u64),
) -> Option<&ProvenBucket> {
    let of =
        |proven: &&ProvenBucket| (proven.bucket.source, proven.bucket.height) == (source, height);
    incoming.iter().find(of)
}

/// See the [module](self).
pub(crate) struct Records {
    /// The first height whose receipts are given away.
    from: u64,
    known: BTreeMap<u64, Known>,
    /// The one that was asked for last is the last.
    read: VecDeque<Arc<Stored>>,
}

impl Records {
    /// Of a shard whose receipts are given away from this height on.
    pub(crate) const fn new(from: u64) -> Self {
        Self {
            from,
            known: BTreeMap::new(),
            read: VecDeque::new(),
        }
    }

    /// Whether receipts of the execution at `height` are given away.
    pub(crate) const fn gives_away(&self, height: u64) -> bool {
        height >= self.from
    }

    pub(crate) fn known(&self, height: u64) -> Option<Known> {
        self.known.get(&height).copied()
    }

    pub(crate) fn learn(&mut self, height: u64, known: Known) {
        self.known.insert(height, known);
    }

    /// The record of `height`, if it was read and is in memory.
    pub(crate) fn get(&mut self, height: u64) -> Option<Arc<Stored>> {
        let of = |stored: &Arc<Stored>| stored.executed.result.height == height;
        let stored = self.read.remove(self.read.iter().position(of)?)?;
        self.read.push_back(stored.clone());
        Some(stored)
    }

    /// Keeps a record that was read.
    pub(crate) fn put(&mut self, stored: Arc<Stored>) {
        let result = &stored.executed.result;
        self.known
            .insert(result.height, Known::Root(result.receipts_root));
        self.read.push_back(stored);
        let bytes = |read: &VecDeque<Arc<Stored>>| read.iter().map(|one| one.bytes).sum::<usize>();
        while self.read.len() > READ || (self.read.len() > 1 && bytes(&self.read) > READ_BYTES) {
            self.read.pop_front();
        }
    }

    /// Forgets what is below `height`, and gives none of it away any more.
    pub(crate) fn forget_below(&mut self, height: u64) {
        self.from = self.from.max(height);
        self.known = self.known.split_off(&self.from);
    }
}
