// SPDX-License-Identifier: Apache-2.0
//! Answers others, from the states that this node gives away.

use crate::metrics::Metrics;
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_cryptography::Signer as _;
use commonware_resolver::p2p;
use commonware_utils::channel::{fallible::OneshotExt as _, oneshot};
use shardnode_mailboxes::snapshots::Shelves;
use shardnode_network::{Identity, state_requests::Key};
use std::sync::Arc;

/// Answers other nodes.
#[derive(Clone, Debug)]
pub struct Server {
    /// Who this node is.
    pub identity: Arc<Identity>,
    /// What it has.
    pub shelves: Shelves,
    /// What is measured.
    pub metrics: Arc<Metrics>,
}

impl Server {
    fn answer(&self, key: Key) -> Option<Bytes> {
        match key {
            Key::Newest { shard, slot } => {
                let me = self.identity.key.public_key();
                let mut keepers = self.identity.keepers(shard);
                let mine = keepers.any(|(one, key)| one == slot && *key == me);
                let newest = self.shelves.get(shard)?.newest();
                newest.filter(|_| mine).map(|one| one.encode())
            }
            Key::Page {
                shard,
                height,
                root,
                index,
            } => {
                let page = self.shelves.get(shard)?.page(height, &root, index)?;
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
