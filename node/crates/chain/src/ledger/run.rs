// SPDX-License-Identifier: Apache-2.0
//! One execution on the state.

use crate::{error::ChainError, executed::Executed};
use shardnode_execution::{Applied, ChunkInput, apply};
use shardnode_primitives::{AccountId, ShardTotals};
use shardnode_state::{Account, StateTree};

/// Executes on `state`, whose balance must come out as the sums say.
pub(super) fn run(
    state: &mut StateTree,
    input: ChunkInput<'_>,
    before: &ShardTotals,
) -> Result<(Executed, Vec<(AccountId, Account)>), ChainError> {
    let (shard, height) = (input.shard, input.height);
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
    let executed = Executed {
        result,
        totals,
        buckets,
        outcomes,
    };
    Ok((executed, changes.into_iter().collect()))
}
