// SPDX-License-Identifier: Apache-2.0
//! To the actor that takes in chunk bodies of the own shard
//! (`shardnode_availability`).

use bytes::Bytes;
use commonware_utils::channel::{mpsc, oneshot};
use shardnode_execution::body::Shown;
use shardnode_primitives::{ChunkHeader, Digest, Transaction};
use std::sync::Arc;

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

/// What the actor is told and asked, as by the methods of [`Mailbox`].
#[derive(Debug)]
pub enum Message {
    /// [`Mailbox::intake`].
    Intake {
        /// The chunk's header.
        header: Box<ChunkHeader>,
        /// What shows the body.
        shown: Shown,
        /// Whether this node made the chunk.
        own: bool,
        /// The chunk, if this shows it.
        reply: oneshot::Sender<Option<Arc<CheckedChunk>>>,
    },
    /// [`Mailbox::recall`].
    Recall {
        /// The chunk's header.
        header: Box<ChunkHeader>,
        /// The chunk, if it is stored.
        reply: oneshot::Sender<Option<Arc<CheckedChunk>>>,
    },
    /// [`Mailbox::shown`].
    Shown {
        /// The chunk's height.
        height: u64,
        /// The hash of its body.
        body: Digest,
        /// The root of the parts of the body.
        parts: Digest,
        /// What shows the body, if it is stored.
        reply: oneshot::Sender<Option<Shown>>,
    },
    /// [`Mailbox::prune`].
    Prune {
        /// The first height that stays.
        below: u64,
    },
}

/// Somebody else asks for a body.
#[derive(Debug)]
pub struct Question {
    /// The chunk's height.
    pub height: u64,
    /// The body's hash.
    pub hash: Digest,
    /// Where the body goes.
    pub reply: oneshot::Sender<Bytes>,
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox {
    inbox: mpsc::Sender<Message>,
    /// Apart, so that what others ask is in no vote's way.
    questions: mpsc::Sender<Question>,
}

impl Mailbox {
    /// Judges the body of the chunk with this header, and makes what shows it
    /// durable; answers `None` if that shows nothing of this chunk. `own` says
    /// that this node made the chunk: it divided the body, and verified or made
    /// every signature itself.
    pub async fn intake(
        &self,
        header: ChunkHeader,
        shown: Shown,
        own: bool,
    ) -> Option<Option<Arc<CheckedChunk>>> {
        let (reply, response) = oneshot::channel();
        let message = Message::Intake {
            header: Box::new(header),
            shown,
            own,
            reply,
        };
        self.inbox.send(message).await.ok()?;
        response.await.ok()
    }

    /// The chunk with this header if what shows its body is stored, as it is of
    /// a chunk that this node took in before it restarted.
    pub async fn recall(&self, header: ChunkHeader) -> Option<Option<Arc<CheckedChunk>>> {
        let (reply, response) = oneshot::channel();
        let header = Box::new(header);
        self.inbox
            .send(Message::Recall { header, reply })
            .await
            .ok()?;
        response.await.ok()
    }

    /// What shows the body of a chunk at `height` whose header has these two.
    pub async fn shown(&self, height: u64, body: Digest, parts: Digest) -> Option<Option<Shown>> {
        let (reply, response) = oneshot::channel();
        let message = Message::Shown {
            height,
            body,
            parts,
            reply,
        };
        self.inbox.send(message).await.ok()?;
        response.await.ok()
    }

    /// The stored body with this hash, for a peer or a client; the channel
    /// closes if there is none or the actor has no room for the request.
    #[must_use]
    pub fn serve(&self, height: u64, hash: Digest) -> oneshot::Receiver<Bytes> {
        let (reply, response) = oneshot::channel();
        let _ = self.questions.try_send(Question {
            height,
            hash,
            reply,
        });
        response
    }

    /// Forgets bodies below `height`.
    pub async fn prune(&self, below: u64) {
        let _ = self.inbox.send(Message::Prune { below }).await;
    }
}

/// The receiving end of a [`Mailbox`].
#[derive(Debug)]
pub struct Inbox {
    /// From the actors of this node.
    pub messages: mpsc::Receiver<Message>,
    /// From whoever else asks.
    pub questions: mpsc::Receiver<Question>,
}

/// A mailbox and its receiving end.
#[must_use]
pub fn mailbox() -> (Mailbox, Inbox) {
    let (sender, messages) = mpsc::channel(256);
    let (ask, questions) = mpsc::channel(256);
    let mailbox = Mailbox {
        inbox: sender,
        questions: ask,
    };
    let inbox = Inbox {
        messages,
        questions,
    };
    (mailbox, inbox)
}
