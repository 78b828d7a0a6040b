// SPDX-License-Identifier: Apache-2.0
//! One execution on the state, and the evidence for it.

use crate::{
    bodies::CheckedChunk,
    error::ChainError,
    executed::{Evidence, Executed, Proven},
};
use shardnode_execution::{Applied, ChunkInput, apply, touched};
use shardnode_primitives::{AccountId, ProvenBucket, ReceiptBucket, ShardLayout, ShardTotals};
use shardnode_state::{Account, StateTree};
use std::sync::Arc;

/// Executes on `state`, whose balance must come out as the sums say.
pub(super) fn run(
    state: &mut StateTree,
    layout: ShardLayout,
    chunk: &CheckedChunk,
    incoming: &[Arc<ProvenBucket>],
    before: &ShardTotals,
) -> Result<(Proven, Vec<(AccountId, Account)>), ChainError> {
    let content = &chunk.header.content;
    let (shard, height) = (content.shard, content.height);
    let buckets: Vec<ReceiptBucket> = incoming.iter().map(|one| one.bucket.clone()).collect();
    let input = ChunkInput {
        layout,
        shard,
        height,
        transactions: &chunk.transactions,
        incoming: &buckets,
    };
    let evidence = Evidence {
        body_hash: content.body_hash,
        parts_root: content.parts_root,
        incoming: incoming.iter().map(|one| (**one).clone()).collect(),
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
