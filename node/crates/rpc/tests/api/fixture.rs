// SPDX-License-Identifier: Apache-2.0
//! A node held in memory, and requests to it.

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    http::{
        HeaderMap, Method, Request, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE},
    },
};
use commonware_consensus::{
    simplex::types::Context,
    types::{Epoch, Round, View},
};
use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
use futures::executor::block_on;
use serde_json::{Value, json};
use shardnode_load::{Stock, Target, TargetError, WorkloadError};
use shardnode_primitives::{
    AccountId, Block, ChunkBody, ChunkHeader, Digest, DuePosition, Endorsements, ExecutionResult,
    Namespaces, Randomness, Refusal, ShardId, ShardTotals, Transaction, Transfer,
    chunk::ChunkContent, genesis::private_key,
};
use shardnode_rpc::{
    AccountReport, AdminToken, ArchiveStatus, ArchivedStatus, ClockFault, CopyStatus,
    DiskCondition, DiskFault, DiskStatus, LinkFault, LoadStatus, LogLevel, MachineStatus,
    MemoryStatus, Node, OutcomeReport, OutcomeStatus, PoolStatus, ProcessFault, ProfileExtent,
    ProfileKind, ProfileOngoing, ProfileStage, ProfileStatus, ProofReport, Readiness, Role,
    ShardStatus, Status, Submitted, SupplyStatus, SyncingStatus, TcpStatus, TrackedStatus,
    Unavailable, UnknownPeer, admin_router, router,
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};
use tower::ServiceExt as _;

/// The height of the only block, and of the chunk of shard 0 in it.
pub(crate) const HEIGHT: u64 = 12;

/// What the node does with transactions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pool {
    Takes,
    Refuses(Refusal),
}

/// The node: what it is asked for is fixed, but the load can be set.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    pub(crate) role: Role,
    /// Which actor does not answer.
    pub(crate) ailing: Option<String>,
    /// Milliseconds since 1970 on the node's clock.
    pub(crate) time_ms: Arc<AtomicU64>,
    /// How often each answer that many share was made.
    pub(crate) made: Arc<AtomicUsize>,
    pub(crate) readiness: Readiness,
    pub(crate) syncing: Option<SyncingStatus>,
    pub(crate) pool: Pool,
    /// The chunk's body.
    pub(crate) body: ChunkBody,
    /// Whether other nodes answer.
    pub(crate) connected: bool,
    pub(crate) rate: Arc<AtomicU32>,
    pub(crate) target: Arc<Mutex<Target>>,
    pub(crate) link_fault: Arc<Mutex<Option<LinkFault>>>,
    pub(crate) disk_fault: Arc<Mutex<Option<DiskFault>>>,
    pub(crate) clock_fault: Arc<Mutex<Option<ClockFault>>>,
    /// Those of its process that were begun.
    pub(crate) process_faults: Arc<Mutex<Vec<ProcessFault>>>,
    pub(crate) profile: Arc<Mutex<Option<ProfileStatus>>>,
    pub(crate) level: Arc<Mutex<LogLevel>>,
    /// Whether there is a log.
    pub(crate) logs: bool,
    pub(crate) submitted: Arc<AtomicUsize>,
}

pub(crate) fn key(index: u8) -> PrivateKey {
    private_key([index; 32])
}

pub(crate) fn digest(byte: u8) -> Digest {
    Digest([byte; 32])
}

pub(crate) fn transaction(nonce: u64) -> Transaction {
    let transfer = Transfer {
        signer: AccountId::of(&key(1).public_key()),
        receiver: AccountId::of(&key(2).public_key()),
        amount: 7,
        nonce,
        expires_at: 4_000,
    };
    transfer.sign(&key(1), &Namespaces::new("test", &digest(1)))
}

fn totals() -> ShardTotals {
    ShardTotals {
        height: HEIGHT - 1,
        state_root: digest(2),
        transfers: 100,
        cross_shard: 40,
        credits: 90,
        balance: 1_000,
        burnt: 60,
        sent: 50,
        received: 30,
        next_due: DuePosition::at(HEIGHT),
    }
}

pub(crate) fn header(body: &ChunkBody) -> ChunkHeader {
    let content = ChunkContent {
        shard: ShardId(0),
        height: HEIGHT,
        sequence: HEIGHT - 1,
        anchor: digest(3),
        previous: digest(4),
        body_hash: body.hash(),
        parts_root: digest(13),
        body_len: u32::try_from(body.0.len()).unwrap(),
        transactions: 2,
        results: vec![ExecutionResult {
            height: HEIGHT - 1,
            state_root: digest(2),
            outcomes_root: digest(5),
            receipts_root: digest(6),
            transfers: 3,
            credits: 4,
        }],
        uncommitted: vec![HEIGHT],
        totals: totals(),
    };
    ChunkHeader::sign(content, &key(1), &Namespaces::new("test", &digest(1)))
}

pub(crate) fn block(body: &ChunkBody) -> Block {
    let chunks = vec![
        header(body),
        ChunkHeader::genesis(ShardId(1), totals()).unwrap(),
    ];
    Block {
        context: Context {
            round: Round::new(Epoch::zero(), View::new(20)),
            leader: key(1).public_key(),
            parent: (View::new(19), digest(7)),
        },
        height: HEIGHT,
        timestamp_ms: 1_790_000_000_250,
        randomness: Randomness::default(),
        endorsements: vec![Endorsements::default(); chunks.len()],
        chunks,
    }
}

impl Default for Fixture {
    fn default() -> Self {
        Self {
            role: Role::Producer,
            ailing: None,
            time_ms: Arc::default(),
            made: Arc::default(),
            readiness: Readiness {
                ready: true,
                reasons: Vec::new(),
            },
            syncing: None,
            pool: Pool::Takes,
            body: ChunkBody::of(&[transaction(1), transaction(2)]),
            connected: true,
            rate: Arc::default(),
            target: Arc::default(),
            link_fault: Arc::default(),
            disk_fault: Arc::default(),
            clock_fault: Arc::default(),
            process_faults: Arc::default(),
            profile: Arc::default(),
            level: Arc::new(Mutex::new(LogLevel::Info)),
            logs: true,
            submitted: Arc::default(),
        }
    }
}

impl Fixture {
    /// Transactions that were given to the node so far.
    pub(crate) fn submissions(&self) -> usize {
        self.submitted.load(Ordering::Relaxed)
    }

    fn reach(&self) -> Result<(), Unavailable> {
        self.connected
            .then_some(())
            .ok_or_else(|| Unavailable("no node of shard 1 answered".into()))
    }
}

impl Node for Fixture {
    fn status(&self) -> Status {
        self.made.fetch_add(1, Ordering::Relaxed);
        let tracked = TrackedStatus {
            shard: ShardId(0),
            executed_height: HEIGHT,
            state_root: digest(8),
            accounts: 1_002,
        };
        Status {
            network: "test".into(),
            node: "test-s0-p0".into(),
            region: "local".into(),
            role: self.role,
            version: "0.1.0".into(),
            formats: 1,
            public_key: key(1).public_key(),
            genesis_hash: digest(1),
            height: HEIGHT + 1,
            finalized_height: HEIGHT,
            started_height: 3,
            finalized_time_ms: 1_790_000_000_250,
            block_hash: digest(9),
            block_time_ms: 250.5,
            tps: 4_012.5,
            window_blocks: 12,
            transfers: 200,
            cross_shard: 80,
            missed_chunks: 1,
            peers: 3,
            faulty_links: 2,
            disk_fault: Some(DiskCondition::Slow),
            clock_offset_milliseconds: -2_500,
            supply: SupplyStatus {
                expected: 2_080,
                balances: 2_000,
                in_flight: 20,
                burnt: 60,
                conserved: true,
            },
            shards: vec![ShardStatus {
                shard: ShardId(0),
                chunk_height: HEIGHT,
                missed_chunks: 1,
                executed_height: HEIGHT - 1,
                state_root: digest(2),
                transfers: 100,
                credits: 90,
                cross_shard: 40,
                balance: 1_000,
                burnt: 60,
                sent: 50,
                received: 30,
                blocks_behind: 2,
                endorsed_stake: Some(900),
                mandated_stake: Some(1_000),
            }],
            tracked: (self.role == Role::Producer).then_some(tracked),
            syncing: self.syncing,
            copy: (self.role == Role::Producer).then(|| CopyStatus {
                complete: false,
                missing: vec!["executed to block 7, the chain is at 12".into()],
            }),
            archive: (self.role == Role::Archive).then(|| ArchiveStatus {
                usable_shards: 1,
                shards: vec![ArchivedStatus {
                    shard: ShardId(3),
                    archived_height: Some(1_000),
                    behind_blocks: 7,
                    usable: true,
                }],
            }),
            pool: PoolStatus {
                transactions: 5,
                capacity: 10,
                waiting: 1,
            },
            load: self.load(),
            cpu_seconds: 12.25,
            memory: Some(MemoryStatus {
                anonymous_bytes: 104_857_600,
                file_bytes: 12_582_912,
            }),
            disk: Some(DiskStatus {
                read_bytes: 4_096,
                written_bytes: 8_388_608,
            }),
            machine: Some(MachineStatus {
                busy_seconds: 90.5,
                stolen_seconds: 0.25,
            }),
            tcp: TcpStatus {
                congestion_control: Some("bbr".into()),
                max_syn_backlog: Some(8_096),
                mtu_probing: None,
                slow_start_after_idle: Some(0),
                no_metrics_save: Some(1),
                somaxconn: Some(4_096),
                rmem: Some([10_240, 87_380, 134_217_728]),
                wmem: Some([4_096, 87_380, 134_217_728]),
            },
        }
    }

    fn readiness(&self) -> Readiness {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.readiness.clone()
    }

    fn health(&self) -> Result<(), String> {
        self.ailing.clone().map_or(Ok(()), Err)
    }

    fn now(&self) -> SystemTime {
        let since = Duration::from_millis(self.time_ms.load(Ordering::Relaxed));
        SystemTime::UNIX_EPOCH + since
    }

    fn metrics(&self) -> String {
        self.made.fetch_add(1, Ordering::Relaxed);
        "# EOF\n".into()
    }

    fn load(&self) -> Option<LoadStatus> {
        let Target {
            workload,
            signing,
            stock,
            ..
        } = *self.target.lock().unwrap();
        (self.role == Role::Producer).then(|| LoadStatus {
            transfers_per_second: self.rate.load(Ordering::Relaxed),
            signed: 50,
            rejected: 2,
            held_back: 3,
            overdue: 4,
            exhausted: 5,
            workload,
            signing,
            stock: stock.map(|transfers| Stock {
                transfers,
                workload,
                signed: 9,
                left: 8,
                failure: None,
            }),
        })
    }

    fn set_load(&self, target: Target) -> Option<Result<LoadStatus, TargetError>> {
        if target.workload.within_shard_percent == Some(101) {
            return Some(Err(WorkloadError::Percent.into()));
        }
        if target.stock == Some(0) {
            return Some(Err(TargetError::Size));
        }
        self.rate
            .store(target.transfers_per_second, Ordering::Relaxed);
        *self.target.lock().unwrap() = target;
        self.load().map(Ok)
    }

    fn link_fault(&self) -> Option<LinkFault> {
        self.link_fault.lock().unwrap().clone()
    }

    /// Its only peer is `test-s0-p1`.
    fn begin_link_fault(&self, fault: LinkFault) -> Result<(), UnknownPeer> {
        let unknown = fault.peers.iter().find(|peer| *peer != "test-s0-p1");
        if let Some(unknown) = unknown {
            return Err(UnknownPeer(unknown.clone()));
        }
        *self.link_fault.lock().unwrap() = Some(fault);
        Ok(())
    }

    fn end_link_fault(&self) {
        *self.link_fault.lock().unwrap() = None;
    }

    fn disk_fault(&self) -> Option<DiskFault> {
        *self.disk_fault.lock().unwrap()
    }

    /// It can keep a fault while it is connected.
    fn begin_disk_fault(&self, fault: DiskFault) -> Result<(), Unavailable> {
        self.reach()?;
        *self.disk_fault.lock().unwrap() = Some(fault);
        Ok(())
    }

    fn end_disk_fault(&self) {
        *self.disk_fault.lock().unwrap() = None;
    }

    fn clock_fault(&self) -> Option<ClockFault> {
        *self.clock_fault.lock().unwrap()
    }

    fn begin_clock_fault(&self, fault: ClockFault) {
        *self.clock_fault.lock().unwrap() = Some(fault);
    }

    fn end_clock_fault(&self) {
        *self.clock_fault.lock().unwrap() = None;
    }

    fn begin_process_fault(&self, fault: ProcessFault) -> Result<(), Unavailable> {
        self.reach()?;
        self.process_faults.lock().unwrap().push(fault);
        Ok(())
    }

    fn profile(&self) -> Option<ProfileStatus> {
        self.profile.lock().unwrap().clone()
    }

    fn begin_profile(
        &self,
        kind: ProfileKind,
        extent: ProfileExtent,
    ) -> Result<(), ProfileOngoing> {
        let mut profile = self.profile.lock().unwrap();
        if profile
            .as_ref()
            .is_some_and(|profile| profile.stage != ProfileStage::Ready)
        {
            return Err(ProfileOngoing);
        }
        *profile = Some(ProfileStatus {
            stage: ProfileStage::Sampling,
            kind,
            extent,
            frequency_hertz: (kind == ProfileKind::Cpu).then_some(250),
            interval_bytes: (kind == ProfileKind::Allocations).then_some(524_288),
            first_height: Some(HEIGHT),
            last_height: None,
            samples: None,
            reason: None,
        });
        Ok(())
    }

    fn end_profile(&self) {
        *self.profile.lock().unwrap() = None;
    }

    fn profile_content(&self) -> Option<Bytes> {
        self.profile()
            .filter(|profile| profile.stage == ProfileStage::Ready)
            .map(|_| Bytes::from_static(&[0x1f, 0x8b]))
    }

    fn log_level(&self) -> LogLevel {
        *self.level.lock().unwrap()
    }

    fn set_log_level(&self, level: LogLevel) -> Result<(), Unavailable> {
        if !self.logs {
            return Err(Unavailable("there is no log".into()));
        }
        *self.level.lock().unwrap() = level;
        Ok(())
    }

    async fn submit(&self, transaction: Transaction) -> Result<Submitted, Refusal> {
        self.submitted.fetch_add(1, Ordering::Relaxed);
        match self.pool {
            Pool::Takes => Ok(Submitted {
                hash: transaction.hash(),
                shard: ShardId(1),
            }),
            Pool::Refuses(refusal) => Err(refusal),
        }
    }

    /// Of those in a list the pool takes the first, whatever else.
    async fn submit_all(
        &self,
        transactions: Vec<Transaction>,
    ) -> Vec<(Submitted, Option<Refusal>)> {
        let mut results = Vec::new();
        for (place, transaction) in transactions.into_iter().enumerate() {
            let submitted = Submitted {
                hash: transaction.hash(),
                shard: ShardId(1),
            };
            let refusal = match place {
                0 => None,
                _ => self.submit(transaction).await.err(),
            };
            results.push((submitted, refusal));
        }
        results
    }

    async fn outcomes(
        &self,
        asked: Vec<(AccountId, Digest)>,
    ) -> Result<Vec<OutcomeReport>, Unavailable> {
        let mut reports = Vec::new();
        for (signer, hash) in asked {
            reports.push(self.outcome(signer, hash).await?);
        }
        Ok(reports)
    }

    async fn outcome(&self, signer: AccountId, hash: Digest) -> Result<OutcomeReport, Unavailable> {
        self.reach()?;
        let known = signer == *transaction(1).signer() && hash == transaction(1).hash();
        Ok(OutcomeReport {
            status: if known {
                OutcomeStatus::Failed
            } else {
                OutcomeStatus::Unknown
            },
            height: if known { HEIGHT } else { 0 },
            reason: if known {
                "stale nonce".into()
            } else {
                String::new()
            },
        })
    }

    async fn account(&self, id: AccountId) -> Result<AccountReport, Unavailable> {
        self.reach()?;
        Ok(AccountReport {
            id,
            shard: ShardId(1),
            exists: true,
            balance: 10,
            nonce: 3,
            height: HEIGHT,
        })
    }

    async fn prove_account(
        &self,
        id: AccountId,
    ) -> Result<ProofReport<AccountReport>, Unavailable> {
        Ok(ProofReport {
            proven: self.account(id).await?,
            block_height: HEIGHT + 1,
            block_hash: digest(14),
            proof: "00ff".into(),
        })
    }

    async fn prove_outcome(
        &self,
        signer: AccountId,
        hash: Digest,
    ) -> Result<ProofReport<OutcomeReport>, Unavailable> {
        Ok(ProofReport {
            proven: self.outcome(signer, hash).await?,
            block_height: HEIGHT + 1,
            block_hash: digest(14),
            proof: "00ff".into(),
        })
    }

    async fn block(&self, height: u64) -> Result<Block, Unavailable> {
        let missing = || Unavailable(format!("block {height} is not finalised yet"));
        let found = (height == HEIGHT).then(|| block(&self.body));
        found.ok_or_else(missing)
    }

    async fn chunk(
        &self,
        height: u64,
        shard: ShardId,
    ) -> Result<Option<(ChunkHeader, ChunkBody)>, Unavailable> {
        self.reach()?;
        let exists = height == HEIGHT && shard == ShardId(0);
        Ok(exists.then(|| (header(&self.body), self.body.clone())))
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.headers[CONTENT_TYPE], "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The text of `{"error": "…"}` and nothing else.
    pub(crate) fn error(&self) -> String {
        let body = self.json();
        let text = body["error"].as_str().unwrap();
        assert_eq!(body, json!({"error": text}));
        text.into()
    }
}

pub(crate) const TOKEN: &str = "0123456789abcdef";

/// Sends one request to a node.
pub(crate) fn send(node: &Fixture, request: Request<Body>) -> Answer {
    answer(router(node.clone()), request)
}

/// A request to the admin API by whoever has the token.
pub(crate) fn with_token(
    method: Method,
    path: &str,
    token: &str,
    body: impl Into<Body>,
) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .header(CONTENT_TYPE, "application/json")
        .body(body.into())
        .unwrap()
}

/// Sends one request to the admin API of a node.
pub(crate) fn send_admin(node: &Fixture, request: Request<Body>) -> Answer {
    let token = AdminToken::new(TOKEN).unwrap();
    answer(admin_router(node.clone(), token), request)
}

pub(crate) fn answer(router: Router, request: Request<Body>) -> Answer {
    block_on(async {
        let response = router.oneshot(request).await.unwrap();
        Answer {
            status: response.status(),
            headers: response.headers().clone(),
            body: to_bytes(response.into_body(), usize::MAX)
                .await
                .unwrap()
                .to_vec(),
        }
    })
}

/// A request without a body.
pub(crate) fn request(method: Method, path: &str) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .body(Body::empty())
        .unwrap()
}

/// Sends a JSON-RPC body.
pub(crate) fn post(node: &Fixture, body: impl Into<Body>) -> Answer {
    let request = Request::post("/rpc")
        .header(CONTENT_TYPE, "application/json")
        .body(body.into())
        .unwrap();
    send(node, request)
}

/// Calls a method and gives the response's `result` or `error`.
pub(crate) fn call(node: &Fixture, method: &str, params: &Value) -> Result<Value, Value> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let answer = post(node, body.to_string());
    assert_eq!(answer.status, StatusCode::OK);
    let mut response = answer.json();
    assert_eq!(response["jsonrpc"], "2.0");
    assert_eq!(response["id"], 1);
    assert_eq!(response.as_object().unwrap().len(), 3);
    match response.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => Err(response["error"].take()),
    }
}
