// SPDX-License-Identifier: Apache-2.0
//! The bounds of what a fault may be.

use std::{fmt::Display, ops::RangeInclusive};

/// An hour at most.
const DURATION_MILLISECONDS: RangeInclusive<u64> = 1..=3_600_000;

/// Whether a fault may last so long.
pub(crate) fn lasting(duration_milliseconds: u64) -> Result<(), String> {
    within(
        "durationMilliseconds",
        duration_milliseconds,
        &DURATION_MILLISECONDS,
    )
}

/// Whether a field has a value of a range.
pub(crate) fn within<T: Copy + PartialOrd + Display>(
    field: &str,
    value: T,
    range: &RangeInclusive<T>,
) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!(
        "{field}: must be {} to {}",
        range.start(),
        range.end()
    ))
}
