// SPDX-License-Identifier: Apache-2.0
//! What keeps processors busy, counted where it is done.
//!
//! Each thread has counts of its own. A node reads none of them; a simulated
//! machine, whose tasks take turns on one thread, takes what each did to let time
//! pass for it. So there is one list of what is costly, and it says what the code
//! did, not what a message should have made it do: what is refused unseen costs
//! nothing.

use std::{cell::Cell, fmt};

/// Something costly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Signing something.
    Signing,
    /// Verifying a signature by itself.
    Signature,
    /// Verifying a signature as one of a batch.
    BatchedSignature,
    /// Making or checking what a leader reveals.
    Reveal,
    /// Executing a transfer, or crediting its receipt.
    Transfer,
    /// A byte that is divided into parts, or put together from them.
    CodedByte,
    /// A message that is sent to a peer, or comes from one.
    Message,
    /// A byte of such a message.
    MessageByte,
    /// Looking whether a member of a committee endorsed a header.
    Member,
}

impl Work {
    /// Everything that is counted.
    pub const ALL: [Self; 9] = [
        Self::Signing,
        Self::Signature,
        Self::BatchedSignature,
        Self::Reveal,
        Self::Transfer,
        Self::CodedByte,
        Self::Message,
        Self::MessageByte,
        Self::Member,
    ];
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Signing => "a signature made",
            Self::Signature => "a signature verified alone",
            Self::BatchedSignature => "a signature verified in a batch",
            Self::Reveal => "a leader's word made or checked",
            Self::Transfer => "a transfer executed",
            Self::CodedByte => "a byte divided into parts",
            Self::Message => "a message",
            Self::MessageByte => "a byte of a message",
            Self::Member => "a member of a committee looked at",
        })
    }
}

/// How often what was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; Work::ALL.len()]);

impl Counts {
    const NONE: Self = Self([0; Work::ALL.len()]);

    /// How often this was done.
    #[must_use]
    pub const fn of(&self, work: Work) -> u64 {
        self.0[work as usize]
    }
}

thread_local! {
    static DONE: Cell<Counts> = const { Cell::new(Counts::NONE) };
}

/// This was done so many times, on this thread.
pub fn count(work: Work, times: usize) {
    DONE.with(|done| {
        let mut counts = done.get();
        let count = &mut counts.0[work as usize];
        *count = count.saturating_add(times as u64);
        done.set(counts);
    });
}

/// What was done on this thread since the last time.
#[must_use]
pub fn take() -> Counts {
    DONE.with(|done| done.replace(Counts::NONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_a_count_of_its_own() {
        for (times, work) in Work::ALL.into_iter().enumerate() {
            count(work, times + 1);
            count(work, 10);
        }
        let done = take();
        for (times, work) in Work::ALL.into_iter().enumerate() {
            assert_eq!(done.of(work), times as u64 + 11, "{work:?}");
        }
        assert_eq!(take(), Counts::default());
    }
}
