// SPDX-License-Identifier: Apache-2.0
//! The actor that takes in chunk bodies of the own shard: decodes them,
//! verifies every signature, and makes them durable.
//!
//! A validator notarises a block only when this actor has answered for its
//! shard's chunk, so a finalised chunk that a tracker notarised survives every
//! tracker being killed.
//!
//! An *invalid* body is invalid as a whole ([`shardnode_execution::body`]): no
//! honest tracker endorses or proposes it, and if it is finalised all the same
//! it executes as a chunk without transactions. What shows that goes into the
//! witness of the execution, so it is kept like a body, even where it is parts
//! that show that there is no body.
//!
//! A stored body that cannot be read ends the node if this node needs it, and is
//! not given to others.

use crate::unreadable::Unreadable;
use commonware_codec::{Decode as _, Encode as _};
use commonware_macros::select;
use commonware_parallel::Strategy as _;
use commonware_runtime::Handle;
use commonware_utils::channel::fallible::OneshotExt as _;
use shardnode_execution::{
    body::{self, Judged, Shown, ShownLimits, Unshown},
    signatures::{BatchSize, KeyCache, verify_all},
};
use shardnode_mailboxes::{
    Runtime,
    bodies::{CheckedChunk, Inbox, Mailbox, Message, mailbox},
};
use shardnode_network::Identity;
use shardnode_primitives::{ChunkBody, ChunkHeader, Digest, merkle};
use shardnode_storage::{BodyStore, StorageError};
use std::sync::Arc;
use tracing::warn;

/// Decoded signers kept by a tracker: a shard of the reference workload has
/// 14,286 accounts.
const KEYS: usize = 65_536;

/// The actor.
pub struct Actor<E: Runtime> {
    identity: Arc<Identity>,
    batch: BatchSize,
    strategy: commonware_parallel::Rayon,
    store: Option<BodyStore<E>>,
    keys: Arc<KeyCache>,
    unreadable: Unreadable,
    inbox: Inbox,
}

impl<E: Runtime> Actor<E> {
    /// Creates the actor.
    pub fn new(
        identity: Arc<Identity>,
        batch: BatchSize,
        strategy: commonware_parallel::Rayon,
        store: BodyStore<E>,
    ) -> (Self, Mailbox) {
        let (mailbox, inbox) = mailbox();
        let actor = Self {
            identity,
            batch,
            strategy,
            store: Some(store),
            keys: Arc::new(KeyCache::new(KEYS)),
            unreadable: Unreadable::default(),
            inbox,
        };
        (actor, mailbox)
    }

    /// Runs until storage fails or nobody is left to talk to.
    pub fn start(self, context: E) -> Handle<Result<(), StorageError>> {
        context.spawn(move |context| self.run(context))
    }

    async fn run(mut self, mut context: E) -> Result<(), StorageError> {
        loop {
            let message = select! {
                message = self.inbox.messages.recv() => {
                    let Some(message) = message else { break };
                    message
                },
                question = self.inbox.questions.recv() => {
                    let (Some(question), Some(store)) = (question, &self.store) else { break };
                    let (height, hash) = (question.height, question.hash);
                    if let Some(body) = self.unreadable.read(store, height, hash).await {
                        question.reply.send_lossy(body);
                    }
                    continue;
                },
            };
            let Some(store) = self.store.take() else {
                break;
            };
            let store = match message {
                Message::Intake {
                    header,
                    shown,
                    own,
                    reply,
                } => {
                    let judged = self.judge(&mut context, &header, shown, own).await;
                    let (store, judged) = match judged {
                        Ok(judged) => (put(store, &header, &judged.shown).await?, Some(judged)),
                        Err(error) => {
                            let content = &header.content;
                            let (shard, height) = (content.shard, content.height);
                            warn!(%shard, height, %error, "nothing shown of a chunk");
                            (store, None)
                        }
                    };
                    reply.send_lossy(judged.map(|judged| Arc::new(checked(*header, judged))));
                    store
                }
                Message::Recall { header, reply } => {
                    let content = &header.content;
                    let (height, body, parts) =
                        (content.height, content.body_hash, content.parts_root);
                    let judged = match self.get(&store, height, &body, &parts).await? {
                        Some(shown) => self.judge(&mut context, &header, shown, false).await.ok(),
                        None => None,
                    };
                    reply.send_lossy(judged.map(|judged| Arc::new(checked(*header, judged))));
                    store
                }
                Message::Shown {
                    height,
                    body,
                    parts,
                    reply,
                } => {
                    reply.send_lossy(self.get(&store, height, &body, &parts).await?);
                    store
                }
                Message::Prune { below } => {
                    self.unreadable.forget_below(below);
                    store.prune(below).await?
                }
            };
            self.store = Some(store);
        }
        Ok(())
    }

    /// What is stored of a chunk.
    async fn get(
        &self,
        store: &BodyStore<E>,
        height: u64,
        body: &Digest,
        parts: &Digest,
    ) -> Result<Option<Shown>, StorageError> {
        if let Some(body) = store.get(height, body).await? {
            return Ok(Some(Shown::Body(ChunkBody(body))));
        }
        let Some(bytes) = store.get(height, &parts_key(parts)).await? else {
            return Ok(None);
        };
        let limits = ShownLimits {
            code: self.identity.body_code(),
            transactions: self.identity.genesis.protocol.max_transactions_per_chunk,
        };
        let shown = Shown::decode_cfg(bytes, &limits);
        Ok(shown
            .inspect_err(|error| warn!(height, %error, "stored parts of a body are unreadable"))
            .ok())
    }

    async fn judge(
        &mut self,
        context: &mut E,
        header: &ChunkHeader,
        shown: Shown,
        own: bool,
    ) -> Result<Judged, Unshown> {
        if own {
            let transactions = shown.body().and_then(|body| body.transactions().ok());
            return Ok(Judged {
                shown,
                transactions,
            });
        }
        let mut seed = [0; 32];
        context.fill_bytes(&mut seed);
        let keys = self.keys.clone();
        let identity = self.identity.clone();
        let batch = self.batch;
        let content = header.content.clone();
        self.strategy
            .spawn(content.transactions.max(1) as usize, move |strategy| {
                let code = identity.body_code();
                let namespace = &identity.namespaces.transaction;
                body::check(shown, &content, &code, &strategy, |transactions| {
                    verify_all(transactions, namespace, &keys, batch, seed, &strategy)
                })
            })
            .await
    }
}

fn checked(header: ChunkHeader, judged: Judged) -> CheckedChunk {
    CheckedChunk {
        header,
        valid: judged.transactions.is_some(),
        transactions: judged.transactions.unwrap_or_default(),
    }
}

/// Bodies are found by their hash, parts that show that there is none by a
/// hash of their root, which is none of a body.
fn parts_key(root: &Digest) -> Digest {
    merkle::leaf(&root.0)
}

async fn put<E: Runtime>(
    store: BodyStore<E>,
    header: &ChunkHeader,
    shown: &Shown,
) -> Result<BodyStore<E>, StorageError> {
    let content = &header.content;
    let (key, value) = match shown {
        Shown::Body(body) => (content.body_hash, body.0.clone()),
        Shown::Parts(_) => (parts_key(&content.parts_root), shown.encode()),
    };
    store.put(content.height, key, value).await
}
