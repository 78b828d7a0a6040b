// SPDX-License-Identifier: Apache-2.0
//! To the actor that fetches the state of a shard from those who keep it
//! (`shardnode_state_sync`).

use bytes::Bytes;
use commonware_resolver::{Consumer, Delivery};
use commonware_utils::channel::{mpsc, oneshot};
use shardnode_network::state_requests::Key;
use shardnode_primitives::{ShardId, ShardTotals};
use shardnode_state::StateTree;

/// A state that a finalised header states.
#[derive(Debug)]
pub struct Fetched {
    /// The block with that header.
    pub block: u64,
    /// What the header says; the state's height and root are in it.
    pub totals: ShardTotals,
    /// The state.
    pub state: StateTree,
}

/// How far a node is that fetches a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The shard.
    pub shard: ShardId,
    /// The lowest height of use: for a producer the one that it cannot execute.
    pub needed: u64,
    /// The height of the snapshot that is fetched instead, once there is one.
    pub snapshot: Option<u64>,
    /// Pages of it that are here.
    pub fetched: u32,
    /// Pages of it, once that is known.
    pub pages: Option<u32>,
}

/// What the actor is asked and told.
#[derive(Debug)]
pub enum Message {
    /// [`Mailbox::needed`].
    Needed {
        /// The shard.
        shard: ShardId,
        /// The lowest height of use.
        height: u64,
        /// Where the state goes.
        reply: oneshot::Sender<Fetched>,
    },
    /// Somebody answered.
    Answer {
        /// What was asked for.
        key: Key,
        /// The answer.
        value: Bytes,
        /// Whether it is right.
        reply: oneshot::Sender<bool>,
    },
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<Message>);

impl Mailbox {
    /// Waits for a state of `shard` at `height` or above. Who stops waiting
    /// stops the fetching, and so does who asks for another one.
    pub async fn needed(&self, shard: ShardId, height: u64) -> Option<Fetched> {
        let (reply, response) = oneshot::channel();
        let needed = Message::Needed {
            shard,
            height,
            reply,
        };
        self.0.send(needed).await.ok()?;
        response.await.ok()
    }
}

impl Consumer for Mailbox {
    type Key = Key;
    type Value = Bytes;
    type Subscriber = ();
    type Outcome = bool;

    fn deliver(&mut self, delivery: Delivery<Key, ()>, value: Bytes) -> oneshot::Receiver<bool> {
        let (reply, response) = oneshot::channel();
        let key = delivery.key;
        let _ = self.0.try_send(Message::Answer { key, value, reply });
        response
    }
}

/// A mailbox and its receiving end.
#[must_use]
pub fn mailbox() -> (Mailbox, mpsc::Receiver<Message>) {
    let (sender, inbox) = mpsc::channel(256);
    (Mailbox(sender), inbox)
}
