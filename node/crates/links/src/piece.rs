// SPDX-License-Identifier: Apache-2.0
//! Pieces on their way.

use crate::{line::Line, metrics::DirectionMetrics, schedule::Passage};
use commonware_runtime::Clock;
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most pieces that a direction of a connection holds: they may be small.
pub(crate) const MOST_PIECES: usize = 16_384;

/// Room for what a direction of a connection holds.
pub(crate) struct Room {
    semaphore: Arc<Semaphore>,
    window: usize,
}

impl Room {
    pub(crate) fn new(window: usize) -> Self {
        Self {
            semaphore: Arc::new(Semaphore::new(window)),
            window,
        }
    }

    /// There is at least so much from now on. It never becomes less: that would
    /// hold up nothing that the schedule does not.
    pub(crate) fn widen(&mut self, window: usize) {
        if let Some(more) = window.checked_sub(self.window) {
            self.semaphore.add_permits(more);
            self.window = window;
        }
    }

    /// Waits for room for so many bytes. There is none any more when nothing holds
    /// them.
    pub(crate) async fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let permits = u32::try_from(bytes.min(self.window)).unwrap_or(u32::MAX);
        let room = self.semaphore.clone().acquire_many_owned(permits).await;
        room.ok()
    }
}

/// Something on its way, and the room that it takes until it has arrived.
pub(crate) struct Piece<T> {
    pub(crate) content: T,
    pub(crate) passage: Passage,
    pub(crate) room: Option<OwnedSemaphorePermit>,
}

/// The end of a direction, where pieces arrive one after the other.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// When the last one was to arrive.
    last: Option<SystemTime>,
}

impl Arrivals {
    /// Waits until a piece has arrived, which is not while the line is cut.
    pub(crate) async fn wait(
        &mut self,
        clock: &impl Clock,
        passage: Passage,
        line: &Line,
        metrics: Option<&DirectionMetrics>,
    ) {
        let left = self.left(passage, clock.current());
        if !left.is_zero() {
            clock.sleep(left).await;
        }
        line.opened().await;
        if let Some(metrics) = metrics {
            let held = clock.current().duration_since(passage.accepted);
            metrics.arrived(passage, held.unwrap_or_default());
        }
    }

    /// How long it is until a piece arrives: no longer than the link holds it,
    /// and once the piece before has arrived, no longer than they are apart. So
    /// nothing waits for a clock that was set back.
    fn left(&mut self, passage: Passage, now: SystemTime) -> Duration {
        let since = |earlier| passage.arrives.duration_since(earlier);
        let last = self.last.replace(passage.arrives);
        let apart = last.and_then(|last| since(last).ok());
        since(now)
            .unwrap_or_default()
            .min(since(passage.accepted).unwrap_or_default())
            .min(apart.unwrap_or(Duration::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    const DAY: u64 = 86_400_000;

    fn at(millis: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(10 * DAY + millis)
    }

    fn passage(accepted: u64, arrives: u64) -> Passage {
        Passage {
            bytes: 1,
            accepted: at(accepted),
            arrives: at(arrives),
            retransmissions: 0,
        }
    }

    #[test]
    fn a_piece_waits_for_what_is_left() {
        let mut arrivals = Arrivals::default();
        for (piece, now, left) in [
            (passage(0, 40), 10, 30),
            (passage(5, 45), 41, 4),
            (passage(6, 46), 60, 0),
            (passage(100, 140), 100, 40),
        ] {
            assert_eq!(
                arrivals.left(piece, at(now)),
                Duration::from_millis(left),
                "{now}"
            );
        }
    }

    #[test]
    fn nothing_waits_for_a_clock_that_was_set_back() {
        let mut arrivals = Arrivals::default();
        // Accepted before that: the first is held for its time, the others come
        // as far apart as they were.
        for (piece, left) in [
            (passage(DAY, DAY + 40), 40),
            (passage(DAY + 1, DAY + 41), 1),
            (passage(DAY + 9, DAY + 49), 8),
            // And after it.
            (passage(10, 50), 40),
        ] {
            assert_eq!(arrivals.left(piece, at(10)), Duration::from_millis(left));
        }
    }
}
