// SPDX-License-Identifier: Apache-2.0
//! What nodes say to each other about chunks, on [`crate::channels::CHUNKS`].
//!
//! ```text
//! 0x00 ‖ header                     a new chunk's header, to everybody
//! 0x01 ‖ header ‖ body              a new chunk, to the other trackers of its shard
//! 0x02 ‖ bucket ‖ proof             receipts, to the trackers of the destination
//! ```
//!
//! All of it is advisory: what is lost is asked for, and nothing is believed
//! that a signature or a proof does not cover.

use bytes::{BufMut, Bytes};
use commonware_codec::FixedSize as _;
use commonware_codec::{Buf, EncodeSize, Error, RangeCfg, Read, ReadExt as _, Write};
use shardnode_primitives::{ChunkBody, ChunkHeader, Genesis, ProvenBucket, Transaction};

/// A message about a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChunkMessage {
    /// A new chunk's header.
    Header(ChunkHeader),
    /// A new chunk.
    Chunk(ChunkHeader, ChunkBody),
    /// Receipts of an execution.
    Bucket(ProvenBucket),
}

/// What bounds the decoding of a [`ChunkMessage`].
#[derive(Clone, Copy, Debug)]
pub struct MessageLimits {
    lag: u8,
    transactions: u32,
}

impl MessageLimits {
    /// The bounds of a network.
    #[must_use]
    pub const fn of(genesis: &Genesis) -> Self {
        Self {
            lag: genesis.protocol.execution_lag,
            transactions: genesis.protocol.max_transactions_per_chunk,
        }
    }
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
                2u8.write(buf);
                bucket.write(buf);
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
            2 => Ok(Self::Bucket(ProvenBucket::read_cfg(
                buf,
                &limits.transactions,
            )?)),
            kind => Err(Error::InvalidEnum(kind)),
        }
    }
}
