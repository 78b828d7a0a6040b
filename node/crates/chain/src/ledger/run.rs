// SPDX-License-Identifier: Apache-2.0
//! One execution on the state, and the sums that a header commits to.

use crate::{error::ChainError, executed::Executed};
use shardnode_execution::{ChunkInput, execute};
use shardnode_primitives::{AccountId, ExecutionResult, ProvenBucket, ShardTotals};
use shardnode_state::{Account, StateTree};

/// Executes on `state` and adds up what a header will commit to.
pub(super) fn run(
    state: &mut StateTree,
    input: ChunkInput<'_>,
    before: &ShardTotals,
) -> Result<(Executed, Vec<(AccountId, Account)>), ChainError> {
    let (shard, height) = (input.shard, input.height);
    let execution = execute(state, input).map_err(|source| ChainError::Execution {
        shard,
        height,
        source,
    })?;
    let state_root = state
        .apply(&execution.changes)
        .map_err(|source| ChainError::State {
            shard,
            height,
            source,
        })?;
    let (receipts_root, buckets) = ProvenBucket::prove_all(execution.buckets);
    let result = ExecutionResult {
        height,
        state_root,
        outcomes_root: execution.outcomes_root,
        receipts_root,
        transfers: execution.transfers,
        credits: execution.credits,
    };
    let totals = ShardTotals {
        height,
        state_root,
        transfers: before.transfers + u64::from(execution.transfers),
        cross_shard: before.cross_shard + u64::from(execution.cross_shard),
        credits: before.credits + u64::from(execution.credits),
        balance: state.balance(),
        sent: before.sent + execution.sent,
        received: before.received + execution.received,
    };
    let outcomes = input
        .transactions
        .iter()
        .map(shardnode_primitives::Transaction::hash)
        .zip(execution.outcomes)
        .collect();
    let executed = Executed {
        result,
        totals,
        buckets,
        outcomes,
    };
    Ok((executed, execution.changes.into_iter().collect()))
}
