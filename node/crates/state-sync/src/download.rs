// SPDX-License-Identifier: Apache-2.0
//! The pages of one state, as they come in.

use crate::choice::Target;
use bytes::Bytes;
use commonware_codec::DecodeExt as _;
use shardnode_state::{
    Leaf, Page, PageError,
    page::{LEAVES, pages},
};
use std::collections::BTreeSet;

/// Pages that are asked for at a time: 1.3 MB.
pub(crate) const WINDOW: u32 = 16;

/// Why a page is refused: whoever sent it does not have what it says it has.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("page cannot be decoded")]
    Bytes(#[from] commonware_codec::Error),
    #[error("page is another than the one asked for")]
    Index,
    #[error(transparent)]
    Root(#[from] PageError),
    #[error("state has {leaves} leaves, at most {most} were ever created")]
    Size { leaves: u32, most: u64 },
}

/// A state that is being fetched.
pub(crate) struct Download {
    target: Target,
    most: u64,
    /// Leaves of the whole state, once a page told.
    count: Option<u32>,
    leaves: Vec<Leaf>,
    here: Vec<bool>,
    asked: BTreeSet<u32>,
}

impl Download {
    /// Fetches `target`, which can have at most `most` leaves.
    pub(crate) const fn new(target: Target, most: u64) -> Self {
        Self {
            target,
            most,
            count: None,
            leaves: Vec::new(),
            here: Vec::new(),
            asked: BTreeSet::new(),
        }
    }

    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    /// How many pages are here.
    pub(crate) fn fetched(&self) -> u32 {
        self.here.iter().filter(|here| **here).count() as u32
    }

    /// How many there are, once that is known.
    pub(crate) fn pages(&self) -> Option<u32> {
        self.count.map(pages)
    }

    /// The pages to ask for now. The first page alone tells how many there
    /// are.
    pub(crate) fn ask(&mut self) -> Vec<u32> {
        let pages = self.pages().unwrap_or(1);
        let room = (WINDOW as usize).saturating_sub(self.asked.len());
        let wanted: Vec<u32> = (0..pages)
            .filter(|index| !self.is_here(*index) && !self.asked.contains(index))
            .take(room)
            .collect();
        self.asked.extend(&wanted);
        wanted
    }

    fn is_here(&self, index: u32) -> bool {
        self.here.get(index as usize).copied().unwrap_or(false)
    }

    /// Takes the page at `index` in if it is right.
    pub(crate) fn accept(&mut self, index: u32, bytes: Bytes) -> Result<(), Refused> {
        let page = Page::decode(bytes)?;
        if page.index() != index {
            return Err(Refused::Index);
        }
        let count = page.count();
        let leaves = page.verify(&self.target.totals.state_root)?;
        if u64::from(count) > self.most {
            return Err(Refused::Size {
                leaves: count,
                most: self.most,
            });
        }
        // Every page under this root has the same count.
        if self.count.is_none() {
            self.count = Some(count);
            self.here = vec![false; pages(count) as usize];
            self.leaves = vec![Leaf::SENTINEL; count as usize];
        }
        let first = index as usize * LEAVES;
        self.leaves[first..first + leaves.len()].copy_from_slice(&leaves);
        self.here[index as usize] = true;
        self.asked.remove(&index);
        Ok(())
    }

    /// Whether every page is here.
    pub(crate) fn is_complete(&self) -> bool {
        self.count.is_some() && self.here.iter().all(|here| *here)
    }

    /// All leaves, of a complete download.
    pub(crate) fn into_leaves(self) -> (Target, Vec<Leaf>) {
        (self.target, self.leaves)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use commonware_codec::Encode as _;
    use shardnode_primitives::{AccountId, ShardTotals};
    use shardnode_state::{Account, Pages, StateTree};

    fn tree(accounts: u32) -> StateTree {
        let account = |number: u32| {
            let mut id = [1; 32];
            id[..4].copy_from_slice(&number.to_be_bytes());
            (
                AccountId(id),
                Account {
                    balance: 1,
                    nonce: 0,
                },
            )
        };
        StateTree::genesis((0..accounts).map(account)).unwrap()
    }

    fn download(tree: &StateTree, most: u64) -> Download {
        let totals = ShardTotals {
            height: 5,
            ..ShardTotals::genesis(tree.root(), tree.balance())
        };
        Download::new(Target { block: 6, totals }, most)
    }

    fn page(pages: &Pages, index: u32) -> Bytes {
        pages.page(index).unwrap().encode()
    }

    #[test]
    fn pages_in_any_order_become_the_state() {
        let tree = tree(20 * 1_024);
        let held = tree.pages();
        let mut download = download(&tree, 1 << 20);
        assert_eq!((download.ask(), download.ask()), (vec![0], vec![]));
        assert_eq!((download.fetched(), download.pages()), (0, None));
        download.accept(0, page(&held, 0)).unwrap();
        assert_eq!((download.fetched(), download.pages()), (1, Some(21)));
        let mut asked = download.ask();
        assert_eq!(asked, (1..=16).collect::<Vec<_>>());
        while let Some(index) = asked.pop() {
            assert!(!download.is_complete());
            download.accept(index, page(&held, index)).unwrap();
            asked.extend(download.ask());
        }
        assert!(download.is_complete());
        let (target, leaves) = download.into_leaves();
        let rebuilt = StateTree::from_leaves(leaves).unwrap();
        assert_eq!(rebuilt.root(), target.totals.state_root);
    }

    #[test]
    fn wrong_pages_are_refused_and_change_nothing() {
        let (right, wrong) = (tree(3_000), tree(3_001));
        let (held, other) = (right.pages(), wrong.pages());
        let mut download = download(&right, 3_001);
        assert_eq!(download.ask(), [0]);
        let refused = |result| match result {
            Err(Refused::Bytes(_)) => "bytes",
            Err(Refused::Index) => "index",
            Err(Refused::Root(_)) => "root",
            Err(Refused::Size { .. }) => "size",
            Ok(()) => "taken",
        };
        let short = page(&held, 0).slice(..5_000);
        assert_eq!(refused(download.accept(0, short)), "bytes");
        assert_eq!(refused(download.accept(0, page(&held, 1))), "index");
        assert_eq!(refused(download.accept(0, page(&other, 0))), "root");
        assert_eq!((download.fetched(), download.pages()), (0, None));
        assert_eq!(refused(download.accept(0, page(&held, 0))), "taken");
        assert_eq!(refused(download.accept(2, page(&other, 2))), "root");
        assert_eq!((download.fetched(), download.pages()), (1, Some(3)));
    }

    #[test]
    fn a_state_larger_than_can_be_is_refused() {
        let tree = tree(3_000);
        let held = tree.pages();
        let mut small = download(&tree, 3_000);
        let error = small.accept(0, page(&held, 0)).unwrap_err();
        assert!(matches!(
            error,
            Refused::Size {
                leaves: 3_001,
                most: 3_000
            }
        ));
        assert_eq!(small.pages(), None);
    }
}
