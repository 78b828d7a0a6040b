// SPDX-License-Identifier: Apache-2.0
//! How many transfers are due.
//!
//! Credit grows by the rate times the time that passed, exactly: what is due
//! over any span differs from the rate by less than one transfer, whatever
//! the moments at which the caller asks. A caller that was held up finds at
//! most one second's worth, so a stall is not followed by a flood; what it
//! was too late for is overdue.

use std::time::Duration;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Turns a rate and the time into transfers.
#[derive(Clone, Debug, Default)]
pub struct Pacer {
    rate: u32,
    /// Up to when credit has grown.
    at: Duration,
    /// Due and not yet handed out, in billionths of a transfer.
    credit: u128,
    /// Given up and not yet told, in billionths of a transfer.
    overdue: u128,
}

impl Pacer {
    /// Transfers per second.
    #[must_use]
    pub const fn rate(&self) -> u32 {
        self.rate
    }

    /// Sets the rate from `now` on. What became due before stays due, as far
    /// as it is at most one second's worth of the new rate.
    pub fn set_rate(&mut self, rate: u32, now: Duration) {
        self.grow(now);
        self.rate = rate;
        // Not wanted any more, which is not too late.
        let _ = self.bound();
    }

    /// The transfers that are due at `now`, which is any time that does not
    /// run backwards; each is handed out once.
    pub fn due(&mut self, now: Duration) -> u32 {
        self.grow(now);
        let due = self.credit / NANOS_PER_SECOND;
        self.credit %= NANOS_PER_SECOND;
        // At most one second's worth, and the rate is a u32.
        u32::try_from(due).unwrap_or(u32::MAX)
    }

    /// The transfers that were due and will not be handed out, because the caller
    /// asked too late; each is told once.
    pub fn overdue(&mut self) -> u64 {
        let overdue = self.overdue / NANOS_PER_SECOND;
        self.overdue %= NANOS_PER_SECOND;
        u64::try_from(overdue).unwrap_or(u64::MAX)
    }

    fn grow(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.at);
        self.at = self.at.max(now);
        self.credit += passed.as_nanos() * u128::from(self.rate);
        self.overdue = self.overdue.saturating_add(self.bound());
    }

    /// One second's worth, and less than a transfer: what was left over when
    /// the last ones were handed out stays due. Returns what is not due any more.
    fn bound(&mut self) -> u128 {
        let most = (u128::from(self.rate) + 1) * NANOS_PER_SECOND - 1;
        let excess = self.credit.saturating_sub(most);
        self.credit -= excess;
        excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn started(rate: u32) -> Pacer {
        let mut pacer = Pacer::default();
        pacer.set_rate(rate, Duration::ZERO);
        pacer
    }

    #[test]
    fn nothing_is_due_at_first_or_at_rate_zero() {
        assert_eq!(started(1_000).due(Duration::ZERO), 0);
        assert_eq!(started(0).due(SECOND * 3_600), 0);
    }

    #[test]
    fn a_stall_is_followed_by_one_seconds_worth() {
        let mut pacer = started(500);
        assert_eq!(pacer.due(SECOND * 60), 500);
        assert_eq!(pacer.overdue(), 59 * 500 - 1);
        assert_eq!(pacer.due(SECOND * 61), 500);
        assert_eq!(pacer.overdue(), 0);
    }

    #[test]
    fn stopping_forgets_what_was_due() {
        let mut pacer = started(500);
        pacer.set_rate(0, SECOND);
        pacer.set_rate(500, SECOND);
        assert_eq!(pacer.due(SECOND), 0);
        assert_eq!(pacer.overdue(), 0, "nobody asked for it");
    }

    #[test]
    fn a_new_rate_counts_from_its_moment() {
        let mut pacer = started(100);
        pacer.set_rate(1_000, SECOND / 2);
        assert_eq!(pacer.due(SECOND), 50 + 500);
    }

    #[test]
    fn fractions_stay_due() {
        let mut pacer = started(1);
        assert_eq!(pacer.due(SECOND - Duration::from_nanos(1)), 0);
        assert_eq!(pacer.due(SECOND * 2 - Duration::from_nanos(2)), 1);
        assert_eq!(pacer.due(SECOND * 2), 1);
    }

    #[test]
    fn time_that_runs_backwards_adds_nothing() {
        let mut pacer = started(100);
        assert_eq!(pacer.due(SECOND), 100);
        assert_eq!(pacer.due(SECOND / 2), 0);
        assert_eq!(pacer.due(SECOND), 0);
    }

    proptest! {
        #[test]
        fn no_drift(rate in 0u32..1_000_000, steps in prop::collection::vec(1u64..1_000_000_000, 1..200)) {
            let mut pacer = started(rate);
            let mut now = Duration::ZERO;
            let mut total = 0u128;
            for step in steps {
                now += Duration::from_nanos(step);
                total += u128::from(pacer.due(now));
            }
            prop_assert_eq!(total, now.as_nanos() * u128::from(rate) / NANOS_PER_SECOND);
            prop_assert_eq!(pacer.overdue(), 0);
        }

        #[test]
        fn what_is_due_is_handed_out_or_overdue(rate in 0u32..1_000_000, millis in prop::collection::vec(0u64..10_000, 1..50)) {
            let mut pacer = started(rate);
            let mut now = Duration::ZERO;
            let mut told = 0u128;
            for step in millis {
                now += Duration::from_millis(step);
                told += u128::from(pacer.due(now)) + u128::from(pacer.overdue());
            }
            let due = now.as_nanos() * u128::from(rate) / NANOS_PER_SECOND;
            // Of each kind, less than one waits to be whole.
            prop_assert!(told <= due && due - told <= 1, "{} of {}", told, due);
        }

        #[test]
        fn never_more_than_one_seconds_worth(rate: u32, millis in prop::collection::vec(0u64..100_000, 1..50)) {
            let mut pacer = started(rate);
            let mut now = Duration::ZERO;
            for step in millis {
                now += Duration::from_millis(step);
                prop_assert!(pacer.due(now) <= rate);
            }
        }
    }
}
