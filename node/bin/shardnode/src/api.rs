// SPDX-License-Identifier: Apache-2.0
//! Answers the HTTP API from the running node.

use crate::{
    full_disk, health::Health, log::Levels, peers, process, process_fault::Strike,
    profiles::Profiles, tcp,
};
use axum::body::Bytes;
use commonware_codec::Encode;
use commonware_consensus::types::Height;
use commonware_cryptography::Digestible as _;
use commonware_formatting::hex;
use commonware_runtime::{Clock as _, Metrics as _, Supervisor as _, tokio::Context};
use shardnode_blocks::{ChainView, finalized::EndorsedStake};
use shardnode_chain::{Metrics, Node, Standing};
use shardnode_clients::{Fate, NoProof};
use shardnode_clocks as clocks;
use shardnode_config::Config;
use shardnode_disks as disks;
use shardnode_execution::Outcome;
use shardnode_links as links;
use shardnode_load::{Target, TargetError};
use shardnode_mailboxes::{ledger::Lack, state_sync::Progress};
use shardnode_primitives::{
    AccountId, Block, ChunkBody, ChunkHeader, Digest, Refusal, ShardId, Transaction,
    congestion::blocks_behind, genesis::Protocol, namespace::FORMATS,
};
use shardnode_rpc::{
    AccountReport, ArchiveStatus, ArchivedStatus, ClockFault, CopyStatus, DiskCondition, DiskFault,
    LinkCondition, LinkFault, LoadStatus, LogLevel, OutcomeReport, OutcomeStatus, PoolStatus,
    ProcessFault, ProfileExtent, ProfileKind, ProfileOngoing, ProfileStatus, ProofReport,
    Readiness, Role, ShardStatus, Status, Submitted, SupplyStatus, SyncingStatus, TrackedStatus,
    Unavailable, UnknownPeer,
};
use shardnode_state::Account;
use shardnode_verifier::FinalizedBlock;
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};
use tokio::{sync::mpsc::Sender, time::Instant};
use tracing::warn;

/// A chain that stands still longer than this is not ready, unless its leaders
/// may wait for almost as long.
const STALLED: Duration = Duration::from_secs(10);
/// Turns of leaders that wait for all that they may wait for, one after the
/// other, in which a block is finalised.
const STALLED_TURNS: u32 = 4;
/// A tracker that is further behind than this is not ready.
const BEHIND: u64 = 10;

/// How long a client waits for an account.
const ANSWER: Duration = Duration::from_secs(10);

/// When the finalised height last moved, if it did since the start.
type Moved = Arc<Mutex<Option<SystemTime>>>;

/// The running node as the HTTP API sees it.
#[derive(Clone)]
pub(crate) struct Api {
    context: Arc<Context>,
    node: Node,
    name: String,
    region: String,
    role: Role,
    mempool_capacity: u64,
    faults: Faults,
    data_dir: PathBuf,
    profiles: Profiles,
    levels: Levels,
    moved: Moved,
    health: Arc<Health>,
    /// The chunk that a client asked for last: it is given in pieces, and the
    /// body may be another node's.
    last_chunk: Arc<Mutex<Option<(ChunkHeader, ChunkBody)>>>,
}

/// What may be wrong with the node for a time.
#[derive(Clone)]
pub(crate) struct Faults {
    pub(crate) links: links::Faults,
    pub(crate) disk: disks::Faults,
    pub(crate) clock: clocks::Faults,
    pub(crate) process: Sender<Strike>,
}

impl Api {
    pub(crate) fn new(
        context: &Context,
        config: &Config,
        node: Node,
        faults: Faults,
        levels: Levels,
    ) -> Self {
        let moved = Moved::default();
        let api = Self {
            context: Arc::new(context.child("state")),
            name: config.node.clone(),
            region: config.region.clone(),
            role: config.role,
            mempool_capacity: config.features.mempool_capacity as u64,
            faults,
            data_dir: config.data_dir.clone(),
            profiles: Profiles::new(config),
            levels,
            moved: moved.clone(),
            health: Health::watch(context, &node),
            last_chunk: Arc::default(),
            node,
        };
        watch_progress(context, api.node.view.clone(), moved);
        api
    }

    /// How long ago the finalised height moved; `None` if it has not since the
    /// start.
    fn idle(&self) -> Option<Duration> {
        let moved = *self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.context.current();
        moved.map(|moved| now.duration_since(moved).unwrap_or_default())
    }

    /// A proof, which waits for a header: a chain that stands still has none.
    async fn in_time<T: Send + 'static>(
        &self,
        proof: impl Future<Output = Result<T, NoProof>> + Send + 'static,
    ) -> Result<T, Unavailable> {
        self.context
            .timeout(ANSWER, proof)
            .await
            .map_err(|_| Unavailable("no block committed to the state in time".into()))?
            .map_err(|none| Unavailable(none.to_string()))
    }

    pub(crate) fn context(&self) -> Arc<Context> {
        self.context.clone()
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.node.metrics
    }
}

fn watch_progress(
    context: &Context,
    mut view: commonware_utils::channel::watch::Receiver<Arc<ChainView>>,
    moved: Moved,
) {
    use commonware_runtime::Spawner as _;
    drop(context.child("progress").spawn(move |context| async move {
        while view.changed().await.is_ok() {
            let now = Some(context.current());
            *moved.lock().unwrap_or_else(PoisonError::into_inner) = now;
        }
    }));
}

/// How long the finalised height of a chain that is ready does not move.
fn stalled(protocol: &Protocol) -> Duration {
    let turn = protocol.min_block_time_ms + protocol.chunk_wait_ms;
    STALLED.max(Duration::from_millis(turn) * STALLED_TURNS)
}

fn load_status(control: &shardnode_production::generator::Control) -> LoadStatus {
    LoadStatus {
        transfers_per_second: control.rate(),
        workload: control.workload(),
        signing: control.signing(),
        signed: control.signed(),
        rejected: control.rejected(),
        held_back: control.held_back(),
        overdue: control.overdue(),
        exhausted: control.exhausted(),
        stock: control.stock(),
    }
}

fn link_fault(ongoing: links::Ongoing) -> LinkFault {
    let (condition, delay, loss_basis_points) = match ongoing.fault {
        links::Fault::Cut => (LinkCondition::Cut, Duration::ZERO, 0),
        links::Fault::Worse {
            delay,
            loss_basis_points,
        } => (LinkCondition::Worse, delay, loss_basis_points),
    };
    LinkFault {
        peers: ongoing.peers,
        condition,
        delay_milliseconds: whole_millis(delay),
        loss_basis_points,
        remaining_milliseconds: whole_millis(ongoing.left),
    }
}

fn disk_fault(ongoing: disks::Ongoing) -> DiskFault {
    let (condition, delay) = match ongoing.fault {
        disks::Fault::Slow { delay } => (DiskCondition::Slow, delay),
        disks::Fault::Full => (DiskCondition::Full, Duration::ZERO),
    };
    DiskFault {
        condition,
        delay_milliseconds: whole_millis(delay),
        remaining_milliseconds: whole_millis(ongoing.left),
    }
}

fn clock_fault(ongoing: clocks::Ongoing) -> ClockFault {
    ClockFault {
        offset_milliseconds: ongoing.fault.offset.as_millis(),
        remaining_milliseconds: whole_millis(ongoing.left),
    }
}

fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Why a node that fetches a state is not ready.
fn syncing(progress: &Progress) -> String {
    let Progress {
        shard,
        needed,
        snapshot,
        fetched,
        pages,
    } = progress;
    match (snapshot, pages) {
        (None, _) => format!(
            "shard {shard} cannot be executed at height {needed}: looking for a snapshot of it"
        ),
        (Some(height), None) => {
            format!("fetching the state of shard {shard} at height {height}")
        }
        (Some(height), Some(pages)) => format!(
            "fetching the state of shard {shard} at height {height}: {fetched} of {pages} pages"
        ),
    }
}

/// What of a copy is said to be missing, at most.
const MISSING: usize = 8;

fn copy_status(lacks: &[Lack]) -> CopyStatus {
    CopyStatus {
        complete: lacks.is_empty(),
        missing: lacks.iter().take(MISSING).map(Lack::to_string).collect(),
    }
}

fn archive_status(standings: &[Standing]) -> ArchiveStatus {
    let usable = standings.iter().filter(|standing| standing.usable);
    ArchiveStatus {
        usable_shards: usable.count() as u64,
        shards: standings
            .iter()
            .map(|standing| ArchivedStatus {
                shard: standing.shard,
                archived_height: standing.archived,
                behind_blocks: standing.behind(),
                usable: standing.usable,
            })
            .collect(),
    }
}

fn shard_status(
    block: &Block,
    header: &ChunkHeader,
    endorsed: Option<EndorsedStake>,
    execution_lag: u8,
) -> ShardStatus {
    let content = &header.content;
    let totals = &content.totals;
    ShardStatus {
        shard: content.shard,
        chunk_height: content.height,
        missed_chunks: block.height.saturating_sub(content.sequence),
        executed_height: totals.height,
        state_root: totals.state_root,
        transfers: totals.transfers,
        credits: totals.credits,
        cross_shard: totals.cross_shard,
        balance: totals.balance,
        burnt: totals.burnt,
        sent: totals.sent,
        received: totals.received,
        blocks_behind: blocks_behind(totals, block.height, execution_lag),
        endorsed_stake: endorsed.map(|stake| stake.endorsed),
        mandated_stake: endorsed.map(|stake| stake.mandated),
    }
}

fn outcome_report(fate: Fate) -> OutcomeReport {
    let (status, height, reason) = match fate {
        Fate::Unknown => (OutcomeStatus::Unknown, 0, String::new()),
        Fate::Pending => (OutcomeStatus::Unknown, 0, "pending".into()),
        Fate::LetGo(refusal) => (OutcomeStatus::Unknown, 0, refusal.reason().into()),
        Fate::Known(height, Outcome::Executed) => (OutcomeStatus::Executed, height, String::new()),
        Fate::Known(height, Outcome::Failed(failure)) => {
            (OutcomeStatus::Failed, height, failure.to_string())
        }
    };
    OutcomeReport {
        status,
        height,
        reason,
    }
}

/// What is proven, with the block that it is proven against.
fn proof_report<T>(
    proven: T,
    finalized: &FinalizedBlock,
    proof: &impl Encode,
) -> Result<ProofReport<T>, Unavailable> {
    let block = finalized.blocks.last();
    let block = block.ok_or_else(|| Unavailable("no block is final yet".into()))?;
    Ok(ProofReport {
        proven,
        block_height: block.height,
        block_hash: block.digest(),
        proof: hex(&proof.encode()),
    })
}

fn account_report(
    id: AccountId,
    shard: ShardId,
    height: u64,
    account: Option<Account>,
) -> AccountReport {
    let content = account.unwrap_or_default();
    AccountReport {
        id,
        shard,
        exists: account.is_some(),
        balance: content.balance,
        nonce: content.nonce,
        height,
    }
}

impl shardnode_rpc::Node for Api {
    fn status(&self) -> Status {
        let view = self.node.view.borrow().clone();
        let supply = view.supply();
        let identity = &self.node.identity;
        let tracked = *self.node.tracked.borrow();
        let rates = view.rates(self.idle().unwrap_or_default());
        Status {
            network: identity.genesis.network.clone(),
            node: self.name.clone(),
            region: self.region.clone(),
            role: self.role,
            version: crate::VERSION.into(),
            formats: FORMATS,
            public_key: commonware_cryptography::Signer::public_key(&identity.key),
            genesis_hash: identity.genesis.hash(),
            height: self.node.metrics.blocks.height().max(view.height()),
            finalized_height: view.height(),
            started_height: view.started(),
            finalized_time_ms: view.block.timestamp_ms,
            block_hash: view.digest,
            block_time_ms: rates.block_time_ms,
            tps: rates.tps,
            window_blocks: view.window() as u64,
            transfers: view.transfers(),
            cross_shard: view.cross_shard(),
            missed_chunks: view.block.missed_chunks(),
            peers: peers::connected(&self.context.encode()),
            faulty_links: self.faults.links.peers() as u64,
            disk_fault: self.disk_fault().map(|fault| fault.condition),
            clock_offset_milliseconds: self
                .clock_fault()
                .map_or(0, |fault| fault.offset_milliseconds),
            supply: SupplyStatus {
                expected: supply.expected,
                balances: supply.balances,
                in_flight: supply.in_flight,
                burnt: supply.burnt,
                conserved: supply.conserved(),
            },
            shards: view
                .block
                .chunks
                .iter()
                .zip(&view.endorsed)
                .map(|(header, endorsed)| {
                    let lag = identity.genesis.protocol.execution_lag;
                    shard_status(&view.block, header, *endorsed, lag)
                })
                .collect(),
            tracked: tracked.map(|tracked| TrackedStatus {
                shard: tracked.shard,
                executed_height: tracked.height,
                state_root: tracked.root,
                accounts: u64::from(tracked.accounts),
            }),
            syncing: self.node.syncing.borrow().map(|progress| SyncingStatus {
                needed_height: progress.needed,
                snapshot_height: progress.snapshot,
                pages_fetched: progress.fetched,
                pages: progress.pages,
            }),
            copy: self.node.lacks().map(|lacks| copy_status(&lacks)),
            archive: (self.role == Role::Archive)
                .then(|| archive_status(&self.node.archived.borrow())),
            pool: PoolStatus {
                transactions: self.node.metrics.production.pooled(),
                capacity: self.mempool_capacity,
                waiting: self.node.metrics.production.waiting(),
            },
            load: self.load(),
            cpu_seconds: process::cpu_seconds(),
            memory: process::memory(),
            disk: process::disk(),
            machine: process::machine(),
            tcp: tcp::settings(),
        }
    }

    fn readiness(&self) -> Readiness {
        let mut reasons = Vec::new();
        let identity = &self.node.identity;
        let voters = identity.genesis.producers.len() as u64;
        // Consensus needs all but a third, this node included.
        let quorum = voters - (voters.saturating_sub(1)) / 3;
        let others = quorum - u64::from(identity.producer.is_some());
        let connected = peers::connected(&self.context.encode());
        if connected < others {
            let peers = if connected == 1 { "peer" } else { "peers" };
            reasons.push(format!(
                "connected to {connected} {peers}, quorum needs {others}"
            ));
        }
        let view = self.node.view.borrow().clone();
        match self.idle() {
            None => reasons.push("no block was finalised since the start".into()),
            Some(still) if still > stalled(&identity.genesis.protocol) => reasons.push(format!(
                "finalised height {} has not moved for {} s",
                view.height(),
                still.as_secs()
            )),
            Some(_) => {}
        }
        if let Some(tracked) = *self.node.tracked.borrow() {
            let last = view
                .block
                .chunk(tracked.shard)
                .map_or(0, |header| header.content.height);
            if tracked.height + BEHIND < last {
                reasons.push(format!(
                    "executed shard {} to height {}, its last chunk is at {last}",
                    tracked.shard, tracked.height
                ));
            }
        }
        if let Some(progress) = *self.node.syncing.borrow() {
            reasons.push(syncing(&progress));
        }
        Readiness {
            ready: reasons.is_empty(),
            reasons,
        }
    }

    fn health(&self) -> Result<(), String> {
        self.health.check(Instant::now())
    }

    fn now(&self) -> SystemTime {
        self.context.current()
    }

    fn metrics(&self) -> String {
        if let Some(lacks) = self.node.lacks() {
            self.node.metrics.ledger.copy_complete(lacks.is_empty());
        }
        // Ours first; the end marker belongs after the runtime's.
        let ours = self.node.metrics.encode();
        let ours = ours.strip_suffix("# EOF\n").unwrap_or(&ours);
        format!("{ours}{}", self.context.encode())
    }

    fn load(&self) -> Option<LoadStatus> {
        self.node.load.as_ref().map(load_status)
    }

    fn set_load(&self, target: Target) -> Option<Result<LoadStatus, TargetError>> {
        let control = self.node.load.as_ref()?;
        Some(control.set(target).map(|()| load_status(control)))
    }

    fn link_fault(&self) -> Option<LinkFault> {
        let links = &self.faults.links;
        links.ongoing(self.context.current()).map(link_fault)
    }

    fn begin_link_fault(&self, wanted: LinkFault) -> Result<(), UnknownPeer> {
        let fault = match wanted.condition {
            LinkCondition::Cut => links::Fault::Cut,
            LinkCondition::Worse => links::Fault::Worse {
                delay: Duration::from_millis(wanted.delay_milliseconds),
                loss_basis_points: wanted.loss_basis_points,
            },
        };
        let duration = Duration::from_millis(wanted.remaining_milliseconds);
        let context = self.context.child("link_fault");
        self.faults
            .links
            .begin(context, wanted.peers, fault, duration)
            .map_err(|unknown| UnknownPeer(unknown.0))
    }

    fn end_link_fault(&self) {
        self.faults.links.end();
    }

    fn disk_fault(&self) -> Option<DiskFault> {
        let disk = &self.faults.disk;
        disk.ongoing(self.context.current()).map(disk_fault)
    }

    fn begin_disk_fault(&self, wanted: DiskFault) -> Result<(), Unavailable> {
        let duration = Duration::from_millis(wanted.remaining_milliseconds);
        let fault = match wanted.condition {
            DiskCondition::Slow => disks::Fault::Slow {
                delay: Duration::from_millis(wanted.delay_milliseconds),
            },
            DiskCondition::Full => disks::Fault::Full,
        };
        let marked = match fault {
            disks::Fault::Full => {
                full_disk::mark(&self.data_dir, self.context.current() + duration)
            }
            disks::Fault::Slow { .. } => full_disk::clear(&self.data_dir),
        };
        marked.map_err(|error| Unavailable(format!("the fault cannot be kept: {error}")))?;
        let context = self.context.child("disk_fault");
        self.faults.disk.begin(context, fault, duration);
        Ok(())
    }

    fn end_disk_fault(&self) {
        if let Err(error) = full_disk::clear(&self.data_dir) {
            warn!(%error, "a restart of this node will take the disk for full");
        }
        self.faults.disk.end();
    }

    fn clock_fault(&self) -> Option<ClockFault> {
        let clock = &self.faults.clock;
        clock.ongoing(self.context.current()).map(clock_fault)
    }

    fn begin_clock_fault(&self, wanted: ClockFault) {
        let offset = clocks::Offset::from_millis(wanted.offset_milliseconds);
        let fault = clocks::Fault { offset };
        let duration = Duration::from_millis(wanted.remaining_milliseconds);
        let context = self.context.child("clock_fault");
        self.faults.clock.begin(context, fault, duration);
    }

    fn end_clock_fault(&self) {
        self.faults.clock.end();
    }

    fn begin_process_fault(&self, wanted: ProcessFault) -> Result<(), Unavailable> {
        // A timer of the kernel would go on and end what is executed next.
        if self.profiles.is_taken() {
            return Err(Unavailable("a profile is taken: end it first".into()));
        }
        let strike = Strike::new(wanted, self.context.current());
        let strike = strike.map_err(|impossible| Unavailable(impossible.to_string()))?;
        let other = |_| Unavailable("another fault of the process begins".into());
        self.faults.process.try_send(strike).map_err(other)
    }

    fn profile(&self) -> Option<ProfileStatus> {
        self.profiles.status()
    }

    fn begin_profile(
        &self,
        kind: ProfileKind,
        extent: ProfileExtent,
    ) -> Result<(), ProfileOngoing> {
        let view = self.node.view.clone();
        self.profiles.begin(&self.context, view, kind, extent)
    }

    fn end_profile(&self) {
        self.profiles.end();
    }

    fn profile_content(&self) -> Option<Bytes> {
        self.profiles.content()
    }

    fn log_level(&self) -> LogLevel {
        self.levels.current()
    }

    fn set_log_level(&self, level: LogLevel) -> Result<(), Unavailable> {
        let set = self.levels.set(level);
        set.map_err(|error| Unavailable(error.to_string()))
    }

    async fn submit(&self, transaction: Transaction) -> Result<Submitted, Refusal> {
        let hash = transaction.hash();
        let shard = self.node.client.submit(transaction).await?;
        Ok(Submitted { hash, shard })
    }

    async fn submit_all(
        &self,
        transactions: Vec<Transaction>,
    ) -> Vec<(Submitted, Option<Refusal>)> {
        let layout = self.node.identity.genesis.layout;
        let named: Vec<_> = transactions
            .iter()
            .map(|transaction| Submitted {
                hash: transaction.hash(),
                shard: layout.shard_of(transaction.signer()),
            })
            .collect();
        let results = self.node.client.submit_all(transactions).await;
        let refused = results.into_iter().map(Result::err);
        named.into_iter().zip(refused).collect()
    }

    async fn outcome(&self, signer: AccountId, hash: Digest) -> Result<OutcomeReport, Unavailable> {
        let fate = self.node.client.outcome(signer, hash).await;
        fate.map(outcome_report)
            .map_err(|unavailable| Unavailable(unavailable.to_string()))
    }

    async fn outcomes(
        &self,
        asked: Vec<(AccountId, Digest)>,
    ) -> Result<Vec<OutcomeReport>, Unavailable> {
        let fates = self.node.client.outcomes(asked).await;
        fates
            .map(|fates| fates.into_iter().map(outcome_report).collect())
            .map_err(|unavailable| Unavailable(unavailable.to_string()))
    }

    async fn account(&self, id: AccountId) -> Result<AccountReport, Unavailable> {
        // The proof waits for a header; a chain that stands still has none.
        let client = self.node.client.clone();
        let (shard, height, account) = self
            .context
            .timeout(ANSWER, async move { client.account(id).await })
            .await
            .map_err(|_| Unavailable("no block committed to the state in time".into()))?
            .map_err(|unavailable| Unavailable(unavailable.to_string()))?;
        Ok(account_report(id, shard, height, account))
    }

    async fn prove_account(
        &self,
        id: AccountId,
    ) -> Result<ProofReport<AccountReport>, Unavailable> {
        let client = self.node.client.clone();
        let (account, proven) = self
            .in_time(async move { client.prove_account(id).await })
            .await?;
        let shard = self.node.identity.genesis.layout.shard_of(&id);
        let report = account_report(id, shard, proven.height, account);
        proof_report(report, &proven.finalized, &proven)
    }

    async fn prove_outcome(
        &self,
        signer: AccountId,
        hash: Digest,
    ) -> Result<ProofReport<OutcomeReport>, Unavailable> {
        let client = self.node.client.clone();
        let proven = self.in_time(async move { client.prove_outcome(signer, hash).await });
        let (fate, proven) = proven
            .await?
            .ok_or_else(|| Unavailable("the outcome is not known".into()))?;
        proof_report(outcome_report(fate), &proven.finalized, &proven)
    }

    async fn block(&self, height: u64) -> Result<Block, Unavailable> {
        let finalised = self.node.view.borrow().height();
        if height > finalised {
            let reason = format!("block {height} is not finalised yet");
            return Err(Unavailable(reason));
        }
        let block = self.node.marshal.get_block(Height::new(height)).await;
        let block = block.ok_or_else(|| {
            Unavailable(format!("block {height} is not kept by this node any more"))
        })?;
        Ok(block.inner().clone())
    }

    async fn chunk(
        &self,
        height: u64,
        shard: ShardId,
    ) -> Result<Option<(ChunkHeader, ChunkBody)>, Unavailable> {
        let block = self.block(height).await?;
        let header = block
            .chunk(shard)
            .filter(|header| header.content.height == height);
        let Some(header) = header else {
            return Ok(None);
        };
        let last = self.last_chunk.lock();
        let last = last.unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(chunk) = last.filter(|(last, _)| last == header) {
            return Ok(Some(chunk));
        }
        let body = self
            .node
            .client
            .body(header)
            .await
            .map_err(|unavailable| Unavailable(unavailable.to_string()))?;
        let chunk = (header.clone(), body);
        *self
            .last_chunk
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(chunk.clone());
        Ok(Some(chunk))
    }
}
