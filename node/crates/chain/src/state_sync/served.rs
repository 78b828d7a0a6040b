// SPDX-License-Identifier: Apache-2.0
//! The states that this node gives away: frozen copies, so that answering
//! takes nothing from the actor that goes on with the state.

use super::messages::{Key, Offer};
use crate::{config::Identity, metrics::Metrics};
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_resolver::p2p;
use commonware_utils::channel::{fallible::OneshotExt as _, oneshot};
use shardnode_primitives::Digest;
use shardnode_state::Pages;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

/// Snapshots that are served: whoever fetches one has the time between two
/// others to end.
const KEPT: usize = 2;

/// A durable snapshot of the own shard that a finalised block states.
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

/// The newest snapshots, newest first.
#[derive(Clone, Debug, Default)]
pub struct Shelf(Arc<Mutex<VecDeque<Served>>>);

impl Shelf {
    /// Serves another snapshot, newer than all before.
    pub fn put(&self, snapshot: Served) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.push_front(snapshot);
        held.truncate(KEPT);
    }

    fn newest(&self) -> Option<Offer> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.front().map(|newest| Offer {
            height: newest.height,
            block: newest.block,
        })
    }

    fn page(&self, height: u64, root: &Digest, index: u32) -> Option<Bytes> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = held
            .iter()
            .find(|snapshot| snapshot.height == height && snapshot.root == *root)
            .cloned();
        drop(held);
        Some(snapshot?.pages.page(index)?.encode())
    }
}

/// Answers other nodes.
#[derive(Clone, Debug)]
pub struct Server {
    /// Who this node is.
    pub identity: Arc<Identity>,
    /// What it has.
    pub shelf: Shelf,
    /// What is measured.
    pub metrics: Arc<Metrics>,
}

impl Server {
    fn answer(&self, key: Key) -> Option<Bytes> {
        let me = self.identity.producer.as_ref()?;
        match key {
            Key::Newest { shard, slot } => {
                let mine = shard == me.shard && slot == me.slot;
                self.shelf.newest().filter(|_| mine).map(|one| one.encode())
            }
            Key::Page {
                shard,
                height,
                root,
                index,
            } => {
                let page = self.shelf.page(height, &root, index);
                let page = page.filter(|_| shard == me.shard)?;
                self.metrics.state_page_served(page.len());
                Some(page)
            }
        }
    }
}

impl p2p::Producer for Server {
    type Key = Key;

    fn produce(&mut self, key: Key) -> oneshot::Receiver<Bytes> {
        let (reply, response) = oneshot::channel();
        if let Some(bytes) = self.answer(key) {
            reply.send_lossy(bytes);
        }
        response
    }
}
