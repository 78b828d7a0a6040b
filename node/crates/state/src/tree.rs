// SPDX-License-Identifier: Apache-2.0
//! The tree; see the [crate] for its definition.

use crate::{
    changes::{Changes, shortened},
    error::StateError,
    leaf::{Account, Leaf, NO_ACCOUNT},
    levels,
    nodes::{cut, node, seal},
    page::Pages,
    partial::PartialState,
    proof::AccountProof,
};
use shardnode_primitives::{AccountId, Digest, hash::ZERO};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// All accounts of one shard.
#[derive(Clone, Debug)]
pub struct StateTree {
    leaves: Vec<Leaf>,
    /// `levels[0]` are the leaves' hashes; each level is half as long, rounded
    /// up, as the one below; the last has one node, the top.
    levels: Vec<Vec<Digest>>,
    index: BTreeMap<AccountId, u32>,
    balance: u64,
}

impl Default for StateTree {
    /// The tree without accounts.
    fn default() -> Self {
        Self {
            leaves: vec![Leaf::SENTINEL],
            levels: vec![vec![Leaf::SENTINEL.hash()]],
            index: BTreeMap::new(),
            balance: 0,
        }
    }
}

impl StateTree {
    /// The tree of these accounts, in the order of their ids.
    pub fn genesis(
        accounts: impl IntoIterator<Item = (AccountId, Account)>,
    ) -> Result<Self, StateError> {
        let mut sorted = BTreeMap::new();
        for (id, account) in accounts {
            if sorted.insert(id, account).is_some() {
                return Err(StateError::Duplicate(id));
            }
        }
        let mut leaves = Vec::with_capacity(sorted.len() + 1);
        leaves.push(Leaf::SENTINEL);
        for (id, account) in sorted {
            if let Some(before) = leaves.last_mut() {
                before.next = id;
            }
            leaves.push(Leaf {
                id,
                next: NO_ACCOUNT,
                account,
            });
        }
        Self::from_leaves(leaves)
    }

    /// The tree with exactly these leaves, by index.
    pub fn from_leaves(leaves: Vec<Leaf>) -> Result<Self, StateError> {
        let sentinel = leaves.first().ok_or(StateError::Sentinel)?;
        if sentinel.id != NO_ACCOUNT || sentinel.account != Account::default() {
            return Err(StateError::Sentinel);
        }
        u32::try_from(leaves.len()).map_err(|_| StateError::TooMany)?;
        let mut index = BTreeMap::new();
        let mut balance = 0u64;
        for (at, leaf) in leaves.iter().enumerate().skip(1) {
            if leaf.id == NO_ACCOUNT {
                return Err(StateError::ReservedId);
            }
            if index.insert(leaf.id, at as u32).is_some() {
                return Err(StateError::Duplicate(leaf.id));
            }
            balance = balance
                .checked_add(leaf.account.balance)
                .ok_or(StateError::Overflow)?;
        }
        let mut before = sentinel;
        for (id, at) in &index {
            if before.next != *id {
                return Err(StateError::Order(before.id));
            }
            before = &leaves[*at as usize];
        }
        if before.next != NO_ACCOUNT {
            return Err(StateError::Order(before.id));
        }
        let hashes = leaves.iter().map(Leaf::hash).collect();
        let mut tree = Self {
            leaves,
            levels: vec![hashes],
            index,
            balance,
        };
        let all = (0..tree.leaves.len()).collect();
        tree.rehash_above(all, None);
        Ok(tree)
    }

    /// The commitment to all accounts.
    #[must_use]
    pub fn root(&self) -> Digest {
        let top = self
            .levels
            .last()
            .and_then(|level| level.first())
            .unwrap_or(&ZERO);
        seal(self.leaves.len() as u32, top)
    }

    /// The account with this id.
    #[must_use]
    pub fn get(&self, id: &AccountId) -> Option<Account> {
        let at = *self.index.get(id)?;
        Some(self.leaves[at as usize].account)
    }

    /// How many accounts there are.
    #[must_use]
    pub fn accounts(&self) -> u32 {
        self.leaves.len() as u32 - 1
    }

    /// The sum of all balances.
    #[must_use]
    pub const fn balance(&self) -> u64 {
        self.balance
    }

    /// All leaves by index, the sentinel first.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// A copy of the tree as it is now, in pages.
    #[must_use]
    pub fn pages(&self) -> Pages {
        Pages::new(self.leaves.clone(), &self.levels)
    }

    /// Makes changes, as the [crate] says. Returns the new root. On an error
    /// nothing has changed.
    pub fn apply(&mut self, changes: &Changes) -> Result<Digest, StateError> {
        if changes.contains_key(&NO_ACCOUNT) {
            return Err(StateError::ReservedId);
        }
        let places: Vec<Option<u32>> = changes
            .keys()
            .map(|id| self.index.get(id).copied())
            .collect();
        let mut created = 0;
        for ((id, account), place) in changes.iter().zip(&places) {
            match (account, place) {
                (None, None) => return Err(StateError::NoAccount(*id)),
                (Some(_), None) => created += 1,
                (_, Some(_)) => {}
            }
        }
        u32::try_from(self.leaves.len() + created).map_err(|_| StateError::TooMany)?;
        self.balance = self.balance_after(changes, &places)?;

        let mut dirty = Vec::with_capacity(places.len() + created);
        let mut vacant = Vec::new();
        for ((id, account), place) in changes.iter().zip(&places) {
            let Some(at) = place.map(|at| at as usize) else {
                continue;
            };
            match account {
                Some(account) => {
                    self.leaves[at].account = *account;
                    dirty.push(at);
                }
                None => {
                    self.index.remove(id);
                    let before = self.leaf_before(id);
                    self.leaves[before].next = self.leaves[at].next;
                    dirty.push(before);
                    vacant.push(at);
                }
            }
        }
        vacant.sort_unstable();
        let mut vacant = VecDeque::from(vacant);
        for ((id, account), place) in changes.iter().zip(&places) {
            if let (Some(account), None) = (account, place) {
                self.insert(*id, *account, vacant.pop_front(), &mut dirty);
            }
        }
        let end = self.close(&vacant, &mut dirty);
        dirty.sort_unstable();
        dirty.dedup();
        self.levels[0].resize(self.leaves.len(), ZERO);
        for at in &dirty {
            self.levels[0][*at] = self.leaves[*at].hash();
        }
        self.rehash_above(dirty, end);
        Ok(self.root())
    }

    /// Ends the tree as many leaves earlier as indices are vacant, and says
    /// where; `None` if none is.
    fn close(&mut self, vacant: &VecDeque<usize>, dirty: &mut Vec<usize>) -> Option<usize> {
        if vacant.is_empty() {
            return None;
        }
        let end = self.leaves.len() - vacant.len();
        let gone: BTreeSet<usize> = vacant.iter().copied().collect();
        let moved = (end..self.leaves.len()).filter(|at| !gone.contains(at));
        let moves: Vec<(usize, usize)> = moved.zip(gone.iter().copied()).collect();
        for (from, to) in moves {
            self.leaves[to] = self.leaves[from];
            self.index.insert(self.leaves[to].id, to as u32);
            dirty.push(to);
        }
        self.leaves.truncate(end);
        dirty.retain(|at| *at < end);
        Some(end)
    }

    /// The sum of all balances once `changes`, to the leaves at `places`, are
    /// made.
    fn balance_after(&self, changes: &Changes, places: &[Option<u32>]) -> Result<u64, StateError> {
        // What is subtracted is part of the sum, so this never wraps.
        let mut balance = u128::from(self.balance);
        for (account, place) in changes.values().zip(places) {
            balance += account.map_or(0, |account| u128::from(account.balance));
            if let Some(at) = place {
                balance -= u128::from(self.leaves[*at as usize].account.balance);
            }
        }
        u64::try_from(balance).map_err(|_| StateError::Overflow)
    }

    /// A new account at the index `vacant`, or after the last leaf.
    fn insert(
        &mut self,
        id: AccountId,
        account: Account,
        vacant: Option<usize>,
        dirty: &mut Vec<usize>,
    ) {
        let before = self.leaf_before(&id);
        let next = self.leaves[before].next;
        let leaf = Leaf { id, next, account };
        let at = vacant.unwrap_or(self.leaves.len());
        match self.leaves.get_mut(at) {
            Some(place) => *place = leaf,
            None => self.leaves.push(leaf),
        }
        self.leaves[before].next = id;
        self.index.insert(id, at as u32);
        dirty.extend([before, at]);
    }

    /// The index of the leaf with the greatest id below `id`.
    fn leaf_before(&self, id: &AccountId) -> usize {
        self.index
            .range(..id)
            .next_back()
            .map_or(0, |(_, at)| *at as usize)
    }

    /// Recomputes the nodes above the leaves at `dirty`, which must be in
    /// ascending order, each once; and, if the tree was longer, those above its
    /// new `end`.
    fn rehash_above(&mut self, mut dirty: Vec<usize>, end: Option<usize>) {
        let mut below = 0;
        while self.levels[below].len() > 1 {
            for at in &mut dirty {
                *at /= 2;
            }
            // The node that lost some of the leaves below it, but not all.
            dirty.extend(end.and_then(|end| cut(end, below + 1)));
            dirty.dedup();
            let width = self.levels[below].len().div_ceil(2);
            if self.levels.len() == below + 1 {
                self.levels.push(Vec::new());
                // A new level has all its nodes still to be computed.
                dirty = (0..width).collect();
            }
            let (lower, upper) = self.levels.split_at_mut(below + 1);
            let (lower, upper) = (&lower[below], &mut upper[0]);
            upper.resize(width, ZERO);
            for at in &dirty {
                let left = &lower[2 * at];
                let right = lower.get(2 * at + 1).unwrap_or(&ZERO);
                upper[*at] = node(left, right);
            }
            below += 1;
        }
        self.levels.truncate(below + 1);
    }

    /// Proves the account with this id, or that there is none.
    #[must_use]
    pub fn prove(&self, id: &AccountId) -> AccountProof {
        let index = self
            .index
            .get(id)
            .map_or_else(|| self.leaf_before(id), |at| *at as usize);
        let mut at = index;
        let mut siblings = Vec::new();
        for level in &self.levels[..self.levels.len() - 1] {
            siblings.push(level.get(at ^ 1).copied().unwrap_or(ZERO));
            at /= 2;
        }
        AccountProof {
            index: index as u32,
            count: self.leaves.len() as u32,
            leaf: self.leaves[index],
            siblings,
        }
    }

    /// The part of the tree that reading these accounts takes, and making
    /// `changes`, which are of some of them.
    #[must_use]
    pub fn partial(&self, ids: &BTreeSet<AccountId>, changes: &Changes) -> PartialState {
        let mut indices = self.closing(changes);
        indices.reserve(ids.len() + 1);
        let mut creates = false;
        for id in ids {
            match self.index.get(id) {
                Some(at) => indices.push(*at),
                None => {
                    indices.push(self.leaf_before(id) as u32);
                    creates = true;
                }
            }
        }
        if creates {
            indices.push(self.accounts());
        }
        indices.sort_unstable();
        indices.dedup();
        let leaves = indices
            .iter()
            .map(|at| (*at, self.leaves[*at as usize]))
            .collect();
        let count = self.leaves.len() as u32;
        let siblings = levels::siblings(count, indices)
            .map(|(level, at)| self.levels[level][at as usize])
            .collect();
        PartialState {
            count,
            leaves,
            siblings,
        }
    }

    /// The leaves that removing accounts takes beside their own: those before
    /// them in the list, and those behind the new end.
    fn closing(&self, changes: &Changes) -> Vec<u32> {
        let removed = changes.iter().filter(|(_, account)| account.is_none());
        let mut indices: Vec<u32> = removed.map(|(id, _)| self.leaf_before(id) as u32).collect();
        if !indices.is_empty() {
            let exist = changes.keys().filter(|id| self.index.contains_key(id));
            let end = self.leaves.len() - shortened(changes, exist.count());
            indices.extend(end as u32..self.leaves.len() as u32);
        }
        indices
    }
}
