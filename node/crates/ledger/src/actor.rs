// SPDX-License-Identifier: Apache-2.0
//! The actor: blocks in order, what each waits for, and who asks.

mod lost;
mod serving;
mod snapshots;

use self::serving::{Asked, Looked, Lookup, asked};

use crate::{
    catching_up::{PATIENCE, is_behind},
    copy::Seen,
    error::LedgerError,
    execute::run,
    inputs::{Delivered, Inputs, gather},
    metrics::Metrics,
    shard::{Credited, Shard, recover},
};
use commonware_codec::Encode as _;
use commonware_consensus::types::Height;
use commonware_cryptography::{Digested, Digestible as _, Signer as _};
use commonware_macros::select;
use commonware_parallel::{Rayon, Strategy as _};
use commonware_runtime::Handle;
use commonware_utils::{
    Acknowledgement as _,
    acknowledgement::Exact,
    channel::{fallible::OneshotExt as _, watch},
    futures::Pool,
};
use shardnode_blocks::{
    self as blocks, ChainView, GenesisState, Marshal,
    due_receipts::{due_in, is_from, more_than_credited},
};
use shardnode_execution::{StateView as _, record::Proven};
use shardnode_mailboxes::{
    Runtime, availability, bodies,
    ledger::{Awaited, Inbox, Lack, Question, Tracked},
    producer,
    snapshots::Shelf,
    state_sync::{self, Fetched},
    turns::Turns,
    witness_validator,
};
use shardnode_network::Identity;
use shardnode_primitives::{Block, ChunkHeader, Congestion, DuePosition};
use shardnode_storage::{Engine, ExecutionRecord, Recovered};
use shardnode_traces::{Begun, Detail, Name, Place, Recorder};
use shardnode_witness::Due;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, atomic::Ordering},
    time::SystemTime,
};
use tracing::{info, warn};

/// What the actor works with.
pub struct Parts<S> {
    /// Who this node is.
    pub identity: Arc<Identity>,
    /// Executed chunks between two snapshots of the state.
    pub snapshot_interval: u64,
    /// Blocks for which chunk bodies and outgoing receipts stay available.
    pub retention: u64,
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
    /// Where it is published what the own copy of the shard lacks.
    pub lacks: watch::Sender<Vec<Lack>>,
    /// Whether own parts of bodies are durable.
    pub parts_durable: bool,
    /// What is measured of blocks.
    pub block_metrics: Arc<blocks::Metrics>,
    /// What is measured of executions.
    pub metrics: Arc<Metrics>,
    /// CPU work.
    pub strategy: Rayon,
    /// Fetches a state when this one cannot be executed on from.
    pub state_sync: state_sync::Mailbox,
    /// Where snapshots are served from.
    pub shelf: Shelf,
    /// Spans.
    pub traces: Recorder,
}

/// The actor.
pub struct Actor<E: Runtime, S: Engine> {
    context: E,
    identity: Arc<Identity>,
    snapshot_interval: u64,
    retention: u64,
    availability: availability::Mailbox,
    bodies: bodies::Mailbox,
    marshal: Marshal,
    shard: Option<Shard<S>>,
    validator: witness_validator::Mailbox,
    producer: Option<producer::Mailbox>,
    chain: ChainView,
    view: watch::Sender<Arc<ChainView>>,
    tracked: watch::Sender<Option<Tracked>>,
    lacks: watch::Sender<Vec<Lack>>,
    parts_durable: bool,
    block_metrics: Arc<blocks::Metrics>,
    metrics: Arc<Metrics>,
    strategy: Rayon,
    inbox: Inbox,
    /// Blocks to process, with who is told. Nobody is of one that was acknowledged
    /// before the node was started.
    queue: VecDeque<(Digested<Block>, Option<Exact>)>,
    due: BTreeMap<u64, Vec<Due>>,
    gathering: Pool<'static, Option<Inputs>>,
    gathers: bool,
    state_sync: state_sync::Mailbox,
    fetching: Pool<'static, Option<Fetched>>,
    /// The record that is looked up for somebody who asks.
    lookup: Option<Lookup>,
    /// What is looked up after it, at most [`WAITING`](serving::WAITING).
    waiting: VecDeque<Lookup>,
    looking: Pool<'static, Looked<S>>,
    shelf: Shelf,
    traces: Recorder,
    /// The span of gathering what the next execution needs.
    gather: Option<Begun>,
    /// The block that was delivered last, and when; only if heights are traced.
    delivered: Option<(u64, SystemTime)>,
}

impl<E: Runtime, S: Engine + 'static> Actor<E, S> {
    /// Creates the actor from what storage recovered.
    pub fn new(context: E, parts: Parts<S>, inbox: Inbox) -> Result<Self, LedgerError> {
        let genesis = parts.genesis;
        let shard = match (parts.identity.tracked(), parts.storage) {
            (Some(id), Some((storage, recovered))) => Some(recover(
                &parts.identity,
                &genesis,
                id,
                storage,
                recovered,
                (&parts.shelf, parts.retention),
            )?),
            _ => None,
        };
        if let Some(shard) = &shard {
            parts.tracked.send_replace(Some(shard.progress()));
            info!(shard = %shard.id, height = shard.height, root = %shard.state.root(), "state ready");
        }
        let chain = ChainView::new(
            &parts.identity.genesis,
            genesis.block.clone(),
            genesis.digest,
        );
        Ok(Self {
            context,
            identity: parts.identity,
            snapshot_interval: parts.snapshot_interval,
            retention: parts.retention,
            availability: parts.availability,
            bodies: parts.bodies,
            marshal: parts.marshal,
            shard,
            validator: parts.validator,
            producer: parts.producer,
            chain,
            view: parts.view,
            tracked: parts.tracked,
            lacks: parts.lacks,
            parts_durable: parts.parts_durable,
            block_metrics: parts.block_metrics,
            metrics: parts.metrics,
            strategy: parts.strategy,
            inbox,
            queue: VecDeque::new(),
            due: BTreeMap::new(),
            gathering: Pool::default(),
            gathers: false,
            state_sync: parts.state_sync,
            fetching: Pool::default(),
            lookup: None,
            waiting: VecDeque::new(),
            looking: Pool::default(),
            shelf: parts.shelf,
            traces: parts.traces,
            gather: None,
            delivered: None,
        })
    }

    /// Runs until something makes going on impossible.
    pub fn start(self) -> Handle<Result<(), LedgerError>> {
        let context = self.context.child("run");
        context.spawn(move |_| self.run())
    }

    async fn run(mut self) -> Result<(), LedgerError> {
        if let Some(producer) = &self.producer {
            for proven in self.recovered() {
                // The pool of a node that starts is empty.
                producer.executed(proven, Arc::default()).await;
            }
        }
        self.look_at_acknowledged().await;
        self.advance().await?;
        let mut turns = Turns::default();
        loop {
            select! {
                delivered = self.inbox.blocks.recv() => {
                    let Some((block, ack)) = delivered else { return Ok(()) };
                    self.trace_delivered(block.inner());
                    // A member of a committee needs the block, not its execution.
                    self.validator.finalized(block.clone()).await;
                    self.queue.push_back((block, Some(ack)));
                },
                inputs = self.gathering.next_completed() => {
                    let Some(inputs) = inputs else {
                        return Err(LedgerError::Ended { part: "availability" });
                    };
                    self.gathers = false;
                    self.execute(inputs).await?;
                    self.finish_front().await?;
                },
                fetched = self.fetching.next_completed() => {
                    let fetched = fetched.ok_or(LedgerError::Ended { part: "state sync" })?;
                    self.install(fetched).await?;
                },
                awaited = self.inbox.awaited.recv() => {
                    let Some(awaited) = awaited else { return Ok(()) };
                    self.on_awaited(awaited);
                },
                looked = self.looking.next_completed() => self.on_looked(looked)?,
                // Last, so that no number of questions keeps the chain waiting.
                asked = asked(
                    &mut turns,
                    &mut self.inbox.questions,
                    &mut self.inbox.proofs,
                    &mut self.inbox.receipts,
                ) => match asked {
                    Some(Asked::Question(question)) => self.on_question(question),
                    Some(Asked::Proof(asked)) => self.on_proof_asked(asked),
                    Some(Asked::Receipts(asked)) => self.on_receipts_asked(asked),
                    None => return Ok(()),
                },
            }
            self.look_up_next();
            self.advance().await?;
        }
    }

    /// What headers still have to commit to.
    fn recovered(&self) -> Vec<Proven> {
        let Some(shard) = &self.shard else {
            return Vec::new();
        };
        let proven = shard.evidence.iter().filter_map(|(height, evidence)| {
            let executed = shard.recent.get(height)?.clone();
            let evidence = evidence.clone();
            Some(Proven { executed, evidence })
        });
        proven.collect()
    }

    /// Consensus delivered a block: it is final and stored.
    fn trace_delivered(&mut self, block: &Block) {
        if !self.traces.is_on() {
            return;
        }
        let (height, now) = (block.height, self.context.current());
        let place = Place::block(height);
        if let Some(finalised) = self.traces.when_finalised(height) {
            let (name, detail) = (Name::RecordBlock, Detail::None);
            self.traces
                .end(&self.context, name, place, detail, finalised);
        }
        let before = self.delivered.replace((height, now));
        if let Some((_, before)) = before.filter(|(before, _)| before + 1 == height)
            && block.context.leader == self.identity.key.public_key()
        {
            let (name, detail) = (Name::Block, Detail::None);
            self.traces.end(&self.context, name, place, detail, before);
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

    fn on_question(&mut self, question: Question) {
        let Some(shard) = self.shard.as_ref() else {
            return;
        };
        match question {
            Question::Account { id, reply } => {
                reply.send_lossy((shard.height, shard.state.get(&id)));
            }
            Question::Accounts { ids, reply } => {
                let accounts = ids.iter().map(|id| shard.state.get(id)).collect();
                reply.send_lossy((shard.height, accounts));
            }
            Question::Prove { id, reply } => {
                reply.send_lossy((shard.height, shard.state.prove(&id)));
            }
            Question::Outcome { hash, reply } => {
                reply.send_lossy(shard.outcome(&hash));
            }
            Question::Outcomes { hashes, reply } => {
                let outcomes = hashes.iter().map(|hash| shard.outcome(hash)).collect();
                reply.send_lossy(outcomes);
            }
        }
    }

    /// Works through the queue until a block needs inputs that are not here.
    async fn advance(&mut self) -> Result<(), LedgerError> {
        while !self.gathers {
            let Some((block, _)) = self.queue.front() else {
                break;
            };
            let block = block.clone();
            if self.is_lost_before(block.inner())? {
                self.go_back(block.inner().height).await;
                continue;
            }
            self.note_due(block.inner());
            let execute = self.own_chunk(block.inner())?;
            self.on_stated(block.inner()).await?;
            match execute {
                Some(header) => {
                    self.note_repeated(&header);
                    self.want_later_state(header.content.height);
                    self.start_to_gather(header).await?;
                    self.gathers = true;
                }
                None => self.finish_front().await?,
            }
        }
        Ok(())
    }

    /// Asks for a state that makes executing `height` needless: at once if
    /// there is probably one, else if what executing takes does not come.
    fn want_later_state(&mut self, height: u64) {
        let tip = self.inbox.tip.load(Ordering::Relaxed);
        let behind = is_behind(height, tip, self.snapshot_interval.min(self.retention));
        // While the node is behind, one question is enough for all heights.
        if behind && !self.fetching.is_empty() {
            return;
        }
        self.fetching.cancel_all();
        let Some(shard) = self.identity.tracked() else {
            return;
        };
        let state_sync = self.state_sync.clone();
        let context = self.context.child("patience");
        self.fetching.push(async move {
            if !behind {
                context.sleep(PATIENCE).await;
            }
            state_sync.needed(shard, height).await
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
    fn own_chunk(&self, block: &Block) -> Result<Option<ChunkHeader>, LedgerError> {
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
                return Err(LedgerError::Diverged {
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
    async fn start_to_gather(&mut self, header: ChunkHeader) -> Result<(), LedgerError> {
        let Some(shard) = &self.shard else {
            return Ok(());
        };
        let (destination, leaves) = (shard.id, shard.state.leaf_count());
        let (from, height) = (shard.totals.next_due, header.content.height);
        let protocol = self.identity.genesis.protocol;
        let (place, detail) = (
            Place::chunk(self.committed_at(height), destination),
            Detail::Executed(height),
        );
        self.gather = Some(
            self.traces
                .begin(&self.context, Name::Gather, place, detail),
        );
        let due = self.queue(from, height).await?;
        let congestion = Congestion::after(&self.parent_of(height).await?, &protocol);

        let availability = self.availability.clone();
        self.gathering.push(async move {
            let credited = (due.as_slice(), protocol, leaves);
            gather(&availability, header, destination, credited, congestion).await
        });
        Ok(())
    }

    /// What fell due for the own shard from this place up to `height`, or as
    /// much of it as a chunk can credit.
    async fn queue(&mut self, from: DuePosition, height: u64) -> Result<Vec<Due>, LedgerError> {
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

    async fn finalized_block(&mut self, height: u64) -> Result<Digested<Block>, LedgerError> {
        let block = self.marshal.get_block(Height::new(height)).await;
        block.ok_or(LedgerError::MissingBlock { height })
    }

    /// The block before the one at `height`, which is at the front.
    async fn parent_of(&mut self, height: u64) -> Result<Block, LedgerError> {
        let parent = &self.chain.block;
        if parent.height + 1 == height {
            return Ok(parent.clone());
        }
        // The first blocks after a restart continue what was there before.
        let parent = self.finalized_block(height - 1).await?;
        Ok(parent.inner().clone())
    }

    /// The height of the block that waits for the execution of this height's
    /// chunks.
    fn committed_at(&self, height: u64) -> u64 {
        let lag = self.identity.genesis.protocol.execution_lag;
        height.saturating_add(u64::from(lag))
    }

    async fn execute(&mut self, inputs: Inputs) -> Result<(), LedgerError> {
        let committed = self.committed_at(inputs.chunk.header.content.height);
        let Some(shard) = self.shard.as_mut() else {
            return Ok(());
        };
        let started = self.context.current();
        let gathered = self.gather.take();
        let step = gathered.map(|step| step.then(&self.context, Name::Execute));
        let header = inputs.chunk.header.clone();
        let height = header.content.height;
        if !inputs.chunk.valid {
            warn!(shard = %shard.id, height, "finalised chunk has an invalid body: executed as empty");
        }
        let identity = self.identity.clone();
        let credited = inputs.incoming.iter().flat_map(Delivered::roots);
        let credited: Vec<_> = credited
            .map(|(from, root)| (from, Credited { at: height, root }))
            .collect();
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
        let step = step.map(|step| step.then(&self.context, Name::Record));
        let executed = proven.executed.clone();
        let changes: Vec<_> = changes.into_iter().collect();
        let changed = self.producer.is_some().then(|| changes.as_slice().into());

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
        self.storage_back().await?;
        let Some(shard) = self.shard.as_mut() else {
            return Ok(());
        };
        let storage = shard.take_storage()?;
        let storage = storage
            .append(record)
            .await
            .map_err(shard.storage_error())?;
        shard.storage = Some(storage);
        if let Some(step) = step {
            step.end(&self.context);
        }
        shard.height = height;
        shard.totals = executed.totals.clone();
        let next_due = executed.totals.next_due;
        shard.remember(proven.clone(), credited);
        self.tracked.send_replace(Some(shard.progress()));
        let elapsed = self
            .context
            .current()
            .duration_since(started)
            .unwrap_or_default();
        let exemplar = self.traces.exemplar(&self.context, committed);
        self.metrics.executed(height, elapsed, exemplar);
        if self.identity.produces(header.content.shard, height) {
            let outcomes = executed.outcomes.iter().map(|(_, outcome)| *outcome);
            self.metrics.produced(outcomes);
        }
        if let Some(producer) = &self.producer {
            producer.executed(proven, changed.unwrap_or_default()).await;
        }
        self.due = self.due.split_off(&next_due.block);
        shard.freeze(&header.content, self.snapshot_interval);
        let tip = self.inbox.tip.load(Ordering::Relaxed);
        if !is_behind(height, tip, self.snapshot_interval.min(self.retention)) {
            self.fetching.cancel_all();
        }
        Ok(())
    }

    /// The front block needs nothing more: publish and acknowledge it.
    async fn finish_front(&mut self) -> Result<(), LedgerError> {
        let Some((block, ack)) = self.queue.pop_front() else {
            return Ok(());
        };
        let Some(ack) = ack else { return Ok(()) };
        let digest = block.digest();
        let block = block.inner();
        let now = self.context.now_ms();
        let lag = self.identity.genesis.protocol.execution_lag;
        let exemplar = self.traces.exemplar(&self.context, block.height);
        self.block_metrics
            .finalized(&self.chain.block, block, lag, now, exemplar);
        self.block_metrics
            .produced_transfers(self.identity.produced_transfers(block));
        let committees = self.identity.committees_of(block);
        self.chain.advance(block.clone(), digest, &committees);
        for header in block.new_chunks() {
            let shard = header.content.shard;
            if let Some(stake) = self.chain.endorsed.get(shard.index()).copied().flatten() {
                self.block_metrics
                    .finalized_endorsements(shard, stake.endorsed, stake.mandated);
            }
        }
        self.view.send_replace(Arc::new(self.chain.clone()));
        if let Some(shard) = self.shard.as_mut() {
            let tip = self.inbox.tip.load(Ordering::Relaxed);
            let seen = Seen { now_ms: now, tip };
            let lacks = shard.copy.lacks(shard.id, block, seen, self.parts_durable);
            self.lacks.send_replace(lacks);
        }
        self.availability.finalized(block).await;
        if let Some(producer) = &self.producer {
            producer.finalized(Arc::new(block.clone()), digest).await;
        }
        ack.acknowledge();
        Ok(())
    }
}
