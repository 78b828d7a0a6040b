// SPDX-License-Identifier: Apache-2.0
//! One actor that was started again after some executions, and the ends of all
//! that it talks to.

use crate::engine::{Memory, Reads};
use commonware_codec::Encode as _;
use commonware_consensus::{
    marshal::{self, Start, core},
    simplex::scheme::ed25519::Scheme,
    types::{FixedEpocher, ViewDelta},
};
use commonware_cryptography::{
    Digested, Signer as _,
    certificate::{ConstantProvider, Verifier as _},
    ed25519::PrivateKey,
};
use commonware_parallel::Rayon;
use commonware_runtime::{
    Handle, Runner as _, Strategizer as _, Supervisor as _,
    buffer::paged::CacheRef,
    deterministic::{self, Context},
};
use commonware_storage::archive::immutable;
use commonware_utils::{
    NZU16, NZU64, NZUsize,
    channel::{mpsc, oneshot, watch},
};
use prometheus_client::registry::Registry;
use shardnode_blocks::{self as blocks, ChainView, GenesisState, Marshal};
use shardnode_execution::record::{Evidence, Executed, Proven};
use shardnode_ledger::{Actor, LedgerError, Metrics, Parts};
use shardnode_mailboxes::{
    availability, bodies, ledger, producer, snapshots::Shelf, state_sync, witness_validator,
};
use shardnode_network::Identity;
use shardnode_primitives::{
    AccountId, Digest, ExecutionResult, Genesis, GenesisDocument, ProvenBucket, Receipt,
    ReceiptBucket, ShardId, hash::ZERO,
};
use shardnode_state::{Changes, StateTree};
use shardnode_storage::{ExecutionRecord, Recovered, Snapshot};
use std::{collections::BTreeSet, future::Future, num::NonZeroUsize, sync::Arc, time::Duration};

/// The shard of the actor.
pub(crate) const OWN: ShardId = ShardId(0);
/// The other one.
pub(crate) const OTHER: ShardId = ShardId(1);
/// Heights executed before the start: more than are kept in memory.
pub(crate) const EXECUTED: u64 = 80;

/// A running actor.
pub(crate) struct Fixture {
    pub(crate) mailbox: ledger::Mailbox,
    pub(crate) reads: Reads,
    /// What the producer is told.
    pub(crate) told: mpsc::Receiver<producer::Message>,
    pub(crate) handle: Handle<Result<(), LedgerError>>,
    _ends: Ends,
}

type Ends = (
    availability::Inbox,
    bodies::Inbox,
    mpsc::Receiver<witness_validator::Message>,
    mpsc::Receiver<state_sync::Message>,
);

/// Runs a test with an actor whose shard has executed up to [`EXECUTED`], with a
/// snapshot at `snapshot` unless that is 0.
pub(crate) fn run<F, Fut>(snapshot: u64, test: F)
where
    F: FnOnce(Fixture) -> Fut,
    Fut: Future<Output = ()>,
{
    let config = deterministic::Config::new().with_timeout(Some(Duration::from_secs(600)));
    deterministic::Runner::new(config).start(|context| async move {
        test(Box::pin(Fixture::new(context, snapshot)).await).await;
    });
}

fn key(place: usize) -> PrivateKey {
    PrivateKey::from_seed(place as u64)
}

/// A network of two shards with two producers each.
fn genesis() -> Genesis {
    let validators: Vec<_> = (0..4)
        .map(|index| {
            serde_json::json!({
                "name": format!("n{index}"),
                "publicKey": key(index).public_key().to_string(),
                "role": "producer",
                "shard": index / 2,
                "slot": index % 2,
                "stake": 1_000_000,
            })
        })
        .collect();
    let document = serde_json::json!({
        "network": "test",
        "createdAtMs": 0,
        "seed": "11".repeat(32),
        "shards": 2,
        "accounts": {"perShard": 10, "initialBalance": 1_000},
        "protocol": {
            "executionLag": 1, "minBlockTimeMs": 100, "chunkWaitMs": 1000,
            "maxTransactionsPerChunk": 200, "mandatesPerShard": 32, "epochLength": 1000,
            "congestionControl": "Enabled", "transferFee": 1, "leastBalance": 1,
        },
        "validators": validators,
    });
    let document: GenesisDocument = serde_json::from_value(document).unwrap();
    document.check().unwrap()
}

const BUFFER: NonZeroUsize = NZUsize!(1 << 12);

fn archive<C>(prefix: &str, pages: &CacheRef, codec: C) -> immutable::Config<C> {
    immutable::Config {
        metadata_partition: format!("{prefix}-metadata"),
        freezer_table_partition: format!("{prefix}-table"),
        freezer_table_initial_size: 64,
        freezer_table_resize_frequency: 4,
        freezer_table_resize_chunk_size: 16,
        freezer_key_partition: format!("{prefix}-key"),
        freezer_key_page_cache: pages.clone(),
        freezer_value_partition: format!("{prefix}-value"),
        freezer_value_target_size: 1 << 20,
        freezer_value_compression: None,
        ordinal_partition: format!("{prefix}-ordinal"),
        items_per_section: NZU64!(64),
        freezer_key_write_buffer: BUFFER,
        freezer_value_write_buffer: BUFFER,
        ordinal_write_buffer: BUFFER,
        replay_buffer: BUFFER,
        codec_config: codec,
    }
}

/// Where consensus would keep blocks. It has ended: there are none.
async fn marshal(
    context: &Context,
    identity: &Identity,
    genesis: Digested<shardnode_primitives::Block>,
    strategy: Rayon,
) -> Marshal {
    let pages = CacheRef::new(NZU16!(1_024), NZUsize!(16));
    let namespace = &identity.namespaces.consensus;
    let scheme = Scheme::signer(namespace, identity.participants(), identity.key.clone());
    let certificates = Scheme::certificate_codec_config_unbounded();
    let certificates = archive("finalizations", &pages, certificates);
    let finalizations = immutable::Archive::init(context.child("finalizations"), certificates);
    let blocks = archive("blocks", &pages, identity.block_limits());
    let blocks = immutable::Archive::init(context.child("blocks"), blocks);
    let (_, mailbox, _) = core::Actor::<_, _, _, _, _, _, _>::init(
        context.child("marshal"),
        finalizations.await.unwrap(),
        blocks.await.unwrap(),
        marshal::Config {
            provider: ConstantProvider::new(scheme.unwrap()),
            epocher: FixedEpocher::new(NZU64!(1_000)),
            start: Start::Genesis(genesis),
            partition_prefix: "marshal".into(),
            mailbox_size: NZUsize!(16),
            view_retention: ViewDelta::new(8),
            prunable_items_per_section: NZU64!(64),
            page_cache: pages,
            replay_buffer: BUFFER,
            key_write_buffer: BUFFER,
            value_write_buffer: BUFFER,
            block_codec_config: identity.block_limits(),
            max_repair: NZUsize!(1),
            max_pending_acks: NZUsize!(1),
            strategy,
        },
    )
    .await;
    mailbox
}

/// The receipts from `source` at `height`: one for each of the two shards.
fn receipts(source: ShardId, height: u64) -> (Digest, Vec<ProvenBucket>) {
    let receipt = Receipt {
        sender: AccountId([1; 32]),
        receiver: AccountId([2; 32]),
        amount: height,
        nonce: 1,
    };
    let bucket = |destination| ReceiptBucket {
        source,
        destination,
        height,
        receipts: vec![receipt],
    };
    ProvenBucket::prove_all(vec![bucket(OWN), bucket(OTHER)])
}

/// The root of the receipts from `source` at `height`.
pub(crate) fn root(source: ShardId, height: u64) -> Digest {
    receipts(source, height).0
}

/// The receipts for the other shard that the actor's own sent at `height`.
pub(crate) fn sent(height: u64) -> Vec<u8> {
    receipts(OWN, height).1[1].encode().to_vec()
}

/// The receipts for the actor's shard that the other one sent at `height`.
pub(crate) fn credited(height: u64) -> Vec<u8> {
    receipts(OTHER, height).1[0].encode().to_vec()
}

/// An execution that changes nothing. It credits what the other shard sent at
/// the same height.
fn record(genesis: &GenesisState, state: &StateTree, height: u64) -> ExecutionRecord {
    let (receipts_root, buckets) = receipts(OWN, height);
    let mut totals = genesis.totals(OWN);
    totals.height = height;
    let executed = Executed {
        result: ExecutionResult {
            height,
            state_root: state.root(),
            outcomes_root: ZERO,
            receipts_root,
            transfers: 0,
            credits: 0,
        },
        totals,
        buckets,
        outcomes: Vec::new(),
    };
    let evidence = Evidence {
        body_hash: ZERO,
        parts_root: ZERO,
        incoming: vec![receipts(OTHER, height).1.swap_remove(0)],
        pre_state: state.partial(&BTreeSet::new(), &Changes::default()),
    };
    let proven = Proven {
        executed: Arc::new(executed),
        evidence: Arc::new(evidence),
    };
    ExecutionRecord {
        height,
        block: ZERO,
        state_root: state.root(),
        changes: Vec::new(),
        payload: proven.encode(),
    }
}

impl Fixture {
    async fn new(context: Context, snapshot: u64) -> Self {
        let identity = Arc::new(Identity::new(genesis(), key(0)).unwrap());
        let genesis = Arc::new(GenesisState::new(&identity.genesis, []).unwrap());
        let state = genesis.state(OWN);
        let records = (1..=EXECUTED).map(|height| (height, record(&genesis, &state, height)));
        let reads = Reads::default();
        let storage = Memory {
            records: records.collect(),
            reads: reads.clone(),
        };
        let recovered = Recovered {
            snapshot: (snapshot > 0).then(|| {
                let mut totals = genesis.totals(OWN);
                totals.height = snapshot;
                Snapshot {
                    height: snapshot,
                    leaves: Arc::clone(state.pages().leaves()),
                    payload: (snapshot + 1, totals).encode(),
                }
            }),
            records: storage
                .records
                .range(snapshot + 1..)
                .map(|(_, one)| one.clone())
                .collect(),
        };
        let strategy = context.strategy(NZUsize!(1));
        let block = Digested::precomputed(genesis.block.clone(), genesis.digest);
        let marshal = Box::pin(marshal(&context, &identity, block, strategy.clone())).await;
        let (mailbox, inbox) = ledger::mailbox();
        let (availability, availability_inbox) = availability::mailbox();
        let (bodies, bodies_inbox) = bodies::mailbox();
        let (validator, validator_inbox) = witness_validator::mailbox();
        let (state_sync, state_sync_inbox) = state_sync::mailbox();
        let (producer, told) = producer::mailbox();
        let view = ChainView::new(&identity.genesis, genesis.block.clone(), genesis.digest);
        let mut registry = Registry::default();
        let actor = Actor::new(
            context.child("ledger"),
            Parts {
                identity,
                snapshot_interval: 100,
                retention: 100,
                genesis,
                availability,
                bodies,
                marshal,
                storage: Some((storage, recovered)),
                validator,
                producer: Some(producer),
                view: watch::channel(Arc::new(view)).0,
                tracked: watch::channel(None).0,
                lacks: watch::channel(Vec::new()).0,
                parts_durable: false,
                block_metrics: Arc::new(blocks::Metrics::new(&mut registry)),
                metrics: Arc::new(Metrics::new(&mut registry)),
                strategy,
                state_sync,
                shelf: Shelf::default(),
                traces: shardnode_traces::Recorder::OFF,
            },
            inbox,
        );
        Self {
            mailbox,
            reads,
            told,
            handle: actor.unwrap().start(),
            _ends: (
                availability_inbox,
                bodies_inbox,
                validator_inbox,
                state_sync_inbox,
            ),
        }
    }

    /// Asks for the receipts for the other shard of the own execution at
    /// `height`.
    pub(crate) async fn ask(&self, height: u64, root: Digest) -> Option<Vec<u8>> {
        let answer = self.mailbox.serve(height, OTHER, root).await;
        answer.ok().map(|answer| answer.to_vec())
    }

    /// Asks for the receipts that the own shard credited of the other's
    /// execution at `height`.
    pub(crate) async fn ask_credited(&self, height: u64, root: Digest) -> Option<Vec<u8>> {
        let (reply, response) = oneshot::channel();
        self.mailbox.serve_credited(OTHER, height, root, reply);
        response.await.ok().map(|answer| answer.to_vec())
    }

    /// Whether the actor still answers.
    pub(crate) async fn answers(&self) -> bool {
        let answer = self.mailbox.account(AccountId([7; 32])).await;
        answer.is_some_and(|(height, _)| height == EXECUTED)
    }
}
