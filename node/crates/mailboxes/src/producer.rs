// SPDX-License-Identifier: Apache-2.0
//! To the actor that makes the own shard's chunks (`shardnode_production`).

use crate::pool::Changed;
use commonware_utils::channel::mpsc;
use shardnode_execution::record::Proven;
use shardnode_primitives::{Block, Digest};
use std::sync::Arc;

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

/// How many messages wait at the most: each execution comes with its evidence.
const CAPACITY: usize = 256;

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<Message>);

impl Mailbox {
    /// The own shard executed a chunk, which made this of accounts.
    pub async fn executed(&self, proven: Proven, changed: Changed) {
        self.tell(Message::Executed(proven, changed)).await;
    }

    /// A state of the own shard was fetched, which the chunk at this height left.
    pub async fn installed(&self, height: u64) {
        self.tell(Message::Installed(height)).await;
    }

    /// A block is finalised, and executed by this node.
    pub async fn finalized(&self, block: Arc<Block>, digest: Digest) {
        self.tell(Message::Finalized(block, digest)).await;
    }

    /// Nothing of it may be lost, for a header commits to each execution and nobody
    /// says it twice: who tells waits for room, as long as there is a producer.
    async fn tell(&self, message: Message) {
        let _ = self.0.send(message).await;
    }
}

/// A mailbox and its receiving end.
#[must_use]
pub fn mailbox() -> (Mailbox, mpsc::Receiver<Message>) {
    let (sender, inbox) = mpsc::channel(CAPACITY);
    (Mailbox(sender), inbox)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::{executor::block_on, future::join};

    #[test]
    fn a_producer_that_lags_loses_nothing() {
        let told = 1..=10 * CAPACITY as u64;
        let (mailbox, mut inbox) = mailbox();
        let telling = async {
            for height in told.clone() {
                mailbox.installed(height).await;
            }
            drop(mailbox);
        };
        let hearing = async {
            let mut heard = Vec::new();
            while let Some(Message::Installed(height)) = inbox.recv().await {
                heard.push(height);
            }
            heard
        };
        let ((), heard) = block_on(join(telling, hearing));
        assert!(heard.into_iter().eq(told));
    }
}
