// SPDX-License-Identifier: Apache-2.0
//! One execution on the state, and the evidence for it.

use crate::{
    bodies::CheckedChunk,
    due::Delivered,
    error::ChainError,
    executed::{Evidence, Executed, Proven},
};
use shardnode_execution::{Applied, ChunkInput, Delivery, apply, touched};
use shardnode_primitives::{AccountId, Congestion, Genesis, ShardTotals};
use shardnode_state::{Account, StateTree};
use std::sync::Arc;

/// What executing one chunk takes, beside the state.
pub(super) struct Inputs {
    pub(super) chunk: Arc<CheckedChunk>,
    /// What it credits.
    pub(super) incoming: Vec<Delivered>,
    /// What the block before its own says of the shards.
    pub(super) congestion: Congestion,
}

/// Executes on `state`, whose balance must come out as the sums say.
pub(super) fn run(
    state: &mut StateTree,
    genesis: &Genesis,
    inputs: &Inputs,
    before: &ShardTotals,
) -> Result<(Proven, Vec<(AccountId, Account)>), ChainError> {
    let Inputs {
        chunk,
        incoming,
        congestion,
    } = inputs;
    let content = &chunk.header.content;
    let (shard, height) = (content.shard, content.height);
    let deliveries: Vec<Delivery> = incoming.iter().map(|one| one.delivery.clone()).collect();
    let input = ChunkInput {
        protocol: genesis.protocol,
        layout: genesis.layout,
        shard,
        height,
        transactions: &chunk.transactions,
        incoming: &deliveries,
        congestion,
    };
    let proven = incoming.iter().flat_map(|one| &one.proven);
    let evidence = Evidence {
        body_hash: content.body_hash,
        parts_root: content.parts_root,
        incoming: proven.map(|one| (**one).clone()).collect(),
        pre_state: state.partial(&touched(&input)),
    };
    let applied = apply(state, input, before).map_err(|source| ChainError::Execution {
        shard,
        height,
        source,
    })?;
    let Applied {
        result,
        totals,
        buckets,
        outcomes,
        changes,
    } = applied;
    if totals.balance != state.balance() {
        return Err(ChainError::Balance {
            shard,
            height,
            accounts: state.balance(),
            totals: totals.balance,
        });
    }
    let executed = Arc::new(Executed {
        result,
        totals,
        buckets,
        outcomes,
    });
    let evidence = Arc::new(evidence);
    let proven = Proven { executed, evidence };
    Ok((proven, changes.into_iter().collect()))
}
