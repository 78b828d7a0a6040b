// SPDX-License-Identifier: Apache-2.0
//! The time that a wrong clock shows, and the right one.

use commonware_utils::SystemTimeExt as _;
use std::time::{Duration, SystemTime};

/// How far a clock is from the right time: ahead of it if positive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset(i64);

impl Offset {
    /// So many milliseconds.
    #[must_use]
    pub const fn from_millis(milliseconds: i64) -> Self {
        Self(milliseconds)
    }

    /// In milliseconds.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// What the clock shows at a time.
    pub(crate) fn shown(self, right: SystemTime) -> SystemTime {
        shift(right, self.0)
    }

    /// The time at which the clock shows something.
    pub(crate) fn right(self, shown: SystemTime) -> SystemTime {
        shift(shown, self.0.saturating_neg())
    }
}

/// Who waits for ever waits for the last time that there is.
fn shift(time: SystemTime, milliseconds: i64) -> SystemTime {
    let by = Duration::from_millis(milliseconds.unsigned_abs());
    if milliseconds < 0 {
        time.checked_sub(by).unwrap_or(time)
    } else {
        time.saturating_add_ext(by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_a_clock_shows_is_of_the_right_time() {
        let right = UNIX_EPOCH + 10 * SECOND;
        for (millis, expected) in [
            (0, right),
            (1_000, right + SECOND),
            (-1_000, right - SECOND),
            (-60_000, UNIX_EPOCH - 50 * SECOND),
        ] {
            let offset = Offset::from_millis(millis);
            assert_eq!(offset.as_millis(), millis);
            assert_eq!(offset.shown(right), expected, "{millis}");
            assert_eq!(offset.right(expected), right, "{millis}");
        }
    }

    #[test]
    fn there_is_a_last_time_and_nothing_beyond() {
        let ever = SystemTime::limit();
        assert_eq!(Offset::from_millis(-1_000).right(ever), ever);
        assert_eq!(Offset::from_millis(i64::MAX).shown(ever), ever);
        Offset::from_millis(i64::MIN).shown(UNIX_EPOCH);
        Offset::from_millis(i64::MIN).right(UNIX_EPOCH);
    }
}
