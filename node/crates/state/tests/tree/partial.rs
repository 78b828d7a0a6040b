// SPDX-License-Identifier: Apache-2.0
//! Partial trees against the whole tree.

use crate::{changes, history, id, play, possible, set};
use commonware_codec::{DecodeExt as _, Encode as _, Error, FixedSize as _};
use commonware_formatting::hex;
use proptest::{prelude::*, sample::Index};
use shardnode_primitives::{AccountId, Digest};
use shardnode_state::{
    Account, Changes, CoverError, Leaf, NO_ACCOUNT, PartialState, PartialTree, StateError,
    StateTree,
};
use std::collections::BTreeSet;

pub(crate) type Ids = BTreeSet<AccountId>;

/// What takes nothing beside the accounts themselves.
pub(crate) const NO_CHANGES: &Changes = &Changes::new();

pub(crate) fn ids() -> impl Strategy<Value = Ids> {
    let any_id = prop_oneof![20 => any::<u8>().prop_map(id), 1 => Just(NO_ACCOUNT)];
    proptest::collection::btree_set(any_id, 0..20)
}

/// As it arrives somewhere else.
pub(crate) fn partial(tree: &StateTree, ids: &Ids, changes: &Changes) -> PartialTree {
    let state = tree.partial(ids, changes);
    let decoded = PartialState::decode(state.encode()).unwrap();
    assert_eq!(decoded, state);
    decoded.verify(&tree.root()).unwrap()
}

fn without_reserved(ids: &Ids) -> impl Iterator<Item = AccountId> {
    ids.iter().copied().filter(|id| *id != NO_ACCOUNT)
}

proptest! {
    #[test]
    fn accounts_read_as_in_the_whole_tree(history in history(), ids in ids(), asked in ids()) {
        let (tree, _) = play(&history);
        let partial = partial(&tree, &ids, NO_CHANGES);
        for id in &ids {
            prop_assert_eq!(partial.get(id), Ok(tree.get(id)));
        }
        for id in &asked {
            match partial.get(id) {
                Ok(account) => prop_assert_eq!(account, tree.get(id)),
                Err(error) => prop_assert_eq!(error, StateError::NotCovered(*id)),
            }
        }
    }

    #[test]
    fn changes_lead_to_the_same_roots(history in history(), ids in ids(), rounds in proptest::collection::vec((any::<u64>(), 0u64..1_000), 1..4)) {
        let (mut tree, _) = play(&history);
        let mut partial = partial(&tree, &ids, NO_CHANGES);
        for (salt, balance) in rounds {
            // Some of the ids, so that creations come in several rounds.
            let changes: Changes = without_reserved(&ids)
                .filter(|id| (salt >> (id.0[31] % 64)) & 1 == 1)
                .map(|id| (id, Some(Account { balance: balance + u64::from(id.0[0]), nonce: salt })))
                .collect();
            prop_assert_eq!(partial.apply(&changes), tree.apply(&changes));
            prop_assert_eq!(partial.root(), tree.root());
            for id in &ids {
                prop_assert_eq!(partial.get(id), Ok(tree.get(id)));
            }
        }
    }

    #[test]
    fn changes_of_other_accounts_are_refused(history in history(), ids in ids(), changes in changes()) {
        let (mut tree, _) = play(&history);
        let changes = possible(&tree, &changes);
        let mut partial = partial(&tree, &ids, NO_CHANGES);
        let before = partial.root();
        let covered = changes.keys().all(|id| partial.get(id).is_ok());
        match partial.apply(&changes) {
            Ok(root) => {
                prop_assert!(covered);
                prop_assert_eq!(Ok(root), tree.apply(&changes));
            }
            Err(StateError::NotCovered(id)) => {
                prop_assert!(!ids.contains(&id) || changes[&id].is_none());
                prop_assert_eq!(partial.root(), before);
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn a_cover_is_for_its_accounts_and_no_others(history in history(), ids in ids(), others in ids()) {
        let (tree, _) = play(&history);
        let state = tree.partial(&ids, NO_CHANGES);
        let partial = partial(&tree, &ids, NO_CHANGES);
        prop_assert_eq!(partial.check_cover(&ids, NO_CHANGES), Ok(()));
        let same = tree.partial(&others, NO_CHANGES) == state;
        prop_assert_eq!(partial.check_cover(&others, NO_CHANGES).is_ok(), same);
    }

    #[test]
    fn any_flipped_bit_breaks_it(history in history(), ids in ids(), at in any::<Index>(), bit in 0u8..8) {
        let (tree, _) = play(&history);
        let mut bytes = tree.partial(&ids, NO_CHANGES).encode().to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(forged) = PartialState::decode(bytes) {
            prop_assert!(forged.verify(&tree.root()).is_err(), "byte {}", at);
        }
    }

    #[test]
    fn other_lengths_are_refused(history in history(), ids in ids()) {
        let (tree, _) = play(&history);
        let bytes = tree.partial(&ids, NO_CHANGES).encode();
        for length in 0..bytes.len() {
            prop_assert!(PartialState::decode(bytes.slice(..length)).is_err());
        }
        let longer = [&bytes[..], &[0; Digest::SIZE]].concat();
        prop_assert!(PartialState::decode(longer).is_err());
    }

    #[test]
    fn hostile_bytes_are_refused_or_stay_what_they_are(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        count in 0u32..6,
        leaves in 0u8..3,
        indices in any::<[u8; 3]>(),
    ) {
        // Random indices are hardly ever inside the tree: try small ones too.
        let mut small = [&count.to_be_bytes()[..], &[leaves]].concat();
        for (index, content) in indices.iter().zip(bytes.chunks(Leaf::SIZE)) {
            small.extend_from_slice(&u32::from(index % 4).to_be_bytes());
            small.extend_from_slice(content);
        }
        for bytes in [bytes, small] {
            if let Ok(state) = PartialState::decode(bytes.clone()) {
                prop_assert_eq!(state.encode().to_vec(), bytes);
                let _ = state.verify(&StateTree::default().root());
            }
        }
    }
}

/// Creations from every size across several powers of two, one and many.
#[test]
fn trees_of_every_size_grow_the_same() {
    let account = Account {
        balance: 3,
        nonce: 1,
    };
    let mut tree = StateTree::default();
    for number in 1..=70u8 {
        for more in [1, 2, 5, 40, 100] {
            let created: Changes = (number..number.saturating_add(more))
                .map(|number| (id(number), Some(account)))
                .collect();
            let mut partial = partial(&tree, &created.keys().copied().collect(), &created);
            let mut grown = tree.clone();
            assert_eq!(
                partial.apply(&created),
                grown.apply(&created),
                "{more} on {number}"
            );
        }
        tree.apply(&set(id(number), account)).unwrap();
    }
}

#[test]
fn what_is_not_needed_is_named() {
    let accounts = (1..=9).map(|number| (id(number), Account::default()));
    let tree = StateTree::genesis(accounts).unwrap();
    let one = Ids::from([id(4)]);
    let two = Ids::from([id(4), id(5)]);
    let between = AccountId([38; 32]);
    let absent = Ids::from([between]);

    let superfluous = partial(&tree, &two, NO_CHANGES).check_cover(&one, NO_CHANGES);
    assert!(matches!(superfluous, Err(CoverError::Superfluous(_))));
    let missing = partial(&tree, &one, NO_CHANGES).check_cover(&two, NO_CHANGES);
    assert_eq!(missing, Err(CoverError::Missing(id(5))));
    // The leaf before an absent account shows that it is absent, but without
    // the last leaf nothing can be created.
    let mut shown = partial(&tree, &Ids::from([id(1)]), NO_CHANGES);
    assert_eq!(shown.get(&between), Ok(None));
    assert_eq!(
        shown.check_cover(&absent, NO_CHANGES),
        Err(CoverError::Frontier(between))
    );
    let create = set(between, Account::default());
    assert_eq!(shown.apply(&create), Err(StateError::NotCovered(between)));
    let reserved = set(NO_ACCOUNT, Account::default());
    assert_eq!(
        partial(&tree, &Ids::from([NO_ACCOUNT]), NO_CHANGES).apply(&reserved),
        Err(StateError::ReservedId)
    );
}

#[test]
fn a_part_says_what_is_in_it_and_nothing_of_the_rest() {
    let accounts = (1..=9).map(|number| (AccountId([number; 32]), Account::default()));
    let tree = StateTree::genesis(accounts).unwrap();
    let state = tree.partial(&Ids::from([AccountId([4; 32])]), NO_CHANGES);
    assert_eq!(state.count(), 10);
    assert_eq!(state.leaves(), [(4, tree.leaves()[4])]);
    let shown = state.verify(&tree.root()).unwrap();
    assert_eq!(shown.count(), 10);
    for number in (1..=9).filter(|number| *number != 4) {
        let id = AccountId([number; 32]);
        assert_eq!(shown.get(&id), Err(StateError::NotCovered(id)));
    }
}

#[test]
fn other_roots_are_refused() {
    let tree = StateTree::genesis([(id(1), Account::default())]).unwrap();
    for ids in [Ids::new(), Ids::from([id(1)]), Ids::from([id(2)])] {
        let want = StateTree::default().root();
        let error = tree.partial(&ids, NO_CHANGES).verify(&want).unwrap_err();
        assert_eq!((error.got, error.want), (tree.root(), want));
    }
}

/// Every rule of the encoding, broken one at a time.
#[test]
fn forms_that_no_tree_gives_are_refused() {
    let sentinel = Leaf {
        id: NO_ACCOUNT,
        next: NO_ACCOUNT,
        account: Account::default(),
    };
    let leaf = Leaf {
        id: id(1),
        ..sentinel
    };
    let encoded = |count: u32, leaves: &[(u32, Leaf)], nodes: usize| {
        let mut bytes = count.to_be_bytes().to_vec();
        bytes.push(u8::try_from(leaves.len()).unwrap());
        for (index, leaf) in leaves {
            bytes.extend_from_slice(&index.to_be_bytes());
            bytes.extend_from_slice(&leaf.encode());
        }
        bytes.resize(bytes.len() + nodes * Digest::SIZE, 7);
        bytes
    };
    let rich = Leaf {
        account: Account {
            balance: 1,
            nonce: 0,
        },
        ..sentinel
    };
    let cases = [
        (
            "as it must be",
            encoded(3, &[(0, sentinel), (2, leaf)], 1),
            true,
        ),
        ("top alone", encoded(3, &[], 1), true),
        ("no leaves in the tree", encoded(0, &[], 1), false),
        (
            "a node too many",
            encoded(3, &[(0, sentinel), (2, leaf)], 2),
            false,
        ),
        (
            "a node too few",
            encoded(3, &[(0, sentinel), (2, leaf)], 0),
            false,
        ),
        ("beyond the end", encoded(3, &[(3, leaf)], 1), false),
        (
            "out of order",
            encoded(3, &[(2, leaf), (1, leaf)], 1),
            false,
        ),
        ("twice", encoded(3, &[(2, leaf), (2, leaf)], 1), false),
        (
            "account in the sentinel's place",
            encoded(1, &[(0, leaf)], 0),
            false,
        ),
        ("sentinel elsewhere", encoded(2, &[(1, sentinel)], 1), false),
        (
            "sentinel with a balance",
            encoded(1, &[(0, rich)], 0),
            false,
        ),
        (
            "more leaves than bytes",
            [&[0, 0, 0, 9, 0xff, 0xff, 0xff, 0x7f][..], &[0; 900]].concat(),
            false,
        ),
    ];
    for (name, bytes, accepted) in cases {
        assert_eq!(PartialState::decode(bytes).is_ok(), accepted, "{name}");
    }
}

/// An encoding that changes breaks every network that runs.
#[test]
fn the_encoding_is_the_golden_one() {
    let accounts = (1..=5).map(|number| {
        let account = Account {
            balance: 0x0102_0304,
            nonce: u64::from(number),
        };
        (AccountId([number; 32]), account)
    });
    let tree = StateTree::genesis(accounts).unwrap();
    let ids = Ids::from([AccountId([2; 32]), AccountId([0xee; 32])]);
    let leaf = |index: u8, next: u8| {
        [
            format!("000000{index:02x}"),
            format!("{index:02x}").repeat(32),
            format!("{next:02x}").repeat(32),
            "0000000001020304".to_owned(),
            format!("00000000000000{index:02x}"),
        ]
        .concat()
    };
    let golden = [
        "0000000602",
        &leaf(2, 3),
        &leaf(5, 0),
        "74b8b169c7351b62f5331ff9c23d9194da88e814da182fc2fc6cefddb0be90d3",
        "56dfdc8a221c08714da5bf42bc711f31f8edb1d16bbad44dd6d34f0799cc9c3c",
        "1db822712b6fb17d02bf32996a674f8824732374f4052658b7b2342cf1aa9413",
    ]
    .concat();
    let encoded = hex(&tree.partial(&ids, NO_CHANGES).encode());
    assert_eq!(encoded, golden);
    assert_eq!(
        hex(&tree.root().0),
        "c3deec7371ccdb055dd3fcee2bfbefde5afd2aa4ff46f9c133b6e9b6ab801e74"
    );
}

/// Whoever claims more leaves than there are bytes is refused before any is read, and
/// before there is room for them.
#[test]
fn leaves_that_cannot_be_there_are_not_read() {
    let decoded = |claimed: u8| {
        let beyond = 5u32.to_be_bytes();
        let bytes = [&[0, 0, 0, 1, claimed], &beyond[..], &[0; Leaf::SIZE]].concat();
        PartialState::decode(bytes).unwrap_err()
    };
    assert!(matches!(decoded(2), Error::EndOfBuffer));
    assert!(matches!(decoded(1), Error::Invalid(..)));
}
