// SPDX-License-Identifier: Apache-2.0
//! To the actor that does a committee member's work (`shardnode_validation`).

use commonware_cryptography::Digested;
use commonware_utils::channel::mpsc;
use shardnode_primitives::{Block, ChunkHeader};
use tracing::debug;

/// What the actor is told, as by the methods of [`Mailbox`].
#[derive(Debug)]
pub enum Message {
    /// [`Mailbox::header`].
    Header(Box<ChunkHeader>),
    /// [`Mailbox::finalized`].
    Finalized(Digested<Block>),
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<Message>);

impl Mailbox {
    /// A header that the producer whose turn it is signed.
    pub fn header(&self, header: ChunkHeader) {
        if self.0.try_send(Message::Header(Box::new(header))).is_err() {
            debug!("endorsing lags behind chunk headers");
        }
    }

    /// The next finalised block.
    pub async fn finalized(&self, block: Digested<Block>) {
        let _ = self.0.send(Message::Finalized(block)).await;
    }
}

/// A mailbox and its receiving end.
#[must_use]
pub fn mailbox() -> (Mailbox, mpsc::Receiver<Message>) {
    let (sender, inbox) = mpsc::channel(4_096);
    (Mailbox(sender), inbox)
}
