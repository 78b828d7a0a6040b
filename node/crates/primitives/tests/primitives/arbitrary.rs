// SPDX-License-Identifier: Apache-2.0
//! Strategies for values of every type.

use commonware_codec::{DecodeExt as _, FixedSize as _};
use commonware_consensus::{
    simplex::types::Context,
    types::{Epoch, Round, View},
};
use commonware_cryptography::{
    Signer as _,
    ed25519::{PublicKey, Signature},
};
use proptest::{collection::vec, prelude::*};
use shardnode_primitives::{
    AccountId, Block, ChunkContent, ChunkHeader, Digest, DuePosition, Endorsement, Endorsements,
    ExecutionResult, ProvenBucket, Randomness, Receipt, ReceiptBucket, ShardId, ShardTotals,
    SignedTransfer, Transaction, Transfer, genesis::private_key, randomness::Reveal,
};

/// `executionLag` of every arbitrary header.
pub(crate) const LAG: u8 = 4;
/// Shards of every arbitrary block.
pub(crate) const SHARDS: u16 = 3;
/// The most receipts of an arbitrary bucket.
pub(crate) const RECEIPTS: u32 = 5;

pub(crate) fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 32]>().prop_map(Digest)
}

pub(crate) fn account_id() -> impl Strategy<Value = AccountId> {
    any::<[u8; 32]>().prop_map(AccountId)
}

pub(crate) fn shard_id() -> impl Strategy<Value = ShardId> {
    any::<u16>().prop_map(ShardId)
}

fn signature() -> impl Strategy<Value = Signature> {
    vec(any::<u8>(), 64).prop_map(|bytes| Signature::decode(bytes).unwrap())
}

pub(crate) fn public_key() -> impl Strategy<Value = PublicKey> {
    any::<[u8; 32]>().prop_map(|seed| private_key(seed).public_key())
}

pub(crate) fn transfer() -> impl Strategy<Value = Transfer> {
    (account_id(), account_id(), any::<[u64; 3]>()).prop_map(
        |(signer, receiver, [amount, nonce, expires_at])| Transfer {
            signer,
            receiver,
            amount,
            nonce,
            expires_at,
        },
    )
}

pub(crate) fn transaction() -> impl Strategy<Value = Transaction> {
    (transfer(), signature()).prop_map(|(transfer, signature)| {
        Transaction::Transfer(SignedTransfer {
            transfer,
            signature,
        })
    })
}

pub(crate) fn receipt() -> impl Strategy<Value = Receipt> {
    (account_id(), any::<u64>(), account_id(), any::<u64>()).prop_map(
        |(sender, nonce, receiver, amount)| Receipt {
            sender,
            nonce,
            receiver,
            amount,
        },
    )
}

pub(crate) fn bucket() -> impl Strategy<Value = ReceiptBucket> {
    let receipts = vec(receipt(), 0..=RECEIPTS as usize);
    (shard_id(), any::<u64>(), shard_id(), receipts).prop_map(
        |(source, height, destination, receipts)| ReceiptBucket {
            source,
            height,
            destination,
            receipts,
        },
    )
}

/// The buckets of one execution, in shard order with none missing.
pub(crate) fn buckets() -> impl Strategy<Value = Vec<ReceiptBucket>> {
    vec(bucket(), 1..9).prop_map(|mut buckets| {
        for (index, bucket) in buckets.iter_mut().enumerate() {
            bucket.destination = ShardId(u16::try_from(index).unwrap());
        }
        buckets
    })
}

pub(crate) fn proven_bucket() -> impl Strategy<Value = ProvenBucket> {
    (buckets(), any::<prop::sample::Index>()).prop_map(|(buckets, index)| {
        let (_, mut proven) = ProvenBucket::prove_all(buckets);
        proven.swap_remove(index.index(proven.len()))
    })
}

pub(crate) fn result() -> impl Strategy<Value = ExecutionResult> {
    let roots = (digest(), digest(), digest());
    (any::<u64>(), roots, any::<u32>(), any::<u32>()).prop_map(
        |(height, (state_root, outcomes_root, receipts_root), transfers, credits)| {
            ExecutionResult {
                height,
                state_root,
                outcomes_root,
                receipts_root,
                transfers,
                credits,
            }
        },
    )
}

pub(crate) fn totals() -> impl Strategy<Value = ShardTotals> {
    let counts = (any::<[u64; 7]>(), any::<[u128; 2]>());
    (counts, digest(), shard_id()).prop_map(
        |(
            (
                [
                    height,
                    transfers,
                    cross_shard,
                    credits,
                    balance,
                    burnt,
                    block,
                ],
                [sent, received],
            ),
            state_root,
            source,
        )| {
            ShardTotals {
                height,
                state_root,
                transfers,
                cross_shard,
                credits,
                balance,
                burnt,
                sent,
                received,
                next_due: DuePosition { block, source },
            }
        },
    )
}

pub(crate) fn content() -> impl Strategy<Value = ChunkContent> {
    let place = (shard_id(), any::<u64>(), any::<u64>());
    let digests = (digest(), digest(), digest(), digest());
    let body = (any::<u32>(), any::<u32>());
    let results = vec(result(), 0..=usize::from(LAG));
    let uncommitted = vec(any::<u64>(), 0..=usize::from(LAG));
    (place, digests, body, results, uncommitted, totals()).prop_map(
        |(
            (shard, height, sequence),
            (anchor, previous, body_hash, parts_root),
            (body_len, transactions),
            results,
            uncommitted,
            totals,
        )| ChunkContent {
            shard,
            height,
            sequence,
            anchor,
            previous,
            body_hash,
            parts_root,
            body_len,
            transactions,
            results,
            uncommitted,
            totals,
        },
    )
}

pub(crate) fn header() -> impl Strategy<Value = ChunkHeader> {
    (content(), signature()).prop_map(|(content, signature)| ChunkHeader { content, signature })
}

/// The most validators of an arbitrary block's network.
pub(crate) const VALIDATORS: u16 = 20;

pub(crate) fn endorsement() -> impl Strategy<Value = Endorsement> {
    (shard_id(), any::<u64>(), digest(), signature()).prop_map(
        |(shard, height, header, signature)| Endorsement {
            shard,
            height,
            header,
            signature,
        },
    )
}

pub(crate) fn endorsements() -> impl Strategy<Value = Endorsements> {
    let place = prop::option::of(signature());
    vec(place, 0..=usize::from(VALIDATORS)).prop_map(Endorsements::from_iter)
}

fn reveal() -> impl Strategy<Value = Reveal> {
    vec(any::<u8>(), Reveal::SIZE).prop_map(|bytes| Reveal::decode(bytes).unwrap())
}

pub(crate) fn randomness() -> impl Strategy<Value = Randomness> {
    (digest(), digest(), digest(), reveal()).prop_map(|(mix, seed, next, reveal)| Randomness {
        mix,
        seed,
        next,
        reveal,
    })
}

pub(crate) fn block() -> impl Strategy<Value = Block> {
    let round = (any::<u64>(), any::<u64>());
    let parent = (any::<u64>(), digest());
    let chunks = vec(header(), usize::from(SHARDS));
    let endorsed = vec(endorsements(), usize::from(SHARDS));
    (
        round,
        public_key(),
        parent,
        any::<u64>(),
        any::<u64>(),
        randomness(),
        (chunks, endorsed),
    )
        .prop_map(
            |(
                (epoch, view),
                leader,
                (parent_view, parent),
                height,
                timestamp_ms,
                randomness,
                (mut chunks, endorsements),
            )| {
                for (index, header) in chunks.iter_mut().enumerate() {
                    header.content.shard = ShardId(u16::try_from(index).unwrap());
                }
                Block {
                    context: Context {
                        round: Round::new(Epoch::new(epoch), View::new(view)),
                        leader,
                        parent: (View::new(parent_view), parent),
                    },
                    height,
                    timestamp_ms,
                    randomness,
                    chunks,
                    endorsements,
                }
            },
        )
}
