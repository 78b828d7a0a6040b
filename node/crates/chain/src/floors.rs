// SPDX-License-Identifier: Apache-2.0
//! Lets go of blocks that nobody needs any more, and has a node that others
//! have nothing to give for go on over a floor. Which blocks these are is
//! specified in [`kept`](shardnode_blocks::kept).
//!
//! A floor is a finalised block with its certificate, which consensus checks
//! against the validators of genesis like any other. It is asked for by height,
//! of those who vote, and is found in two steps: a block [`Kept::approach`]
//! below the tip says what is needed, and the block there, or the next one below
//! it that has a certificate of its own, is the floor. Delivery goes on with
//! it, as if the block before it had been processed; the ledger of a producer
//! finds that its state is too old, and [asks for a later
//! one](shardnode_ledger#catching-up).

use commonware_consensus::{
    simplex::{scheme::ed25519::Scheme, types::Finalization},
    types::Height,
};
use commonware_cryptography::ed25519::PublicKey;
use commonware_runtime::Handle;
use commonware_utils::vec::NonEmptyVec;
use shardnode_blocks::{
    Marshal,
    kept::{CERTIFICATES, Kept, oldest_needed},
};
use shardnode_mailboxes::{Runtime, ledger};
use shardnode_primitives::Digest;
use std::time::{Duration, SystemTime};
use tracing::info;

/// Between two looks.
const TICK: Duration = Duration::from_millis(500);
/// How long a block is looked for before a later one is.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the actor works with.
pub(crate) struct Parts {
    /// Finalised blocks.
    pub(crate) marshal: Marshal,
    /// Knows the finalised tip.
    pub(crate) ledger: ledger::Mailbox,
    /// Everybody else who votes.
    pub(crate) others: Vec<PublicKey>,
    /// How long blocks are kept.
    pub(crate) kept: Kept,
}

/// The block from which a floor is looked for.
#[derive(Clone, Copy)]
struct Sought {
    height: u64,
    since: SystemTime,
}

/// The actor.
pub(crate) struct Actor<E: Runtime> {
    context: E,
    parts: Parts,
    /// Below this height blocks were let go of.
    pruned: u64,
    sought: Option<Sought>,
}

impl<E: Runtime> Actor<E> {
    pub(crate) const fn new(context: E, parts: Parts) -> Self {
        Self {
            context,
            parts,
            pruned: 0,
            sought: None,
        }
    }

    /// Runs for as long as the node does.
    pub(crate) fn start(self) -> Handle<()> {
        let context = self.context.child("run");
        context.spawn(move |_| self.run())
    }

    async fn run(mut self) {
        loop {
            self.context.sleep(TICK).await;
            let processed = self.parts.marshal.get_processed().await;
            let processed = processed.map_or(0, |processed| processed.height().get());
            self.prune(processed).await;
            let tip = self.parts.ledger.tip();
            if self.parts.kept.is_beyond_reach(processed, tip) {
                self.look_for_floor(processed, tip).await;
            } else {
                self.sought = None;
            }
        }
    }

    /// Lets go of what nobody needs who is within reach.
    async fn prune(&mut self, processed: u64) {
        let Some(decisive) = self.parts.kept.decisive(processed) else {
            return;
        };
        // A block that is not here is one that a floor was above of.
        let Some(block) = self.parts.marshal.get_block(Height::new(decisive)).await else {
            return;
        };
        let below = oldest_needed(block.inner()).saturating_sub(CERTIFICATES);
        if below > self.pruned {
            self.parts.marshal.prune(Height::new(below));
            self.pruned = below;
        }
    }

    /// Sets a floor once all that it takes is here, and asks for what is not.
    async fn look_for_floor(&mut self, processed: u64, tip: u64) {
        let now = self.context.current();
        let patient = |sought: &Sought| {
            let waited = now.duration_since(sought.since).unwrap_or_default();
            waited < PATIENCE && sought.height > processed
        };
        let sought = self.sought.filter(patient).unwrap_or(Sought {
            height: tip.saturating_sub(self.parts.kept.approach()),
            since: now,
        });
        self.sought = Some(sought);
        let Some((stated, _)) = self.certified(sought.height).await else {
            return;
        };
        let block = self.parts.marshal.get_block(Height::new(stated)).await;
        let Some(needed) = block.map(|block| oldest_needed(block.inner())) else {
            return;
        };
        // What is needed is also what comes next anyway: others keep it.
        if needed <= processed + 1 {
            return;
        }
        if let Some((floor, finalization)) = self.certified(needed).await
            && floor > processed + 1
        {
            info!(
                processed,
                floor, tip, "blocks in between are kept by nobody: going on from a certified one"
            );
            self.parts.marshal.set_floor(finalization);
            self.sought = None;
        }
    }

    /// The newest block at `height`, or a few below it, that is here with a
    /// certificate; if there is none, all of them are asked for.
    async fn certified(&self, height: u64) -> Option<(u64, Finalization<Scheme, Digest>)> {
        let oldest = height.saturating_sub(CERTIFICATES - 1).max(1);
        for height in (oldest..=height).rev() {
            let found = self
                .parts
                .marshal
                .get_finalization(Height::new(height))
                .await;
            if let Some(finalization) = found {
                return Some((height, finalization));
            }
        }
        let others = NonEmptyVec::try_from(self.parts.others.clone()).ok()?;
        for height in oldest..=height {
            let height = Height::new(height);
            self.parts.marshal.hint_finalized(height, others.clone());
        }
        None
    }
}
