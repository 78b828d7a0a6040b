// SPDX-License-Identifier: Apache-2.0
//! What a witness for a header must show, from finalised blocks alone.

use crate::{
    config::Identity,
    due::due_in,
    history::History,
    validity::{Base, Violation, check_header},
};
use commonware_cryptography::Digestible as _;
use shardnode_primitives::{Block, ChunkHeader, ShardId};
use shardnode_witness::{Executable, Expected};

/// Why a header is not worth validating.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfit {
    /// It breaks a rule.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// A finalised block that it refers to is not here.
    #[error("block {0} is not at hand")]
    NoBlock(u64),
}

/// Checks `header` against its parent, the newest finalised block, and says
/// what its results must come from.
pub(super) async fn expected(
    header: &ChunkHeader,
    history: &History,
    identity: &Identity,
) -> Result<Expected, Unfit> {
    let content = &header.content;
    let shard = content.shard;
    let parent = history.tip().inner();
    let lag = u64::from(identity.genesis.protocol.execution_lag);
    let due = content.height.saturating_sub(lag);
    let anchor = history.block(due).await.ok_or(Unfit::NoBlock(due))?;
    let previous = newest(parent, shard)?;
    let base = Base {
        previous,
        height: parent.height + 1,
        anchor: anchor.digest(),
    };
    check_header(header, base, &identity.genesis, &identity.namespaces)?;
    let mut executions = Vec::with_capacity(content.results.len());
    for result in &content.results {
        executions.push(executable(result.height, shard, history).await?);
    }
    Ok(Expected {
        layout: identity.genesis.layout,
        code: identity.body_code(),
        header: header.clone(),
        before: previous.content.totals.clone(),
        executions,
    })
}

/// The chunk of `shard` at `height`, and what fell due for it.
async fn executable(height: u64, shard: ShardId, history: &History) -> Result<Executable, Unfit> {
    let before = height - 1;
    let before = history.block(before).await.ok_or(Unfit::NoBlock(before))?;
    let last = newest(before.inner(), shard)?.content.height;
    let (mut due, mut chunk) = (Vec::new(), None);
    for height in last + 1..=height {
        let block = history.block(height).await.ok_or(Unfit::NoBlock(height))?;
        let block = block.inner();
        chunk = Some(newest(block, shard)?.clone());
        due.extend(due_in(block, shard));
    }
    due.sort_by_key(|due| (due.source, due.height));
    let header = chunk.ok_or(Unfit::NoBlock(height))?;
    Ok(Executable { header, due })
}

fn newest(block: &Block, shard: ShardId) -> Result<&ChunkHeader, Unfit> {
    block.chunk(shard).ok_or(Unfit::NoBlock(block.height))
}
