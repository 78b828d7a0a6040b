// SPDX-License-Identifier: Apache-2.0
//! Accounts that are removed, alone and while others are created.

use crate::{
    changes, history, id,
    partial::{Ids, NO_CHANGES, ids, partial},
    play, possible,
};
use proptest::prelude::*;
use shardnode_primitives::AccountId;
use shardnode_state::{Account, Changes, CoverError, StateError, StateTree};

/// The accounts by index after changes, as the crate's documentation says.
fn documented(tree: &StateTree, changes: &Changes) -> Vec<AccountId> {
    let removed = |id: &AccountId| changes.get(id).is_some_and(Option::is_none);
    let leaves = tree.leaves()[1..].iter().map(|leaf| leaf.id);
    let mut places: Vec<Option<AccountId>> =
        leaves.map(|id| (!removed(&id)).then_some(id)).collect();
    let existed = |id: &AccountId| tree.get(id).is_some();
    for id in changes.keys().filter(|id| !removed(id) && !existed(id)) {
        match places.iter_mut().find(|place| place.is_none()) {
            Some(vacant) => *vacant = Some(*id),
            None => places.push(Some(*id)),
        }
    }
    let accounts = places.iter().flatten().count();
    for id in places.split_off(accounts).into_iter().flatten() {
        *places.iter_mut().find(|place| place.is_none()).unwrap() = Some(id);
    }
    places.into_iter().flatten().collect()
}

/// Makes the changes on the whole tree and on the part of it, which may hold
/// more accounts, and compares with the documentation and with a tree that is
/// built anew.
fn check(tree: &StateTree, changes: &Changes, more: &Ids) {
    let covered: Ids = changes.keys().chain(more).copied().collect();
    let mut partial = partial(tree, &covered, changes);
    assert_eq!(partial.check_cover(&covered, changes), Ok(()));
    let mut whole = tree.clone();
    let root = whole.apply(changes);
    assert_eq!(partial.apply(changes), root);
    assert_eq!(
        (partial.root(), partial.count()),
        (whole.root(), whole.accounts() + 1)
    );
    let by_index: Vec<_> = whole.leaves()[1..].iter().map(|leaf| leaf.id).collect();
    assert_eq!(by_index, documented(tree, changes));
    let anew = StateTree::from_leaves(whole.leaves().to_vec()).unwrap();
    assert_eq!(Ok(anew.root()), root);
    for id in &covered {
        assert_eq!(partial.get(id), Ok(whole.get(id)));
        assert_eq!(whole.prove(id).verify(id, &whole.root()), Ok(whole.get(id)));
    }
}

proptest! {
    #[test]
    fn parts_and_trees_come_to_the_same(history in history(), changes in changes(), more in ids()) {
        let (tree, _) = play(&history);
        check(&tree, &possible(&tree, &changes), &more);
    }

    /// Without what only removing takes, nothing is removed.
    #[test]
    fn what_removing_takes_is_needed(history in history(), changes in changes()) {
        let (tree, _) = play(&history);
        let changes = possible(&tree, &changes);
        let covered: Ids = changes.keys().copied().collect();
        let mut shown = partial(&tree, &covered, NO_CHANGES);
        let enough = tree.partial(&covered, &changes) == tree.partial(&covered, NO_CHANGES);
        prop_assert_eq!(shown.check_cover(&covered, &changes).is_ok(), enough);
        let before = shown.root();
        match shown.apply(&changes) {
            Ok(root) => {
                let mut whole = tree;
                prop_assert_eq!(Ok(root), whole.apply(&changes));
            }
            Err(StateError::NotCovered(id)) => {
                prop_assert!(!enough && changes[&id].is_none());
                prop_assert_eq!(shown.root(), before);
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    /// What removing takes is for nothing where nothing is removed.
    #[test]
    fn a_cover_is_for_its_changes_and_no_others(history in history(), changes in changes(), others in changes()) {
        let (tree, _) = play(&history);
        let (changes, others) = (possible(&tree, &changes), possible(&tree, &others));
        let covered: Ids = changes.keys().chain(others.keys()).copied().collect();
        let shown = partial(&tree, &covered, &changes);
        let same = tree.partial(&covered, &changes) == tree.partial(&covered, &others);
        prop_assert_eq!(shown.check_cover(&covered, &others).is_ok(), same);
    }
}

/// From every size across several powers of two: the first ones, the last ones,
/// every second one, all of them; and with one or many created meanwhile.
#[test]
fn trees_of_every_size_shrink_the_same() {
    let account = Account {
        balance: 3,
        nonce: 1,
    };
    for size in 1..=40u8 {
        let accounts = (1..=size).map(|number| (id(number), account));
        let tree = StateTree::genesis(accounts).unwrap();
        let leaves: Vec<AccountId> = tree.leaves()[1..].iter().map(|leaf| leaf.id).collect();
        let sets: [Vec<AccountId>; 5] = [
            leaves[..1].to_vec(),
            leaves[leaves.len() - 1..].to_vec(),
            leaves[leaves.len() / 2..].to_vec(),
            leaves.iter().copied().step_by(2).collect(),
            leaves.clone(),
        ];
        for removed in sets {
            for created in [0, 1, 7] {
                let created = (100..100 + created).map(|number| (id(number), Some(account)));
                let changes = removed
                    .iter()
                    .map(|id| (*id, None))
                    .chain(created)
                    .collect();
                check(&tree, &changes, &Ids::new());
            }
        }
    }
}

#[test]
fn what_is_missing_is_named() {
    let accounts = (1..=9u8).map(|number| (AccountId([number; 32]), Account::default()));
    let tree = StateTree::genesis(accounts).unwrap();
    let one = AccountId([4; 32]);
    let covered = Ids::from([one]);
    let changes = Changes::from([(one, None)]);
    let shown = partial(&tree, &covered, NO_CHANGES);
    assert_eq!(
        shown.check_cover(&covered, &changes),
        Err(CoverError::Before(one))
    );
    let before = Ids::from([AccountId([3; 32]), one]);
    let mut shown = partial(&tree, &before, NO_CHANGES);
    assert_eq!(
        shown.check_cover(&covered, &changes),
        Err(CoverError::End(9))
    );
    assert_eq!(shown.apply(&changes), Err(StateError::NotCovered(one)));
    // An account that changes as well is not one that is made in the place of another.
    let changed = AccountId([6; 32]);
    let changes = Changes::from([(one, None), (changed, Some(Account::default()))]);
    let covered = before.iter().copied().chain([changed]).collect();
    let mut shown = partial(&tree, &covered, NO_CHANGES);
    assert_eq!(shown.apply(&changes), Err(StateError::NotCovered(one)));
    let stranger = AccountId([0x44; 32]);
    let shown = partial(&tree, &Ids::from([stranger]), NO_CHANGES)
        .apply(&Changes::from([(stranger, None)]));
    assert_eq!(shown, Err(StateError::NoAccount(stranger)));
}
