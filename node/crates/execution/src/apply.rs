// SPDX-License-Identifier: Apache-2.0
//! One execution on a state, and the sums that a header commits to.

use crate::{Execution, ExecutionError, Outcome, State};
use shardnode_primitives::{Digest, ExecutionResult, ProvenBucket, ShardTotals};
use shardnode_state::{Changes, StateError};

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
    /// What became of every account that changed.
    pub changes: Changes,
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

/// Makes the changes of an `execution` of the chunk at `height` to the `state`
/// that it ran on, and adds up what a header will commit to. On an error the
/// state has not changed.
///
/// The balance of the totals follows from the value that came, left and was
/// burnt, so that those who hold a part of the state come to it too; whoever
/// holds all of it can compare.
pub fn apply(
    state: &mut impl State,
    execution: Execution,
    height: u64,
    before: &ShardTotals,
) -> Result<Applied, ApplyError> {
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
    let wide =
        |name, sum: u128, more: u64| sum.checked_add(more.into()).ok_or(ApplyError::Totals(name));
    let gone = sum("value sent and burnt", execution.sent, execution.burnt)?;
    // What came is part of the balance before any of it can leave.
    let balance = sum("balance", before.balance, execution.received)?
        .checked_sub(gone)
        .ok_or(ApplyError::Totals("balance"))?;
    let cross_shard = execution.cross_shard.into();
    Ok(ShardTotals {
        height,
        state_root: before.state_root,
        transfers: sum("transfers", before.transfers, execution.transfers.into())?,
        cross_shard: sum("cross-shard transfers", before.cross_shard, cross_shard)?,
        credits: sum("credits", before.credits, execution.credits.into())?,
        balance,
        burnt: sum("value burnt", before.burnt, execution.burnt)?,
        sent: wide("value sent", before.sent, execution.sent)?,
        received: wide("value received", before.received, execution.received)?,
        next_due: execution.next_due,
    })
}
