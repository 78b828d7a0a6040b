// SPDX-License-Identifier: Apache-2.0
//! What clients sign, and bodies of chunks.

use super::{CODE, Target, header_of};
use crate::{Budget, Decoder};
use bytes::Bytes;
use commonware_parallel::Sequential;
use shardnode_execution::{
    body::{self, Shown},
    signatures::{BatchSize, KeyCache, verify_all},
};
use shardnode_primitives::{
    AccountId, ChunkBody, Namespaces, ShardId, ShardLayout, ShardTotals, Transaction, hash::ZERO,
};

/// The target.
#[must_use]
pub fn target() -> Target {
    let namespaces = Namespaces::new("fuzz", &ZERO);
    let transaction = namespaces.transaction.clone();
    Target {
        name: "transactions",
        decoders: vec![
            Decoder::of::<AccountId>((), |account| {
                let layout = ShardLayout::new(7);
                assert!(layout.shard_of(&account).0 < layout.shards());
            }),
            Decoder::of::<ShardId>((), |shard| drop(shard.to_string())),
            Decoder::of::<Transaction>((), move |transaction| {
                let _ = transaction.verify(&namespaces);
            }),
            Decoder::new("chunk body", move |bytes| body(bytes, &transaction)),
        ],
    }
}

/// A body has no encoding of its own: any bytes are one, valid or not.
fn body(bytes: &[u8], namespace: &[u8]) -> bool {
    let body = ChunkBody(Bytes::copy_from_slice(bytes));
    let decoded = Budget::BINARY.within("chunk body", bytes.len(), || body.transactions());
    let Ok(transactions) = decoded else {
        return false;
    };
    assert_eq!(
        ChunkBody::of(&transactions),
        body,
        "the transactions of a body make another body"
    );
    let totals = ShardTotals::genesis(ZERO, 0);
    let chunk = header_of(ShardId(0), &totals, &body).content;
    let keys = KeyCache::new(8);
    let verify = |transactions: &[Transaction]| {
        verify_all(
            transactions,
            namespace,
            &keys,
            BatchSize::Whole,
            [7; 32],
            &Sequential,
        )
    };
    let judged = body::check(Shown::Body(body), &chunk, &CODE, &Sequential, verify);
    assert!(
        judged.is_ok(),
        "a header that commits to a body names another"
    );
    !transactions.is_empty()
}
