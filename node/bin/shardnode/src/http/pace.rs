// SPDX-License-Identifier: Apache-2.0
//! Turns at a rate: each taker is told when it is its turn, one after the
//! other, so that nobody who waits is overtaken.

use std::time::Duration;
use tokio::time::Instant;

/// Hands out turns.
#[derive(Debug)]
pub(crate) struct Pace {
    every: Duration,
    burst: Duration,
    /// The turn of the next taker, unless that is too long ago.
    next: Instant,
}

impl Pace {
    /// `rate` turns a second over time, and `burst` at once after a pause.
    pub(crate) fn new(rate: u32, burst: u32, now: Instant) -> Self {
        let every = Duration::from_secs(1) / rate.max(1);
        Self {
            every,
            burst: every * burst.saturating_sub(1),
            next: now,
        }
    }

    /// The turn that a taker at `now` would have.
    pub(crate) fn next(&self, now: Instant) -> Instant {
        now.checked_sub(self.burst)
            .map_or(self.next, |oldest| self.next.max(oldest))
    }

    /// Takes a turn at `now`: when it is.
    pub(crate) fn take(&mut self, now: Instant) -> Instant {
        let turn = self.next(now);
        self.next = turn + self.every;
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// How long each of so many takers at one time waits.
    fn waits(pace: &mut Pace, now: Instant, takers: usize) -> Vec<Duration> {
        (0..takers)
            .map(|_| pace.take(now).saturating_duration_since(now))
            .collect()
    }

    #[test]
    fn after_a_burst_each_waits_for_its_turn() {
        let start = Instant::now();
        let mut pace = Pace::new(100, 3, start);
        let now = start + Duration::from_secs(1);
        assert_eq!(waits(&mut pace, now, 6), [0, 0, 0, 10, 20, 30].map(millis));
        // Of the 40 ms that are taken, 15 have gone by.
        let later = now + millis(15);
        assert_eq!(waits(&mut pace, later, 2), [25, 35].map(millis));
    }

    #[test]
    fn a_pause_gives_no_more_than_a_burst() {
        let start = Instant::now();
        let mut pace = Pace::new(100, 2, start);
        assert_eq!(waits(&mut pace, start, 1), [Duration::ZERO]);
        let waits = waits(&mut pace, start + Duration::from_secs(1_000), 4);
        assert_eq!(waits.iter().filter(|wait| wait.is_zero()).count(), 2);
    }

    #[test]
    fn looking_takes_nothing() {
        let now = Instant::now();
        let mut pace = Pace::new(100, 1, now);
        assert_eq!(pace.next(now), pace.next(now));
        assert_eq!(pace.next(now), pace.take(now));
        assert!(pace.next(now) > now);
    }
}
