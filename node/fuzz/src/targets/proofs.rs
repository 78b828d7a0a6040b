// SPDX-License-Identifier: Apache-2.0
//! What clients are shown of accounts and outcomes.

use super::Target;
use crate::{Decoder, documents};
use commonware_codec::Encode as _;
use shardnode_primitives::{AccountId, BlockLimits, hash::ZERO};
use shardnode_state::ProofError;
use shardnode_verifier::{FinalizedBlock, Limits, ProvenAccount, ProvenOutcome, Verifier};

/// Those of the network that the golden proofs are of.
const LIMITS: Limits = Limits {
    voters: 4,
    block: BlockLimits {
        shards: 2,
        lag: 2,
        validators: 5,
    },
};

/// The target.
#[must_use]
pub fn target() -> Target {
    let verifier = Verifier::new(&documents::genesis());
    let (of_accounts, of_outcomes) = (verifier.clone(), verifier.clone());
    let id = AccountId([0x01; 32]);
    Target {
        name: "proofs",
        decoders: vec![
            Decoder::of::<FinalizedBlock>(LIMITS, move |finalized| {
                let _ = verifier.block(&finalized, 0);
            }),
            Decoder::of::<ProvenAccount>(LIMITS, move |proven| {
                let _ = of_accounts.account(&id, proven.encode(), 0);
                // Under the root that it leads to it may prove anything.
                if let Err(ProofError::Root { got, .. }) = proven.proof.verify(&id, &ZERO) {
                    let _ = proven.proof.verify(&id, &got);
                }
            }),
            Decoder::of::<ProvenOutcome>(LIMITS, move |proven| {
                let _ = of_outcomes.outcome(&id, &ZERO, proven.encode());
                let _ = proven.proof.root(ZERO);
            }),
        ],
    }
}
