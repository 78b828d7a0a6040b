// SPDX-License-Identifier: Apache-2.0
//! Witnesses that are late on purpose, to see that whoever tells what blocks
//! waited for names their way, and nothing else of the node is slower for it.
//!
//! There are none but with the feature `planted-faults` ([`CAN_BE_PLANTED`]). A
//! program `shardnode` that is compiled with it says so in its version.

#[cfg(feature = "planted-faults")]
use std::sync::OnceLock;
use std::time::Duration;

/// Whether this is compiled with faults.
pub const CAN_BE_PLANTED: bool = cfg!(feature = "planted-faults");

#[cfg(feature = "planted-faults")]
static WITNESS_DELAY: OnceLock<Duration> = OnceLock::new();

/// Has every witness that this process makes wait for so long before its parts go
/// out. The first delay stays.
#[cfg(feature = "planted-faults")]
pub fn delay_witnesses(delay: Duration) {
    let _ = WITNESS_DELAY.set(delay);
}

/// How long a witness waits before its parts go out, if at all.
#[cfg(feature = "planted-faults")]
pub(crate) fn witness_delay() -> Option<Duration> {
    WITNESS_DELAY.get().copied()
}

#[cfg(not(feature = "planted-faults"))]
pub(crate) const fn witness_delay() -> Option<Duration> {
    None
}
