// SPDX-License-Identifier: Apache-2.0
//! The actor that makes the own shard's chunks.
//!
//! As soon as a finalised block is executed as far as the next height's header
//! must commit, the producer whose turn it is takes transactions from the
//! pool, divides the body, signs the header, makes both durable, and sends the
//! chunk out.
//!
//! A producer signs at most one chunk for a height, also over restarts: the
//! header is durable before anybody sees it, and a restarted producer sends
//! the same one again. Transactions of a chunk that missed its block go back
//! to the pool.

use crate::{chunk_size::ChunkSizing, error::ProducerError, metrics::Metrics, witness_maker};
use commonware_codec::{Decode as _, Encode as _, FixedSize as _};
use commonware_parallel::{Rayon, Strategy as _};
use commonware_runtime::Handle;
use commonware_storage::metadata::{self, Metadata};
use commonware_utils::{channel::mpsc, sequence::U64};
use shardnode_coding::Share;
use shardnode_execution::{
    body::{self, Shown},
    record::Proven,
};
use shardnode_mailboxes::{
    Runtime, availability,
    bodies::{self, CheckedChunk},
    pool::{self, Changed, Taken},
    producer::{Mailbox, Message, mailbox},
};
use shardnode_network::Identity;
use shardnode_primitives::{
    Block, ChunkBody, ChunkContent, ChunkHeader, Congestion, Digest, Transaction, genesis::Producer,
};
use shardnode_traces::{Begun, Detail, Name, Place, Recorder};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};
use tracing::{info, warn};

/// Finalised digests kept for anchors: more than any execution lag.
const ANCHORS: usize = 16;

/// The store that holds the last produced header.
type Produced<E> = Metadata<E, U64, Vec<u8>>;

/// What the actor works with.
pub struct Parts {
    /// Who this node is.
    pub identity: Arc<Identity>,
    /// Its place among the producers.
    pub me: Producer,
    /// Whether chunks get smaller while chunks are missed.
    pub adaptive_chunk_size: bool,
    /// Sends chunks out.
    pub availability: availability::Mailbox,
    /// Makes and sends state witnesses.
    pub witnesses: witness_maker::Mailbox,
    /// Makes bodies durable.
    pub bodies: bodies::Mailbox,
    /// Transactions.
    pub pool: pool::Mailbox,
    /// What is measured.
    pub metrics: Arc<Metrics>,
    /// The genesis block's digest.
    pub genesis: Digest,
    /// CPU work.
    pub strategy: Rayon,
    /// Spans.
    pub traces: Recorder,
}

struct Outstanding {
    height: u64,
    header: Digest,
    taken: Taken,
    /// The chunk's span.
    span: Begun,
}

/// The actor.
pub struct Actor<E: Runtime> {
    parts: Parts,
    produced: Option<Produced<E>>,
    last: Option<ChunkHeader>,
    sent: u64,
    executed: BTreeMap<u64, Proven>,
    anchors: BTreeMap<u64, Digest>,
    outstanding: VecDeque<Outstanding>,
    sizing: ChunkSizing,
    /// Leaves of the state that was executed on last.
    leaves: u32,
    inbox: mpsc::Receiver<Message>,
}

const LAST: U64 = U64::new(0);

impl<E: Runtime> Actor<E> {
    /// Creates the actor; `partition` is where the last produced header is.
    pub async fn new(
        context: E,
        partition: String,
        parts: Parts,
    ) -> Result<(Self, Mailbox), ProducerError> {
        let most = ChunkHeader::max_encode_size(parts.identity.genesis.protocol.execution_lag);
        let config = metadata::Config {
            partition,
            codec_config: ((0..=most).into(), ()),
        };
        let produced: Produced<E> = Metadata::init(context, config).await?;
        let last = produced.get(&LAST).map(|bytes| {
            let lag = parts.identity.genesis.protocol.execution_lag;
            ChunkHeader::decode_cfg(bytes.clone(), &lag)
        });
        let last = last.transpose()?;
        let (mailbox, inbox) = mailbox();
        let genesis = parts.genesis;
        let sizing = ChunkSizing::new(
            parts.identity.genesis.protocol,
            parts.identity.genesis.producers_of(parts.me.shard).count(),
            parts.adaptive_chunk_size,
        );
        let actor = Self {
            parts,
            produced: Some(produced),
            last,
            sent: 0,
            executed: BTreeMap::new(),
            anchors: BTreeMap::from([(0, genesis)]),
            outstanding: VecDeque::new(),
            sizing,
            leaves: 0,
            inbox,
        };
        Ok((actor, mailbox))
    }

    /// Starts with the genesis block as the parent, and runs until nobody is
    /// left to talk to.
    pub fn start(self, context: E, genesis: Block) -> Handle<Result<(), ProducerError>> {
        context.spawn(move |context| self.run(context, genesis))
    }

    async fn run(mut self, context: E, genesis: Block) -> Result<(), ProducerError> {
        let digest = self.parts.genesis;
        let mut tip = (Arc::new(genesis), digest);
        self.take_up_last().await;
        self.produce(&context, &tip.0).await?;
        while let Some(message) = self.inbox.recv().await {
            let mut message = Some(message);
            // Only the newest block is worth producing on.
            while let Some(next) = message.take() {
                match next {
                    Message::Executed(proven, changed) => {
                        self.on_executed(proven, changed).await;
                    }
                    Message::Installed(height) => self.parts.pool.installed(height).await,
                    Message::Finalized(block, digest) => {
                        self.on_finalized(&context, &block, digest).await;
                        tip = (block, digest);
                    }
                }
                message = self.inbox.try_recv().ok();
            }
            self.produce(&context, &tip.0).await?;
        }
        Ok(())
    }

    async fn on_executed(&mut self, proven: Proven, changed: Changed) {
        let height = proven.executed.result.height;
        // Before the next chunk takes anything.
        self.parts.pool.executed(height, changed).await;
        self.leaves = proven.evidence.pre_state.count();
        self.executed.insert(height, proven);
    }

    async fn on_finalized(&mut self, context: &E, block: &Block, digest: Digest) {
        self.anchors.insert(block.height, digest);
        while self.anchors.len() > ANCHORS {
            self.anchors.pop_first();
        }
        let congestion = Congestion::after(block, &self.parts.identity.genesis.protocol);
        self.parts.pool.next(block.height + 1, congestion).await;
        let Some(header) = block.chunk(self.parts.me.shard) else {
            return;
        };
        self.sizing.finalized(header, block.height);
        // Everything from the oldest execution that a header still has to
        // commit to.
        if let Some(oldest) = header.content.uncommitted.first() {
            self.executed = self.executed.split_off(oldest);
        }
        while let Some(outstanding) = self.outstanding.front() {
            if outstanding.height > block.height {
                break;
            }
            let included = header.hash() == outstanding.header;
            let Some(outstanding) = self.outstanding.pop_front() else {
                break;
            };
            outstanding.span.end_as(context, Detail::Included(included));
            if !included {
                info!(height = outstanding.height, "chunk missed its block");
                self.parts.pool.give_back(outstanding.taken).await;
            }
        }
    }

    /// Makes the chunk for the height after `parent`, if it is this node's
    /// turn and all that the header must commit to is executed.
    async fn produce(&mut self, context: &E, parent: &Block) -> Result<(), ProducerError> {
        let genesis = &self.parts.identity.genesis;
        let me = &self.parts.me;
        let height = parent.height + 1;
        if self.sent >= height || !self.parts.identity.produces(me.shard, height) {
            return Ok(());
        }
        let Some(previous) = parent.chunk(me.shard) else {
            return Ok(());
        };
        let due = height.saturating_sub(u64::from(genesis.protocol.execution_lag));
        let Some(anchor) = self.anchors.get(&due).copied() else {
            return Ok(());
        };
        let heights = previous.content.uncommitted.iter().copied();
        let (results, mut uncommitted): (Vec<u64>, Vec<u64>) =
            heights.partition(|height| *height <= due);
        uncommitted.push(height);
        let results: Option<Vec<Proven>> = results
            .iter()
            .map(|height| self.executed.get(height).cloned())
            .collect();
        let Some(results) = results else {
            return Ok(());
        };

        if let Some(last) = self.last.clone()
            && last.content.height >= height
        {
            return self.send_again(context, last, parent, &results).await;
        }

        let (most, limited_by) = self.sizing.limit(self.leaves);
        let (traces, place) = (&self.parts.traces, Place::chunk(height, me.shard));
        let span = traces.begin(context, Name::Chunk, place, Detail::None);
        let step = traces.begin(context, Name::Take, place, Detail::None);
        let taken = self.parts.pool.take(most as usize).await;
        let step = step.then(context, Name::Divide);
        let transactions = &taken.transactions;
        self.parts.metrics.chunk_limit(most);
        if transactions.len() == most as usize {
            self.parts.metrics.chunk_limited(limited_by.cause());
        } else if taken.held_back {
            self.parts.metrics.chunk_limited("congestion");
        }
        let body = ChunkBody::of(transactions);
        let Some((parts_root, shares)) = self.divide(&body).await else {
            self.parts.pool.give_back(taken).await;
            return Ok(());
        };
        step.end(context);
        let content = ChunkContent {
            shard: me.shard,
            height,
            sequence: previous.content.sequence + 1,
            anchor,
            previous: previous.hash(),
            body_hash: body.hash(),
            parts_root,
            body_len: (transactions.len() * Transaction::SIZE) as u32,
            transactions: transactions.len() as u32,
            results: results
                .iter()
                .map(|proven| proven.executed.result.clone())
                .collect(),
            uncommitted,
            totals: results.last().map_or_else(
                || previous.content.totals.clone(),
                |proven| proven.executed.totals.clone(),
            ),
        };
        let identity = &self.parts.identity;
        let header = ChunkHeader::sign(content, &identity.key, &identity.namespaces);
        let step = traces.begin(context, Name::RecordHeader, place, Detail::None);
        self.record(&header).await?;
        step.end(context);
        self.outstanding.push_back(Outstanding {
            height,
            header: header.hash(),
            taken,
            span,
        });
        self.parts.metrics.produced();
        self.send(context, header, (body, shares), parent, &results)
            .await;
        Ok(())
    }

    /// The body in parts, divided off the executor's threads.
    async fn divide(&self, body: &ChunkBody) -> Option<(Digest, Vec<Share>)> {
        let (code, body) = (self.parts.identity.body_code(), body.clone());
        let divided = self
            .parts
            .strategy
            .spawn(body.0.len(), move |strategy| {
                body::divide(&body, &code, &strategy)
            })
            .await;
        divided
            .inspect_err(|error| warn!(%error, "no chunk: its body cannot be divided"))
            .ok()
    }

    async fn record(&mut self, header: &ChunkHeader) -> Result<(), ProducerError> {
        if let Some(mut produced) = self.produced.take() {
            produced.put(LAST, header.encode().to_vec());
            self.produced = Some(produced.sync().await?);
        }
        self.last = Some(header.clone());
        Ok(())
    }

    async fn send(
        &mut self,
        context: &E,
        header: ChunkHeader,
        (body, shares): (ChunkBody, Vec<Share>),
        parent: &Block,
        results: &[Proven],
    ) {
        self.sent = header.content.height;
        let shard = header.content.shard;
        let place = Place::chunk(self.sent, shard);
        let committees = self.parts.identity.committees_after(parent);
        if let Some(committee) = committees.get(shard.index()) {
            let evidence = results
                .iter()
                .map(|proven| (proven.executed.result.height, proven.evidence.clone()));
            let evidence = evidence.collect();
            self.parts
                .witnesses
                .make(header.clone(), evidence, committee.clone());
        }
        let traces = &self.parts.traces;
        let step = traces.begin(context, Name::RecordBody, place, Detail::None);
        let Some(chunk) = self.take_in(header, body.clone()).await else {
            return;
        };
        step.end(context);
        let buckets = results
            .iter()
            .flat_map(|proven| proven.executed.buckets.iter().cloned())
            .collect();
        self.parts
            .availability
            .produced(chunk, body, shares, buckets)
            .await;
    }

    /// The chunk that this node signed last, before it was started again, may
    /// be in a block that waits for parts of it which only this node has: no
    /// other block comes then, and so no turn to send it again.
    async fn take_up_last(&self) {
        let Some(last) = self.last.clone() else {
            return;
        };
        let Some(body) = self.stored_body(&last).await else {
            return;
        };
        let Some((_, shares)) = self.divide(&body).await else {
            return;
        };
        if let Some(chunk) = self.take_in(last, body.clone()).await {
            let availability = &self.parts.availability;
            availability.produced(chunk, body, shares, Vec::new()).await;
        }
    }

    async fn stored_body(&self, header: &ChunkHeader) -> Option<ChunkBody> {
        let content = &header.content;
        if content.transactions == 0 {
            return Some(ChunkBody::of(&[]));
        }
        let stored = self.parts.bodies.serve(content.height, content.body_hash);
        stored.await.ok().map(ChunkBody)
    }

    async fn take_in(&self, header: ChunkHeader, body: ChunkBody) -> Option<Arc<CheckedChunk>> {
        let shown = Shown::Body(body);
        self.parts.bodies.intake(header, shown, true).await?
    }

    /// A chunk for `height` was signed before a restart.
    async fn send_again(
        &mut self,
        context: &E,
        last: ChunkHeader,
        parent: &Block,
        results: &[Proven],
    ) -> Result<(), ProducerError> {
        let height = parent.height + 1;
        if last.content.height > height {
            return Ok(());
        }
        // Without the body nobody can have seen the chunk: its turn is lost.
        let Some(body) = self.stored_body(&last).await else {
            return Ok(());
        };
        if let Some((_, shares)) = self.divide(&body).await {
            self.send(context, last, (body, shares), parent, results)
                .await;
        }
        Ok(())
    }
}
