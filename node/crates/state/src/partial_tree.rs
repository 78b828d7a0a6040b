// SPDX-License-Identifier: Apache-2.0
//! The accounts of a partial state, read and changed as those of the whole
//! tree are.

use crate::{
    changes::{Changes, shortened},
    error::StateError,
    leaf::{Account, Leaf, NO_ACCOUNT},
    nodes::{cut, node, seal},
    partial::PartialState,
};
use shardnode_primitives::{AccountId, Digest, hash::ZERO};
use std::collections::{BTreeMap, BTreeSet};

/// Some accounts of a tree.
#[derive(Clone, Debug)]
pub struct PartialTree {
    count: u32,
    /// By index.
    leaves: Vec<(u32, Leaf)>,
    /// The place in `leaves` of each id, by id.
    places: Vec<(AccountId, usize)>,
    /// The known nodes of each level by index, the leaves' hashes first: those
    /// above the leaves, and their neighbours.
    levels: Vec<Vec<(u32, Digest)>>,
}

/// A partial state is of another tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("partial state has root {got} instead of {want}")]
pub struct PartialError {
    /// Where it leads.
    pub got: Digest,
    /// The root that it was to be of.
    pub want: Digest,
}

/// A partial state is not the one for a set of accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoverError {
    /// It says nothing about one of them.
    #[error("account {0} is not covered by the partial state")]
    Missing(AccountId),
    /// One of them does not exist, and the last leaf is not there.
    #[error("account {0} cannot be created without the last leaf")]
    Frontier(AccountId),
    /// One of them is removed, and the leaf before it is not there.
    #[error("account {0} cannot be removed without the leaf before it")]
    Before(AccountId),
    /// The tree becomes shorter, and not all leaves behind its end are there.
    #[error("the tree cannot end before leaf {0} without the leaves from there on")]
    End(u32),
    /// A leaf is there for none of them.
    #[error("leaf {0} of the partial state is for none of the accounts")]
    Superfluous(u32),
}

/// Where an account is among the leaves.
enum Place {
    At(usize),
    After(usize),
}

impl PartialState {
    /// The accounts in it, if its root is this one.
    pub fn verify(self, root: &Digest) -> Result<PartialTree, PartialError> {
        let tree = PartialTree::build(self);
        let got = tree.root();
        if got == *root {
            Ok(tree)
        } else {
            Err(PartialError { got, want: *root })
        }
    }
}

impl PartialTree {
    fn build(state: PartialState) -> Self {
        let PartialState {
            count,
            leaves,
            siblings,
        } = state;
        let mut siblings = siblings.into_iter();
        // What a decoded state has no node for does not exist.
        let mut sibling = || siblings.next().unwrap_or(ZERO);
        let mut levels = Vec::new();
        let mut width = count;
        let mut known: Vec<(u32, Digest)> =
            leaves.iter().map(|(at, leaf)| (*at, leaf.hash())).collect();
        while width > 1 {
            let mut level = Vec::with_capacity(2 * known.len());
            let mut above = Vec::with_capacity(known.len());
            let mut rest = known.as_slice();
            while let Some(((at, hash), after)) = rest.split_first() {
                rest = after;
                let parent = if at % 2 == 1 {
                    let left = sibling();
                    level.extend([(at - 1, left), (*at, *hash)]);
                    node(&left, hash)
                } else if *at == width - 1 {
                    level.push((*at, *hash));
                    node(hash, &ZERO)
                } else {
                    let right = match rest.split_first() {
                        Some(((next, right), after)) if *next == at + 1 => {
                            rest = after;
                            *right
                        }
                        _ => sibling(),
                    };
                    level.extend([(*at, *hash), (at + 1, right)]);
                    node(hash, &right)
                };
                above.push((at / 2, parent));
            }
            levels.push(level);
            known = above;
            width = width.div_ceil(2);
        }
        if known.is_empty() {
            known.push((0, sibling()));
        }
        levels.push(known);
        let mut places: Vec<(AccountId, usize)> = leaves
            .iter()
            .enumerate()
            .map(|(place, (_, leaf))| (leaf.id, place))
            .collect();
        places.sort_unstable();
        Self {
            count,
            leaves,
            places,
            levels,
        }
    }

    /// The number of leaves of the whole tree.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The commitment to all accounts of the tree.
    #[must_use]
    pub fn root(&self) -> Digest {
        let top = self.levels.last().and_then(|level| level.first());
        seal(self.count, top.map_or(&ZERO, |(_, top)| top))
    }

    fn place(&self, id: &AccountId) -> Option<Place> {
        match self.places.binary_search_by_key(id, |(id, _)| *id) {
            Ok(at) => Some(Place::At(self.places[at].1)),
            Err(at) => {
                let (_, before) = self.places.get(at.checked_sub(1)?)?;
                let skips = self.leaves[*before].1.skips(id);
                skips.then_some(Place::After(*before))
            }
        }
    }

    /// The account with this id, or `None` if there is provably none.
    pub fn get(&self, id: &AccountId) -> Result<Option<Account>, StateError> {
        match self.place(id) {
            // The sentinel is a leaf but no account.
            Some(Place::At(place)) if *id != NO_ACCOUNT => Ok(Some(self.leaves[place].1.account)),
            Some(_) => Ok(None),
            None => Err(StateError::NotCovered(*id)),
        }
    }

    /// Whether this is [`crate::StateTree::partial`] of exactly these ids and
    /// changes, given that the root is that of a tree.
    pub fn check_cover(
        &self,
        ids: &BTreeSet<AccountId>,
        changes: &Changes,
    ) -> Result<(), CoverError> {
        let mut needed = vec![false; self.leaves.len()];
        for id in ids {
            let (place, exists) = match self.place(id).ok_or(CoverError::Missing(*id))? {
                Place::At(place) => (place, *id != NO_ACCOUNT),
                Place::After(place) => (place, false),
            };
            needed[place] = true;
            if !exists {
                let last = self.last().ok_or(CoverError::Frontier(*id))?;
                needed[last] = true;
            }
        }
        let mut exist = 0;
        for (id, account) in changes {
            let exists = matches!(self.place(id), Some(Place::At(_)));
            exist += usize::from(exists);
            if account.is_none() {
                let before = self.before(id).ok_or(CoverError::Before(*id))?;
                needed[before] = true;
            }
        }
        let end = self.count.saturating_sub(shortened(changes, exist) as u32);
        let behind = self.behind(end).ok_or(CoverError::End(end))?;
        needed[behind..].fill(true);
        let superfluous = needed.iter().position(|needed| !needed);
        superfluous.map_or(Ok(()), |place| {
            Err(CoverError::Superfluous(self.leaves[place].0))
        })
    }

    /// The place of the tree's last leaf.
    fn last(&self) -> Option<usize> {
        let (index, _) = self.leaves.last()?;
        (*index == self.count - 1).then_some(self.leaves.len() - 1)
    }

    /// The place of the leaf whose next one is this id's.
    fn before(&self, id: &AccountId) -> Option<usize> {
        let at = self.places.partition_point(|(known, _)| known < id);
        let (_, before) = *self.places.get(at.checked_sub(1)?)?;
        (self.leaves[before].1.next == *id).then_some(before)
    }

    /// The place of the first leaf with an index of at least `end`, if all of
    /// them are there.
    fn behind(&self, end: u32) -> Option<usize> {
        let first = self.leaves.partition_point(|(index, _)| *index < end);
        let there = self.leaves.len() - first;
        (there == (self.count - end) as usize).then_some(first)
    }

    /// Makes changes, to the same root as [`crate::StateTree::apply`]; but the
    /// sum of all balances is not known here, so nothing is said about its
    /// overflow. On an error nothing has changed.
    pub fn apply(&mut self, changes: &Changes) -> Result<Digest, StateError> {
        if changes.contains_key(&NO_ACCOUNT) {
            return Err(StateError::ReservedId);
        }
        let places = changes
            .keys()
            .map(|id| match self.place(id) {
                Some(Place::After(_)) if self.last().is_none() => Err(StateError::NotCovered(*id)),
                place => place.ok_or(StateError::NotCovered(*id)),
            })
            .collect::<Result<Vec<_>, _>>()?;
        self.check_changes(changes, &places)?;
        let mut dirty = Vec::with_capacity(places.len());
        let mut restructures = false;
        for (account, place) in changes.values().zip(&places) {
            match (account, place) {
                (Some(account), Place::At(place)) => {
                    self.leaves[*place].1.account = *account;
                    dirty.push(*place);
                }
                _ => restructures = true,
            }
        }
        let end = if restructures {
            self.restructure(changes, &mut dirty)
        } else {
            None
        };
        dirty.sort_unstable();
        dirty.dedup();
        self.rehash(&dirty, end);
        Ok(self.root())
    }

    /// Whether changes to the accounts at `places` can be made.
    fn check_changes(&self, changes: &Changes, places: &[Place]) -> Result<(), StateError> {
        let (mut created, mut exist) = (0, 0);
        for ((id, account), place) in changes.iter().zip(places) {
            match (account, place) {
                (None, Place::After(_)) => return Err(StateError::NoAccount(*id)),
                (Some(_), Place::After(_)) => created += 1,
                (None, Place::At(_)) => {
                    self.before(id).ok_or(StateError::NotCovered(*id))?;
                    exist += 1;
                }
                (Some(_), Place::At(_)) => exist += 1,
            }
        }
        u32::try_from(self.count as usize + created).map_err(|_| StateError::TooMany)?;
        let end = self.count.saturating_sub(shortened(changes, exist) as u32);
        if self.behind(end).is_none()
            && let Some((removed, _)) = changes.iter().find(|(_, account)| account.is_none())
        {
            return Err(StateError::NotCovered(*removed));
        }
        Ok(())
    }

    /// Removes and creates accounts, and says where the tree ends if it became
    /// shorter.
    fn restructure(&mut self, changes: &Changes, dirty: &mut Vec<usize>) -> Option<u32> {
        let mut by_id: BTreeMap<AccountId, usize> = self.places.drain(..).collect();
        let before = |by_id: &BTreeMap<AccountId, usize>, id: &AccountId| {
            let below = by_id.range(..id).next_back();
            below.map_or(0, |(_, place)| *place)
        };
        let mut vacant = BTreeSet::new();
        let mut created = Vec::new();
        for (id, account) in changes {
            match (account, by_id.get(id).copied()) {
                (Some(_), Some(_)) => {}
                (Some(account), None) => created.push((*id, *account)),
                (None, place) => {
                    by_id.remove(id);
                    let before = before(&by_id, id);
                    dirty.push(before);
                    if let Some(place) = place {
                        self.leaves[before].1.next = self.leaves[place].1.next;
                        vacant.insert(place);
                    }
                }
            }
        }
        for (id, account) in created {
            let before = before(&by_id, &id);
            let next = std::mem::replace(&mut self.leaves[before].1.next, id);
            let leaf = Leaf { id, next, account };
            let place = vacant.pop_first().unwrap_or(self.leaves.len());
            if let Some((_, vacated)) = self.leaves.get_mut(place) {
                *vacated = leaf;
            } else {
                self.leaves.push((self.count, leaf));
                self.count += 1;
            }
            by_id.insert(id, place);
            dirty.extend([before, place]);
        }
        let end = self.close(&vacant, &mut by_id, dirty);
        self.places = by_id.into_iter().collect();
        end
    }

    /// Ends the tree as many leaves earlier as places are vacant. Places are in
    /// the order of indices.
    fn close(
        &mut self,
        vacant: &BTreeSet<usize>,
        by_id: &mut BTreeMap<AccountId, usize>,
        dirty: &mut Vec<usize>,
    ) -> Option<u32> {
        if vacant.is_empty() {
            return None;
        }
        let end = self.leaves.len() - vacant.len();
        let moved = (end..self.leaves.len()).filter(|place| !vacant.contains(place));
        for (from, to) in moved.zip(vacant) {
            let leaf = self.leaves[from].1;
            self.leaves[*to].1 = leaf;
            by_id.insert(leaf.id, *to);
            dirty.push(*to);
        }
        self.leaves.truncate(end);
        self.count -= vacant.len() as u32;
        dirty.retain(|place| *place < end);
        Some(self.count)
    }

    /// Recomputes the nodes at and above the leaves at the places `dirty`,
    /// which must be in ascending order, each once; and, if the tree was longer,
    /// those above its new `end`.
    fn rehash(&mut self, dirty: &[usize], end: Option<u32>) {
        let leaves = dirty.iter().map(|place| &self.leaves[*place]);
        let mut changed: Vec<(u32, Digest)> = leaves.map(|(at, leaf)| (*at, leaf.hash())).collect();
        let mut width = self.count;
        let mut level = 0;
        loop {
            if self.levels.len() == level {
                // The tree became deeper: nothing of this level is known yet,
                // and all of the level below is.
                changed = parents(&self.levels[level - 1], 0..width);
                self.levels.push(Vec::new());
            }
            merge(&mut self.levels[level], &changed);
            let exist = self.levels[level].partition_point(|(at, _)| *at < width);
            self.levels[level].truncate(exist);
            if width == 1 {
                self.levels.truncate(level + 1);
                return;
            }
            let mut above: Vec<u32> = changed.iter().map(|(at, _)| at / 2).collect();
            // The node that lost some of the leaves below it, but not all.
            above.extend(
                end.and_then(|end| cut(end as usize, level + 1))
                    .map(|at| at as u32),
            );
            above.dedup();
            changed = parents(&self.levels[level], above);
            width = width.div_ceil(2);
            level += 1;
        }
    }
}

/// Puts `changed` in their places in `level`; new nodes are at its end.
fn merge(level: &mut Vec<(u32, Digest)>, changed: &[(u32, Digest)]) {
    let mut slots = level.iter_mut();
    let mut new = changed;
    while let Some(((at, hash), after)) = new.split_first() {
        let Some(slot) = slots.find(|(slot, _)| slot == at) else {
            break;
        };
        slot.1 = *hash;
        new = after;
    }
    level.extend_from_slice(new);
}

/// The nodes at the ascending indices `above` from the level below them.
fn parents(below: &[(u32, Digest)], above: impl IntoIterator<Item = u32>) -> Vec<(u32, Digest)> {
    let mut from = 0;
    above
        .into_iter()
        .map(|at| {
            while below.get(from).is_some_and(|(child, _)| *child < 2 * at) {
                from += 1;
            }
            let child = |index: u32| {
                let found = below[from..]
                    .iter()
                    .take(2)
                    .find(|(child, _)| *child == index);
                found.map_or(ZERO, |(_, hash)| *hash)
            };
            (at, node(&child(2 * at), &child(2 * at + 1)))
        })
        .collect()
}
