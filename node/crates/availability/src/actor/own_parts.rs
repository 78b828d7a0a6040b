// SPDX-License-Identifier: Apache-2.0
//! The own parts of the bodies of other shards, and the parts that others ask
//! for.

use super::{Actor, Body, ChunkKey, Done, chunk_key};
use crate::recovery::{ANSWER, Awaited};
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Blocker, Receiver, Sender};
use commonware_parallel::Strategy as _;
use commonware_utils::channel::{fallible::OneshotExt as _, oneshot};
use shardnode_coding::{Part, Share};
use shardnode_execution::body::{self, Shown};
use shardnode_mailboxes::Runtime;
use shardnode_primitives::{ChunkBody, ChunkHeader, Digest, ShardId};
use std::sync::Arc;
use tracing::debug;

impl<E, S, R, B> Actor<E, S, R, B>
where
    E: Runtime,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
{
    /// Whether this node votes with a part of the bodies of `shard`.
    pub(super) fn holds_parts_of(&self, shard: ShardId) -> bool {
        self.identity.tracked().is_some_and(|own| own != shard)
    }

    /// A header without what comes with it.
    pub(super) fn expect(&mut self, header: ChunkHeader) {
        let content = &header.content;
        if self.holds_parts_of(content.shard) {
            self.want_part(header);
        } else if self.identity.tracked() == Some(content.shard) && content.body_len == 0 {
            self.on_body(header, ChunkBody::of(&[]));
        }
    }

    /// Waits for the own part of the body with this header, unless it is held.
    pub(super) fn want_part(&mut self, header: ChunkHeader) -> Option<&mut Awaited<bool>> {
        let (content, key) = (&header.content, chunk_key(&header));
        if content.body_len == 0 || self.held.contains(&key) {
            return None;
        }
        let ask_at = self.ask_at(false);
        if !self.part_waits.contains_key(&key) {
            // It may be from before a restart.
            let (parts, root, shard) = (self.parts.clone(), content.parts_root, content.shard);
            self.checks.push(async move {
                match parts.holds(key.0, root).await {
                    true => Done::Held(shard, key),
                    false => Done::NotHeld,
                }
            });
            let mut wait = Awaited::new(header);
            wait.ask_at = Some(ask_at);
            self.part_waits.insert(key, wait);
            self.touched = true;
        }
        self.part_waits.get_mut(&key)
    }

    pub(super) fn on_part_wanted(&mut self, header: ChunkHeader, reply: oneshot::Sender<bool>) {
        let collect_at = self.ask_at(false) + ANSWER;
        match self.want_part(header) {
            Some(wait) => {
                wait.add(reply);
                // A vote is worth asking everybody.
                wait.collect_at.get_or_insert(collect_at);
            }
            None => {
                reply.send_lossy(true);
            }
        }
    }

    /// Keeps the own part of a body, if it is one and this node needs it. Says
    /// whether it is the part that the header commits to, as far as that is
    /// looked at.
    pub(super) fn on_own_part(&mut self, header: ChunkHeader, share: &Share) -> bool {
        let (content, key) = (&header.content, chunk_key(&header));
        let (shard, height, root) = (content.shard, content.height, content.parts_root);
        let Some(place) = self.identity.place() else {
            return true;
        };
        if !self.holds_parts_of(shard) || self.held.contains(&key) {
            return true;
        }
        if let Err(error) = self.identity.body_code().check(&root, place, share) {
            debug!(%shard, height, %error, "part of a body refused");
            self.expect(header);
            return false;
        }
        if let Some(wait) = self.part_waits.get_mut(&key) {
            wait.settle();
        }
        let (parts, share) = (self.parts.clone(), share.encode());
        self.checks.push(async move {
            let kept = parts.keep(height, root, share).await;
            kept.map_or(Done::Ended, |()| Done::Held(shard, key))
        });
        true
    }

    pub(super) fn on_held(&mut self, shard: ShardId, key: ChunkKey) {
        self.trace_here(&key);
        if key.0 > self.finalized {
            self.held.insert(key);
            self.changed.insert(shard);
        }
        self.answer_part_waits(key, true);
    }

    pub(super) fn answer_part_waits(&mut self, key: ChunkKey, there: bool) {
        if let Some(wait) = self.part_waits.remove(&key) {
            self.gave_up |= wait.asked;
            for reply in wait.replies {
                reply.send_lossy(there);
            }
        }
    }

    /// A part that was asked for: the own one, or one to recover a body from.
    /// It is right if it is under the root that was asked for. Several headers
    /// can name one root: a producer can sign more than one.
    pub(super) fn on_part_fetched(
        &mut self,
        height: u64,
        index: u16,
        root: &Digest,
        value: Bytes,
    ) -> bool {
        let Ok(share) = Share::decode_cfg(value, &self.limits.share()) else {
            return false;
        };
        let code = self.identity.body_code();
        if code.check(root, index, &share).is_err() {
            return false;
        }
        let at = (height, Digest([0; 32]))..=(height, Digest([0xff; 32]));
        let chunks = self.chunk_waits.range_mut(at.clone());
        let chunks = chunks.filter(|(_, wait)| wait.header.content.parts_root == *root);
        let collect = |(_, wait): (&ChunkKey, &mut Awaited<_>)| {
            let parts = wait.collect(&code, index, share.clone()).ok().flatten();
            parts.map(|parts| (wait.header.clone(), parts))
        };
        let shown: Vec<_> = chunks.filter_map(collect).collect();
        for (header, parts) in shown {
            self.on_shown(header, Shown::Parts(parts));
        }
        let own = self.identity.place() == Some(index);
        let waits = self.part_waits.range_mut(at);
        let waits = waits.filter(|(_, wait)| wait.header.content.parts_root == *root);
        let mut recovered = Vec::new();
        let mut owned = Vec::new();
        for (_, wait) in waits {
            if own {
                owned.push(wait.header.clone());
            } else if let Ok(Some(parts)) = wait.collect(&code, index, share.clone()) {
                recovered.push((wait.header.clone(), parts));
            }
        }
        for header in owned {
            self.on_own_part(header, &share);
        }
        for (header, parts) in recovered {
            self.recover_part(header, parts);
        }
        true
    }

    /// Makes the own part from those of others.
    pub(super) fn recover_part(&mut self, header: ChunkHeader, parts: Vec<Part>) {
        let Some(place) = self.identity.place() else {
            return;
        };
        let (code, strategy) = (self.identity.body_code(), self.strategy.clone());
        self.checks.push(async move {
            let content = header.content.clone();
            let length = content.body_len as usize;
            let recovered = strategy.spawn(length, move |strategy| {
                let body = body::recover(&parts, &content, &code, &strategy).ok()??;
                let (_, shares) = body::divide(&body, &code, &strategy).ok()?;
                shares.into_iter().nth(usize::from(place))
            });
            Done::Recovered(Box::new(header), recovered.await)
        });
    }

    pub(super) fn on_recovered(&mut self, header: ChunkHeader, share: Option<Share>) {
        self.metrics.recovered(share.is_some());
        match share {
            Some(share) => {
                self.on_own_part(header, &share);
            }
            None => self.answer_part_waits(chunk_key(&header), false),
        }
    }

    /// A voter asks for its part.
    pub(super) fn on_part_asked(
        &mut self,
        shard: ShardId,
        height: u64,
        index: u16,
        root: Digest,
        reply: oneshot::Sender<Bytes>,
    ) {
        if self.holds_parts_of(shard) {
            if self.identity.place() == Some(index) {
                self.parts.serve(height, root, reply);
            }
            return;
        }
        let at = (height, Digest([0; 32]))..=(height, Digest([0xff; 32]));
        let found = self.chunks.range(at).find_map(|(key, body)| match body {
            Body::Ready(chunk) if chunk.header.content.parts_root == root => {
                Some((*key, chunk.clone()))
            }
            _ => None,
        });
        let Some((key, chunk)) = found else {
            return;
        };
        if !chunk.valid {
            self.look_up_part(&chunk.header, index, reply);
            return;
        }
        if height <= self.finalized {
            return;
        }
        if let Some(shares) = self.divided.get(&key) {
            if let Some(share) = shares.get(usize::from(index)) {
                reply.send_lossy(share.encode());
            }
        } else if !self.dividing {
            // Whoever asks asks again.
            self.dividing = true;
            let (code, strategy) = (self.identity.body_code(), self.strategy.clone());
            self.checks.push(async move {
                let divided = strategy.spawn(chunk.transactions.len().max(1), move |strategy| {
                    let body = ChunkBody::of(&chunk.transactions);
                    body::divide(&body, &code, &strategy)
                });
                let shares = divided.await.ok().map(|(_, shares)| Arc::new(shares));
                Done::Divided(key, shares)
            });
        }
    }

    /// Answers with one of the parts that show that a chunk has no body. Those of
    /// the chunk that was asked for last are in memory: a question for a part that
    /// is not among them costs no read.
    fn look_up_part(&mut self, header: &ChunkHeader, index: u16, reply: oneshot::Sender<Bytes>) {
        let key = chunk_key(header);
        if let Some((_, parts)) = self.shown.as_ref().filter(|(of, _)| *of == key) {
            give(parts, index, reply);
            return;
        }
        if self.dividing {
            // Whoever asks asks again.
            return;
        }
        self.dividing = true;
        let bodies = self.bodies.clone();
        let content = &header.content;
        let (height, body, root) = (content.height, content.body_hash, content.parts_root);
        self.checks.push(async move {
            let Some(shown) = bodies.shown(height, body, root).await else {
                return Done::Ended;
            };
            let parts = match shown {
                Some(Shown::Parts(parts)) => parts,
                Some(Shown::Body(_)) | None => Vec::new(),
            };
            give(&parts, index, reply);
            Done::LookedUp(key, parts)
        });
    }
}

/// Answers with the part at this place, if there is one.
fn give(parts: &[Part], index: u16, reply: oneshot::Sender<Bytes>) {
    if let Some(part) = parts.iter().find(|part| part.index == index) {
        reply.send_lossy(part.share.encode());
    }
}
