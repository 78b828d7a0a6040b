// SPDX-License-Identifier: Apache-2.0
//! The two ways to check a header: against the own results, and from a
//! witness.

use crate::expected::{Unfit, expected};
use commonware_parallel::{Rayon, Strategy as _};
use commonware_utils::channel::oneshot;
use futures::{
    future::{Either, select},
    pin_mut,
};
use shardnode_blocks::History;
use shardnode_execution::signatures::{BatchSize, KeyCache};
use shardnode_mailboxes::{Runtime, availability, ledger};
use shardnode_network::Identity;
use shardnode_primitives::{ChunkHeader, ShardId};
use shardnode_traces::Begun;
use shardnode_witness::{PartSet, PartsError, Verifier, WitnessError, decode};
use std::{future::Future, sync::Arc, time::Duration};

/// What a check came to.
pub(crate) enum Verdict {
    /// All is as the header says; how long re-executing took, if it was done.
    Right { elapsed: Option<Duration> },
    /// It is not.
    Wrong(Wrong),
}

/// Why a header is not endorsed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Wrong {
    /// It does not fit the finalised blocks.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// This node, which tracks the shard, has other results.
    #[error("it commits to results of shard {0} that are not ours")]
    Results(ShardId),
    /// The chunk's body is invalid.
    #[error("its body is invalid")]
    Body,
    /// The parts do not give a witness.
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// The witness does not show the results.
    #[error("{}", chain(.0))]
    Witness(#[from] WitnessError),
}

/// An error with everything that it came from.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let words: Vec<String> = causes.map(ToString::to_string).collect();
    words.join(": ")
}

/// `check`, unless the sender of `unwanted` is dropped first.
pub(crate) async fn until<T>(
    unwanted: oneshot::Receiver<()>,
    check: impl Future<Output = T>,
) -> Option<T> {
    pin_mut!(check);
    match select(check, unwanted).await {
        Either::Left((checked, _)) => Some(checked),
        Either::Right(_) => None,
    }
}

/// `check`, which is recorded if the header is found right.
pub(crate) async fn traced<E: Runtime>(
    context: E,
    step: Begun,
    check: impl Future<Output = (ChunkHeader, Verdict)>,
) -> (ChunkHeader, Verdict) {
    let (header, verdict) = check.await;
    if matches!(verdict, Verdict::Right { .. }) {
        step.end(&context);
    }
    (header, verdict)
}

/// A header of the own shard: the results must be this node's own, and the
/// chunk at hand and valid.
pub(crate) async fn compare(
    header: ChunkHeader,
    history: History,
    identity: Arc<Identity>,
    availability: availability::Mailbox,
    ledger: ledger::Mailbox,
) -> (ChunkHeader, Verdict) {
    let compared = compared(&header, &history, &identity, &availability, &ledger).await;
    let verdict = match compared {
        Ok(()) => Verdict::Right { elapsed: None },
        Err(wrong) => Verdict::Wrong(wrong),
    };
    (header, verdict)
}

async fn compared(
    header: &ChunkHeader,
    history: &History,
    identity: &Identity,
    availability: &availability::Mailbox,
    ledger: &ledger::Mailbox,
) -> Result<(), Wrong> {
    expected(header, history, identity).await?;
    let content = &header.content;
    for result in &content.results {
        let executed = ledger.executed(result.height).await;
        let own = executed.is_some_and(|executed| {
            let last = result.height == content.totals.height;
            executed.result == *result && (!last || executed.totals == content.totals)
        });
        if !own {
            return Err(Wrong::Results(content.shard));
        }
    }
    let chunk = availability.chunk(header.clone(), false).await;
    match chunk {
        Some(chunk) if chunk.valid => Ok(()),
        _ => Err(Wrong::Body),
    }
}

/// What signatures are verified with.
pub(crate) struct Verification {
    pub(crate) keys: Arc<KeyCache>,
    pub(crate) batch: BatchSize,
    pub(crate) seed: [u8; 32],
    pub(crate) strategy: Rayon,
}

/// A header of another shard: its witness must show its results. Without
/// results there is nothing to show.
pub(crate) async fn validate<E: Runtime>(
    context: E,
    header: ChunkHeader,
    parts: Option<PartSet>,
    history: History,
    identity: Arc<Identity>,
    verification: Verification,
) -> (ChunkHeader, Verdict) {
    let started = context.current();
    let validated = validated(&header, parts, &history, identity, verification).await;
    let verdict = match validated {
        Ok(()) if header.content.results.is_empty() => Verdict::Right { elapsed: None },
        Ok(()) => Verdict::Right {
            elapsed: context.current().duration_since(started).ok(),
        },
        Err(wrong) => Verdict::Wrong(wrong),
    };
    (header, verdict)
}

async fn validated(
    header: &ChunkHeader,
    parts: Option<PartSet>,
    history: &History,
    identity: Arc<Identity>,
    verification: Verification,
) -> Result<(), Wrong> {
    let expected = expected(header, history, &identity).await?;
    let Some(parts) = parts.filter(|_| !header.content.results.is_empty()) else {
        return Ok(());
    };
    let Verification {
        keys,
        batch,
        seed,
        strategy,
    } = verification;
    let work = identity.genesis.protocol.max_transactions_per_chunk as usize;
    strategy
        .spawn(work, move |strategy| {
            let bytes = parts.rebuild(&strategy)?;
            let limits = identity.witness_limits();
            let witness = decode(&bytes, &limits).map_err(WitnessError::Decode)?;
            let verifier = Verifier {
                namespace: &identity.namespaces.transaction,
                keys: &keys,
                batch,
                seed,
                strategy: &strategy,
            };
            shardnode_witness::validate(witness, &expected, &verifier)?;
            Ok(())
        })
        .await
}
