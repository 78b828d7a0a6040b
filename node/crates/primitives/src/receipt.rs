// SPDX-License-Identifier: Apache-2.0
//! Cross-shard effects.
//!
//! Executing a chunk debits senders. What they send to accounts of other
//! shards leaves as *receipts*, one [`ReceiptBucket`] for each destination
//! shard, empty ones included. The buckets' commitments, in shard order, are
//! the leaves of a [`merkle`] list whose root is the execution's
//! `receipts_root`, committed by the first header of the source shard that is
//! `executionLag` heights later or more. A bucket travels with its
//! [`merkle::Proof`], so the destination trusts nothing but that header:
//!
//! ```text
//! commitment = blake3(0x30 ‖ source ‖ height ‖ destination ‖ count ‖ receipts)
//! bucket     = source (2) ‖ height (8) ‖ destination (2) ‖ varint ‖ receipts
//! receipt    = sender (32) ‖ nonce (8) ‖ receiver (32) ‖ amount (8)
//! ```

use crate::{
    AccountId, ShardId,
    hash::{Domain, hash},
    list::read_list,
    merkle,
};
use bytes::{BufMut, Bytes};
use commonware_codec::{Buf, Encode as _, EncodeSize, Error, FixedSize, Read, ReadExt as _, Write};
use commonware_cryptography::blake3::Digest;

/// Credits one account with what a transfer of another shard debited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The account that was debited.
    pub sender: AccountId,
    /// The nonce it used: with `sender`, names the transfer.
    pub nonce: u64,
    /// The account to credit.
    pub receiver: AccountId,
    /// Value in base units.
    pub amount: u64,
}

impl Write for Receipt {
    fn write(&self, buf: &mut impl BufMut) {
        self.sender.write(buf);
        self.nonce.write(buf);
        self.receiver.write(buf);
        self.amount.write(buf);
    }
}

impl Read for Receipt {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            sender: AccountId::read(buf)?,
            nonce: u64::read(buf)?,
            receiver: AccountId::read(buf)?,
            amount: u64::read(buf)?,
        })
    }
}

impl FixedSize for Receipt {
    const SIZE: usize = 32 + 8 + 32 + 8;
}

/// All receipts of one execution for one destination shard, in the order of
/// the transfers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptBucket {
    /// The shard that executed the transfers.
    pub source: ShardId,
    /// The height of the chunk whose execution made the receipts.
    pub height: u64,
    /// The shard of every receiver.
    pub destination: ShardId,
    /// The credits.
    pub receipts: Vec<Receipt>,
}

impl ReceiptBucket {
    /// Sum of the amounts, or `None` if it overflows.
    #[must_use]
    pub fn value(&self) -> Option<u64> {
        self.receipts
            .iter()
            .try_fold(0u64, |sum, receipt| sum.checked_add(receipt.amount))
    }

    /// The leaf content of this bucket in the list under `receipts_root`.
    #[must_use]
    pub fn commitment(&self) -> Digest {
        hash(Domain::ReceiptBucket, &[&self.encode()])
    }
}

impl Write for ReceiptBucket {
    fn write(&self, buf: &mut impl BufMut) {
        self.source.write(buf);
        self.height.write(buf);
        self.destination.write(buf);
        self.receipts.write(buf);
    }
}

impl EncodeSize for ReceiptBucket {
    fn encode_size(&self) -> usize {
        ShardId::SIZE + 8 + ShardId::SIZE + self.receipts.encode_size()
    }
}

impl Read for ReceiptBucket {
    /// The most receipts a bucket can hold: the most transactions of a chunk.
    type Cfg = u32;
    fn read_cfg(buf: &mut impl Buf, max: &u32) -> Result<Self, Error> {
        Ok(Self {
            source: ShardId::read(buf)?,
            height: u64::read(buf)?,
            destination: ShardId::read(buf)?,
            receipts: read_list(buf, 0..=*max as usize, &(), Receipt::SIZE)?,
        })
    }
}

/// The root over the commitments of all buckets of an execution, which must be
/// in shard order with none missing.
#[must_use]
pub fn receipts_root<'a>(buckets: impl IntoIterator<Item = &'a ReceiptBucket>) -> Digest {
    merkle::root(bucket_leaves(buckets))
}

fn bucket_leaves<'a>(buckets: impl IntoIterator<Item = &'a ReceiptBucket>) -> Vec<Digest> {
    buckets
        .into_iter()
        .map(|bucket| merkle::leaf(&bucket.commitment().0))
        .collect()
}

/// A bucket with the proof that the source's header commits to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenBucket {
    /// The receipts.
    pub bucket: ReceiptBucket,
    /// Inclusion of the bucket at its destination's place.
    pub proof: merkle::Proof,
}

impl ProvenBucket {
    /// The fewest bytes of an encoding: no receipts and no siblings.
    pub const MIN_SIZE: usize = 2 * ShardId::SIZE + 8 + 1 + 2 * 4 + 1;

    /// Proves each of an execution's buckets, which must be in shard order
    /// with none missing, and returns the root that the proofs are under.
    #[must_use]
    pub fn prove_all(buckets: Vec<ReceiptBucket>) -> (Digest, Vec<Self>) {
        let leaves = bucket_leaves(&buckets);
        let proven = buckets
            .into_iter()
            .enumerate()
            .filter_map(|(index, bucket)| {
                merkle::Proof::of(&leaves, index).map(|proof| Self { bucket, proof })
            })
            .collect();
        (merkle::root(leaves), proven)
    }

    /// Whether `receipts_root` commits to this bucket for its destination.
    #[must_use]
    pub fn verifies(&self, receipts_root: &Digest) -> bool {
        self.receipts_root().as_ref() == Some(receipts_root)
    }

    /// The only root that can commit to this bucket for its destination, or
    /// `None` if none can.
    #[must_use]
    pub fn receipts_root(&self) -> Option<Digest> {
        if self.proof.index() != u32::from(self.bucket.destination.0) {
            return None;
        }
        self.proof.root(merkle::leaf(&self.bucket.commitment().0))
    }

    /// Encodes into one shared buffer.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        self.encode()
    }
}

impl Write for ProvenBucket {
    fn write(&self, buf: &mut impl BufMut) {
        self.bucket.write(buf);
        self.proof.write(buf);
    }
}

impl EncodeSize for ProvenBucket {
    fn encode_size(&self) -> usize {
        self.bucket.encode_size() + self.proof.encode_size()
    }
}

impl Read for ProvenBucket {
    type Cfg = u32;
    fn read_cfg(buf: &mut impl Buf, max: &u32) -> Result<Self, Error> {
        Ok(Self {
            bucket: ReceiptBucket::read_cfg(buf, max)?,
            proof: merkle::Proof::read(buf)?,
        })
    }
}
