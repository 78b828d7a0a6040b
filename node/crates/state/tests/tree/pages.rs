// SPDX-License-Identifier: Apache-2.0
//! Pages against the tree that they are of, and against tampering.

use commonware_codec::{DecodeExt as _, Encode as _, FixedSize as _};
use proptest::{prelude::*, sample::Index};
use shardnode_primitives::{AccountId, Digest};
use shardnode_state::{
    Account, Leaf, Page, StateTree,
    page::{LEAVES, pages},
};
use std::sync::LazyLock;

/// Leaves of trees around the sizes at which the number of pages or levels
/// changes.
const SIZES: [u32; 10] = [1, 2, 3, 1_023, 1_024, 1_025, 2_048, 2_049, 4_096, 5_000];

fn tree_of(leaves: u32) -> StateTree {
    let account = |number: u32| {
        let mut id = [0; 32];
        id[..4].copy_from_slice(&number.wrapping_mul(0x9e37_79b1).to_be_bytes());
        id[31] = 1;
        let account = Account {
            balance: u64::from(number),
            nonce: 1,
        };
        (AccountId(id), account)
    };
    StateTree::genesis((1..leaves).map(account)).unwrap()
}

static TREES: LazyLock<Vec<StateTree>> = LazyLock::new(|| SIZES.into_iter().map(tree_of).collect());

fn tree() -> impl Strategy<Value = &'static StateTree> {
    (0..SIZES.len()).prop_map(|at| &TREES[at])
}

/// Some page of a tree, as it arrives somewhere else.
fn encoded(tree: &StateTree, which: Index) -> Vec<u8> {
    let pages = tree.pages();
    let index = which.index(pages.len() as usize);
    let page = pages.page(u32::try_from(index).unwrap()).unwrap();
    page.encode().to_vec()
}

/// Whether these bytes are a page of a tree with this root.
fn holds(bytes: Vec<u8>, root: &Digest) -> bool {
    Page::decode(bytes).is_ok_and(|page| page.verify(root).is_ok())
}

#[test]
fn all_pages_together_are_the_tree() {
    for (tree, size) in TREES.iter().zip(SIZES) {
        let held = tree.pages();
        assert_eq!(held.len(), pages(size), "{size}");
        assert!(!held.is_empty(), "{size}");
        assert_eq!(held.leaves()[..], *tree.leaves(), "{size}");
        let mut leaves: Vec<Leaf> = Vec::new();
        for index in 0..held.len() {
            let page = Page::decode(held.page(index).unwrap().encode()).unwrap();
            assert_eq!((page.count(), page.index()), (size, index));
            leaves.extend(page.verify(&tree.root()).unwrap());
        }
        assert_eq!(held.page(held.len()), None);
        assert_eq!(held.page(u32::MAX), None);
        let rebuilt = StateTree::from_leaves(leaves).unwrap();
        assert_eq!(rebuilt.root(), tree.root(), "{size}");
    }
}

#[test]
fn pages_are_of_the_tree_as_it_was() {
    let mut tree = tree_of(2_000);
    let (before, held) = (tree.root(), tree.pages());
    let id = tree.leaves()[1_500].id;
    let account = Account::default();
    tree.apply(&[(id, Some(account))].into()).unwrap();
    assert!(held.page(1).unwrap().verify(&before).is_ok());
    let error = held.page(1).unwrap().verify(&tree.root()).unwrap_err();
    assert_eq!((error.index, error.got), (1, before));
}

proptest! {
    #[test]
    fn any_flipped_bit_breaks_a_page(tree in tree(), which in any::<Index>(), at in any::<Index>(), bit in 0u8..8) {
        let mut bytes = encoded(tree, which);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(!holds(bytes, &tree.root()), "byte {}", at);
    }

    #[test]
    fn a_page_does_not_stand_for_another(tree in tree(), which in any::<Index>(), index in any::<u32>()) {
        let mut bytes = encoded(tree, which);
        for claimed in [index, index % pages(5_000)] {
            let moved = claimed.to_be_bytes() != bytes[4..8];
            bytes[4..8].copy_from_slice(&claimed.to_be_bytes());
            prop_assert_eq!(holds(bytes.clone(), &tree.root()), !moved);
            if moved {
                break;
            }
        }
    }

    #[test]
    fn leaves_do_not_change_places(tree in tree(), which in any::<Index>(), a in any::<Index>(), b in any::<Index>()) {
        let mut bytes = encoded(tree, which);
        let leaves = (bytes.len() - 8).min(LEAVES * Leaf::SIZE) / Leaf::SIZE;
        let (a, b) = (a.index(leaves), b.index(leaves));
        let place = |at: usize| 8 + at * Leaf::SIZE..8 + (at + 1) * Leaf::SIZE;
        let (first, second) = (bytes[place(a)].to_vec(), bytes[place(b)].to_vec());
        bytes[place(a)].copy_from_slice(&second);
        bytes[place(b)].copy_from_slice(&first);
        prop_assert_eq!(holds(bytes, &tree.root()), first == second);
    }

    #[test]
    fn a_tree_of_another_size_has_other_pages(tree in tree(), which in any::<Index>(), count in any::<u32>()) {
        let mut bytes = encoded(tree, which);
        let own = u32::from_be_bytes(bytes[..4].try_into().unwrap());
        for claimed in [count, count % 8_192, own - 1, own + 1] {
            bytes[..4].copy_from_slice(&claimed.to_be_bytes());
            prop_assert_eq!(holds(bytes.clone(), &tree.root()), claimed == own);
        }
    }

    #[test]
    fn a_page_without_its_end_is_none(tree in tree(), which in any::<Index>(), cut in any::<Index>()) {
        let bytes = encoded(tree, which);
        let cut = cut.index(bytes.len());
        prop_assert!(Page::decode(bytes[..cut].to_vec()).is_err());
        let mut longer = bytes;
        longer.push(0);
        prop_assert!(Page::decode(longer).is_err());
    }

    #[test]
    fn hostile_bytes_are_no_page(bytes in proptest::collection::vec(any::<u8>(), 0..400), count in 0u32..4, index in 0u32..2) {
        let mut small = [count.to_be_bytes(), index.to_be_bytes()].concat();
        small.extend_from_slice(bytes.get(8..).unwrap_or_default());
        for bytes in [bytes, small] {
            prop_assert!(!holds(bytes, &TREES[0].root()));
        }
    }
}
