// SPDX-License-Identifier: Apache-2.0
//! One execution on a state, and the sums that a header commits to.

use crate::{ChunkInput, Execution, ExecutionError, Outcome, State, execute};
use shardnode_primitives::{AccountId, Digest, ExecutionResult, ProvenBucket, ShardTotals};
use shardnode_state::{Account, StateError};
use std::collections::BTreeMap;

/// What an execution came to once the state is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// What a header commits to.
    pub result: ExecutionResult,
    /// Everything since genesis, this execution included.
    pub totals: ShardTotals,
    /// The receipts to every shard, with proofs.
    pub buckets: Vec<ProvenBucket>,
    /// The hash of every transaction and what became of it.
    pub outcomes: Vec<(Digest, Outcome)>,
    /// The new content of every account that changed.
    pub changes: BTreeMap<AccountId, Account>,
}

/// Why an execution cannot be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// It is impossible.
    #[error("the chunk cannot be executed")]
    Execution(#[from] ExecutionError),
    /// The state refused the changes.
    #[error("the state cannot be changed")]
    State(#[from] StateError),
    /// A sum since genesis is more, or less, than can be.
    #[error("{0} overflows")]
    Totals(&'static str),
}

/// Executes `input` on `state`, changes it, and adds up what a header will
/// commit to. On an error the state has not changed.
///
/// The balance of the totals follows from the value that came and left, so
/// that those who hold a part of the state come to it too; whoever holds all
/// of it can compare.
pub fn apply(
    state: &mut impl State,
    input: ChunkInput<'_>,
    before: &ShardTotals,
) -> Result<Applied, ApplyError> {
    let height = input.height;
    let execution = execute(state, input)?;
    let totals = add_up(before, height, &execution)?;
    let state_root = state.apply(&execution.changes)?;
    let (receipts_root, buckets) = ProvenBucket::prove_all(execution.buckets);
    Ok(Applied {
        result: ExecutionResult {
            height,
            state_root,
            outcomes_root: execution.outcomes_root,
            receipts_root,
            transfers: execution.transfers,
            credits: execution.credits,
        },
        totals: ShardTotals {
            state_root,
            ..totals
        },
        buckets,
        outcomes: execution.outcomes,
        changes: execution.changes,
    })
}

/// The totals after `execution`, with the state root of those before it.
fn add_up(
    before: &ShardTotals,
    height: u64,
    execution: &Execution,
) -> Result<ShardTotals, ApplyError> {
    let sum = |name, sum: u64, more: u64| sum.checked_add(more).ok_or(ApplyError::Totals(name));
    // What came is part of the balance before any of it can leave.
    let balance = sum("balance", before.balance, execution.received)?
        .checked_sub(execution.sent)
        .ok_or(ApplyError::Totals("balance"))?;
    Ok(ShardTotals {
        height,
        state_root: before.state_root,
        transfers: sum("transfers", before.transfers, execution.transfers.into())?,
        cross_shard: sum(
            "cross-shard transfers",
            before.cross_shard,
            execution.cross_shard.into(),
        )?,
        credits: sum("credits", before.credits, execution.credits.into())?,
        balance,
        sent: sum("value sent", before.sent, execution.sent)?,
        received: sum("value received", before.received, execution.received)?,
        next_due: execution.next_due,
    })
}
