// SPDX-License-Identifier: Apache-2.0
//! Which accounts an execution takes.

use crate::ChunkInput;
use shardnode_primitives::{AccountId, Transaction};
use std::collections::BTreeSet;

/// Every account of the shard that executing `input` may read or write,
/// whatever the state: the receivers of the receipts, the signers, and the
/// receivers of the transfers.
#[must_use]
pub fn touched(input: &ChunkInput<'_>) -> BTreeSet<AccountId> {
    let credited = input
        .incoming
        .iter()
        .flat_map(|delivery| &delivery.buckets)
        .flat_map(|bucket| &bucket.receipts)
        .map(|receipt| receipt.receiver);
    let transferred = input.transactions.iter().flat_map(|transaction| {
        let Transaction::Transfer(signed) = transaction;
        [signed.transfer.signer, signed.transfer.receiver]
    });
    credited
        .chain(transferred)
        .filter(|id| input.layout.shard_of(id) == input.shard)
        .collect()
}
