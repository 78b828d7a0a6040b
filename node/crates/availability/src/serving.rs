// SPDX-License-Identifier: Apache-2.0
//! Answering other nodes about chunks, on
//! [`CHUNK_REQUESTS`](shardnode_network::channels::CHUNK_REQUESTS), and taking
//! their answers in. Retries, time-outs and the choice of peers are those of
//! `commonware-resolver`.

use bytes::Bytes;
use commonware_cryptography::ed25519::PublicKey;
use commonware_resolver::{Consumer, Delivery, p2p};
use commonware_utils::channel::oneshot;
use shardnode_mailboxes::{availability, bodies, ledger};
use shardnode_network::chunk_requests::Key;
use shardnode_primitives::ShardId;

/// The requesting side's handle.
pub type Fetcher = p2p::Mailbox<Key, PublicKey, ()>;

/// Hands answers to the availability actor.
#[derive(Clone, Debug)]
pub struct Answers(pub availability::Mailbox);

impl Consumer for Answers {
    type Key = Key;
    type Value = Bytes;
    type Subscriber = ();
    type Outcome = bool;

    fn deliver(&mut self, delivery: Delivery<Key, ()>, value: Bytes) -> oneshot::Receiver<bool> {
        self.0.fetched(delivery.key, value)
    }
}

/// Answers requests of others: bodies from the body store, receipts from the
/// ledger if the own shard emitted them and from availability if they are for
/// it, parts from whoever holds them or the body.
#[derive(Clone, Debug)]
pub struct Server {
    /// Bodies of the own shard.
    pub bodies: bodies::Mailbox,
    /// Receipts of the own shard's executions.
    pub ledger: ledger::Mailbox,
    /// Parts of bodies, and receipts for the own shard.
    pub availability: availability::Mailbox,
    /// The shard whose executions are the ledger's.
    pub tracked: Option<ShardId>,
}

impl p2p::Producer for Server {
    type Key = Key;

    fn produce(&mut self, key: Key) -> oneshot::Receiver<Bytes> {
        match key {
            Key::Body { height, hash, .. } => self.bodies.serve(height, hash),
            Key::Bucket {
                source,
                height,
                destination,
                root,
            } if self.tracked == Some(source) => self.ledger.serve(height, destination, root),
            Key::Bucket { .. } | Key::Part { .. } => self.availability.serve(key),
        }
    }
}
