// SPDX-License-Identifier: Apache-2.0
//! To the actor that makes the own shard's chunks (`shardnode_production`).

use crate::pool::Changed;
use commonware_utils::channel::mpsc;
use shardnode_execution::record::Proven;
use shardnode_primitives::{Block, Digest};
use std::sync::Arc;
use tracing::debug;

/// What the actor is told, as by the methods of [`Mailbox`].
#[derive(Debug)]
pub enum Message {
    /// [`Mailbox::executed`].
    Executed(Proven, Changed),
    /// [`Mailbox::installed`].
    Installed(u64),
    /// [`Mailbox::finalized`].
    Finalized(Arc<Block>, Digest),
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<Message>);

impl Mailbox {
    /// The own shard executed a chunk, which made this of accounts.
    pub fn executed(&self, proven: Proven, changed: Changed) {
        self.tell(Message::Executed(proven, changed));
    }

    /// A state of the own shard was fetched, which the chunk at this height left.
    pub fn installed(&self, height: u64) {
        self.tell(Message::Installed(height));
    }

    /// A block is finalised, and executed by this node.
    pub fn finalized(&self, block: Arc<Block>, digest: Digest) {
        self.tell(Message::Finalized(block, digest));
    }

    /// The ledger must not wait for the producer: what does not fit is old,
    /// and a newer block follows.
    fn tell(&self, message: Message) {
        if self.0.try_send(message).is_err() {
            debug!("chunk production lags behind finalised blocks");
        }
    }
}

/// A mailbox and its receiving end.
#[must_use]
pub fn mailbox() -> (Mailbox, mpsc::Receiver<Message>) {
    let (sender, inbox) = mpsc::channel(2_048);
    (Mailbox(sender), inbox)
}
