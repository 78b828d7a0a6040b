// SPDX-License-Identifier: Apache-2.0
//! The own shard's state and storage, and what is kept in memory of recent
//! executions.

use crate::{
    copy::ShardCopy,
    error::LedgerError,
    records::{Known, Records},
    snapshots::{Frozen, Origin, restore},
};
use commonware_codec::Decode as _;
use commonware_utils::channel::{fallible::OneshotExt as _, oneshot};
use shardnode_blocks::GenesisState;
use shardnode_execution::{
    Outcome,
    record::{Evidence, Executed, Proven},
};
use shardnode_mailboxes::{ledger::Tracked, snapshots::Shelf};
use shardnode_network::Identity;
use shardnode_primitives::{ChunkContent, Digest, ShardId, ShardTotals};
use shardnode_state::StateTree;
use shardnode_storage::{Engine, ExecutionRecord, Recovered, StorageError};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

/// Executions kept whole in memory; older ones are read from storage.
const RECENT: usize = 64;

/// Executions whose evidence is kept in memory: as many as the longest
/// execution lag leaves uncommitted.
const EVIDENCE: usize = 4;

/// Executions and transactions whose outcomes clients can ask for.
const OUTCOME_CHUNKS: usize = 1_000;
const OUTCOME_TRANSACTIONS: usize = 1_000_000;

/// Where credited receipts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Credited {
    /// The height of the execution that credited them.
    pub(crate) at: u64,
    /// The root that they are under.
    pub(crate) root: Digest,
}

/// The own shard's state and what it is made durable in.
pub(crate) struct Shard<S> {
    pub(crate) id: ShardId,
    pub(crate) state: StateTree,
    pub(crate) storage: Option<S>,
    pub(crate) height: u64,
    pub(crate) totals: ShardTotals,
    pub(crate) recent: BTreeMap<u64, Arc<Executed>>,
    /// Evidence of the executions that a header may still have to commit to.
    pub(crate) evidence: BTreeMap<u64, Arc<Evidence>>,
    outcomes: BTreeMap<Digest, (u64, Outcome)>,
    known: VecDeque<(u64, Vec<Digest>)>,
    pub(crate) waiting: BTreeMap<u64, Vec<oneshot::Sender<Arc<Executed>>>>,
    /// States that wait for a header to state them, by height.
    pub(crate) frozen: BTreeMap<u64, Frozen>,
    /// The executions that credited receipts, by the shard and the height that
    /// these are from, since the oldest snapshot that is served.
    pub(crate) credited: BTreeMap<(ShardId, u64), Credited>,
    /// What is known of older executions.
    pub(crate) records: Records,
    /// What this copy of the shard has.
    pub(crate) copy: ShardCopy,
}

impl<S: Engine> Shard<S> {
    pub(crate) fn storage_error(&self) -> impl FnOnce(StorageError) -> LedgerError + use<S> {
        let shard = self.id;
        move |source| LedgerError::Storage { shard, source }
    }

    /// Remembers the execution that was done last, and the receipts that it
    /// credited.
    pub(crate) fn remember(
        &mut self,
        proven: Proven,
        credited: impl IntoIterator<Item = ((ShardId, u64), Credited)>,
    ) {
        let Proven { executed, evidence } = proven;
        let height = executed.result.height;
        self.credited.extend(credited);
        let root = Known::Root(executed.result.receipts_root);
        self.records.learn(height, root);
        self.evidence.insert(height, evidence);
        while self.evidence.len() > EVIDENCE {
            self.evidence.pop_first();
        }
        for (hash, outcome) in &executed.outcomes {
            // A transaction that two producers included is executed once; that
            // its other copy failed is not what became of it.
            let known = self.outcomes.get(hash);
            if !known.is_some_and(|(_, known)| *known == Outcome::Executed) {
                self.outcomes.insert(*hash, (height, *outcome));
            }
        }
        for reply in self.waiting.remove(&height).unwrap_or_default() {
            reply.send_lossy(executed.clone());
        }
        let hashes = executed.outcomes.iter().map(|(hash, _)| *hash).collect();
        self.known.push_back((height, hashes));
        while self.known.len() > OUTCOME_CHUNKS || self.outcomes.len() > OUTCOME_TRANSACTIONS {
            self.forget_oldest_outcomes();
        }
        self.recent.insert(height, executed);
        if self.recent.len() > RECENT {
            self.recent.pop_first();
        }
    }

    /// Goes on from another state, ahead of this one.
    pub(crate) fn jump(&mut self, origin: &Origin, state: StateTree) {
        self.height = origin.totals.height;
        self.totals = origin.totals.clone();
        self.state = state;
        self.frozen.clear();
        self.evidence.clear();
        self.credited.clear();
        self.copy.begin_after(origin.block);
        // Whoever waits for an execution that will not happen is told so.
        self.waiting = self.waiting.split_off(&(self.height + 1));
    }

    /// Freezes the state after the chunk that was executed last, if it is the
    /// turn of a snapshot or one still waits for a header to state it.
    pub(crate) fn freeze(&mut self, chunk: &ChunkContent, interval: u64) {
        if chunk.sequence.is_multiple_of(interval) || !self.frozen.is_empty() {
            let frozen = Frozen {
                totals: self.totals.clone(),
                pages: self.state.pages(),
            };
            self.frozen.insert(chunk.height, frozen);
        }
    }

    /// The frozen state whose totals are these. Those before it will not be
    /// stated any more.
    pub(crate) fn thaw(&mut self, totals: &ShardTotals) -> Option<Frozen> {
        let frozen = self.frozen.remove(&totals.height)?;
        self.frozen = self.frozen.split_off(&totals.height);
        (frozen.totals == *totals).then_some(frozen)
    }

    /// Forgets where receipts are that no served snapshot needs any more.
    pub(crate) fn forget_credited(&mut self, oldest: u64) {
        self.credited.retain(|_, credited| credited.at > oldest);
    }

    fn forget_oldest_outcomes(&mut self) {
        let Some((height, hashes)) = self.known.pop_front() else {
            return;
        };
        for hash in hashes {
            if self
                .outcomes
                .get(&hash)
                .is_some_and(|(at, _)| *at == height)
            {
                self.outcomes.remove(&hash);
            }
        }
    }

    /// What became of a transaction, if it is remembered.
    pub(crate) fn outcome(&self, hash: &Digest) -> Option<(u64, Outcome)> {
        self.outcomes.get(hash).copied()
    }

    pub(crate) fn progress(&self) -> Tracked {
        Tracked {
            shard: self.id,
            height: self.height,
            root: self.state.root(),
            accounts: self.state.accounts(),
        }
    }

    /// Storage, which is only away while one of its own calls runs.
    pub(crate) fn take_storage(&mut self) -> Result<S, LedgerError> {
        self.storage
            .take()
            .ok_or(LedgerError::Ended { part: "storage" })
    }
}

pub(crate) fn decode_record(
    identity: &Identity,
    shard: ShardId,
    record: &ExecutionRecord,
) -> Result<Proven, LedgerError> {
    let limits = (
        identity.genesis.layout.shards(),
        identity.genesis.protocol.max_transactions_per_chunk,
    );
    Proven::decode_cfg(record.payload.clone(), &limits).map_err(|source| LedgerError::Record {
        shard,
        height: record.height,
        source,
    })
}

/// The shard as storage has it; its snapshot goes on the shelf.
pub(crate) fn recover<S: Engine>(
    identity: &Identity,
    genesis: &GenesisState,
    id: ShardId,
    storage: S,
    recovered: Recovered,
    (shelf, retention): (&Shelf, u64),
) -> Result<Shard<S>, LedgerError> {
    let mut shard = Shard {
        id,
        state: genesis.state(id),
        storage: Some(storage),
        height: 0,
        totals: genesis.totals(id),
        recent: BTreeMap::new(),
        evidence: BTreeMap::new(),
        outcomes: BTreeMap::new(),
        known: VecDeque::new(),
        waiting: BTreeMap::new(),
        frozen: BTreeMap::new(),
        credited: BTreeMap::new(),
        records: Records::new(1),
        copy: ShardCopy::default(),
    };
    let state_error = |height| {
        move |source| LedgerError::State {
            shard: id,
            height,
            source,
        }
    };
    if let Some(snapshot) = recovered.snapshot {
        let (origin, state) = restore(id, snapshot)?;
        shard.height = origin.totals.height;
        shard.totals = origin.totals.clone();
        shard.state = state;
        check_root(&shard, origin.totals.state_root)?;
        shard.copy.begin_after(origin.block);
        shelf.put(origin.served(shard.state.pages()));
        let below = shard.height.saturating_sub(retention);
        shard.records.forget_below(below);
    }
    for record in recovered.records {
        let proven = decode_record(identity, id, &record)?;
        let changes = record.changes.into_iter().collect();
        shard
            .state
            .apply(&changes)
            .map_err(state_error(record.height))?;
        shard.height = record.height;
        shard.totals = proven.executed.totals.clone();
        check_root(&shard, record.state_root)?;
        let credited = proven.evidence.incoming.iter().filter_map(|proven| {
            let (from, at) = ((proven.bucket.source, proven.bucket.height), record.height);
            let root = proven.receipts_root()?;
            Some((from, Credited { at, root }))
        });
        let credited: Vec<_> = credited.collect();
        shard.remember(proven, credited);
    }
    Ok(shard)
}

fn check_root<S>(shard: &Shard<S>, want: Digest) -> Result<(), LedgerError> {
    let got = shard.state.root();
    if got == want {
        return Ok(());
    }
    Err(LedgerError::RecoveredRoot {
        shard: shard.id,
        height: shard.height,
        got,
        want,
    })
}
