// SPDX-License-Identifier: Apache-2.0
//! The list of what became of a chunk's transactions.
//!
//! An `outcomes_root` is that of a [`merkle`] list with, for each transaction in
//! the order of the body, `blake3(0x31 ‖ transaction hash ‖ outcome)`. An outcome is
//! one byte: 0 for executed, else a number that the crate `execution` gives a
//! failure.

use crate::{
    Digest,
    hash::{Domain, hash},
    merkle,
};

/// The leaf of the outcome of the transaction with this hash.
#[must_use]
pub fn leaf(transaction: &Digest, outcome: u8) -> Digest {
    merkle::leaf(&hash(Domain::Outcome, &[&transaction.0, &[outcome]]).0)
}
