// SPDX-License-Identifier: Apache-2.0
//! To the actor that knows what is at hand of the chunks in flight
//! (`shardnode_availability`).

use crate::bodies::CheckedChunk;
use bytes::Bytes;
use commonware_utils::channel::{mpsc, oneshot};
use shardnode_coding::Share;
use shardnode_network::{Committees, chunk_requests::Key};
use shardnode_primitives::{
    Block, ChunkBody, ChunkHeader, Digest, Endorsement, Endorsements, ProvenBucket, ShardId,
};
use std::{collections::BTreeSet, sync::Arc, time::SystemTime};

/// What a leader wants: for every shard a header for `height` on this base.
#[derive(Debug)]
pub struct Wanted {
    /// The block's height.
    pub height: u64,
    /// The anchor that its chunks must have.
    pub anchor: Digest,
    /// The hashes of the parent's headers, by shard.
    pub previous: Vec<Digest>,
    /// Who must endorse, by shard.
    pub committees: Committees,
    /// When to make do with what is there.
    pub deadline: SystemTime,
}

/// A header that its committee endorsed.
pub type Collected = (ChunkHeader, Endorsements);

/// Why a leader has no header of a shard to propose: what the one lacks that is
/// nearest to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// None came that fits.
    Header,
    /// Those who endorsed it are no quorum.
    Endorsements,
    /// What a vote for it takes is not at hand: the chunk, or the own part of it
    /// and the receipts for the own shard.
    Data,
}

/// What the actor is told and asked, as by the methods of [`Mailbox`].
#[derive(Debug)]
pub enum Message {
    /// [`Mailbox::produced`].
    Produced {
        /// The chunk.
        chunk: Arc<CheckedChunk>,
        /// Its body.
        body: ChunkBody,
        /// The shares of the body.
        shares: Vec<Share>,
        /// The receipts that the header is the first to commit to.
        buckets: Vec<ProvenBucket>,
    },
    /// [`Mailbox::part`].
    Part {
        /// The chunk's header.
        header: Box<ChunkHeader>,
        /// Whether there is such a body.
        reply: oneshot::Sender<bool>,
    },
    /// [`Mailbox::chunk`].
    Chunk {
        /// Its header.
        header: Box<ChunkHeader>,
        /// Whether peers are asked at once.
        at_once: bool,
        /// The chunk.
        reply: oneshot::Sender<Arc<CheckedChunk>>,
    },
    /// [`Mailbox::bucket`].
    Bucket {
        /// What names them.
        key: Key,
        /// Whether peers are asked at once.
        at_once: bool,
        /// The receipts.
        reply: oneshot::Sender<Arc<ProvenBucket>>,
    },
    /// [`Mailbox::collect`].
    Collect {
        /// What the leader wants.
        wanted: Wanted,
        /// What there is, by shard.
        reply: oneshot::Sender<Vec<Result<Collected, Missing>>>,
    },
    /// [`Mailbox::endorsed`].
    Endorsed(Endorsement),
    /// [`Mailbox::finalized`].
    Finalized {
        /// The block's height.
        height: u64,
        /// By shard, the executions that its header leaves uncommitted.
        uncommitted: BTreeSet<(ShardId, u64)>,
    },
    /// [`Mailbox::fetched`].
    Fetched {
        /// What was asked for.
        key: Key,
        /// The answer.
        value: Bytes,
        /// Whether it is right.
        reply: oneshot::Sender<bool>,
    },
}

/// What a peer asks for, and where the answer goes.
#[derive(Debug)]
pub struct Question {
    /// What it asks for.
    pub key: Key,
    /// Where the answer goes.
    pub reply: oneshot::Sender<Bytes>,
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox {
    inbox: mpsc::Sender<Message>,
    /// Apart, so that what peers ask is in nobody's way.
    questions: mpsc::Sender<Question>,
}

/// The receiving end of a [`Mailbox`].
#[derive(Debug)]
pub struct Inbox {
    /// From the actors of this node.
    pub messages: mpsc::Receiver<Message>,
    /// From peers.
    pub questions: mpsc::Receiver<Question>,
}

/// A mailbox and its receiving end.
#[must_use]
pub fn mailbox() -> (Mailbox, Inbox) {
    let (inbox, messages) = mpsc::channel(1_024);
    let (ask, questions) = mpsc::channel(256);
    let mailbox = Mailbox {
        inbox,
        questions: ask,
    };
    let inbox = Inbox {
        messages,
        questions,
    };
    (mailbox, inbox)
}

impl Mailbox {
    /// Sends a chunk of this node, the shares of its body, and the receipts
    /// that its header is the first to commit to, to whoever needs them.
    pub async fn produced(
        &self,
        chunk: Arc<CheckedChunk>,
        body: ChunkBody,
        shares: Vec<Share>,
        buckets: Vec<ProvenBucket>,
    ) {
        let message = Message::Produced {
            chunk,
            body,
            shares,
            buckets,
        };
        let _ = self.inbox.send(message).await;
    }

    /// Waits for the chunk of the own shard with this header. `at_once` asks
    /// peers without waiting for them to send it.
    pub async fn chunk(&self, header: ChunkHeader, at_once: bool) -> Option<Arc<CheckedChunk>> {
        let (reply, response) = oneshot::channel();
        let message = Message::Chunk {
            header: Box::new(header),
            at_once,
            reply,
        };
        self.inbox.send(message).await.ok()?;
        response.await.ok()
    }

    /// Waits for the own part of the body of another shard's chunk; false if
    /// there is no such body.
    pub async fn part(&self, header: ChunkHeader) -> Option<bool> {
        let (reply, response) = oneshot::channel();
        let header = Box::new(header);
        self.inbox
            .send(Message::Part { header, reply })
            .await
            .ok()?;
        response.await.ok()
    }

    /// What a [`Key::Part`] or [`Key::Bucket`] names, for a peer; the channel
    /// closes if it cannot be had from this node.
    #[must_use]
    pub fn serve(&self, key: Key) -> oneshot::Receiver<Bytes> {
        let (reply, response) = oneshot::channel();
        let _ = self.questions.try_send(Question { key, reply });
        response
    }

    /// Waits for the receipts named by a [`Key::Bucket`].
    pub async fn bucket(&self, key: Key, at_once: bool) -> Option<Arc<ProvenBucket>> {
        let (reply, response) = oneshot::channel();
        let message = Message::Bucket {
            key,
            at_once,
            reply,
        };
        self.inbox.send(message).await.ok()?;
        response.await.ok()
    }

    /// By shard, the endorsed header that fits, as soon as there is one for every
    /// shard or at the deadline. Only headers whose chunk is at hand, or the own
    /// part of it and the receipts for the own shard.
    pub async fn collect(&self, wanted: Wanted) -> Vec<Result<Collected, Missing>> {
        let (reply, response) = oneshot::channel();
        let _ = self.inbox.send(Message::Collect { wanted, reply }).await;
        response.await.unwrap_or_default()
    }

    /// Sends an endorsement of this node to everybody who may lead.
    pub async fn endorsed(&self, endorsement: Endorsement) {
        let _ = self.inbox.send(Message::Endorsed(endorsement)).await;
    }

    /// Forgets what a finalised block made obsolete.
    pub async fn finalized(&self, block: &Block) {
        let of = |header: &ChunkHeader| {
            let (shard, heights) = (header.content.shard, header.content.uncommitted.clone());
            heights.into_iter().map(move |height| (shard, height))
        };
        let message = Message::Finalized {
            height: block.height,
            uncommitted: block.chunks.iter().flat_map(of).collect(),
        };
        let _ = self.inbox.send(message).await;
    }

    /// An answer to a request; the response says whether it is right.
    #[must_use]
    pub fn fetched(&self, key: Key, value: Bytes) -> oneshot::Receiver<bool> {
        let (reply, response) = oneshot::channel();
        let _ = self.inbox.try_send(Message::Fetched { key, value, reply });
        response
    }
}
