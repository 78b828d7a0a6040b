// SPDX-License-Identifier: Apache-2.0
//! The chunks of the own shard: their bodies, from whoever sends them or from
//! parts.

use super::{Actor, Body, Done, chunk_key};
use crate::recovery::{ANSWER, Awaited};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Blocker, Receiver, Sender, block};
use commonware_utils::channel::{fallible::OneshotExt as _, oneshot};
use shardnode_execution::body::Shown;
use shardnode_mailboxes::{Runtime, bodies::CheckedChunk};
use shardnode_primitives::{ChunkBody, ChunkHeader};
use std::sync::Arc;

impl<E, S, R, B> Actor<E, S, R, B>
where
    E: Runtime,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
{
    /// Takes in a body, but none that is longer than its header says: parts
    /// show that the chunk is invalid. Says whether it is the header's, as far
    /// as that is looked at: not of a chunk whose body is here.
    pub(super) fn on_body(&mut self, header: ChunkHeader, body: ChunkBody) -> bool {
        if self.chunks.contains_key(&chunk_key(&header)) {
            return true;
        }
        let content = &header.content;
        if body.hash() != content.body_hash {
            return false;
        }
        if body.0.len() <= content.body_len as usize {
            self.on_shown(header, Shown::Body(body));
        }
        true
    }

    /// A producer that makes a chunk invalid is cut off, by its own word: only
    /// it signed the header, and whatever of the body is not right it could
    /// have known.
    pub(super) fn on_judged(&mut self, chunk: &CheckedChunk) {
        let content = &chunk.header.content;
        let (shard, height) = (content.shard, content.height);
        let producer = self.identity.genesis.producer_at(shard, height);
        if let Some(producer) = producer.filter(|_| !chunk.valid) {
            let producer = producer.key.clone();
            block!(self.blocker, producer, %shard, height, "invalid chunk");
        }
    }

    pub(super) fn on_shown(&mut self, header: ChunkHeader, shown: Shown) {
        let key = chunk_key(&header);
        if self.chunks.contains_key(&key) {
            return;
        }
        self.chunks.insert(key, Body::Checking);
        if let Some(wait) = self.chunk_waits.get_mut(&key) {
            wait.settle();
        }
        let (bodies, metrics) = (self.bodies.clone(), self.metrics.clone());
        let recovered = shown.body().is_none();
        self.checks.push(async move {
            let Some(judged) = bodies.intake(header, shown, false).await else {
                return Done::Ended;
            };
            if recovered {
                metrics.recovered(judged.as_ref().is_some_and(|chunk| chunk.valid));
            }
            Done::Chunk(judged)
        });
    }

    pub(super) fn on_checked(&mut self, chunk: &Arc<CheckedChunk>) {
        let key = chunk_key(&chunk.header);
        self.trace_here(&key);
        self.chunks.insert(key, Body::Ready(chunk.clone()));
        self.changed.insert(chunk.header.content.shard);
        if let Some(wait) = self.chunk_waits.remove(&key) {
            self.gave_up |= wait.asked;
            for reply in wait.replies {
                reply.send_lossy(chunk.clone());
            }
        }
    }

    pub(super) fn on_chunk_wanted(
        &mut self,
        header: ChunkHeader,
        at_once: bool,
        reply: oneshot::Sender<Arc<CheckedChunk>>,
    ) {
        let key = chunk_key(&header);
        if let Some(Body::Ready(chunk)) = self.chunks.get(&key) {
            reply.send_lossy(chunk.clone());
            return;
        }
        if header.content.body_len == 0 {
            self.on_body(header.clone(), ChunkBody::of(&[]));
        }
        let ask_at = self.ask_at(at_once);
        let checking = self.chunks.contains_key(&key);
        let new = !self.chunk_waits.contains_key(&key);
        let wait = self
            .chunk_waits
            .entry(key)
            .or_insert_with(|| Awaited::new(header.clone()));
        wait.add(reply);
        if checking {
            return;
        }
        if new || (at_once && wait.ask_at.is_some()) {
            wait.ask_at = Some(ask_at);
            wait.collect_at = Some(ask_at + ANSWER);
        }
        if new {
            // A restarted node may have it, and be the only one that does.
            let bodies = self.bodies.clone();
            self.checks.push(async move {
                let recalled = bodies.recall(header).await;
                recalled.map_or(Done::Ended, Done::Chunk)
            });
        }
    }
}
