// SPDX-License-Identifier: Apache-2.0
//! What consensus asks of the chain: propose a block, judge a block.
//!
//! A proposer collects one endorsed chunk header per shard, at the latest
//! [`chunk_wait`] after its turn began or, if that is later, the earliest time
//! that its block may have, and a moment more for its own results. A shard
//! without a fitting header that its committee endorsed keeps its old one and
//! has missed its chunk. All shards have after two proposals in vain, so that
//! nobody can have all views end in vain ([`proposals`](crate::proposals)).
//!
//! A validator judges a block by [`validity`](shardnode_blocks::validity) and, for the
//! shard that it tracks, by what it has itself: the results that the header
//! commits to must be its own, what shows the body must be at hand and durable,
//! and the receipts that the block's headers commit to for its shard must be
//! at hand. Of every other shard's new chunk it must hold its part of the
//! body. While any of this can still arrive the verdict is pending, never
//! `false`; but it is against a chunk whose body there is not, by the parts of
//! others, if the own part is not here.
//!
//! An invalid body is no reason against a block: those who do not track the
//! shard cannot know of it, and it executes as one without transactions.
//!
//! Validators differ in what they have, so a verdict has to come before the
//! vote that notarises a block ([`Inline`]): a notarised block was right for a
//! majority of the honest ones, and the others go along with it. Were the
//! verdict taken after it, those who wait and those who do not could keep each
//! other from finishing the view for ever.
//!
//! [`Inline`]: commonware_consensus::marshal::standard::Inline

use crate::{proposals::Proposals, rounds::Rounds};
use commonware_consensus::{
    marshal::ancestry::Ancestry,
    simplex::{scheme::ed25519::Scheme, types::Context},
};
use commonware_cryptography::{Digested, Digestible as _, ed25519::PublicKey};
use commonware_macros::select;
use commonware_parallel::{Rayon, Strategy as _};
use futures::StreamExt as _;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use shardnode_blocks::{
    self as blocks, GenesisState, Miss,
    validity::{Base, check_block, check_header, endorsements_hold},
};
use shardnode_mailboxes::{
    Runtime,
    availability::{self, Collected, Missing, Wanted},
    ledger,
};
use shardnode_network::{Committees, Identity, chunk_requests::receipts_of};
use shardnode_primitives::{Block, ChunkHeader, Digest, Endorsements, ShardId, genesis::Protocol};
use shardnode_traces::{Detail, Name, Place, Recorder};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tracing::{debug, warn};

/// How far ahead of this node's clock a block's timestamp may be when it is
/// voted for; a validator waits for the rest.
const CLOCK_TOLERANCE: Duration = Duration::from_millis(500);

/// How long a leader waits for its own results, once it has the headers: one
/// that cannot execute leaves its shard's chunk out.
const LATEST_RESULTS: Duration = Duration::from_millis(200);

/// How long a leader waits for chunk headers. A shard without one by then has
/// missed its chunk.
#[must_use]
pub const fn chunk_wait(protocol: &Protocol) -> Duration {
    Duration::from_millis(protocol.chunk_wait_ms)
}

/// Consensus waits this long for a leader's block: time for the earliest
/// timestamp, for the chunks, and for the block to arrive and be checked.
pub(crate) const fn leader_timeout(protocol: &Protocol) -> Duration {
    Duration::from_millis(protocol.min_block_time_ms)
        .saturating_add(chunk_wait(protocol))
        .saturating_add(Duration::from_millis(1_000))
}

/// The application of consensus.
#[derive(Clone)]
pub struct Application {
    identity: Arc<Identity>,
    genesis: Arc<GenesisState>,
    availability: availability::Mailbox,
    ledger: ledger::Mailbox,
    metrics: Arc<blocks::Metrics>,
    strategy: Rayon,
    traces: Recorder,
    rounds: Rounds,
    proposals: Proposals,
}

impl Application {
    /// Creates the application.
    #[must_use]
    pub(crate) fn new(
        identity: Arc<Identity>,
        genesis: Arc<GenesisState>,
        (availability, ledger): (availability::Mailbox, ledger::Mailbox),
        metrics: Arc<blocks::Metrics>,
        strategy: Rayon,
        (traces, rounds): (Recorder, Rounds),
    ) -> Self {
        Self {
            identity,
            genesis,
            availability,
            ledger,
            metrics,
            strategy,
            traces,
            rounds,
            proposals: Proposals::default(),
        }
    }

    /// The digest of the ancestor of a block at `height` that its chunks are
    /// anchored to. `parent` is the block's parent and `older` what follows
    /// it, newest first.
    async fn anchor(
        &self,
        height: u64,
        parent: &Digested<Block>,
        mut older: impl Ancestry<Block>,
    ) -> Option<Digest> {
        let lag = u64::from(self.identity.genesis.protocol.execution_lag);
        let due = height.saturating_sub(lag);
        if due == 0 {
            return Some(self.genesis.digest);
        }
        let mut block = parent.clone();
        while block.inner().height > due {
            block = older.next().await?;
        }
        Some(block.digest())
    }

    /// The results in `header` are this node's own, as far as it has them.
    async fn results_are_own(&self, header: &ChunkHeader) -> bool {
        for result in &header.content.results {
            let Some(executed) = self.ledger.executed(result.height).await else {
                continue;
            };
            let last = executed.totals.height == header.content.totals.height;
            if executed.result != *result || (last && executed.totals != header.content.totals) {
                return false;
            }
        }
        true
    }

    /// Waits for the own parts of the bodies of other shards' new chunks; false
    /// if one of them has no body.
    async fn parts_are_held(&self, block: &Block) -> bool {
        let own = self.identity.tracked();
        let others = block
            .new_chunks()
            .filter(|header| own.is_some_and(|own| header.content.shard != own));
        let held = others.map(|header| async move {
            match self.availability.part(header.clone()).await {
                Some(true) => true,
                Some(false) => {
                    let shard = header.content.shard;
                    warn!(height = block.height, %shard, "chunk has no body");
                    false
                }
                None => std::future::pending().await,
            }
        });
        futures::future::join_all(held)
            .await
            .into_iter()
            .all(|held| held)
    }

    /// Waits for what the tracked shard needs of `block`; false if it can
    /// never be right.
    async fn tracked_shard_holds(&self, block: &Block) -> bool {
        let Some(own) = self.identity.tracked() else {
            return true;
        };
        for header in block.new_chunks() {
            if header.content.shard == own {
                if !self.results_are_own(header).await {
                    warn!(height = block.height, shard = %own, "chunk commits to results that are not ours");
                    return false;
                }
                let chunk = self.availability.chunk(header.clone(), false).await;
                match chunk {
                    Some(chunk) if chunk.valid => {}
                    Some(_) => {
                        warn!(
                            height = block.height,
                            shard = %own,
                            "chunk has an invalid body, and executes as one without transactions"
                        );
                    }
                    None => return std::future::pending().await,
                }
                continue;
            }
            for key in receipts_of(header, &self.identity) {
                if self.availability.bucket(key, false).await.is_none() {
                    return std::future::pending().await;
                }
            }
        }
        true
    }

    /// The signatures of the endorsements, off the executor's threads.
    async fn endorsements_hold<E: Runtime>(
        &self,
        context: &mut E,
        block: &Block,
        committees: Committees,
    ) -> bool {
        let mut seed = [0; 32];
        context.fill_bytes(&mut seed);
        let (identity, block) = (self.identity.clone(), block.clone());
        let signatures = block.endorsements.iter().map(Endorsements::count).sum();
        self.strategy
            .spawn(signatures, move |strategy| {
                let mut rng = ChaCha20Rng::from_seed(seed);
                endorsements_hold(
                    &block,
                    &committees,
                    &identity.namespaces,
                    &mut rng,
                    &strategy,
                )
            })
            .await
    }

    /// A block was proposed that keeps all rules, whether or not what its chunks take
    /// is there.
    fn saw(&self, block: &Block) {
        let (parent, view) = (block.context.parent.1, block.context.round.view());
        self.proposals.seen(block.height, parent, view.get());
    }

    /// By shard, the header to propose: none after others were proposed in vain.
    async fn collect<E: Runtime>(
        &self,
        context: &E,
        round: &Context<Digest, PublicKey>,
        wanted: Wanted,
    ) -> Vec<Result<Collected, Miss>> {
        let (height, view) = (wanted.height, round.round.view().get());
        if self.proposals.in_vain(height, round.parent.1, view) {
            warn!(
                height,
                view, "proposing without chunks: blocks with chunks were proposed in vain"
            );
            return vec![Err(Miss::InVain); wanted.previous.len()];
        }
        let (place, detail) = (Place::block(height), Detail::View(view));
        let step = self.traces.begin(context, Name::Collect, place, detail);
        let collected = self.availability.collect(wanted).await;
        step.end(context);
        let miss = |missing| match missing {
            Missing::Header => Miss::NoHeader,
            Missing::Endorsements => Miss::NotEndorsed,
            Missing::Data => Miss::NotAtHand,
        };
        let collected = collected.into_iter();
        collected.map(|found| found.map_err(miss)).collect()
    }

    async fn build<E: Runtime>(
        &self,
        context: &E,
        round: Context<Digest, PublicKey>,
        parent: Digested<Block>,
        older: impl Ancestry<Block>,
    ) -> Option<Block> {
        let genesis = &self.identity.genesis;
        let height = parent.inner().height + 1;
        let anchor = self.anchor(height, &parent, older).await?;
        let parent = parent.inner();
        let earliest = parent.timestamp_ms + genesis.protocol.min_block_time_ms;
        let start = context.at_ms(earliest.max(context.now_ms()));
        let previous = parent.chunks.iter().map(ChunkHeader::hash).collect();
        let randomness = parent
            .randomness
            .child(height, genesis.protocol.epoch_length, &self.identity.key)
            .inspect_err(|error| warn!(height, %error, "cannot propose"))
            .ok()?;
        let wanted = Wanted {
            height,
            anchor,
            previous,
            committees: self.identity.committees_after(parent),
            deadline: start + chunk_wait(&genesis.protocol),
        };
        let (place, detail) = (Place::block(height), Detail::View(round.round.view().get()));
        let collected = self.collect(context, &round, wanted).await;
        if context.now_ms() < earliest {
            let step = self.traces.begin(context, Name::Pace, place, detail);
            context.sleep_until(context.at_ms(earliest)).await;
            step.end(context);
        }
        let step = self.traces.begin(context, Name::Propose, place, detail);

        let mut chunks = parent.chunks.clone();
        let mut endorsements = vec![Endorsements::default(); chunks.len()];
        let mut misses = Vec::new();
        let until = (start + chunk_wait(&genesis.protocol)).max(context.current() + LATEST_RESULTS);
        for (shard, found) in (0u16..).map(ShardId).zip(collected) {
            let base = Base {
                previous: &parent.chunks[shard.index()],
                height,
                anchor,
            };
            let fits = match found {
                Ok(found) => self.fits(context, base, found, until).await,
                Err(miss) => Err(miss),
            };
            match fits {
                Ok((header, endorsed)) => {
                    chunks[shard.index()] = header;
                    endorsements[shard.index()] = endorsed;
                }
                Err(miss) => {
                    debug!(height, %shard, ?miss, "no chunk of a shard to propose");
                    misses.push(miss);
                }
            }
        }
        let block = Block {
            context: round,
            height,
            timestamp_ms: earliest.max(context.now_ms()),
            randomness,
            chunks,
            endorsements,
        };
        step.end(context);
        self.metrics.proposed(&block, misses);
        Some(block)
    }

    /// Whether a header that its committee endorsed can be proposed: it keeps the
    /// rules, and the results of the own shard are this node's, which may take
    /// `until` then.
    async fn fits<E: Runtime>(
        &self,
        context: &E,
        base: Base<'_>,
        (header, endorsed): Collected,
        until: SystemTime,
    ) -> Result<Collected, Miss> {
        let (height, shard) = (base.height, header.content.shard);
        let identity = &self.identity;
        if let Err(violation) = check_header(&header, base, &identity.genesis, &identity.namespaces)
        {
            warn!(height, %violation, "chunk left out");
            return Err(Miss::Invalid);
        }
        if identity.tracked() == Some(shard) {
            let own = select! {
                own = self.results_are_own(&header) => Some(own),
                _ = context.sleep_until(until) => None,
            };
            if own != Some(true) {
                let executed = own.is_some();
                warn!(height, %shard, executed, "chunk left out: its results are not ours");
                return Err(Miss::OtherResults);
            }
        }
        Ok((header, endorsed))
    }
}

impl<E: Runtime> commonware_consensus::Application<E> for Application {
    type SigningScheme = Scheme;
    type Context = Context<Digest, PublicKey>;
    type Block = Block;
    type Input = ();

    async fn propose(
        &mut self,
        (context, round): (E, Self::Context),
        mut ancestry: impl Ancestry<Block>,
        (): (),
    ) -> Option<Digested<Block>> {
        let parent = ancestry.next().await?;
        let block = self.build(&context, round, parent, ancestry).await?;
        let digest = block.digest();
        self.rounds.voted(&context, &block, digest);
        self.saw(&block);
        Some(Digested::precomputed(block, digest))
    }

    async fn verify(
        &mut self,
        (mut context, round): (E, Self::Context),
        mut ancestry: impl Ancestry<Block>,
    ) -> bool {
        // The stream ends early only when consensus gives the block up.
        let (Some(block), Some(parent)) = (ancestry.next().await, ancestry.next().await) else {
            return std::future::pending().await;
        };
        let Some(anchor) = self.anchor(block.inner().height, &parent, ancestry).await else {
            return std::future::pending().await;
        };
        let digest = block.digest();
        let (block, parent) = (block.inner(), parent.inner());
        let (place, view) = (Place::block(block.height), round.round.view().get());
        let step = self
            .traces
            .begin(&context, Name::Verify, place, Detail::View(view));
        let committees = self.identity.committees_after(parent);
        if let Err(violation) =
            check_block(block, &round, parent, anchor, &self.identity, &committees)
        {
            warn!(height = block.height, %violation, "invalid block");
            return false;
        }
        if !self
            .endorsements_hold(&mut context, block, committees)
            .await
        {
            warn!(height = block.height, "block with a false endorsement");
            return false;
        }
        self.saw(block);
        let acceptable = context.at_ms(block.timestamp_ms) - CLOCK_TOLERANCE;
        context.sleep_until(acceptable).await;
        if !self.tracked_shard_holds(block).await || !self.parts_are_held(block).await {
            return false;
        }
        step.end(&context);
        self.rounds.voted(&context, block, digest);
        debug!(height = block.height, "block verified");
        self.metrics.seen(block.height);
        true
    }
}
