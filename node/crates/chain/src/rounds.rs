// SPDX-License-Identifier: Apache-2.0
//! Records what consensus does with blocks of traced heights.
//!
//! Consensus reports certificates, which name a block by its digest: of which
//! height that is, and when this node was through with it, is known from when it
//! was proposed or verified here. A certificate of a block that this node has
//! not judged is not recorded.

use commonware_actor::Feedback;
use commonware_consensus::{
    Reporter,
    simplex::{
        scheme::ed25519::Scheme,
        types::{Activity, Proposal},
    },
};
use commonware_runtime::Clock;
use shardnode_primitives::{Block, Digest};
use shardnode_traces::{Detail, Name, Place, Recorder};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// Blocks that were judged and of which no certificate has come, at most.
const JUDGED: usize = 64;

#[derive(Debug)]
struct Judged {
    /// When the last thing happened to it.
    since: SystemTime,
    notarised: bool,
}

type ByBlock = BTreeMap<(u64, Digest), Judged>;

/// The blocks of traced heights that this node judged. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    traces: Recorder,
    blocks: Arc<Mutex<ByBlock>>,
}

impl Rounds {
    pub(crate) fn new(traces: Recorder) -> Self {
        Self {
            traces,
            blocks: Arc::default(),
        }
    }

    fn blocks(&self) -> MutexGuard<'_, ByBlock> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This node proposed the block, or found it right.
    pub(crate) fn voted(&self, clock: &impl Clock, block: &Block, digest: Digest) {
        if !self.traces.traces(block.height) {
            return;
        }
        let judged = Judged {
            since: clock.current(),
            notarised: false,
        };
        let mut blocks = self.blocks();
        blocks.entry((block.height, digest)).or_insert(judged);
        if blocks.len() > JUDGED {
            blocks.pop_first();
        }
    }

    fn notarised(&self, clock: &impl Clock, proposal: &Proposal<Digest>) {
        let mut blocks = self.blocks();
        let found = blocks
            .iter_mut()
            .find(|((_, digest), judged)| *digest == proposal.payload && !judged.notarised);
        if let Some(((height, _), judged)) = found {
            let (place, detail) = (Place::block(*height), view(proposal));
            self.traces
                .end(clock, Name::Notarise, place, detail, judged.since);
            judged.notarised = true;
            judged.since = clock.current();
        }
    }

    fn finalised(&self, clock: &impl Clock, proposal: &Proposal<Digest>) {
        let mut blocks = self.blocks();
        let mut digests = blocks.keys();
        let found = digests.find(|(_, digest)| *digest == proposal.payload);
        let Some(key) = found.copied() else {
            return;
        };
        if let Some(judged) = blocks.remove(&key) {
            let (place, detail) = (Place::block(key.0), view(proposal));
            self.traces
                .end(clock, Name::Finalise, place, detail, judged.since);
            self.traces.finalised(clock, key.0);
        }
    }
}

const fn view(proposal: &Proposal<Digest>) -> Detail {
    Detail::View(proposal.round.view().get())
}

/// Hears of certificates.
pub(crate) struct Certificates<E> {
    clock: Arc<E>,
    rounds: Rounds,
}

impl<E> Certificates<E> {
    pub(crate) fn new(clock: E, rounds: Rounds) -> Self {
        Self {
            clock: Arc::new(clock),
            rounds,
        }
    }
}

impl<E> Clone for Certificates<E> {
    fn clone(&self) -> Self {
        Self {
            clock: self.clock.clone(),
            rounds: self.rounds.clone(),
        }
    }
}

impl<E: Clock> Reporter for Certificates<E> {
    type Activity = Activity<Scheme, Digest>;

    fn report(&mut self, activity: Self::Activity) -> Feedback {
        if self.rounds.traces.is_on() {
            match activity {
                Activity::Notarization(certificate) => {
                    self.rounds.notarised(&*self.clock, &certificate.proposal);
                }
                Activity::Finalization(certificate) => {
                    self.rounds.finalised(&*self.clock, &certificate.proposal);
                }
                _ => {}
            }
        }
        Feedback::Ok
    }
}
