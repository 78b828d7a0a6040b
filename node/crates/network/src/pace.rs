// SPDX-License-Identifier: Apache-2.0
//! How fast something may be done again and again.

use std::time::{Duration, SystemTime};

/// So many at once, and another one with every interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Time for one.
    pub interval: Duration,
    /// How many at once.
    pub burst: u32,
}

impl Pace {
    /// Whether another one may be done at `now`, if those before it take until
    /// `taken`.
    pub(crate) fn admits(self, taken: &mut SystemTime, now: SystemTime) -> bool {
        let full = self.interval * self.burst;
        let waits = taken.duration_since(now).unwrap_or_default();
        // No more than that, also of a clock that was set back.
        let waits = waits.min(full);
        let admits = waits + self.interval <= full;
        *taken = now
            + waits
            + if admits {
                self.interval
            } else {
                Duration::ZERO
            };
        admits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace {
        interval: Duration::from_millis(75),
        burst: 32,
    };

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn so_many_at_once_and_another_one_with_every_interval() {
        let mut taken = at(0);
        let mut admitted = |now| (0..100).filter(|_| PACE.admits(&mut taken, now)).count();
        assert_eq!(admitted(at(10)), 32);
        assert_eq!(admitted(at(10) + PACE.interval * 3), 3);
        assert_eq!(admitted(at(60)), 32, "no more after a long pause");
    }

    #[test]
    fn a_clock_that_was_set_back_keeps_nobody_out_for_long() {
        let mut taken = at(10_000);
        assert!(PACE.admits(&mut taken, at(10_000)));
        assert!(!PACE.admits(&mut taken, at(1)));
        assert!(PACE.admits(&mut taken, at(1) + PACE.interval));
        assert!(!PACE.admits(&mut taken, at(1) + PACE.interval));
    }
}
