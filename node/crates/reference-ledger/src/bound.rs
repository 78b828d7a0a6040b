// SPDX-License-Identifier: Apache-2.0
//! How many receipts a chunk credits: a bound on the bytes that show its
//! execution.

use crate::plain::Rules;

/// The most bytes of a state witness.
const WITNESS: u64 = 64 << 20;

/// What an execution has to show, in numbers.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Transfers of a valid body.
    pub transfers: u64,
    /// Buckets credited.
    pub buckets: u64,
    /// Receipts in them.
    pub receipts: u64,
    /// Leaves of the state before it.
    pub leaves: u32,
}

impl Shown {
    fn bytes(&self, rules: &Rules) -> u64 {
        let of_each = if rules.least_balance > 0 { 4 } else { 2 };
        let accounts = of_each * self.transfers + self.receipts + 1;
        (768 << 10)
            + 153 * u64::from(rules.most_transactions)
            + 384 * self.buckets
            + 80 * self.receipts
            + 84 * accounts
            + 32 * nodes(accounts, levels(self.leaves))
    }

    /// Whether the next header's receipts are credited after at least one
    /// header's were: with less than half of the execution's share of a
    /// witness used, and room for another header's, as many as there can be.
    #[must_use]
    pub fn leaves_room(&self, rules: &Rules) -> bool {
        let lag = u64::from(rules.lag);
        let share = WITNESS / lag;
        let fullest = Self {
            buckets: self.buckets + lag,
            receipts: self.receipts + lag * u64::from(rules.most_transactions),
            ..*self
        };
        self.bytes(rules) < share / 2 && fullest.bytes(rules) <= share
    }
}

/// `ceil(log2 leaves)`.
fn levels(leaves: u32) -> u64 {
    u64::from(leaves.next_power_of_two().ilog2())
}

/// `m (d - e - 2) + 2^(e + 1)` with `e = floor(log2 m)`; if the accounts are
/// more than half of the leaves there can be, half of the leaves, and at least
/// one.
fn nodes(accounts: u64, levels: u64) -> u64 {
    let spread = u64::from(accounts.ilog2());
    if spread + 2 <= levels {
        accounts * (levels - spread - 2) + 2 * 2u64.pow(accounts.ilog2())
    } else {
        ((1 << levels) / 2).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(most_transactions: u32) -> Rules {
        Rules {
            network: String::new(),
            genesis: [0; 32],
            shards: 2,
            lag: 1,
            most_transactions,
            congestion_control: true,
            fee: 0,
            least_balance: 0,
        }
    }

    #[test]
    fn chunks_of_small_networks_credit_whatever_there_is_and_large_ones_do_not() {
        let shown = |receipts| Shown {
            transfers: 100,
            buckets: receipts / 100,
            receipts,
            leaves: 1_000_000,
        };
        assert!(shown(10_000).leaves_room(&rules(200)));
        assert!(!shown(200_000).leaves_room(&rules(200)));
        assert!(!shown(10_000).leaves_room(&rules(200_000)));
    }
}
