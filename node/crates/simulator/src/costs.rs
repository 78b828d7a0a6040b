// SPDX-License-Identifier: Apache-2.0
//! What things take on a machine, where a plan says that they take something.
//!
//! | what | is | from |
//! |---|---|---|
//! | processors' work | [`price`] | `shardnode simulate --costs`, which measures it, but for messages and members |
//! | a sync of a disk | [`SYNC`] | what a fast disk of a cloud takes |
//! | another change to it | [`CHANGE`] | a write into the page cache |
//! | bytes in, and out | [`BYTES_PER_SECOND`] | a gigabit link |
//! | a message | [`price`] | two system calls and wake-ups of tasks: assumed, and more than what is seen |
//! | a member of a committee that a leader looks at | [`price`] | looking up two keys: assumed |
//!
//! Prices are of a processor that is not new.

mod measured;

pub use measured::measure;

use shardnode_primitives::work::{Counts, Work};
use std::time::Duration;

/// A sync of a disk.
pub const SYNC: Duration = Duration::from_millis(1);
/// Another change to what is on it.
pub const CHANGE: Duration = Duration::from_micros(20);
/// What a machine takes in, and what it sends.
pub const BYTES_PER_SECOND: usize = 125_000_000;

/// What one of these takes.
#[must_use]
pub const fn price(work: Work) -> Duration {
    Duration::from_nanos(match work {
        Work::Signing => 25_000,
        Work::Signature => 60_000,
        Work::BatchedSignature => 30_000,
        Work::Reveal => 250_000,
        Work::Transfer => 1_000,
        Work::CodedByte | Work::MessageByte => 2,
        Work::Message => 10_000,
        Work::Member => 200,
    })
}

/// What all of these take together.
#[must_use]
pub fn of(counts: &Counts) -> Duration {
    let nanos = |work| {
        let price = u64::try_from(price(work).as_nanos()).unwrap_or(u64::MAX);
        counts.of(work).saturating_mul(price)
    };
    Duration::from_nanos(
        Work::ALL
            .into_iter()
            .map(nanos)
            .fold(0, u64::saturating_add),
    )
}
