// SPDX-License-Identifier: Apache-2.0
//! What nodes say to each other about chunks, on
//! [`CHUNKS`](crate::channels::CHUNKS).
//!
//! ```text
//! 0x00 ‖ header                     a new chunk's header, to everybody
//! 0x01 ‖ header ‖ body              a new chunk, to the other trackers of its shard
//! 0x02 ‖ bucket ‖ proof             receipts, to the trackers of the destination
//! 0x03 ‖ header ‖ share             a part of a new chunk's body, to the voter whose it is
//! ```
//!
//! Shares are those of [`shardnode_coding`], under the header's `parts_root`
//! at the place that its owner has among the producers of genesis.
//!
//! All of it is advisory: what is lost is asked for, and nothing is believed
//! that a signature or a proof does not cover.

use crate::identity::body_code;
use bytes::{BufMut, Bytes};
use commonware_codec::FixedSize as _;
use commonware_codec::{Buf, EncodeSize, Error, RangeCfg, Read, ReadExt as _, Write};
use shardnode_coding::{Code, Share, ShareLimits};
use shardnode_primitives::{ChunkBody, ChunkHeader, Genesis, ProvenBucket, ShardId, Transaction};

/// The first byte of a message with receipts.
const BUCKET: u8 = 2;

/// A message about a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChunkMessage {
    /// A new chunk's header.
    Header(ChunkHeader),
    /// A new chunk.
    Chunk(ChunkHeader, ChunkBody),
    /// Receipts of an execution.
    Bucket(ProvenBucket),
    /// What the receiver holds of a new chunk's body.
    Part(ChunkHeader, Share),
}

impl ChunkMessage {
    /// The header of the chunk that it is about; none for receipts.
    #[must_use]
    pub const fn header(&self) -> Option<&ChunkHeader> {
        match self {
            Self::Header(header) | Self::Chunk(header, _) | Self::Part(header, _) => Some(header),
            Self::Bucket(_) => None,
        }
    }
}

/// Where receipts are from and for, by the first bytes of their message: enough
/// to tell whether the rest is worth decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketHead {
    /// The shard that executed.
    pub source: ShardId,
    /// The height of the executed chunk.
    pub height: u64,
    /// The shard that they are for.
    pub destination: ShardId,
}

impl BucketHead {
    /// That of a message with receipts; `None` for any other.
    #[must_use]
    pub fn of(message: &Bytes) -> Option<Self> {
        let mut head = message.clone();
        if u8::read(&mut head).ok()? != BUCKET {
            return None;
        }
        Some(Self {
            source: ShardId::read(&mut head).ok()?,
            height: u64::read(&mut head).ok()?,
            destination: ShardId::read(&mut head).ok()?,
        })
    }
}

/// What bounds the decoding of a [`ChunkMessage`].
#[derive(Clone, Copy, Debug)]
pub struct MessageLimits {
    lag: u8,
    transactions: u32,
    code: Code,
}

impl MessageLimits {
    /// The bounds of a network.
    #[must_use]
    pub const fn of(genesis: &Genesis) -> Self {
        Self {
            lag: genesis.protocol.execution_lag,
            transactions: genesis.protocol.max_transactions_per_chunk,
            code: body_code(genesis),
        }
    }
}

impl MessageLimits {
    /// What bounds the shares of any chunk's body.
    #[must_use]
    pub const fn share(&self) -> ShareLimits {
        ShareLimits {
            code: self.code,
            length: self.transactions as usize * Transaction::SIZE,
        }
    }
}

/// What bounds the shares of a chunk's body.
fn share_limits(header: &ChunkHeader, limits: &MessageLimits) -> ShareLimits {
    let ShareLimits { code, length } = limits.share();
    let length = length.min(header.content.body_len as usize);
    ShareLimits { code, length }
}

impl Write for ChunkMessage {
    fn write(&self, buf: &mut impl BufMut) {
        match self {
            Self::Header(header) => {
                0u8.write(buf);
                header.write(buf);
            }
            Self::Chunk(header, body) => {
                1u8.write(buf);
                header.write(buf);
                body.0.write(buf);
            }
            Self::Bucket(bucket) => {
                BUCKET.write(buf);
                bucket.write(buf);
            }
            Self::Part(header, share) => {
                3u8.write(buf);
                header.write(buf);
                share.write(buf);
            }
        }
    }
}

impl EncodeSize for ChunkMessage {
    fn encode_size(&self) -> usize {
        1 + match self {
            Self::Header(header) => header.encode_size(),
            Self::Chunk(header, body) => header.encode_size() + body.0.encode_size(),
            Self::Bucket(bucket) => bucket.encode_size(),
            Self::Part(header, share) => header.encode_size() + share.encode_size(),
        }
    }
}

impl Read for ChunkMessage {
    type Cfg = MessageLimits;
    fn read_cfg(buf: &mut impl Buf, limits: &MessageLimits) -> Result<Self, Error> {
        match u8::read(buf)? {
            0 => Ok(Self::Header(ChunkHeader::read_cfg(buf, &limits.lag)?)),
            1 => {
                let most = limits.transactions as usize * Transaction::SIZE;
                Ok(Self::Chunk(
                    ChunkHeader::read_cfg(buf, &limits.lag)?,
                    ChunkBody(Bytes::read_cfg(buf, &RangeCfg::from(0..=most))?),
                ))
            }
            BUCKET => Ok(Self::Bucket(ProvenBucket::read_cfg(
                buf,
                &limits.transactions,
            )?)),
            3 => {
                let header = ChunkHeader::read_cfg(buf, &limits.lag)?;
                let share = Share::read_cfg(buf, &share_limits(&header, limits))?;
                Ok(Self::Part(header, share))
            }
            kind => Err(Error::InvalidEnum(kind)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use commonware_codec::Encode as _;
    use shardnode_primitives::ReceiptBucket;

    #[test]
    fn the_head_of_receipts_is_that_of_the_bucket() {
        let of = |destination| ReceiptBucket {
            source: ShardId(3),
            destination: ShardId(destination),
            height: 0x0102_0304,
            receipts: Vec::new(),
        };
        let (_, mut proven) = ProvenBucket::prove_all(vec![of(0), of(1)]);
        let message = ChunkMessage::Bucket(proven.swap_remove(1)).encode();
        let head = BucketHead {
            source: ShardId(3),
            height: 0x0102_0304,
            destination: ShardId(1),
        };
        assert_eq!(BucketHead::of(&message), Some(head));
        assert_eq!(BucketHead::of(&message.slice(..12)), None);
        for other in [&[][..], &[0; 20], &[1; 20], &[3; 20]] {
            assert_eq!(BucketHead::of(&Bytes::from_static(other)), None);
        }
    }
}
