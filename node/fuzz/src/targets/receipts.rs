// SPDX-License-Identifier: Apache-2.0
//! Receipts and the proofs that headers commit to them.

use super::{MOST, Target};
use crate::Decoder;
use shardnode_primitives::{ProvenBucket, Receipt, ReceiptBucket, hash::ZERO, merkle};

/// The target.
#[must_use]
pub fn target() -> Target {
    Target {
        name: "receipts",
        decoders: vec![
            Decoder::of::<Receipt>((), drop),
            Decoder::of::<ReceiptBucket>(MOST, |bucket| {
                let _ = (bucket.value(), bucket.commitment());
            }),
            Decoder::of::<ProvenBucket>(MOST, |proven| {
                assert!(!proven.verifies(&ZERO), "proven under what no list has");
            }),
            Decoder::of::<merkle::Proof>((), |proof| {
                assert!(
                    !proof.verifies(ZERO, &ZERO),
                    "proven under what no list has"
                );
            }),
        ],
    }
}
