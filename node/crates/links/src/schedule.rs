// SPDX-License-Identifier: Apache-2.0
//! When each piece arrives. Nothing here waits.

use crate::conditions::{BASIS_POINTS, Conditions, SEGMENT};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use std::time::SystemTime;

/// A segment is lost so often at most, so that there is an end of it.
const MOST_LOSSES: u32 = 16;

/// What becomes of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) bytes: usize,
    pub(crate) accepted: SystemTime,
    pub(crate) arrives: SystemTime,
    /// How often segments of it were lost.
    pub(crate) retransmissions: u32,
}

/// One direction of a connection.
pub(crate) struct Schedule {
    conditions: Conditions,
    rng: ChaCha8Rng,
    before: Option<Before>,
}

/// What the pieces before come to.
#[derive(Clone, Copy)]
struct Before {
    /// When the last one was accepted.
    accepted: SystemTime,
    /// When it passed.
    passed: SystemTime,
    /// When it arrives.
    arrives: SystemTime,
}

impl Schedule {
    pub(crate) fn new(conditions: Conditions, seed: u64) -> Self {
        Self {
            conditions,
            rng: ChaCha8Rng::seed_from_u64(seed),
            before: None,
        }
    }

    /// What holds for the next pieces. Those before keep their times, and none
    /// overtakes them.
    pub(crate) const fn change(&mut self, conditions: Conditions) {
        self.conditions = conditions;
    }

    /// Accepts a piece of so many bytes; none are the end.
    pub(crate) fn accept(&mut self, bytes: usize, now: SystemTime) -> Passage {
        let mut before = self
            .before
            // The clock was set back: there is nothing to compare with.
            .filter(|before| before.accepted <= now)
            .unwrap_or(Before {
                accepted: now,
                passed: now,
                arrives: now,
            });
        let (retransmissions, worst) = self.lose(bytes);
        before.accepted = now;
        before.passed = before.passed.max(now) + self.conditions.transmission(bytes);
        let arrives =
            before.passed + self.conditions.delay + self.conditions.retransmission() * worst;
        before.arrives = before.arrives.max(arrives);
        self.before = Some(before);
        Passage {
            bytes,
            accepted: now,
            arrives: before.arrives,
            retransmissions,
        }
    }

    /// How often segments of a piece are lost in all, and the unluckiest of them.
    fn lose(&mut self, bytes: usize) -> (u32, u32) {
        let loss = u32::from(self.conditions.loss_basis_points);
        let (mut all, mut worst) = (0, 0);
        if loss > 0 {
            for _ in 0..bytes.div_ceil(SEGMENT) {
                let mut lost = 0;
                while lost < MOST_LOSSES && self.draw() < loss {
                    lost += 1;
                }
                all += lost;
                worst = worst.max(lost);
            }
        }
        (all, worst)
    }

    /// A number below 10,000. The product's upper half is as even as 2^32 allows.
    fn draw(&mut self) -> u32 {
        let product = u64::from(self.rng.next_u32()) * u64::from(BASIS_POINTS);
        u32::try_from(product >> 32).unwrap_or(BASIS_POINTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        num::NonZeroU64,
        time::{Duration, UNIX_EPOCH},
    };

    fn at(millis: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(1_000_000 + millis)
    }

    /// 8 Mbit/s are 1,000 bytes a millisecond.
    fn schedule(delay_ms: u64, loss: u16, megabits: u64) -> Schedule {
        let conditions = Conditions {
            delay: Duration::from_millis(delay_ms),
            loss_basis_points: loss,
            bandwidth: NonZeroU64::new(megabits * 1_000_000),
        };
        Schedule::new(conditions, 7)
    }

    #[test]
    fn pieces_take_the_delay_and_do_not_wait_for_each_other() {
        let mut schedule = schedule(40, 0, 0);
        for now in [0, 0, 1, 39, 500] {
            let passage = schedule.accept(1_000, at(now));
            assert_eq!(passage.arrives, at(now + 40));
            assert_eq!(passage.retransmissions, 0);
        }
    }

    #[test]
    fn pieces_do_not_overtake_those_of_before_a_change() {
        let mut schedule = schedule(0, 0, 0);
        let delayed = |delay_ms| Conditions {
            delay: Duration::from_millis(delay_ms),
            ..Conditions::default()
        };
        for (delay, now, arrives) in [
            (0, 0, 0),
            (40, 10, 50),
            (0, 20, 50),
            (0, 49, 50),
            (0, 60, 60),
        ] {
            schedule.change(delayed(delay));
            let passage = schedule.accept(1_000, at(now));
            assert_eq!(passage.arrives, at(arrives), "{now}");
        }
    }

    #[test]
    fn pieces_pass_one_after_the_other() {
        let mut schedule = schedule(40, 0, 8);
        for (now, bytes, arrives) in [
            (0, 2_000, 42),
            // Behind it.
            (0, 3_000, 45),
            (1, 1_000, 46),
            // Nothing is left of them.
            (100, 1_000, 141),
            (100, 0, 141),
        ] {
            assert_eq!(schedule.accept(bytes, at(now)).arrives, at(arrives));
        }
    }

    #[test]
    fn what_is_behind_a_loss_waits_for_it() {
        let mut schedule = schedule(40, 1_000, 0);
        let mut latest = at(0);
        let (mut held_up, mut lost) = (0, 0);
        for now in 0..2_000 {
            let passage = schedule.accept(SEGMENT, at(now));
            assert!(passage.arrives >= latest, "{now}");
            latest = passage.arrives;
            let own = at(now + 40) + Duration::from_millis(100) * passage.retransmissions;
            assert!(passage.arrives >= own, "{now}");
            held_up += u32::from(passage.arrives > own);
            lost += passage.retransmissions;
        }
        // A segment of each millisecond, of which a tenth holds up those of 100.
        assert!(lost > 150 && held_up > 1_000, "{lost} {held_up}");
    }

    #[test]
    fn as_many_segments_are_lost_as_is_said() {
        for basis_points in [1, 10, 100, 1_000] {
            let mut schedule = schedule(1, basis_points, 0);
            let segments = 4_000_000_u32;
            let mut lost = 0;
            for now in 0..1_000 {
                let bytes = SEGMENT * (segments / 1_000) as usize;
                lost += schedule.accept(bytes, at(now)).retransmissions;
            }
            // Each loss is a retransmission, which can be lost as well.
            let share = f64::from(basis_points) / 10_000.0;
            let expected = f64::from(segments) * share / (1.0 - share);
            let deviation = (f64::from(lost) - expected).abs();
            assert!(deviation < 5.0 * expected.sqrt(), "{lost} of {expected}");
        }
    }

    #[test]
    fn a_clock_that_is_set_back_delays_nothing_longer() {
        let mut schedule = schedule(40, 0, 8);
        assert_eq!(schedule.accept(1_000, at(900_000)).arrives, at(900_041));
        assert_eq!(schedule.accept(1_000, at(5)).arrives, at(46));
    }
}
