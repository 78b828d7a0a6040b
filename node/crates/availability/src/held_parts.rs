// SPDX-License-Identifier: Apache-2.0
//! The actor that holds this node's own parts of the bodies of other shards'
//! chunks, from which their trackers recover what its producer keeps from
//! them.
//!
//! In memory it holds parts for [`HEIGHTS`] finalised heights, fewer if they
//! come to more than [`BYTES`], and those of chunks that can still enter a
//! block; a node that restarts has none. With `saveUntrackedChunkParts` parts
//! are durable before this node votes, and kept as long as bodies.

use crate::{metrics::Metrics, unreadable::Unreadable};
use bytes::Bytes;
use commonware_runtime::Handle;
use commonware_utils::channel::{fallible::OneshotExt as _, mpsc, oneshot};
use shardnode_mailboxes::Runtime;
use shardnode_primitives::Digest;
use shardnode_storage::{BodyStore, StorageError};
use std::{collections::BTreeMap, sync::Arc};

/// Finalised heights of which parts are held in memory.
pub const HEIGHTS: u64 = 64;
/// The most bytes of parts of finalised heights that are held in memory.
pub const BYTES: usize = 128 << 20;
/// Blocks from one pruning of what is on disk to the next.
const PRUNE_EVERY: u64 = 64;

enum Message {
    Keep {
        height: u64,
        root: Digest,
        share: Bytes,
        reply: oneshot::Sender<()>,
    },
    Load {
        height: u64,
        root: Digest,
        /// Whether it is for this node itself.
        own: bool,
        reply: oneshot::Sender<Bytes>,
    },
    Finalized(u64),
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<Message>);

impl Mailbox {
    /// Keeps a part of the body under `root`, durably if parts are saved.
    /// `None` if the actor ended.
    pub async fn keep(&self, height: u64, root: Digest, share: Bytes) -> Option<()> {
        let (reply, response) = oneshot::channel();
        let message = Message::Keep {
            height,
            root,
            share,
            reply,
        };
        self.0.send(message).await.ok()?;
        response.await.ok()
    }

    /// Whether the part of the body under `root` is here.
    pub async fn holds(&self, height: u64, root: Digest) -> bool {
        let (reply, response) = oneshot::channel();
        let message = Message::Load {
            height,
            root,
            own: true,
            reply,
        };
        self.0.send(message).await.is_ok() && response.await.is_ok()
    }

    /// Answers with the part of the body under `root`; the channel closes if
    /// it is not here or the actor has no room for the request.
    pub fn serve(&self, height: u64, root: Digest, reply: oneshot::Sender<Bytes>) {
        let _ = self.0.try_send(Message::Load {
            height,
            root,
            own: false,
            reply,
        });
    }

    /// Forgets what the finalised block makes too old.
    pub fn finalized(&self, height: u64) {
        let _ = self.0.try_send(Message::Finalized(height));
    }
}

/// Parts in memory, by height and root.
#[derive(Debug, Default)]
struct Memory {
    parts: BTreeMap<(u64, Digest), Bytes>,
    bytes: usize,
}

impl Memory {
    fn insert(&mut self, height: u64, root: Digest, share: Bytes) {
        self.bytes += share.len();
        if let Some(before) = self.parts.insert((height, root), share) {
            self.bytes -= before.len();
        }
    }

    /// Lets go of the oldest parts of finalised heights beyond the bounds.
    fn forget(&mut self, finalized: u64, most: usize) {
        while let Some(oldest) = self.parts.first_entry() {
            let height = oldest.key().0;
            let old = height.saturating_add(HEIGHTS) <= finalized;
            if height > finalized || (!old && self.bytes <= most) {
                break;
            }
            self.bytes -= oldest.remove().len();
        }
    }
}

enum Held<E: Runtime> {
    Memory(Memory),
    Disk(BodyStore<E>, Unreadable),
}

/// The actor.
pub struct Actor<E: Runtime> {
    held: Held<E>,
    retention: u64,
    metrics: Arc<Metrics>,
    inbox: mpsc::Receiver<Message>,
}

impl<E: Runtime> Actor<E> {
    /// Creates the actor. With a `store` parts are saved in it for `retention`
    /// blocks.
    pub fn new(
        store: Option<BodyStore<E>>,
        retention: u64,
        metrics: Arc<Metrics>,
    ) -> (Self, Mailbox) {
        let (sender, inbox) = mpsc::channel(4_096);
        let actor = Self {
            held: store.map_or_else(
                || Held::Memory(Memory::default()),
                |store| Held::Disk(store, Unreadable::default()),
            ),
            retention,
            metrics,
            inbox,
        };
        (actor, Mailbox(sender))
    }

    /// Runs until storage fails or nobody is left to talk to.
    pub fn start(self, context: E) -> Handle<Result<(), StorageError>> {
        context.spawn(move |_| self.run())
    }

    async fn run(mut self) -> Result<(), StorageError> {
        while let Some(message) = self.inbox.recv().await {
            self.held = match self.held {
                Held::Memory(memory) => Held::Memory(in_memory(memory, message, &self.metrics)),
                Held::Disk(store, mut unreadable) => {
                    let store = on_disk(store, &mut unreadable, message, self.retention).await?;
                    Held::Disk(store, unreadable)
                }
            };
        }
        Ok(())
    }
}

fn in_memory(mut memory: Memory, message: Message, metrics: &Metrics) -> Memory {
    match message {
        Message::Keep {
            height,
            root,
            share,
            reply,
        } => {
            memory.insert(height, root, share);
            reply.send_lossy(());
        }
        Message::Load {
            height,
            root,
            reply,
            ..
        } => {
            if let Some(share) = memory.parts.get(&(height, root)) {
                reply.send_lossy(share.clone());
            }
            return memory;
        }
        Message::Finalized(height) => memory.forget(height, BYTES),
    }
    metrics.parts_held(memory.parts.len(), memory.bytes);
    memory
}

async fn on_disk<E: Runtime>(
    store: BodyStore<E>,
    unreadable: &mut Unreadable,
    message: Message,
    retention: u64,
) -> Result<BodyStore<E>, StorageError> {
    match message {
        Message::Keep {
            height,
            root,
            share,
            reply,
        } => {
            let store = store.put(height, root, share).await?;
            reply.send_lossy(());
            Ok(store)
        }
        Message::Load {
            height,
            root,
            own,
            reply,
        } => {
            let share = if own {
                store.get(height, &root).await?
            } else {
                unreadable.read(&store, height, root).await
            };
            if let Some(share) = share {
                reply.send_lossy(share);
            }
            Ok(store)
        }
        Message::Finalized(height) if height.is_multiple_of(PRUNE_EVERY) => {
            let below = height.saturating_sub(retention);
            unreadable.forget_below(below);
            store.prune(below).await
        }
        Message::Finalized(_) => Ok(store),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(heights: impl Iterator<Item = u64>, bytes: usize) -> Memory {
        let mut memory = Memory::default();
        for height in heights {
            for shard in [1, 2] {
                memory.insert(height, Digest([shard; 32]), vec![0; bytes].into());
            }
        }
        memory
    }

    fn heights(memory: &Memory) -> (u64, u64, usize) {
        let first = memory.parts.first_key_value().unwrap().0.0;
        let last = memory.parts.last_key_value().unwrap().0.0;
        (first, last, memory.parts.len())
    }

    #[test]
    #[allow(clippy::unwrap_used)]
    fn old_parts_go_and_those_of_chunks_in_flight_stay() {
        let cases = [
            ("as many heights", 200, usize::MAX, (137, 210, 148)),
            ("fewer, because of their size", 200, 40 * 10, (191, 210, 40)),
            ("none of them final", 0, 0, (1, 210, 420)),
            ("all of them final", 300, usize::MAX, (237, 240, 0)),
        ];
        for (name, finalized, most, want) in cases {
            let mut held = memory(1..=210, 10);
            held.forget(finalized, most);
            if want.2 == 0 {
                assert!(held.parts.is_empty(), "{name}");
                assert_eq!(held.bytes, 0, "{name}");
                continue;
            }
            assert_eq!(heights(&held), want, "{name}");
            assert_eq!(held.bytes, held.parts.len() * 10, "{name}");
        }
    }

    #[test]
    fn a_part_that_comes_again_counts_once() {
        let mut held = memory(1..=2, 10);
        held.insert(1, Digest([1; 32]), vec![0; 30].into());
        assert_eq!((held.parts.len(), held.bytes), (4, 60));
    }
}
