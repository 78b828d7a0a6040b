// SPDX-License-Identifier: Apache-2.0
//! Leaves, proofs of accounts, and partial states.

use super::Target;
use crate::Decoder;
use shardnode_primitives::{AccountId, hash::ZERO};
use shardnode_state::{
    Account, AccountProof, Changes, Leaf, NO_ACCOUNT, Page, PartialState, PartialTree, ProofError,
};
use std::collections::BTreeSet;

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
                for removed in [false, true] {
                    let _ = tree.check_cover(&covered, &changes(&covered, removed));
                }
                for id in &covered {
                    let _ = tree.get(id);
                }
                change(&mut tree, &covered);
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

/// The same change of all accounts.
fn changes(ids: &BTreeSet<AccountId>, removed: bool) -> Changes {
    let account = Account {
        balance: u64::MAX,
        nonce: 1,
    };
    let change = (!removed).then_some(account);
    ids.iter().map(|id| (*id, change)).collect()
}

/// Changes all accounts at once, and then each by itself; then removes each.
fn change(tree: &mut PartialTree, ids: &BTreeSet<AccountId>) {
    let _ = tree.apply(&changes(ids, false));
    for removed in [false, true] {
        for id in ids {
            let _ = tree.apply(&changes(&BTreeSet::from([*id]), removed));
        }
    }
    let _ = tree.apply(&changes(ids, true));
}
