// SPDX-License-Identifier: Apache-2.0
//! Whether the body of a chunk is valid.
//!
//! A body that does not decode, that holds another number of transactions
//! than the header says, or in which one signature does not hold, is *invalid*
//! as a whole: it executes as a chunk without transactions. Whoever executes
//! must come to the same verdict, so this is the only place that decides it.

use shardnode_primitives::{ChunkBody, Transaction};

/// The transactions of a body whose hash is the header's, or `None` if it is
/// invalid. `expected` is the header's number of transactions, `verify` says
/// whether every signature holds.
pub fn check(
    body: &ChunkBody,
    expected: u32,
    verify: impl FnOnce(&[Transaction]) -> bool,
) -> Option<Vec<Transaction>> {
    body.transactions()
        .ok()
        .filter(|transactions| transactions.len() == expected as usize)
        .filter(|transactions| transactions.is_empty() || verify(transactions))
}
