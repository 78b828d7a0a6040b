// SPDX-License-Identifier: Apache-2.0
//! Waits for everybody's first votes before the first view is left.
//!
//! Consensus passes over a leader of whom a node has seen nothing lately, as soon
//! as it has seen something of a quorum. Of a node that has just started it has
//! seen nothing at all. Where a whole network starts, the next leader's first vote
//! may come a moment after those of a quorum to some nodes, and a moment before to
//! others: some pass over it, some vote for its block, neither are a quorum, and
//! the view lasts until the time of its leader is over, which is long where blocks
//! wait long for chunks.
//!
//! So the first verdict after a start that makes a notarised block certain, with
//! which a node leaves the view, is given [`SETTLING`] later than it is known.

use commonware_consensus::{Automaton, CertifiableAutomaton, Handoff, types::Round};
use commonware_runtime::{Clock, Spawner};
use commonware_utils::channel::{fallible::OneshotExt as _, oneshot};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// More than a vote takes from one side of the earth to the other.
const SETTLING: Duration = Duration::from_millis(500);

/// An automaton whose first certification takes a while.
pub(crate) struct Settling<E, A> {
    automaton: A,
    /// What the first certification waits with; nothing after it.
    first: Arc<Mutex<Option<E>>>,
}

impl<E, A: Clone> Clone for Settling<E, A> {
    fn clone(&self) -> Self {
        Self {
            automaton: self.automaton.clone(),
            first: self.first.clone(),
        }
    }
}

impl<E, A> Settling<E, A> {
    pub(crate) fn new(context: E, automaton: A) -> Self {
        Self {
            automaton,
            first: Arc::new(Mutex::new(Some(context))),
        }
    }
}

impl<E, A> Automaton for Settling<E, A>
where
    E: Send + 'static,
    A: Automaton<Context: Send>,
{
    type Context = A::Context;
    type Digest = A::Digest;

    async fn propose(&mut self, context: A::Context) -> oneshot::Receiver<A::Digest> {
        self.automaton.propose(context).await
    }

    async fn verify(&mut self, context: A::Context, payload: A::Digest) -> oneshot::Receiver<bool> {
        self.automaton.verify(context, payload).await
    }
}

impl<E, A> CertifiableAutomaton for Settling<E, A>
where
    E: Clock + Spawner,
    A: CertifiableAutomaton<Context: Send>,
{
    async fn prepare(&mut self, context: A::Context) -> oneshot::Receiver<Handoff<A::Digest>> {
        self.automaton.prepare(context).await
    }

    async fn certify(&mut self, round: Round, payload: A::Digest) -> oneshot::Receiver<bool> {
        let verdict = self.automaton.certify(round, payload).await;
        let first = self
            .first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(context) = first else {
            return verdict;
        };
        let (later, receiver) = oneshot::channel();
        context.spawn(move |context| async move {
            context.sleep(SETTLING).await;
            // Where there is no verdict, there is none later.
            if let Ok(verdict) = verdict.await {
                later.send_lossy(verdict);
            }
        });
        receiver
    }
}
