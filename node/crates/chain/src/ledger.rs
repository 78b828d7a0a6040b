// SPDX-License-Identifier: Apache-2.0
//! The actor that owns the shard's state. It takes finalised blocks in order,
//! executes the own shard's chunks, makes each execution durable, and only
//! then acknowledges the block, so that a restarted node resumes where its
//! durable state ends.
//!
//! # What a chunk's execution is given
//!
//! The chunk at height `h` credits the receipts that any shard's headers in
//! the blocks up to `h` are the first to commit to, in this order: by block,
//! by source shard, by executed height. It starts where the chunk before it
//! stopped, and takes as much as [`Crediting`] wants; the rest waits for the
//! next one. Each bucket is checked against the committing header's
//! `receipts_root`. What block `h - 1` says of the shards decides to which of
//! them the chunk's transfers may send.
//!
//! # Recovery
//!
//! Snapshot, then the records after it, and the rebuilt root must be the last
//! record's. Blocks that are delivered again are not executed again.
//!
//! # Catching up
//!
//! A block waits at the front until what executing it takes has come, or a
//! later state, which [`crate::state_sync`] fetches. Blocks up to that state
//! are then acknowledged without being executed: a block is never acknowledged
//! before there is a durable state that has it.

mod run;
mod shard;
mod snapshots;

pub use self::snapshots::Origin;
use self::{
    run::{Inputs, run},
    shard::{Shard, recover, stored_execution},
};
use crate::{
    availability, bodies,
    config::{Identity, Settings},
    due::{Delivered, by_header, due_in, is_from, more_than_credited},
    error::ChainError,
    executed::{Executed, Proven},
    fetch::Key,
    genesis_state::GenesisState,
    metrics::Metrics,
    producer,
    runtime::Runtime,
    state_sync::{self, Fetched, served::Shelf},
    view::ChainView,
    witness_validator,
};
use bytes::Bytes;
use commonware_actor::Feedback;
use commonware_codec::Encode as _;
use commonware_consensus::{
    Reporter,
    marshal::{Update, core, standard::Standard},
    simplex::scheme::ed25519::Scheme,
    types::Height,
};
use commonware_cryptography::{Digested, Digestible as _};
use commonware_macros::select;
use commonware_parallel::{Rayon, Strategy as _};
use commonware_runtime::Handle;
use commonware_utils::{
    Acknowledgement as _,
    acknowledgement::Exact,
    channel::{fallible::OneshotExt as _, mpsc, oneshot, watch},
    futures::Pool,
};
use shardnode_execution::{Crediting, Outcome, StateView as _};
use shardnode_primitives::{
    AccountId, Block, ChunkHeader, Congestion, Digest, DuePosition, ShardId,
};
use shardnode_state::{Account, AccountProof};
use shardnode_storage::{Engine, ExecutionRecord, Recovered};
use shardnode_witness::Due;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tracing::{info, warn};

/// Finalised blocks that are delivered and not acknowledged, at most. They
/// have a queue of their own: marshal stops at a block that is not taken in.
pub const PENDING_ACKS: usize = 16;

/// Marshal's handle in this chain.
pub type Marshal = core::Mailbox<Scheme, Standard<Block>>;

type Finalized = (Digested<Block>, Exact);

/// Somebody who votes or endorses waits for an execution.
struct Awaited {
    height: u64,
    reply: oneshot::Sender<Arc<Executed>>,
}

/// What clients and peers ask.
enum Question {
    Account {
        id: AccountId,
        reply: oneshot::Sender<(u64, Option<Account>)>,
    },
    Prove {
        id: AccountId,
        reply: oneshot::Sender<(u64, AccountProof)>,
    },
    Outcome {
        hash: Digest,
        reply: oneshot::Sender<Option<(u64, Outcome)>>,
    },
    Serve {
        height: u64,
        destination: ShardId,
        root: Digest,
        reply: oneshot::Sender<Bytes>,
    },
}

/// Where the own shard's state stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// The shard.
    pub shard: ShardId,
    /// The last executed height.
    pub height: u64,
    /// The state's root.
    pub root: Digest,
    /// How many accounts it has.
    pub accounts: u32,
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox {
    blocks: mpsc::Sender<Finalized>,
    awaited: mpsc::Sender<Awaited>,
    questions: mpsc::Sender<Question>,
    /// The highest finalised height that this node has heard of.
    tip: Arc<AtomicU64>,
}

impl Mailbox {
    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Option<T> {
        let (reply, response) = oneshot::channel();
        self.questions.send(question(reply)).await.ok()?;
        response.await.ok()
    }

    /// Waits until the own shard's chunk at `height` is executed. `None` if
    /// this node tracks no shard or no longer has the execution.
    pub async fn executed(&self, height: u64) -> Option<Arc<Executed>> {
        let (reply, response) = oneshot::channel();
        self.awaited.send(Awaited { height, reply }).await.ok()?;
        response.await.ok()
    }

    /// An account of the own shard, and the height of the state it is from.
    pub async fn account(&self, id: AccountId) -> Option<(u64, Option<Account>)> {
        self.ask(|reply| Question::Account { id, reply }).await
    }

    /// Proves an account, or its absence, in the current state.
    pub async fn prove(&self, id: AccountId) -> Option<(u64, AccountProof)> {
        self.ask(|reply| Question::Prove { id, reply }).await
    }

    /// What became of a transaction, among the last 1,000 executions and
    /// 1,000,000 transactions.
    pub async fn outcome(&self, hash: Digest) -> Option<Option<(u64, Outcome)>> {
        self.ask(|reply| Question::Outcome { hash, reply }).await
    }

    /// Receipts with their proof, for a peer; the channel closes if this node
    /// does not have them.
    #[must_use]
    pub fn serve(
        &self,
        height: u64,
        destination: ShardId,
        root: Digest,
    ) -> oneshot::Receiver<Bytes> {
        let (reply, response) = oneshot::channel();
        let _ = self.questions.try_send(Question::Serve {
            height,
            destination,
            root,
            reply,
        });
        response
    }
}

impl Reporter for Mailbox {
    type Activity = Update<Block>;

    fn report(&mut self, update: Update<Block>) -> Feedback {
        match update {
            Update::Tip(_, height, _) => {
                self.tip.fetch_max(height.get(), Ordering::Relaxed);
                Feedback::Ok
            }
            Update::Block(block, ack) => match self.blocks.try_send((block, ack)) {
                Ok(()) => Feedback::Ok,
                Err(_) => Feedback::Closed,
            },
        }
    }
}

/// Headers whose receipts are asked for side by side.
const SIDE_BY_SIDE: usize = 1_024;

/// What the actor works with.
pub struct Parts<S> {
    /// Who this node is.
    pub identity: Arc<Identity>,
    /// Its settings.
    pub settings: Settings,
    /// The genesis state.
    pub genesis: Arc<GenesisState>,
    /// Bodies and receipts in flight.
    pub availability: availability::Mailbox,
    /// Stored bodies.
    pub bodies: bodies::Mailbox,
    /// Finalised blocks.
    pub marshal: Marshal,
    /// The own shard's storage and what it recovered.
    pub storage: Option<(S, Recovered)>,
    /// Told of every finalised block as it comes.
    pub validator: witness_validator::Mailbox,
    /// Told of every finalised block and execution.
    pub producer: Option<producer::Mailbox>,
    /// Where the view is published.
    pub view: watch::Sender<Arc<ChainView>>,
    /// Where the own shard's progress is published.
    pub tracked: watch::Sender<Option<Tracked>>,
    /// What is measured.
    pub metrics: Arc<Metrics>,
    /// CPU work.
    pub strategy: Rayon,
    /// Fetches a state when this one cannot be executed on from.
    pub state_sync: state_sync::Mailbox,
    /// Where snapshots are served from.
    pub shelf: Shelf,
}

/// The actor.
pub struct Actor<E: Runtime, S: Engine> {
    context: E,
    identity: Arc<Identity>,
    settings: Settings,
    availability: availability::Mailbox,
    bodies: bodies::Mailbox,
    marshal: Marshal,
    shard: Option<Shard<S>>,
    validator: witness_validator::Mailbox,
    producer: Option<producer::Mailbox>,
    chain: ChainView,
    view: watch::Sender<Arc<ChainView>>,
    tracked: watch::Sender<Option<Tracked>>,
    metrics: Arc<Metrics>,
    strategy: Rayon,
    inbox: Inbox,
    queue: VecDeque<Finalized>,
    due: BTreeMap<u64, Vec<Due>>,
    gathering: Pool<'static, Option<Inputs>>,
    gathers: bool,
    state_sync: state_sync::Mailbox,
    fetching: Pool<'static, Option<Fetched>>,
    shelf: Shelf,
}

/// The mailbox of an actor that is created later with [`Actor::new`].
#[must_use]
pub fn mailbox() -> (Mailbox, Inbox) {
    let (deliver, blocks) = mpsc::channel(PENDING_ACKS);
    let (wait, awaited) = mpsc::channel(1_024);
    let (ask, questions) = mpsc::channel(1_024);
    let tip = Arc::new(AtomicU64::new(0));
    let mailbox = Mailbox {
        blocks: deliver,
        awaited: wait,
        questions: ask,
        tip: tip.clone(),
    };
    let inbox = Inbox {
        blocks,
        awaited,
        questions,
        tip,
    };
    (mailbox, inbox)
}

/// The receiving end of a [`Mailbox`].
pub struct Inbox {
    blocks: mpsc::Receiver<Finalized>,
    awaited: mpsc::Receiver<Awaited>,
    questions: mpsc::Receiver<Question>,
    tip: Arc<AtomicU64>,
}

impl<E: Runtime, S: Engine + 'static> Actor<E, S> {
    /// Creates the actor from what storage recovered.
    pub fn new(context: E, parts: Parts<S>, inbox: Inbox) -> Result<Self, ChainError> {
        let genesis = parts.genesis;
        let shard = match (parts.identity.tracked(), parts.storage) {
            (Some(id), Some((storage, recovered))) => Some(recover(
                &parts.identity,
                &genesis,
                id,
                storage,
                recovered,
                &parts.shelf,
            )?),
            _ => None,
        };
        if let Some(shard) = &shard {
            parts.tracked.send_replace(Some(shard.progress()));
            info!(shard = %shard.id, height = shard.height, root = %shard.state.root(), "state ready");
            if let Some(producer) = &parts.producer {
                for (height, evidence) in &shard.evidence {
                    if let Some(executed) = shard.recent.get(height) {
                        let (executed, evidence) = (executed.clone(), evidence.clone());
                        producer.executed(Proven { executed, evidence });
                    }
                }
            }
        }
        let chain = ChainView::new(
            &parts.identity.genesis,
            genesis.block.clone(),
            genesis.digest,
        );
        Ok(Self {
            context,
            identity: parts.identity,
            settings: parts.settings,
            availability: parts.availability,
            bodies: parts.bodies,
            marshal: parts.marshal,
            shard,
            validator: parts.validator,
            producer: parts.producer,
            chain,
            view: parts.view,
            tracked: parts.tracked,
            metrics: parts.metrics,
            strategy: parts.strategy,
            inbox,
            queue: VecDeque::new(),
            due: BTreeMap::new(),
            gathering: Pool::default(),
            gathers: false,
            state_sync: parts.state_sync,
            fetching: Pool::default(),
            shelf: parts.shelf,
        })
    }

    /// Runs until something makes going on impossible.
    pub fn start(self) -> Handle<Result<(), ChainError>> {
        let context = self.context.child("run");
        context.spawn(move |_| self.run())
    }

    async fn run(mut self) -> Result<(), ChainError> {
        loop {
            select! {
                delivered = self.inbox.blocks.recv() => {
                    let Some((block, ack)) = delivered else { return Ok(()) };
                    // A member of a committee needs the block, not its execution.
                    self.validator.finalized(block.clone()).await;
                    self.queue.push_back((block, ack));
                },
                inputs = self.gathering.next_completed() => {
                    let Some(inputs) = inputs else {
                        return Err(ChainError::Ended { part: "availability" });
                    };
                    self.gathers = false;
                    self.execute(inputs).await?;
                    self.finish_front().await?;
                },
                fetched = self.fetching.next_completed() => {
                    let fetched = fetched.ok_or(ChainError::Ended { part: "state sync" })?;
                    self.install(fetched).await?;
                },
                awaited = self.inbox.awaited.recv() => {
                    let Some(awaited) = awaited else { return Ok(()) };
                    self.on_awaited(awaited);
                },
                // Last, so that no number of questions keeps the chain waiting.
                question = self.inbox.questions.recv() => {
                    let Some(question) = question else { return Ok(()) };
                    self.on_question(question).await?;
                },
            }
            self.advance().await?;
        }
    }

    fn on_awaited(&mut self, Awaited { height, reply }: Awaited) {
        let Some(shard) = self.shard.as_mut() else {
            return;
        };
        match shard.recent.get(&height) {
            Some(executed) => {
                reply.send_lossy(executed.clone());
            }
            None if height > shard.height => {
                let waiting = shard.waiting.entry(height).or_default();
                waiting.retain(|reply| !reply.is_closed());
                waiting.push(reply);
            }
            None => {}
        }
    }

    async fn on_question(&mut self, question: Question) -> Result<(), ChainError> {
        let Some(shard) = self.shard.as_mut() else {
            return Ok(());
        };
        match question {
            Question::Account { id, reply } => {
                reply.send_lossy((shard.height, shard.state.get(&id)));
            }
            Question::Prove { id, reply } => {
                reply.send_lossy((shard.height, shard.state.prove(&id)));
            }
            Question::Outcome { hash, reply } => {
                reply.send_lossy(shard.outcome(&hash));
            }
            Question::Serve {
                height,
                destination,
                root,
                reply,
            } => {
                let executed = stored_execution(&self.identity, shard, height).await?;
                let bucket = executed
                    .filter(|executed| executed.result.receipts_root == root)
                    .and_then(|executed| executed.buckets.get(destination.index()).cloned());
                if let Some(bucket) = bucket {
                    reply.send_lossy(bucket.encode());
                }
            }
        }
        Ok(())
    }

    /// Works through the queue until a block needs inputs that are not here.
    async fn advance(&mut self) -> Result<(), ChainError> {
        while !self.gathers {
            let Some((block, _)) = self.queue.front() else {
                break;
            };
            let block = block.clone();
            self.note_due(block.inner());
            let execute = self.own_chunk(block.inner())?;
            self.on_stated(block.inner()).await?;
            match execute {
                Some(header) => {
                    self.want_later_state(header.content.height);
                    self.gather(header).await?;
                    self.gathers = true;
                }
                None => self.finish_front().await?,
            }
        }
        Ok(())
    }

    /// Asks for a state that makes executing `height` needless: at once if
    /// what that takes is older than what peers keep, else if it does not come.
    fn want_later_state(&mut self, height: u64) {
        let tip = self.inbox.tip.load(Ordering::Relaxed);
        let behind = state_sync::is_behind(height, tip, self.settings.retention);
        // While the node is behind, one question is enough for all heights.
        if behind && !self.fetching.is_empty() {
            return;
        }
        self.fetching.cancel_all();
        let state_sync = self.state_sync.clone();
        let context = self.context.child("patience");
        self.fetching.push(async move {
            if !behind {
                context.sleep(state_sync::PATIENCE).await;
            }
            state_sync.needed(height).await
        });
    }

    fn note_due(&mut self, block: &Block) {
        let Some(own) = self.identity.tracked() else {
            return;
        };
        let due = due_in(block, own).collect();
        self.due.insert(block.height, due);
    }

    /// The own shard's new chunk in `block`, if it is still to be executed.
    /// What the block commits of earlier executions must be this node's.
    fn own_chunk(&self, block: &Block) -> Result<Option<ChunkHeader>, ChainError> {
        let Some(shard) = &self.shard else {
            return Ok(None);
        };
        let Some(header) = block
            .new_chunks()
            .find(|header| header.content.shard == shard.id)
        else {
            return Ok(None);
        };
        for result in &header.content.results {
            if let Some(executed) = shard.recent.get(&result.height)
                && executed.result != *result
            {
                return Err(ChainError::Diverged {
                    shard: shard.id,
                    height: result.height,
                    block: block.height,
                    committed: result.state_root,
                    executed: executed.result.state_root,
                });
            }
        }
        Ok((header.content.height > shard.height).then(|| header.clone()))
    }

    /// Asks for everything that executing the chunk needs.
    async fn gather(&mut self, header: ChunkHeader) -> Result<(), ChainError> {
        let Some(shard) = &self.shard else {
            return Ok(());
        };
        let (destination, leaves) = (shard.id, shard.state.leaf_count());
        let (from, height) = (shard.totals.next_due, header.content.height);
        let due = self.queue(from, height).await?;
        let protocol = self.identity.genesis.protocol;
        let congestion = Congestion::after(&self.parent_of(height).await?, &protocol);

        let availability = self.availability.clone();
        self.gathering.push(async move {
            let headers: Vec<&[Due]> = by_header(&due).collect();
            let mut headers = headers.chunks(SIDE_BY_SIDE);
            let first = headers.next().unwrap_or_default();
            // The chunk and, unless there is more than usual, all receipts.
            let (chunk, mut delivered) = futures::join!(
                availability.chunk(header, true),
                deliveries(&availability, first, destination),
            );
            let chunk = chunk?;
            let mut crediting = Crediting::new(protocol, chunk.transactions.len(), leaves);
            let mut incoming = Vec::new();
            loop {
                for one in delivered? {
                    if !crediting.wants_more() {
                        break;
                    }
                    crediting.credit(&one.delivery);
                    incoming.push(one);
                }
                let more = headers.next().filter(|_| crediting.wants_more());
                let Some(more) = more else { break };
                delivered = deliveries(&availability, more, destination).await;
            }
            Some(Inputs {
                chunk,
                incoming,
                congestion,
            })
        });
        Ok(())
    }

    /// What fell due for the own shard from this place up to `height`, or as
    /// much of it as a chunk can credit.
    async fn queue(&mut self, from: DuePosition, height: u64) -> Result<Vec<Due>, ChainError> {
        let mut queue = Vec::new();
        for height in from.block..=height {
            if more_than_credited(&self.identity.genesis.protocol, queue.len()) {
                break;
            }
            if !self.due.contains_key(&height) {
                let block = self.finalized_block(height).await?;
                self.note_due(block.inner());
            }
            let due = self.due.get(&height).into_iter().flatten().copied();
            queue.extend(due.filter(|due| is_from(from, due)));
        }
        Ok(queue)
    }

    async fn finalized_block(&mut self, height: u64) -> Result<Digested<Block>, ChainError> {
        let block = self.marshal.get_block(Height::new(height)).await;
        block.ok_or(ChainError::MissingBlock { height })
    }

    /// The block before the one at `height`, which is at the front.
    async fn parent_of(&mut self, height: u64) -> Result<Block, ChainError> {
        let parent = &self.chain.block;
        if parent.height + 1 == height {
            return Ok(parent.clone());
        }
        // The first blocks after a restart continue what was there before.
        let parent = self.finalized_block(height - 1).await?;
        Ok(parent.inner().clone())
    }

    async fn execute(&mut self, inputs: Inputs) -> Result<(), ChainError> {
        let Some(shard) = self.shard.as_mut() else {
            return Ok(());
        };
        let started = self.context.current();
        let header = inputs.chunk.header.clone();
        let height = header.content.height;
        if !inputs.chunk.valid {
            warn!(shard = %shard.id, height, "finalised chunk has an invalid body: executed as empty");
        }
        let identity = self.identity.clone();
        let mut state = std::mem::take(&mut shard.state);
        let totals = shard.totals.clone();
        let (state, outcome) = self
            .strategy
            .spawn(inputs.chunk.transactions.len().max(1), move |_| {
                let outcome = run(&mut state, &identity.genesis, &inputs, &totals);
                (state, outcome)
            })
            .await;
        shard.state = state;
        let (proven, changes) = outcome?;
        let executed = proven.executed.clone();

        let record = ExecutionRecord {
            height,
            block: self
                .queue
                .front()
                .map_or(self.chain.digest, |(block, _)| block.digest()),
            state_root: executed.result.state_root,
            changes,
            payload: proven.encode(),
        };
        let storage = shard.take_storage()?;
        let storage = storage
            .append(record)
            .await
            .map_err(shard.storage_error())?;
        shard.storage = Some(storage);
        shard.height = height;
        shard.totals = executed.totals.clone();
        let next_due = executed.totals.next_due;
        shard.remember(proven.clone());
        self.tracked.send_replace(Some(shard.progress()));
        let elapsed = self
            .context
            .current()
            .duration_since(started)
            .unwrap_or_default();
        self.metrics.executed(height, elapsed);
        if let Some(producer) = &self.producer {
            producer.executed(proven);
        }
        self.due = self.due.split_off(&next_due.block);
        shard.freeze(&header.content, self.settings.snapshot_interval);
        let tip = self.inbox.tip.load(Ordering::Relaxed);
        if !state_sync::is_behind(height, tip, self.settings.retention) {
            self.fetching.cancel_all();
        }
        Ok(())
    }

    /// The front block needs nothing more: publish and acknowledge it.
    async fn finish_front(&mut self) -> Result<(), ChainError> {
        let Some((block, ack)) = self.queue.pop_front() else {
            return Ok(());
        };
        let digest = block.digest();
        let block = block.inner();
        let now = self.context.now_ms();
        let lag = self.identity.genesis.protocol.execution_lag;
        self.metrics.finalized(&self.chain.block, block, lag, now);
        self.metrics
            .produced_transfers(self.identity.produced_transfers(block));
        let committees = self.identity.committees_of(block);
        self.chain.advance(block.clone(), digest, &committees);
        for header in block.new_chunks() {
            let shard = header.content.shard;
            if let Some(stake) = self.chain.endorsed.get(shard.index()).copied().flatten() {
                self.metrics
                    .finalized_endorsements(shard, stake.endorsed, stake.mandated);
            }
        }
        self.view.send_replace(Arc::new(self.chain.clone()));
        self.availability.finalized(block.height).await;
        if let Some(producer) = &self.producer {
            producer.finalized(Arc::new(block.clone()), digest);
        }
        ack.acknowledge();
        Ok(())
    }
}

/// The receipts that fell due with these headers.
async fn deliveries(
    availability: &availability::Mailbox,
    headers: &[&[Due]],
    destination: ShardId,
) -> Option<Vec<Delivered>> {
    let headers = headers.iter().map(|due| async move {
        let buckets = due.iter().map(|due| {
            let key = Key::Bucket {
                source: due.source,
                height: due.height,
                destination,
                root: due.receipts_root,
            };
            availability.bucket(key, true)
        });
        let buckets = futures::future::join_all(buckets).await;
        Delivered::new(due, buckets.into_iter().collect::<Option<_>>()?)
    });
    let headers = futures::future::join_all(headers).await;
    headers.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_consensus::{
        simplex::types::Context,
        types::{Epoch, Round, View},
    };
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use shardnode_primitives::{Randomness, hash::ZERO};

    fn block() -> Digested<Block> {
        let block = Block {
            context: Context {
                round: Round::new(Epoch::new(0), View::new(1)),
                leader: PrivateKey::from_seed(0).public_key(),
                parent: (View::new(0), ZERO),
            },
            height: 1,
            timestamp_ms: 0,
            randomness: Randomness::genesis(ZERO),
            chunks: Vec::new(),
            endorsements: Vec::new(),
        };
        Digested::precomputed(block, ZERO)
    }

    #[test]
    fn blocks_are_taken_in_however_much_is_asked() {
        let (mut mailbox, mut inbox) = mailbox();
        let asked: Vec<_> = (0..5_000)
            .map(|height| mailbox.serve(height, ShardId(0), ZERO))
            .collect();
        for _ in 0..PENDING_ACKS {
            let (acknowledgement, _) = Exact::handle();
            let update = Update::Block(block(), acknowledgement);
            assert!(matches!(mailbox.report(update), Feedback::Ok));
            assert!(inbox.blocks.try_recv().is_ok());
        }
        drop(asked);
    }
}
