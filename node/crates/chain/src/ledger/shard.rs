// SPDX-License-Identifier: Apache-2.0
//! The own shard's state and storage, and what is kept in memory of recent
//! executions.

use super::{
    Tracked,
    snapshots::{Frozen, restore},
};
use crate::{
    config::Identity,
    error::ChainError,
    executed::{Evidence, Executed, Proven},
    genesis_state::GenesisState,
    state_sync::served::Shelf,
};
use commonware_codec::Decode as _;
use commonware_utils::channel::{fallible::OneshotExt as _, oneshot};
use shardnode_execution::Outcome;
use shardnode_primitives::{Digest, ShardId, ShardTotals};
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

/// The own shard's state and what it is made durable in.
pub(super) struct Shard<S> {
    pub(super) id: ShardId,
    pub(super) state: StateTree,
    pub(super) storage: Option<S>,
    pub(super) height: u64,
    pub(super) totals: ShardTotals,
    pub(super) recent: BTreeMap<u64, Arc<Executed>>,
    /// Evidence of the executions that a header may still have to commit to.
    pub(super) evidence: BTreeMap<u64, Arc<Evidence>>,
    outcomes: BTreeMap<Digest, (u64, Outcome)>,
    known: VecDeque<(u64, Vec<Digest>)>,
    pub(super) waiting: BTreeMap<u64, Vec<oneshot::Sender<Arc<Executed>>>>,
    /// States that wait for a header to state them, by height.
    pub(super) frozen: BTreeMap<u64, Frozen>,
}

impl<S: Engine> Shard<S> {
    pub(super) fn storage_error(&self) -> impl FnOnce(StorageError) -> ChainError + use<S> {
        let shard = self.id;
        move |source| ChainError::Storage { shard, source }
    }

    pub(super) fn remember(&mut self, proven: Proven) {
        let Proven { executed, evidence } = proven;
        self.evidence.insert(executed.result.height, evidence);
        while self.evidence.len() > EVIDENCE {
            self.evidence.pop_first();
        }
        let height = executed.result.height;
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
    pub(super) fn jump(&mut self, totals: ShardTotals, state: StateTree) {
        self.height = totals.height;
        self.totals = totals;
        self.state = state;
        self.frozen.clear();
        self.evidence.clear();
        // Whoever waits for an execution that will not happen is told so.
        self.waiting = self.waiting.split_off(&(self.height + 1));
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
    pub(super) fn outcome(&self, hash: &Digest) -> Option<(u64, Outcome)> {
        self.outcomes.get(hash).copied()
    }

    pub(super) fn progress(&self) -> Tracked {
        Tracked {
            shard: self.id,
            height: self.height,
            root: self.state.root(),
            accounts: self.state.accounts(),
        }
    }

    /// Storage, which is only away while one of its own calls runs.
    pub(super) fn take_storage(&mut self) -> Result<S, ChainError> {
        self.storage
            .take()
            .ok_or(ChainError::Ended { part: "storage" })
    }
}

/// The execution at `height`, from memory or storage.
pub(super) async fn stored_execution<S: Engine>(
    identity: &Identity,
    shard: &Shard<S>,
    height: u64,
) -> Result<Option<Arc<Executed>>, ChainError> {
    match (shard.recent.get(&height), &shard.storage) {
        (Some(executed), _) => Ok(Some(executed.clone())),
        (None, Some(storage)) => storage
            .record(height)
            .await
            .map_err(shard.storage_error())?
            .map(|record| decode_record(identity, shard.id, &record).map(|proven| proven.executed))
            .transpose(),
        (None, None) => Ok(None),
    }
}

fn decode_record(
    identity: &Identity,
    shard: ShardId,
    record: &ExecutionRecord,
) -> Result<Proven, ChainError> {
    let limits = (
        identity.genesis.layout.shards(),
        identity.genesis.protocol.max_transactions_per_chunk,
    );
    Proven::decode_cfg(record.payload.clone(), &limits).map_err(|source| ChainError::Record {
        shard,
        height: record.height,
        source,
    })
}

/// The shard as storage has it; its snapshot goes on the shelf.
pub(super) fn recover<S: Engine>(
    identity: &Identity,
    genesis: &GenesisState,
    id: ShardId,
    storage: S,
    recovered: Recovered,
    shelf: &Shelf,
) -> Result<Shard<S>, ChainError> {
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
    };
    let state_error = |height| {
        move |source| ChainError::State {
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
        shelf.put(origin.served(shard.state.pages()));
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
        shard.remember(proven);
    }
    Ok(shard)
}

fn check_root<S>(shard: &Shard<S>, want: Digest) -> Result<(), ChainError> {
    let got = shard.state.root();
    if got == want {
        return Ok(());
    }
    Err(ChainError::RecoveredRoot {
        shard: shard.id,
        height: shard.height,
        got,
        want,
    })
}
