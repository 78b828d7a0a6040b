// SPDX-License-Identifier: Apache-2.0
//! What the newest executions made of accounts, for transactions that were judged by
//! the state before them.

use shardnode_mailboxes::pool::Changed;
use shardnode_primitives::AccountId;
use shardnode_state::Account;
use std::collections::VecDeque;

/// How many executions: these at the least, and as many as changed so many accounts, but
/// no more than these. Between a look at the state and the pool a transaction's signature
/// is verified, for which it may have to wait for its turn. A node that catches up executes
/// more meanwhile.
const LEAST: usize = 8;
const ACCOUNTS: usize = 100_000;
const MOST: usize = 1_000;

/// The newest executions.
#[derive(Default)]
pub(super) struct Newest {
    executions: VecDeque<(u64, Changed)>,
    /// How many accounts they changed in all.
    accounts: usize,
    /// The chunk after which they come.
    since: u64,
}

impl Newest {
    pub(super) fn push(&mut self, height: u64, changed: Changed) {
        self.accounts += changed.len();
        self.executions.push_back((height, changed));
        let full = |one: &Self| {
            let executions = one.executions.len();
            executions > MOST || (executions > LEAST && one.accounts > ACCOUNTS)
        };
        while full(self)
            && let Some((oldest, changed)) = self.executions.pop_front()
        {
            self.accounts -= changed.len();
            self.since = oldest;
        }
    }

    /// The state is another one, that after the chunk at `height`.
    pub(super) fn begin_at(&mut self, height: u64) {
        self.executions.clear();
        self.accounts = 0;
        self.since = height;
    }

    /// The chunk of the last of them.
    pub(super) fn height(&self) -> u64 {
        self.executions
            .back()
            .map_or(self.since, |(height, _)| *height)
    }

    /// Whether all are here that followed the chunk at `height`.
    pub(super) const fn reaches_back_to(&self, height: u64) -> bool {
        height >= self.since
    }

    /// What became of an account after the chunk at `height`; `None` if these
    /// executions did not change it.
    pub(super) fn of(&self, id: &AccountId, height: u64) -> Option<Option<Account>> {
        let executions = self.executions.iter().rev();
        let since = executions.take_while(|(at, _)| *at > height);
        let mut found = since.filter_map(|(_, changed)| {
            let place = changed.binary_search_by_key(id, |(other, _)| *other).ok()?;
            changed.get(place).map(|(_, account)| *account)
        });
        found.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(accounts: usize) -> Changed {
        let id = |number: usize| {
            let mut id = [0; 32];
            id[24..].copy_from_slice(&number.to_be_bytes());
            AccountId(id)
        };
        (0..accounts).map(|number| (id(number), None)).collect()
    }

    #[test]
    fn executions_are_kept_for_as_long_as_they_changed_little() {
        let mut newest = Newest::default();
        for height in 1..=1_000 {
            newest.push(height, changed(1));
        }
        assert!(newest.reaches_back_to(0));
        newest.push(1_001, changed(0));
        assert!(newest.reaches_back_to(1) && !newest.reaches_back_to(0));
        let half = changed(ACCOUNTS / 2);
        newest.push(1_002, half.clone());
        newest.push(1_003, half.clone());
        let oldest = 1_004 - LEAST as u64;
        assert!(newest.reaches_back_to(oldest - 1) && !newest.reaches_back_to(oldest - 2));
        for height in 1_004..1_020 {
            newest.push(height, half.clone());
        }
        let oldest = 1_020 - LEAST as u64;
        assert!(newest.reaches_back_to(oldest - 1) && !newest.reaches_back_to(oldest - 2));
        assert_eq!(newest.of(&half[0].0, oldest - 1), Some(None));
        newest.begin_at(2_000);
        assert_eq!(newest.of(&half[0].0, oldest - 1), None);
        assert!(newest.reaches_back_to(2_000) && !newest.reaches_back_to(1_999));
        assert_eq!(newest.height(), 2_000);
        newest.push(2_001, changed(0));
        assert_eq!(newest.height(), 2_001);
    }
}
