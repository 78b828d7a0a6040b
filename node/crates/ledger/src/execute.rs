// SPDX-License-Identifier: Apache-2.0
//! One execution on the state, and the evidence for it.

use crate::{error::LedgerError, inputs::Inputs};
use shardnode_execution::{
    Applied, ApplyError, ChunkInput, Delivery, apply, execute,
    record::{Evidence, Executed, Proven},
    touched,
};
use shardnode_primitives::{Genesis, ShardTotals};
use shardnode_state::{Changes, StateTree};
use std::sync::Arc;

/// Executes on `state`, whose balance must come out as the sums say.
pub(crate) fn run(
    state: &mut StateTree,
    genesis: &Genesis,
    inputs: &Inputs,
    before: &ShardTotals,
) -> Result<(Proven, Changes), LedgerError> {
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
    let failed = |source| LedgerError::Execution {
        shard,
        height,
        source,
    };
    let execution = execute(state, input).map_err(|error| failed(ApplyError::Execution(error)))?;
    let proven = incoming.iter().flat_map(|one| &one.proven);
    let evidence = Evidence {
        body_hash: content.body_hash,
        parts_root: content.parts_root,
        incoming: proven.map(|one| (**one).clone()).collect(),
        pre_state: state.partial(&touched(&input), &execution.changes),
    };
    let applied = apply(state, execution, height, before).map_err(failed)?;
    let Applied {
        result,
        totals,
        buckets,
        outcomes,
        changes,
    } = applied;
    if totals.balance != state.balance() {
        return Err(LedgerError::Balance {
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
    Ok((proven, changes))
}
