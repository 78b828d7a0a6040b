// SPDX-License-Identifier: Apache-2.0
//! What a link does to what is sent over it.

use crate::fault::Fault;
use std::{num::NonZeroU64, time::Duration};

/// Bytes of a segment: what a packet of 1,500 has beside headers and timestamps.
pub(crate) const SEGMENT: usize = 1_448;
/// The largest piece.
const LARGEST_PIECE: usize = 64 << 10;
/// A piece passes in this time, unless it would be too small or too large.
const PIECE_TIME: Duration = Duration::from_millis(1);
/// What a link holds beyond what is on its way, so that late timers leave no gap.
const SLACK: Duration = Duration::from_millis(10);
/// The most that a direction of a connection holds.
const LARGEST_WINDOW: usize = 16 << 20;
/// A retransmission takes no less, however near the peer is.
const LEAST_RETRANSMISSION: Duration = Duration::from_millis(10);

/// Of 10,000 segments.
pub(crate) const BASIS_POINTS: u32 = 10_000;

/// What a link does to what is sent over it; see the crate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// How long everything takes, one way.
    pub delay: Duration,
    /// How many of 10,000 segments are lost.
    pub loss_basis_points: u16,
    /// Bits in a second, in each direction of a connection; without, as many as
    /// there are.
    pub bandwidth: Option<NonZeroU64>,
}

impl Conditions {
    /// These, and a fault on top. What a cut does is no condition of what passes.
    pub(crate) fn with(self, fault: Fault) -> Self {
        let Fault::Worse {
            delay,
            loss_basis_points,
        } = fault
        else {
            return self;
        };
        // A segment passes if neither loses it.
        let loss = u32::from(self.loss_basis_points);
        let more = u32::from(loss_basis_points) * BASIS_POINTS.saturating_sub(loss);
        let loss = (loss + more.div_ceil(BASIS_POINTS)).min(BASIS_POINTS);
        Self {
            delay: self.delay + delay,
            loss_basis_points: u16::try_from(loss).unwrap_or(u16::MAX),
            bandwidth: self.bandwidth,
        }
    }

    /// There and back.
    pub(crate) fn round_trip(&self) -> Duration {
        self.delay * 2
    }

    /// What a lost segment costs.
    pub(crate) fn retransmission(&self) -> Duration {
        let round_trip = self.round_trip();
        (round_trip + round_trip / 4).max(LEAST_RETRANSMISSION)
    }

    /// How long so many bytes take to pass.
    pub(crate) fn transmission(&self, bytes: usize) -> Duration {
        let Some(bandwidth) = self.bandwidth else {
            return Duration::ZERO;
        };
        let bits = bytes as u128 * 8;
        let nanos = (bits * 1_000_000_000).div_ceil(u128::from(bandwidth.get()));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// How many bytes pass in a time, if that is bounded.
    fn passing(&self, time: Duration) -> Option<usize> {
        let bits = u128::from(self.bandwidth?.get()) * time.as_nanos() / 1_000_000_000;
        Some(usize::try_from(bits / 8).unwrap_or(usize::MAX))
    }

    /// The bytes of a piece, at most.
    pub(crate) fn piece(&self) -> usize {
        self.passing(PIECE_TIME).map_or(LARGEST_PIECE, |bytes| {
            bytes.clamp(2 * SEGMENT, LARGEST_PIECE)
        })
    }

    /// The bytes that a direction of a connection holds, at most.
    pub(crate) fn window(&self) -> usize {
        let repair = match self.loss_basis_points {
            0 => Duration::ZERO,
            _ => self.retransmission(),
        };
        self.passing(self.delay + repair + SLACK)
            .map_or(LARGEST_WINDOW, |bytes| {
                bytes.clamp(2 * self.piece(), LARGEST_WINDOW)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn conditions(delay_ms: u64, loss: u16, megabits: u64) -> Conditions {
        Conditions {
            delay: Duration::from_millis(delay_ms),
            loss_basis_points: loss,
            bandwidth: NonZeroU64::new(megabits * 1_000_000),
        }
    }

    #[test]
    fn a_retransmission_takes_five_quarters_of_a_round_trip() {
        for (delay, expected) in [(0, 10), (4, 10), (8, 20), (40, 100), (300, 750)] {
            let retransmission = conditions(delay, 1, 0).retransmission();
            assert_eq!(retransmission, Duration::from_millis(expected), "{delay}");
        }
    }

    #[test]
    fn a_fault_is_on_top_of_the_link() {
        let worse = |loss_basis_points| Fault::Worse {
            delay: Duration::from_millis(30),
            loss_basis_points,
        };
        for (own, more, expected) in [
            (0, 0, 0),
            (0, 100, 100),
            (100, 0, 100),
            // A segment that the link lost is not lost again.
            (1_000, 5_000, 5_500),
            (1, 1, 2),
            (10_000, 10_000, 10_000),
        ] {
            let both = conditions(40, own, 9).with(worse(more));
            assert_eq!(both, conditions(70, expected, 9), "{own} {more}");
        }
        let cut = conditions(40, 7, 9).with(Fault::Cut);
        assert_eq!(cut, conditions(40, 7, 9));
    }

    #[test]
    fn bytes_pass_at_the_bandwidth() {
        let millisecond = Duration::from_millis(1);
        assert_eq!(conditions(5, 0, 8).transmission(1_000), millisecond);
        assert_eq!(conditions(5, 0, 0).transmission(1_000), Duration::ZERO);
        // Never faster: a part of a nanosecond is a whole one.
        let third = conditions(0, 0, 3).transmission(1);
        assert_eq!(third, Duration::from_nanos(2_667));
    }

    #[test]
    fn a_piece_is_a_millisecond_within_bounds() {
        for (megabits, expected) in [
            (0, 64 << 10),
            (1, 2 * SEGMENT),
            (100, 12_500),
            (10_000, 64 << 10),
        ] {
            assert_eq!(conditions(9, 0, megabits).piece(), expected, "{megabits}");
        }
    }

    #[test]
    fn a_link_holds_what_is_on_its_way() {
        for (delay, loss, megabits, expected) in [
            (40, 0, 0, 16 << 20),
            // 40 ms and 10 ms at 12,500 bytes a millisecond.
            (40, 0, 100, 50 * 12_500),
            // And a retransmission.
            (40, 1, 100, 150 * 12_500),
            (0, 0, 1, 2 * 2 * SEGMENT),
            (300, 0, 10_000, 16 << 20),
        ] {
            let window = conditions(delay, loss, megabits).window();
            assert_eq!(window, expected, "{delay} {loss} {megabits}");
        }
    }
}
