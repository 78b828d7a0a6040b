// SPDX-License-Identifier: Apache-2.0
//! Which transfers are signed by their signers: one at a time, with another
//! library than the node's, under the rules of ZIP-215.

use crate::{
    hashing::varint,
    plain::{Rules, Transfer},
};
use ed25519_consensus::{Signature, VerificationKey};

/// The bytes that are signed: the kind of the transaction, which is 1, and its
/// fields.
fn content(transfer: &Transfer) -> Vec<u8> {
    let numbers = [transfer.amount, transfer.nonce, transfer.expires_at];
    let numbers = numbers.map(u64::to_be_bytes).concat();
    let fields: [&[u8]; 4] = [&[1], &transfer.signer, &transfer.receiver, &numbers];
    fields.concat()
}

/// The transaction as it is in a body.
#[must_use]
pub fn encoded(transfer: &Transfer) -> Vec<u8> {
    [&content(transfer)[..], &transfer.signature].concat()
}

/// Whether the signer signed it, for this very chain.
#[must_use]
pub fn holds(rules: &Rules, transfer: &Transfer) -> bool {
    let genesis: String = rules
        .genesis
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let namespace = format!("{}/{genesis}/transaction", rules.network).into_bytes();
    let message = [varint(namespace.len()), namespace, content(transfer)].concat();
    let signature = Signature::from(transfer.signature);
    VerificationKey::try_from(transfer.signer)
        .is_ok_and(|key| key.verify(&signature, &message).is_ok())
}
