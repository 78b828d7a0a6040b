// SPDX-License-Identifier: Apache-2.0
//! What goes wrong between a node and its peers for a time.

use crate::line::Line;
use commonware_runtime::{Clock, Handle, Spawner};
use commonware_utils::sync::Mutex;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tracing::info;

/// What is wrong; see the crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing passes.
    Cut,
    /// On top of what a link does anyway:
    Worse {
        /// how much longer everything takes, one way,
        delay: Duration,
        /// and how many of 10,000 segments are lost.
        loss_basis_points: u16,
    },
}

/// Nobody of this name is a peer of the node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no peer of this node")]
pub struct UnknownPeer(pub String);

/// A fault that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ongoing {
    /// What is wrong.
    pub fault: Fault,
    /// The peers that it is between, beside this node.
    pub peers: BTreeSet<String>,
    /// How long it lasts from now on.
    pub left: Duration,
}

/// The fault of a node's ways to its peers: there is one at a time, and it ends by
/// itself. A clone is another handle of the same.
#[derive(Clone, Default)]
pub struct Faults(Arc<Shared>);

#[derive(Default)]
struct Shared {
    lines: BTreeMap<String, Arc<Line>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many there were.
    begun: u64,
    current: Option<Current>,
}

struct Current {
    fault: Fault,
    peers: BTreeSet<String>,
    duration: Duration,
    ends: SystemTime,
    expiry: Handle<()>,
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults").finish_non_exhaustive()
    }
}

impl Faults {
    /// Those of the ways to these peers, by their names.
    #[must_use]
    pub fn new(lines: BTreeMap<String, Arc<Line>>) -> Self {
        Self(Arc::new(Shared {
            lines,
            state: Mutex::default(),
        }))
    }

    /// Begins a fault of the ways to some peers, in the place of one that goes on.
    /// It ends after `duration` on the clock of `context`.
    pub fn begin<E: Clock + Spawner>(
        &self,
        context: E,
        peers: BTreeSet<String>,
        fault: Fault,
        duration: Duration,
    ) -> Result<(), UnknownPeer> {
        let unknown = peers.iter().find(|peer| !self.0.lines.contains_key(*peer));
        if let Some(unknown) = unknown {
            return Err(UnknownPeer(unknown.clone()));
        }
        let mut state = self.0.state.lock();
        if let Some(before) = state.current.take() {
            self.over(&before, "another one begins");
        }
        for line in self.lines(&peers) {
            line.set(Some(fault));
        }
        info!(
            ?fault,
            ?duration,
            peers = peers.len(),
            "links to peers have a fault"
        );
        let ends = context.current() + duration;
        state.begun += 1;
        let (faults, turn) = (self.clone(), state.begun);
        let expiry = context.spawn(move |context| async move {
            context.sleep(duration).await;
            let mut state = faults.0.state.lock();
            // Another one may take its place in this moment.
            if state.begun == turn
                && let Some(ended) = state.current.take()
            {
                faults.over(&ended, "it lasted its time");
            }
        });
        state.current = Some(Current {
            fault,
            peers,
            duration,
            ends,
            expiry,
        });
        Ok(())
    }

    /// Ends the fault that goes on, if there is one.
    pub fn end(&self) {
        let mut state = self.0.state.lock();
        if let Some(ended) = state.current.take() {
            self.over(&ended, "somebody ended it");
        }
    }

    /// The fault that goes on.
    #[must_use]
    pub fn ongoing(&self, now: SystemTime) -> Option<Ongoing> {
        let state = self.0.state.lock();
        state.current.as_ref().map(|current| Ongoing {
            fault: current.fault,
            peers: current.peers.clone(),
            // A clock that was set back makes it no longer.
            left: current
                .ends
                .duration_since(now)
                .unwrap_or_default()
                .min(current.duration),
        })
    }

    /// How many peers there is a fault between, beside this node.
    #[must_use]
    pub fn peers(&self) -> usize {
        let state = self.0.state.lock();
        state
            .current
            .as_ref()
            .map_or(0, |current| current.peers.len())
    }

    fn over(&self, ended: &Current, reason: &str) {
        ended.expiry.abort();
        for line in self.lines(&ended.peers) {
            line.set(None);
        }
        info!(reason, "the fault of links to peers is over");
    }

    fn lines<'a>(&'a self, peers: &'a BTreeSet<String>) -> impl Iterator<Item = &'a Arc<Line>> {
        peers.iter().filter_map(|peer| self.0.lines.get(peer))
    }
}
