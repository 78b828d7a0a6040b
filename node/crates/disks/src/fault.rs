// SPDX-License-Identifier: Apache-2.0
//! What goes wrong with a disk for a time.

use commonware_runtime::{Clock, Handle, Spawner};
use commonware_utils::{channel::watch, sync::Mutex};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};
use tracing::info;

/// How much later than it was asked for a disk is full.
const LEAD: Duration = Duration::from_millis(250);

/// What is wrong; see the crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Everything that writes takes longer.
    Slow {
        /// By so much.
        delay: Duration,
    },
    /// Nothing can be written.
    Full,
}

impl Fault {
    /// How much later than it was asked for it takes hold. A node with a full disk
    /// ends, and whoever asked for it should have the answer by then.
    const fn lead(self) -> Duration {
        match self {
            Self::Slow { .. } => Duration::ZERO,
            Self::Full => LEAD,
        }
    }
}

/// A fault that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ongoing {
    /// What is wrong.
    pub fault: Fault,
    /// How long it lasts from now on.
    pub left: Duration,
}

/// The fault of a disk: there is one at a time, and it ends by itself. A clone is
/// another handle of the same.
#[derive(Clone, Default)]
pub struct Faults(Arc<Shared>);

struct Shared {
    /// Whether there is a fault: all that an operation without one looks at.
    faulty: AtomicBool,
    fault: watch::Sender<Option<Turn>>,
    state: Mutex<State>,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            faulty: AtomicBool::new(false),
            fault: watch::Sender::new(None),
            state: Mutex::default(),
        }
    }
}

#[derive(Default)]
struct State {
    /// How many there were.
    begun: u64,
    current: Option<Current>,
}

struct Current {
    fault: Fault,
    duration: Duration,
    ends: SystemTime,
    expiry: Handle<()>,
}

/// One fault of all that a disk has had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    begun: u64,
    pub(crate) fault: Fault,
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults").finish_non_exhaustive()
    }
}

impl Faults {
    /// Begins a fault, in the place of one that goes on. It ends after `duration` on
    /// the clock of `context`, which lives as long as the disk does.
    pub fn begin<E: Clock + Spawner>(&self, context: E, fault: Fault, duration: Duration) {
        let mut state = self.0.state.lock();
        if let Some(before) = state.current.take() {
            self.over(&before, "another one begins");
        }
        info!(?fault, ?duration, "the disk has a fault");
        let ends = context.current() + duration;
        state.begun += 1;
        let begun = state.begun;
        let turn = Turn { begun, fault };
        let lead = fault.lead().min(duration);
        if lead.is_zero() {
            self.take_hold(turn);
        }
        let faults = self.clone();
        let expiry = context.spawn(move |context| async move {
            if !lead.is_zero() {
                context.sleep(lead).await;
                let state = faults.0.state.lock();
                if state.begun == begun && state.current.is_some() {
                    faults.take_hold(turn);
                }
            }
            context.sleep(duration - lead).await;
            let mut state = faults.0.state.lock();
            // Another one may take its place in this moment.
            if state.begun == begun
                && let Some(ended) = state.current.take()
            {
                faults.over(&ended, "it lasted its time");
            }
        });
        state.current = Some(Current {
            fault,
            duration,
            ends,
            expiry,
        });
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
            // A clock that was set back makes it no longer.
            left: current
                .ends
                .duration_since(now)
                .unwrap_or_default()
                .min(current.duration),
        })
    }

    fn take_hold(&self, turn: Turn) {
        self.0.fault.send_replace(Some(turn));
        self.0.faulty.store(true, Ordering::Release);
    }

    fn over(&self, ended: &Current, reason: &str) {
        ended.expiry.abort();
        self.0.faulty.store(false, Ordering::Release);
        self.0.fault.send_replace(None);
        info!(reason, "the fault of the disk is over");
    }

    /// What is wrong now.
    pub(crate) fn now(&self) -> Option<Turn> {
        if !self.0.faulty.load(Ordering::Acquire) {
            return None;
        }
        *self.0.fault.borrow()
    }

    /// Waits until a fault is over.
    pub(crate) async fn until_over(&self, turn: Turn) {
        let mut fault = self.0.fault.subscribe();
        // The sender is this one's own.
        let _ = fault.wait_for(|now| *now != Some(turn)).await;
    }
}
