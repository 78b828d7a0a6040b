// SPDX-License-Identifier: Apache-2.0
//! Leaves, proofs of accounts, and partial states.

use super::Target;
use crate::Decoder;
use shardnode_primitives::{AccountId, hash::ZERO};
use shardnode_state::{
    Account, AccountProof, Leaf, NO_ACCOUNT, Page, PartialState, PartialTree, ProofError,
};
use std::collections::{BTreeMap, BTreeSet};

/// The target.
#[must_use]
pub fn target() -> Target {
    Target {
        name: "state",
        decoders: vec![
            Decoder::of::<Account>((), drop),
            Decoder::of::<Leaf>((), |leaf| {
                let _ = leaf.hash();
            }),
            Decoder::of::<AccountProof>((), |proof| {
                for id in ids() {
                    // Under the root that it leads to it may prove anything.
                    if let Err(ProofError::Root { got, .. }) = proof.verify(&id, &ZERO) {
                        let _ = proof.verify(&id, &got);
                    }
                }
            }),
            Decoder::of::<Page>((), |page| {
                if let Err(error) = page.clone().verify(&ZERO) {
                    let _ = page.verify(&error.got);
                }
            }),
            Decoder::of::<PartialState>((), |state| {
                let mut covered: BTreeSet<AccountId> =
                    state.leaves().iter().map(|(_, leaf)| leaf.id).collect();
                covered.extend(ids());
                let mut tree = own_root(state);
                let _ = tree.check_cover(&covered);
                for id in &covered {
                    let _ = tree.get(id);
                }
                change(&mut tree, covered);
            }),
        ],
    }
}

/// Ids before, among and after those of most trees.
fn ids() -> [AccountId; 4] {
    [
        NO_ACCOUNT,
        AccountId([0x01; 32]),
        AccountId([0x80; 32]),
        AccountId([0xff; 32]),
    ]
}

/// The partial state as one of the state that it is of, whatever that is.
fn own_root(state: PartialState) -> PartialTree {
    let root = match state.clone().verify(&ZERO) {
        Ok(_) => unreachable!("a root of zeroes has no preimage"),
        Err(error) => error.got,
    };
    match state.verify(&root) {
        Ok(tree) => tree,
        Err(error) => unreachable!("a partial state has two roots: {error}"),
    }
}

/// Changes all accounts at once, and then each by itself.
fn change(tree: &mut PartialTree, ids: BTreeSet<AccountId>) {
    let account = Account {
        balance: u64::MAX,
        nonce: 1,
    };
    let all: BTreeMap<_, _> = ids.into_iter().map(|id| (id, account)).collect();
    let _ = tree.apply(&all);
    for (id, account) in all {
        let _ = tree.apply(&BTreeMap::from([(id, account)]));
    }
}
