// SPDX-License-Identifier: Apache-2.0
//! Answers other producers, from the states that this node gives away.

use crate::metrics::Metrics;
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_resolver::p2p;
use commonware_utils::channel::{fallible::OneshotExt as _, oneshot};
use shardnode_mailboxes::snapshots::Shelf;
use shardnode_network::{Identity, state_requests::Key};
use std::sync::Arc;

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
