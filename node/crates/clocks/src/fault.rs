// SPDX-License-Identifier: Apache-2.0
//! A clock that is wrong for a time.

use crate::{metrics::Metrics, offset::Offset};
use commonware_runtime::{Clock, Handle, Spawner};
use commonware_utils::sync::Mutex;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime},
};
use tracing::info;

/// What is wrong; see the crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// How far the clock is from the right time.
    pub offset: Offset,
}

/// A fault that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ongoing {
    /// What is wrong.
    pub fault: Fault,
    /// How long it lasts from now on.
    pub left: Duration,
}

/// The fault of a clock: there is one at a time, and it ends by itself. A clone is
/// another handle of the same.
#[derive(Clone)]
pub struct Faults(Arc<Shared>);

struct Shared {
    /// How wrong the clock is, in milliseconds: all that whoever asks for the time
    /// looks at.
    offset: AtomicI64,
    state: Mutex<State>,
    metrics: Metrics,
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

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults").finish_non_exhaustive()
    }
}

impl Default for Faults {
    /// Of a clock that is right, and that nobody measures.
    fn default() -> Self {
        Self::new(Metrics::default())
    }
}

impl Faults {
    /// Of a clock that is right.
    #[must_use]
    pub fn new(metrics: Metrics) -> Self {
        Self(Arc::new(Shared {
            offset: AtomicI64::new(0),
            state: Mutex::default(),
            metrics,
        }))
    }

    /// Begins a fault, in the place of one that goes on. It ends after `duration` on
    /// the clock of `context`, which is right, and lives as long as the wrong one.
    pub fn begin<E: Clock + Spawner>(&self, context: E, fault: Fault, duration: Duration) {
        let mut state = self.0.state.lock();
        if let Some(before) = state.current.take() {
            self.over(&before, "another one begins");
        }
        info!(?fault, ?duration, "the clock has a fault");
        let ends = context.current() + duration;
        state.begun += 1;
        let begun = state.begun;
        let faults = self.clone();
        let expiry = context.spawn(move |context| async move {
            context.sleep(duration).await;
            let mut state = faults.0.state.lock();
            // Another one may take its place in this moment.
            if state.begun == begun
                && let Some(ended) = state.current.take()
            {
                faults.over(&ended, "it lasted its time");
            }
        });
        self.set(fault.offset);
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

    /// The fault that goes on, at a time that is right.
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

    fn over(&self, ended: &Current, reason: &str) {
        ended.expiry.abort();
        self.set(Offset::default());
        info!(reason, "the fault of the clock is over");
    }

    fn set(&self, offset: Offset) {
        self.0.offset.store(offset.as_millis(), Ordering::Release);
        self.0.metrics.off(offset);
    }

    /// How wrong the clock is now.
    pub(crate) fn offset(&self) -> Offset {
        Offset::from_millis(self.0.offset.load(Ordering::Acquire))
    }
}
