// SPDX-License-Identifier: Apache-2.0
//! The actor that takes in chunk bodies of the own shard: decodes them,
//! verifies every signature, and makes them durable.
//!
//! A validator votes for a block only when this actor has answered for its
//! shard's chunk, so a finalised chunk survives every tracker being killed.
//!
//! A body that does not decode, or in which one signature does not hold, is
//! *invalid* as a whole: no honest tracker votes for it, and if it were
//! finalised all the same it would execute as a chunk without transactions.

use crate::{config::Identity, runtime::Runtime};
use bytes::Bytes;
use commonware_parallel::Strategy as _;
use commonware_runtime::Handle;
use commonware_utils::channel::{fallible::OneshotExt as _, mpsc, oneshot};
use shardnode_execution::{
    body,
    signatures::{BatchSize, KeyCache, verify_all},
};
use shardnode_primitives::{ChunkBody, ChunkHeader, Digest, Transaction};
use shardnode_storage::{BodyStore, StorageError};
use std::sync::Arc;

/// Decoded signers kept by a tracker: a shard of the reference workload has
/// 14,286 accounts.
const KEYS: usize = 65_536;

/// A chunk whose body is durable and was checked.
#[derive(Clone, Debug)]
pub struct CheckedChunk {
    /// The header.
    pub header: ChunkHeader,
    /// The transactions; empty if the body is invalid.
    pub transactions: Vec<Transaction>,
    /// Whether all is well with the body.
    pub valid: bool,
}

enum Message {
    Intake {
        header: Box<ChunkHeader>,
        body: ChunkBody,
        own: bool,
        reply: oneshot::Sender<Arc<CheckedChunk>>,
    },
    Recall {
        header: Box<ChunkHeader>,
        reply: oneshot::Sender<Option<Arc<CheckedChunk>>>,
    },
    Load {
        height: u64,
        hash: Digest,
        reply: oneshot::Sender<Bytes>,
    },
    Prune {
        below: u64,
    },
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<Message>);

impl Mailbox {
    /// Checks `body`, whose hash must be the header's, and makes it durable.
    /// `own` says that this node verified or made every signature itself.
    pub async fn intake(
        &self,
        header: ChunkHeader,
        body: ChunkBody,
        own: bool,
    ) -> Option<Arc<CheckedChunk>> {
        let (reply, response) = oneshot::channel();
        let message = Message::Intake {
            header: Box::new(header),
            body,
            own,
            reply,
        };
        self.0.send(message).await.ok()?;
        response.await.ok()
    }

    /// The chunk with this header if its body is stored, as it is of a chunk
    /// that this node took in before it restarted.
    pub async fn recall(&self, header: ChunkHeader) -> Option<Option<Arc<CheckedChunk>>> {
        let (reply, response) = oneshot::channel();
        let header = Box::new(header);
        self.0.send(Message::Recall { header, reply }).await.ok()?;
        response.await.ok()
    }

    /// The stored body with this hash, for this node itself.
    pub async fn load(&self, height: u64, hash: Digest) -> Option<Bytes> {
        let (reply, response) = oneshot::channel();
        let message = Message::Load {
            height,
            hash,
            reply,
        };
        self.0.send(message).await.ok()?;
        response.await.ok()
    }

    /// The stored body with this hash, for a peer or a client; the channel
    /// closes if there is none or the actor has no room for the request.
    #[must_use]
    pub fn serve(&self, height: u64, hash: Digest) -> oneshot::Receiver<Bytes> {
        let (reply, response) = oneshot::channel();
        let _ = self.0.try_send(Message::Load {
            height,
            hash,
            reply,
        });
        response
    }

    /// Forgets bodies below `height`.
    pub async fn prune(&self, below: u64) {
        let _ = self.0.send(Message::Prune { below }).await;
    }
}

/// The actor.
pub struct Actor<E: Runtime> {
    identity: Arc<Identity>,
    batch: BatchSize,
    strategy: commonware_parallel::Rayon,
    store: Option<BodyStore<E>>,
    keys: KeyCache,
    inbox: mpsc::Receiver<Message>,
}

impl<E: Runtime> Actor<E> {
    /// Creates the actor.
    pub fn new(
        identity: Arc<Identity>,
        batch: BatchSize,
        strategy: commonware_parallel::Rayon,
        store: BodyStore<E>,
    ) -> (Self, Mailbox) {
        let (sender, inbox) = mpsc::channel(256);
        let actor = Self {
            identity,
            batch,
            strategy,
            store: Some(store),
            keys: KeyCache::new(KEYS),
            inbox,
        };
        (actor, Mailbox(sender))
    }

    /// Runs until storage fails or nobody is left to talk to.
    pub fn start(self, context: E) -> Handle<Result<(), StorageError>> {
        context.spawn(move |context| self.run(context))
    }

    async fn run(mut self, mut context: E) -> Result<(), StorageError> {
        while let Some(message) = self.inbox.recv().await {
            let Some(store) = self.store.take() else {
                break;
            };
            let store = match message {
                Message::Intake {
                    header,
                    body,
                    own,
                    reply,
                } => {
                    let content = &header.content;
                    let store = store
                        .put(content.height, content.body_hash, body.0.clone())
                        .await?;
                    let chunk = self.check(&mut context, *header, body, own).await;
                    reply.send_lossy(Arc::new(chunk));
                    store
                }
                Message::Recall { header, reply } => {
                    let content = &header.content;
                    let stored = store.get(content.height, &content.body_hash).await?;
                    let chunk = match stored {
                        Some(body) => {
                            let body = ChunkBody(body);
                            Some(self.check(&mut context, *header, body, false).await)
                        }
                        None => None,
                    };
                    reply.send_lossy(chunk.map(Arc::new));
                    store
                }
                Message::Load {
                    height,
                    hash,
                    reply,
                } => {
                    if let Some(body) = store.get(height, &hash).await? {
                        reply.send_lossy(body);
                    }
                    store
                }
                Message::Prune { below } => store.prune(below).await?,
            };
            self.store = Some(store);
        }
        Ok(())
    }

    async fn check(
        &mut self,
        context: &mut E,
        header: ChunkHeader,
        body: ChunkBody,
        own: bool,
    ) -> CheckedChunk {
        let invalid = |header| CheckedChunk {
            header,
            transactions: Vec::new(),
            valid: false,
        };
        let mut seed = [0; 32];
        context.fill_bytes(&mut seed);
        let mut keys = std::mem::replace(&mut self.keys, KeyCache::new(KEYS));
        let identity = self.identity.clone();
        let batch = self.batch;
        let expected = header.content.transactions;
        let (keys, transactions) = self
            .strategy
            .spawn(expected.max(1) as usize, move |strategy| {
                let transactions = body::check(&body, expected, |transactions| {
                    own || verify_all(
                        transactions,
                        &identity.namespaces.transaction,
                        &mut keys,
                        batch,
                        seed,
                        &strategy,
                    )
                });
                (keys, transactions)
            })
            .await;
        self.keys = keys;
        match transactions {
            Some(transactions) => CheckedChunk {
                header,
                transactions,
                valid: true,
            },
            None => invalid(header),
        }
    }
}
