// SPDX-License-Identifier: Apache-2.0
//! What holds for the encoding of every type: it decodes to the same value,
//! nothing shorter or longer decodes, and whatever decodes encodes back to the
//! same bytes.

use crate::arbitrary::{self, LAG, RECEIPTS, SHARDS, VALIDATORS};
use commonware_codec::{Codec, Decode as _, Encode as _};
use commonware_consensus::BoundedBlock as _;
use proptest::{collection::vec, prelude::*, sample::Index};
use shardnode_primitives::{
    AccountId, Block, BlockLimits, ChunkBody, ChunkContent, ChunkHeader, Endorsement, Endorsements,
    ExecutionResult, ProvenBucket, Randomness, Receipt, ReceiptBucket, ShardId, ShardTotals,
    Transaction, merkle,
};
use std::fmt::Debug;

const LIMITS: BlockLimits = BlockLimits {
    shards: SHARDS,
    lag: LAG,
    validators: VALIDATORS,
};

fn round_trips<T: Codec + PartialEq + Debug>(value: &T, cfg: &T::Cfg) -> Result<(), TestCaseError> {
    let bytes = value.encode();
    prop_assert_eq!(bytes.len(), value.encode_size());
    prop_assert_eq!(&T::decode_cfg(bytes.clone(), cfg).unwrap(), value);
    for length in 0..bytes.len() {
        prop_assert!(
            T::decode_cfg(bytes.slice(..length), cfg).is_err(),
            "the first {} of {} bytes decode",
            length,
            bytes.len()
        );
    }
    let mut longer = bytes.to_vec();
    longer.push(0);
    prop_assert!(
        T::decode_cfg(longer, cfg).is_err(),
        "a trailing byte decodes"
    );
    Ok(())
}

/// Decodes bytes that anybody could have sent.
fn is_canonical<T: Codec>(bytes: &[u8], cfg: &T::Cfg) -> Result<(), TestCaseError> {
    if let Ok(value) = T::decode_cfg(bytes.to_vec(), cfg) {
        prop_assert_eq!(&value.encode()[..], bytes);
    }
    Ok(())
}

fn changed(value: &impl commonware_codec::Encode, at: Index, to: u8) -> Vec<u8> {
    let mut bytes = value.encode().to_vec();
    let at = at.index(bytes.len());
    bytes[at] = to;
    bytes
}

/// The properties of one type, given a strategy of its values and what bounds
/// their decoding.
macro_rules! encoding_of {
    ($name:ident, $type:ty, $strategy:expr, $cfg:expr) => {
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(32))]

                #[test]
                fn decodes_to_the_same_value_or_not_at_all(value in $strategy) {
                    round_trips::<$type>(&value, &$cfg)?;
                }

                #[test]
                fn is_unique_under_changes(
                    value in $strategy,
                    changes in vec((any::<Index>(), any::<u8>()), 50),
                ) {
                    for (at, to) in changes {
                        is_canonical::<$type>(&changed(&value, at, to), &$cfg)?;
                    }
                }

                #[test]
                fn of_random_bytes_is_an_error_or_unique(bytes in vec(any::<u8>(), 0..600)) {
                    is_canonical::<$type>(&bytes, &$cfg)?;
                }
            }
        }
    };
}

encoding_of!(account_id, AccountId, arbitrary::account_id(), ());
encoding_of!(shard_id, ShardId, arbitrary::shard_id(), ());
encoding_of!(transaction, Transaction, arbitrary::transaction(), ());
encoding_of!(receipt, Receipt, arbitrary::receipt(), ());
encoding_of!(receipt_bucket, ReceiptBucket, arbitrary::bucket(), RECEIPTS);
encoding_of!(
    proven_bucket,
    ProvenBucket,
    arbitrary::proven_bucket(),
    RECEIPTS
);
encoding_of!(execution_result, ExecutionResult, arbitrary::result(), ());
encoding_of!(shard_totals, ShardTotals, arbitrary::totals(), ());
encoding_of!(chunk_content, ChunkContent, arbitrary::content(), LAG);
encoding_of!(chunk_header, ChunkHeader, arbitrary::header(), LAG);
encoding_of!(block, Block, arbitrary::block(), LIMITS);
encoding_of!(endorsement, Endorsement, arbitrary::endorsement(), ());
encoding_of!(
    endorsements,
    Endorsements,
    arbitrary::endorsements(),
    VALIDATORS
);
encoding_of!(randomness, Randomness, arbitrary::randomness(), ());
encoding_of!(
    merkle_proof,
    merkle::Proof,
    arbitrary::proven_bucket().prop_map(|proven| proven.proof),
    ()
);

proptest! {
    #[test]
    fn a_body_holds_its_transactions(transactions in vec(arbitrary::transaction(), 0..6)) {
        let body = ChunkBody::of(&transactions);
        prop_assert_eq!(body.transactions().unwrap(), transactions);
        for length in 0..body.0.len() {
            let prefix = ChunkBody(body.0.slice(..length));
            prop_assert_eq!(prefix.transactions().is_ok(), length.is_multiple_of(153));
        }
    }

    #[test]
    fn a_body_of_random_bytes_is_an_error_or_unique(bytes in vec(any::<u8>(), 0..600)) {
        let body = ChunkBody(bytes.into());
        if let Ok(transactions) = body.transactions() {
            prop_assert_eq!(ChunkBody::of(&transactions), body);
        }
    }

    #[test]
    fn sizes_are_within_their_bounds(header in arbitrary::header(), block in arbitrary::block()) {
        prop_assert!(header.encode().len() <= ChunkHeader::max_encode_size(LAG));
        prop_assert!(block.encode().len() <= Block::max_encode_size(&LIMITS));
    }

    #[test]
    fn lists_past_their_limit_are_refused(
        header in arbitrary::header(),
        bucket in arbitrary::bucket(),
        block in arbitrary::block(),
    ) {
        let content = &header.content;
        let longest = content.results.len().max(content.uncommitted.len());
        let lag = u8::try_from(longest).unwrap();
        prop_assert!(ChunkHeader::decode_cfg(header.encode(), &lag).is_ok());
        if let Some(lag) = lag.checked_sub(1) {
            prop_assert!(ChunkHeader::decode_cfg(header.encode(), &lag).is_err());
        }
        if let Some(fewer) = u32::try_from(bucket.receipts.len()).unwrap().checked_sub(1) {
            prop_assert!(ReceiptBucket::decode_cfg(bucket.encode(), &fewer).is_err());
        }
        for shards in [SHARDS - 1, SHARDS + 1] {
            let limits = BlockLimits { shards, ..LIMITS };
            prop_assert!(Block::decode_cfg(block.encode(), &limits).is_err());
        }
    }

    #[test]
    fn headers_out_of_shard_order_are_refused(mut block in arbitrary::block(), at in 1..usize::from(SHARDS)) {
        block.chunks.swap(0, at);
        prop_assert!(Block::decode_cfg(block.encode(), &LIMITS).is_err());
    }
}

#[test]
fn other_kinds_of_transactions_are_refused() {
    for kind in (0..=u8::MAX).filter(|kind| *kind != 1) {
        let mut bytes = vec![0; 153];
        bytes[0] = kind;
        assert!(Transaction::decode_cfg(bytes, &()).is_err(), "kind {kind}");
    }
}
