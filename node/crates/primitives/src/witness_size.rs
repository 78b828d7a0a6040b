// SPDX-License-Identifier: Apache-2.0
//! How large a state witness can be: the bound that keeps a shard from
//! standing still because nobody can check its chunks.
//!
//! A witness shows at most `executionLag` executions in at most
//! [`MAX_WITNESS`] bytes, so each of them has an equal share, its
//! [`budget`]. What one execution shows is bounded by [`Counts::bytes`], from
//! counts alone:
//!
//! ```text
//! fixed                                 768 KiB: a body may be shown by parts with proofs of their own
//! body                                 153 for each transaction that a chunk may have
//! receipts                              80 each, and 384 for each bucket with its proof
//! accounts                              84 each: two for each transaction, one for each receipt, and one;
//!                                       two more for each transaction where accounts can be removed
//! nodes                                 32 each: at most m (d - e - 2) + 2^(e + 1) of them
//! ```
//!
//! for `m` accounts, `e = floor(log2 m)`, in a tree of `d` levels: the most
//! nodes are called for if the accounts are spread evenly, so that the upper
//! `e` levels follow from them.
//!
//! How much a chunk credits depends on this bound (see the crate `execution`),
//! and `maxTransactionsPerChunk` on what remains: a full chunk that credits
//! the least it may, one header's receipts, fits into the budget in a tree of
//! any size.

use crate::{Receipt, Transaction};
use commonware_codec::FixedSize as _;

/// The most bytes of a state witness, encoded or raw.
pub const MAX_WITNESS: usize = 64 << 20;

/// The most levels of a tree: leaves have 32-bit indices.
pub const MAX_DEPTH: u32 = 32;

/// Shard, heights and lengths; and, where parts show that a chunk has no valid
/// body, 512 bytes beside the body's for each of 1,366 parts, as many as are
/// needed of 4,096 voters.
const FIXED: u64 = 768 << 10;
const _: () = assert!(64 + 1_366 * 512 <= FIXED);
/// A bucket without its receipts, with a proof among 1,024 shards.
const BUCKET: u64 = 384;
/// A leaf of the state with its index.
pub const LEAF: u64 = 84;
/// A node of the state.
const NODE: u64 = 32;

/// What the witness of one execution shows, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// `maxTransactionsPerChunk`: an invalid body may have this many, too.
    pub most_transactions: u32,
    /// Transactions executed.
    pub transactions: u32,
    /// Buckets of receipts.
    pub buckets: u64,
    /// Receipts in them.
    pub receipts: u64,
    /// Levels of the state's tree.
    pub depth: u32,
    /// Whether each transaction may remove its signer's account, which takes
    /// two leaves more.
    pub removes_accounts: bool,
}

impl Counts {
    /// The most bytes that this can take.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        let each = if self.removes_accounts { 4 } else { 2 };
        let accounts = each * self.transactions as u64 + self.receipts + 1;
        FIXED
            + self.most_transactions as u64 * Transaction::SIZE as u64
            + self.buckets * BUCKET
            + self.receipts * Receipt::SIZE as u64
            + accounts * LEAF
            + nodes(accounts, self.depth) * NODE
    }
}

/// The most nodes beside `accounts` leaves of a tree with `depth` levels.
const fn nodes(accounts: u64, depth: u32) -> u64 {
    let level = accounts.ilog2();
    if level + 2 > depth {
        return if depth == 0 { 1 } else { 1 << (depth - 1) };
    }
    accounts * (depth - level - 2) as u64 + (2 << level)
}

/// Levels between the leaves and the top of a tree of `leaves` leaves.
#[must_use]
pub const fn depth(leaves: u32) -> u32 {
    match leaves {
        0 | 1 => 0,
        leaves => u32::BITS - (leaves - 1).leading_zeros(),
    }
}

/// The bytes of one execution's part of a witness.
#[must_use]
pub const fn budget(execution_lag: u8) -> u64 {
    MAX_WITNESS as u64 / execution_lag as u64
}

/// The most buckets that fit into the budget.
#[must_use]
pub const fn most_buckets(execution_lag: u8) -> u64 {
    budget(execution_lag) / BUCKET
}

/// The most transactions of a chunk whose execution can always be shown.
#[must_use]
pub const fn most_transactions(execution_lag: u8, removes_accounts: bool) -> u32 {
    let (mut fits, mut too_many) = (0, 1 << 20);
    while too_many - fits > 1 {
        let most = fits + (too_many - fits) / 2;
        let full = Counts {
            most_transactions: most,
            transactions: most,
            buckets: execution_lag as u64,
            receipts: execution_lag as u64 * most as u64,
            depth: MAX_DEPTH,
            removes_accounts,
        };
        if full.bytes() <= budget(execution_lag) {
            fits = most;
        } else {
            too_many = most;
        }
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_nodes_are_those_of_accounts_that_are_spread_evenly() {
        for depth in 0..12u32 {
            for accounts in 1..=(1u64 << depth) {
                // Every path on its own below the levels that they share.
                let (mut known, mut most) = (accounts, 0);
                for level in (1..=depth).rev() {
                    let above = known.min(1 << (level - 1));
                    most += 2 * above - known;
                    known = above;
                }
                assert!(
                    nodes(accounts, depth) >= most,
                    "{accounts} of depth {depth}"
                );
            }
        }
    }

    #[test]
    fn more_of_anything_is_never_less() {
        let shown = Counts {
            most_transactions: 100,
            transactions: 50,
            buckets: 3,
            receipts: 20,
            depth: 9,
            removes_accounts: false,
        };
        let mut last = 0;
        for receipts in 0..2_000 {
            let bytes = Counts { receipts, ..shown }.bytes();
            assert!(bytes > last);
            last = bytes;
        }
        for depth in 0..MAX_DEPTH {
            let deeper = depth + 1;
            assert!(
                Counts { depth, ..shown }.bytes()
                    <= Counts {
                        depth: deeper,
                        ..shown
                    }
                    .bytes()
            );
        }
    }

    #[test]
    fn chunks_of_the_largest_networks_can_be_shown() {
        let most = |removes| [1, 2, 3, 4].map(|lag| most_transactions(lag, removes));
        assert_eq!(most(false), [33_967, 11_938, 6_087, 3_689]);
        assert_eq!(most(true), [21_475, 8_295, 4_497, 2_850]);
    }
}
