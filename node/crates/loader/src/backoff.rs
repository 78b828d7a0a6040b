// SPDX-License-Identifier: Apache-2.0
//! What is done about a pool that is full.
//!
//! It is no error: what was refused is sent again, later. One connection tries,
//! after a wait that doubles each time, and the others to the same pool wait
//! until that one finds room, so that a full pool is not kept busy with refusing.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::watch;

const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(1);

/// Waits that double.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backoff(Option<Duration>);

impl Backoff {
    /// How long to wait now.
    #[must_use]
    pub fn wait(&mut self) -> Duration {
        let wait = self.0.map_or(FIRST, |last| LONGEST.min(last * 2));
        self.0 = Some(wait);
        wait
    }

    /// Something went well.
    pub const fn reset(&mut self) {
        self.0 = None;
    }
}

/// The connections to one pool.
#[derive(Debug)]
pub struct Gate {
    open: watch::Sender<bool>,
    probing: Mutex<Option<u32>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            open: watch::Sender::new(true),
            probing: Mutex::default(),
        }
    }
}

impl Gate {
    fn probing(&self) -> std::sync::MutexGuard<'_, Option<u32>> {
        self.probing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection was refused for want of room: whether it is the one that
    /// tries again.
    pub fn is_full(&self, connection: u32) -> bool {
        let mut probing = self.probing();
        if probing.is_none() {
            *probing = Some(connection);
            self.open.send_replace(false);
        }
        *probing == Some(connection)
    }

    /// The connection that tries found room, or cannot tell: all go on.
    pub fn has_room(&self, connection: u32) {
        let mut probing = self.probing();
        if *probing == Some(connection) {
            *probing = None;
            self.open.send_replace(true);
        }
    }

    /// Waits until there is room, unless this is the connection that tries.
    pub async fn pass(&self, connection: u32) {
        if *self.probing() == Some(connection) {
            return;
        }
        let mut open = self.open.subscribe();
        // The gate outlives who waits at it.
        let _ = open.wait_for(|open| *open).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::{FutureExt as _, executor::block_on};

    #[test]
    fn waits_double_up_to_a_second() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..8).map(|_| backoff.wait().as_millis()).collect();
        assert_eq!(waits, [20, 40, 80, 160, 320, 640, 1_000, 1_000]);
        backoff.reset();
        assert_eq!(backoff.wait(), FIRST);
    }

    #[test]
    fn one_tries_and_the_others_wait() {
        let gate = Gate::default();
        let passes = |connection| gate.pass(connection).now_or_never().is_some();
        assert!(passes(1) && passes(2));
        assert!(gate.is_full(1));
        assert!(!gate.is_full(2), "two must not try at a time");
        assert!(passes(1));
        assert!(!passes(2) && !passes(3));
        // Only who tries can say that there is room.
        gate.has_room(2);
        assert!(!passes(2));
        gate.has_room(1);
        assert!(passes(2) && passes(3));
        // Another may be the next to try.
        assert!(gate.is_full(2));
        assert!(!passes(1));
        gate.has_room(2);
        block_on(gate.pass(1));
    }
}
