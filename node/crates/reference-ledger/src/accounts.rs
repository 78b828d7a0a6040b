// SPDX-License-Identifier: Apache-2.0
//! The accounts of a shard and their root, hashed from all of them each time.

use crate::{
    hashing::{ZEROES, domain, hash},
    plain::{Account, Hash, Id, NOBODY},
};
use std::{
    collections::BTreeMap,
    ops::Bound::{Excluded, Unbounded},
};

/// A shard's accounts.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    by_id: BTreeMap<Id, Account>,
    /// The accounts of the leaves after the sentinel.
    leaves: Vec<Id>,
}

impl Accounts {
    /// Those of genesis: their leaves are in the order of ids.
    #[must_use]
    pub fn genesis(by_id: BTreeMap<Id, Account>) -> Self {
        let leaves = by_id.keys().copied().collect();
        Self { by_id, leaves }
    }

    /// By id.
    #[must_use]
    pub const fn by_id(&self) -> &BTreeMap<Id, Account> {
        &self.by_id
    }

    /// How many leaves the tree has: one for each account, and the sentinel.
    #[must_use]
    pub const fn leaf_count(&self) -> u32 {
        self.leaves.len() as u32 + 1
    }

    /// The sum of all balances.
    #[must_use]
    pub fn balance(&self) -> u64 {
        self.by_id.values().map(|account| account.balance).sum()
    }

    /// These after one execution. The leaves of accounts that it removed are
    /// taken, from the first on, by those that it created, in the order of ids,
    /// and then by the leaves that are after the new last one.
    #[must_use]
    pub fn after(&self, by_id: BTreeMap<Id, Account>) -> Self {
        let kept = |id: &Id| by_id.contains_key(id).then_some(*id);
        let mut leaves: Vec<Option<Id>> = self.leaves.iter().map(kept).collect();
        let take = |leaves: &mut Vec<Option<Id>>, id: Id| match leaves
            .iter_mut()
            .find(|leaf| leaf.is_none())
        {
            Some(vacant) => *vacant = Some(id),
            None => leaves.push(Some(id)),
        };
        for id in by_id.keys().filter(|id| !self.by_id.contains_key(*id)) {
            take(&mut leaves, *id);
        }
        for id in leaves.split_off(by_id.len()).into_iter().flatten() {
            take(&mut leaves, id);
        }
        let leaves = leaves.into_iter().flatten().collect();
        Self { by_id, leaves }
    }

    /// The root of the tree.
    #[must_use]
    pub fn root(&self) -> Hash {
        let mut leaves = vec![self.leaf(&NOBODY, &Account::default())];
        let accounts = self.leaves.iter().map(|id| self.leaf(id, &self.by_id[id]));
        leaves.extend(accounts);
        // As many levels as it takes.
        let width = leaves.len().next_power_of_two();
        let count = leaves.len() as u32;
        let sealed = [&count.to_be_bytes()[..], &top(&leaves, width)].concat();
        hash(domain::STATE_ROOT, &sealed)
    }

    fn leaf(&self, id: &Id, account: &Account) -> Hash {
        let after = self.by_id.range((Excluded(*id), Unbounded)).next();
        let next = after.map_or(&NOBODY, |(next, _)| next);
        let Account { balance, nonce } = account;
        let numbers = [balance.to_be_bytes(), nonce.to_be_bytes()].concat();
        hash(domain::STATE_LEAF, &[&id[..], next, &numbers].concat())
    }
}

/// The top of a tree that has room for `width` leaves.
fn top(leaves: &[Hash], width: usize) -> Hash {
    match leaves {
        [] => ZEROES,
        [only] if width == 1 => *only,
        more => {
            let half = width / 2;
            let (left, right) = more.split_at(half.min(more.len()));
            let pair = [top(left, half), top(right, half)].concat();
            hash(domain::STATE_NODE, &pair)
        }
    }
}
