// SPDX-License-Identifier: Apache-2.0
//! The states that this node gives away: frozen copies, so that answering
//! takes nothing from the actor that goes on with the state. The ledger of a
//! producer and the archive put them here, state sync answers from them.

use bytes::Bytes;
use commonware_codec::Encode as _;
use shardnode_network::state_requests::Offer;
use shardnode_primitives::{Digest, ShardId};
use shardnode_state::Pages;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

/// Snapshots that are served: whoever fetches one has the time between two
/// others to end.
const KEPT: usize = 2;

/// A durable snapshot that a finalised block states.
#[derive(Clone, Debug)]
pub struct Served {
    /// The executed height.
    pub height: u64,
    /// The block whose header states it.
    pub block: u64,
    /// The state's root.
    pub root: Digest,
    /// The state.
    pub pages: Pages,
}

/// The newest snapshots of one shard, newest first.
#[derive(Clone, Debug, Default)]
pub struct Shelf(Arc<Mutex<VecDeque<Served>>>);

impl Shelf {
    /// Serves another snapshot, newer than all before.
    pub fn put(&self, snapshot: Served) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.push_front(snapshot);
        held.truncate(KEPT);
    }

    /// The newest one.
    #[must_use]
    pub fn newest(&self) -> Option<Offer> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.front().map(|newest| Offer {
            height: newest.height,
            block: newest.block,
        })
    }

    /// The height of the oldest one.
    #[must_use]
    pub fn oldest(&self) -> Option<u64> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.back().map(|oldest| oldest.height)
    }

    /// A page of the state at `height` with this root.
    #[must_use]
    pub fn page(&self, height: u64, root: &Digest, index: u32) -> Option<Bytes> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = held
            .iter()
            .find(|snapshot| snapshot.height == height && snapshot.root == *root)
            .cloned();
        drop(held);
        Some(snapshot?.pages.page(index)?.encode())
    }
}

/// What a node gives away, by shard.
#[derive(Clone, Debug, Default)]
pub struct Shelves(Arc<BTreeMap<ShardId, Shelf>>);

impl Shelves {
    /// Empty ones for these shards.
    pub fn of(shards: impl IntoIterator<Item = ShardId>) -> Self {
        let empty = shards.into_iter().map(|shard| (shard, Shelf::default()));
        Self(Arc::new(empty.collect()))
    }

    /// That of a shard, of which this node gives states away.
    #[must_use]
    pub fn get(&self, shard: ShardId) -> Option<&Shelf> {
        self.0.get(&shard)
    }
}
