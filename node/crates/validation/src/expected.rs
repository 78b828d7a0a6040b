// SPDX-License-Identifier: Apache-2.0
//! What a witness for a header must show, from finalised blocks alone.

use commonware_cryptography::{Digested, Digestible as _};
use shardnode_blocks::{
    History,
    due_receipts::{due_in, is_from, more_than_credited},
    validity::{Base, Violation, check_header},
};
use shardnode_network::Identity;
use shardnode_primitives::{Block, ChunkHeader, Congestion, DuePosition, ShardId};
use shardnode_witness::{Due, Executable, Expected};

/// Why a header is not worth validating.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unfit {
    /// It breaks a rule.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// A finalised block that it refers to is not here.
    #[error("block {0} is not at hand")]
    NoBlock(u64),
}

/// Checks `header` against its parent, the newest finalised block, and says
/// what its results must come from.
pub(crate) async fn expected(
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
        executions.push(executable(result.height, shard, history, identity).await?);
    }
    let due = match content.results.last() {
        Some(last) => {
            let from = previous.content.totals.next_due;
            queue(from, last.height, shard, history, identity).await?
        }
        None => Vec::new(),
    };
    Ok(Expected {
        protocol: identity.genesis.protocol,
        layout: identity.genesis.layout,
        code: identity.body_code(),
        header: header.clone(),
        before: previous.content.totals.clone(),
        executions,
        due,
    })
}

/// The chunk of `shard` at `height`, and what was congested then.
async fn executable(
    height: u64,
    shard: ShardId,
    history: &History,
    identity: &Identity,
) -> Result<Executable, Unfit> {
    let block = block(height, history).await?;
    let before = self::block(height.saturating_sub(1), history).await?;
    Ok(Executable {
        header: newest(block.inner(), shard)?.clone(),
        congestion: Congestion::after(before.inner(), &identity.genesis.protocol),
    })
}

/// What fell due for `shard` from this place up to `height`, or as much of it
/// as can be credited.
async fn queue(
    from: DuePosition,
    height: u64,
    shard: ShardId,
    history: &History,
    identity: &Identity,
) -> Result<Vec<Due>, Unfit> {
    let protocol = &identity.genesis.protocol;
    let mut queue = Vec::new();
    for height in from.block..=height {
        // Each of the header's results may credit as much as one can.
        if more_than_credited(protocol, queue.len() / usize::from(protocol.execution_lag)) {
            break;
        }
        let block = block(height, history).await?;
        queue.extend(due_in(block.inner(), shard).filter(|due| is_from(from, due)));
    }
    Ok(queue)
}

async fn block(height: u64, history: &History) -> Result<Digested<Block>, Unfit> {
    history.block(height).await.ok_or(Unfit::NoBlock(height))
}

fn newest(block: &Block, shard: ShardId) -> Result<&ChunkHeader, Unfit> {
    block.chunk(shard).ok_or(Unfit::NoBlock(block.height))
}
