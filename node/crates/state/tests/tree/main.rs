// SPDX-License-Identifier: Apache-2.0
//! The tree against a plain map, and its proofs against tampering.

#![allow(clippy::unwrap_used)]

mod pages;
mod partial;
mod removed;

use commonware_codec::{DecodeExt as _, Encode as _};
use proptest::prelude::*;
use shardnode_primitives::{AccountId, Digest};
use shardnode_state::{Account, AccountProof, Changes, Leaf, ProofError, StateError, StateTree};
use std::collections::BTreeMap;

type Accounts = BTreeMap<AccountId, Account>;

/// Ids from a small space, so that changes hit existing accounts.
fn id(number: u8) -> AccountId {
    let mut id = [0; 32];
    id[0] = number.wrapping_mul(37);
    id[31] = number.max(1);
    AccountId(id)
}

/// Contents, creations and removals, also of accounts that do not exist.
fn changes() -> impl Strategy<Value = Changes> {
    let account = (0u64..1_000_000, 0u64..100);
    let account = account.prop_map(|(balance, nonce)| Account { balance, nonce });
    let account = proptest::option::weighted(0.6, account);
    proptest::collection::btree_map(any::<u8>().prop_map(id), account, 0..30)
}

/// Those of the changes that `tree` can make.
fn possible(tree: &StateTree, changes: &Changes) -> Changes {
    let mut changes = changes.clone();
    changes.retain(|id, account| account.is_some() || tree.get(id).is_some());
    changes
}

fn set(id: AccountId, account: Account) -> Changes {
    Changes::from([(id, Some(account))])
}

fn history() -> impl Strategy<Value = Vec<Changes>> {
    proptest::collection::vec(changes(), 1..8)
}

fn play(history: &[Changes]) -> (StateTree, Accounts) {
    let (first, rest) = history.split_first().unwrap();
    let some = |(id, account): (&AccountId, &Option<Account>)| Some((*id, (*account)?));
    let mut model: Accounts = first.iter().filter_map(some).collect();
    let mut tree = StateTree::genesis(model.clone()).unwrap();
    for changes in rest {
        let changes = possible(&tree, changes);
        tree.apply(&changes).unwrap();
        for (id, account) in changes {
            match account {
                Some(account) => model.insert(id, account),
                None => model.remove(&id),
            };
        }
    }
    (tree, model)
}

proptest! {
    #[test]
    fn holds_what_a_map_holds(history in history()) {
        let (tree, model) = play(&history);
        prop_assert_eq!(tree.accounts() as usize, model.len());
        prop_assert_eq!(tree.balance(), model.values().map(|account| account.balance).sum::<u64>());
        for number in 0..=u8::MAX {
            prop_assert_eq!(tree.get(&id(number)), model.get(&id(number)).copied());
        }
    }

    #[test]
    fn snapshots_rebuild_the_same_root(history in history()) {
        let (tree, _) = play(&history);
        let rebuilt = StateTree::from_leaves(tree.leaves().to_vec()).unwrap();
        prop_assert_eq!(rebuilt.root(), tree.root());
        prop_assert_eq!(play(&history).0.root(), tree.root());
    }

    #[test]
    fn presence_and_absence_are_proven(history in history(), number in any::<u8>()) {
        let (tree, model) = play(&history);
        let proof = tree.prove(&id(number));
        let decoded = AccountProof::decode(proof.encode()).unwrap();
        prop_assert_eq!(&decoded, &proof);
        prop_assert_eq!(
            proof.verify(&id(number), &tree.root()),
            Ok(model.get(&id(number)).copied())
        );
    }

    #[test]
    fn a_proof_holds_for_its_own_root_only(history in history(), number in any::<u8>(), more in changes()) {
        let (mut tree, _) = play(&history);
        let proof = tree.prove(&id(number));
        let before = tree.root();
        let after = tree.apply(&possible(&tree, &more)).unwrap();
        if after != before {
            prop_assert!(proof.verify(&id(number), &after).is_err());
        }
    }

    #[test]
    fn any_flipped_bit_breaks_a_proof(history in history(), number in any::<u8>(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let (tree, _) = play(&history);
        let mut bytes = tree.prove(&id(number)).encode().to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(forged) = AccountProof::decode(bytes) {
            let verdict = forged.verify(&id(number), &tree.root());
            prop_assert!(verdict.is_err(), "byte {}: {:?}", at, verdict);
        }
    }

    #[test]
    fn no_proof_misstates_another_account(history in history(), proven in any::<u8>(), asked in any::<u8>()) {
        let (tree, model) = play(&history);
        let proof = tree.prove(&id(proven));
        if let Ok(account) = proof.verify(&id(asked), &tree.root()) {
            prop_assert_eq!(account, model.get(&id(asked)).copied());
        }
    }

    #[test]
    fn every_shorter_encoding_is_refused(history in history(), number in any::<u8>()) {
        let (tree, _) = play(&history);
        let bytes = tree.prove(&id(number)).encode();
        for length in 0..bytes.len() {
            prop_assert!(AccountProof::decode(bytes.slice(..length)).is_err());
        }
        for leaf in tree.leaves() {
            prop_assert_eq!(&Leaf::decode(leaf.encode()).unwrap(), leaf);
            prop_assert_eq!(Account::decode(leaf.account.encode()).unwrap(), leaf.account);
        }
    }

    #[test]
    fn hostile_bytes_prove_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..300), index in 0u32..4, count in 0u32..4) {
        // Random indices are hardly ever inside the tree: try small ones too.
        let mut small = [index.to_be_bytes(), count.to_be_bytes()].concat();
        small.extend_from_slice(bytes.get(8..).unwrap_or_default());
        for bytes in [bytes, small] {
            if let Ok(proof) = AccountProof::decode(bytes) {
                prop_assert!(proof.verify(&id(1), &StateTree::default().root()).is_err());
            }
        }
    }
}

fn blake3(parts: &[&[u8]]) -> Digest {
    Digest(*blake3::hash(&parts.concat()).as_bytes())
}

/// The documented construction, written out for a tree of three leaves.
#[test]
fn root_is_the_documented_one() {
    let (less, greater) = (AccountId([1; 32]), AccountId([2; 32]));
    let zero = [0; 32];
    let leaf = |id: &[u8; 32], next: &[u8; 32], balance: u64, nonce: u64| {
        blake3(&[
            &[0x10],
            id,
            next,
            &balance.to_be_bytes(),
            &nonce.to_be_bytes(),
        ])
    };
    let node = |left: &Digest, right: &[u8; 32]| blake3(&[&[0x11], &left.0, right]);
    let root = |count: u32, top: &Digest| blake3(&[&[0x12], &count.to_be_bytes(), &top.0]);

    let mut tree = StateTree::default();
    assert_eq!(tree.root(), root(1, &leaf(&zero, &zero, 0, 0)));

    // Created first, so at index 1 although its id is the greater.
    let account = Account {
        balance: 7,
        nonce: 8,
    };
    tree.apply(&set(greater, account)).unwrap();
    let top = node(
        &leaf(&zero, &greater.0, 0, 0),
        &leaf(&greater.0, &zero, 7, 8).0,
    );
    assert_eq!(tree.root(), root(2, &top));

    tree.apply(&set(less, Account::default())).unwrap();
    let left = node(
        &leaf(&zero, &less.0, 0, 0),
        &leaf(&greater.0, &zero, 7, 8).0,
    );
    let right = node(&leaf(&less.0, &greater.0, 0, 0), &zero);
    assert_eq!(tree.root(), root(3, &node(&left, &right.0)));
}

/// Every size up to and past several powers of two, grown one by one.
#[test]
fn trees_of_every_size_prove_every_account() {
    let mut tree = StateTree::default();
    let account = Account {
        balance: 1,
        nonce: 2,
    };
    for number in 1..=70 {
        for other in 1..=number {
            let expected = (other < number).then_some(account);
            let verdict = tree.prove(&id(other)).verify(&id(other), &tree.root());
            assert_eq!(verdict, Ok(expected), "{other} of {number}");
        }
        tree.apply(&set(id(number), account)).unwrap();
    }
}

/// The leaf before an account ends where the account is, and the leaf after it
/// begins there.
#[test]
fn a_neighbour_does_not_show_that_an_account_is_absent() {
    let account = Account {
        balance: 1,
        nonce: 2,
    };
    let present = (2..=20).step_by(2).map(|number| AccountId([number; 32]));
    let tree = StateTree::genesis(present.clone().map(|id| (id, account))).unwrap();
    for proven in 0..=22u8 {
        let proof = tree.prove(&AccountId([proven; 32]));
        let shown = AccountId([(proven / 2 * 2).min(20); 32]);
        for asked in present.clone() {
            let verdict = proof.verify(&asked, &tree.root());
            if asked == shown {
                assert_eq!(verdict, Ok(Some(account)));
            } else {
                assert_eq!(verdict, Err(ProofError::Unrelated(asked)), "{proven}");
            }
        }
    }
}

#[test]
fn the_reserved_id_is_provably_no_account() {
    let zero = AccountId([0; 32]);
    for accounts in [vec![], vec![(id(1), Account::default())]] {
        let mut tree = StateTree::genesis(accounts).unwrap();
        assert_eq!(tree.get(&zero), None);
        assert_eq!(tree.prove(&zero).verify(&zero, &tree.root()), Ok(None));
        let changes = set(zero, Account::default());
        assert_eq!(tree.apply(&changes), Err(StateError::ReservedId));
    }
    let twice = [(id(1), Account::default()), (id(1), Account::default())];
    assert_eq!(
        StateTree::genesis(twice).unwrap_err(),
        StateError::Duplicate(id(1))
    );
    let reserved = [(zero, Account::default())];
    assert_eq!(
        StateTree::genesis(reserved).unwrap_err(),
        StateError::ReservedId
    );
}

#[test]
fn roots_differ_with_content_and_size() {
    let one = Account {
        balance: 1,
        nonce: 0,
    };
    let two = Account {
        balance: 1,
        nonce: 1,
    };
    let root = |accounts: &[(AccountId, Account)]| {
        StateTree::genesis(accounts.iter().copied()).unwrap().root()
    };
    let roots = [
        root(&[]),
        root(&[(id(1), one)]),
        root(&[(id(1), two)]),
        root(&[(id(2), one)]),
        root(&[(id(1), one), (id(2), one)]),
    ];
    for (at, root) in roots.iter().enumerate() {
        assert!(!roots[..at].contains(root), "root {at} repeats");
    }
}

#[test]
fn wrong_leaves_are_refused() {
    let tree =
        StateTree::genesis([(id(1), Account::default()), (id(2), Account::default())]).unwrap();
    let leaves = tree.leaves().to_vec();
    let with = |change: &dyn Fn(&mut Vec<Leaf>)| {
        let mut leaves = leaves.clone();
        change(&mut leaves);
        StateTree::from_leaves(leaves).unwrap_err()
    };
    assert_eq!(with(&|leaves| leaves.clear()), StateError::Sentinel);
    assert_eq!(with(&|leaves| leaves.swap(0, 1)), StateError::Sentinel);
    let first = leaves[1].id;
    assert_eq!(
        with(&|leaves| leaves[2].id = first),
        StateError::Duplicate(first)
    );
    assert_eq!(
        with(&|leaves| leaves[1].next = id(9)),
        StateError::Order(first)
    );
    assert_eq!(
        with(&|leaves| {
            leaves[1].account.balance = u64::MAX;
            leaves[2].account.balance = 1;
        }),
        StateError::Overflow
    );
    assert_eq!(
        with(&|leaves| leaves[2].id = AccountId([0; 32])),
        StateError::ReservedId
    );
}

#[test]
fn a_refused_change_changes_nothing() {
    let rich = Account {
        balance: u64::MAX,
        nonce: 0,
    };
    let mut tree = StateTree::genesis([(id(1), rich)]).unwrap();
    let root = tree.root();
    let one_more = Account {
        balance: 1,
        nonce: 0,
    };
    let one_more = set(id(2), one_more);
    assert_eq!(tree.apply(&one_more), Err(StateError::Overflow));
    let stranger = Changes::from([(id(1), None), (id(2), None)]);
    assert_eq!(tree.apply(&stranger), Err(StateError::NoAccount(id(2))));
    assert_eq!((tree.root(), tree.accounts()), (root, 1));
}
