// SPDX-License-Identifier: Apache-2.0
//! What nodes ask each other about chunks, on
//! [`CHUNK_REQUESTS`](crate::channels::CHUNK_REQUESTS): bodies, their parts
//! and receipts.
//!
//! Everything asked for has a [`Key`] that names it by hash, so that an answer
//! is right or wrong whoever sends it.
//!
//! ```text
//! 0x00 ‖ shard (2) ‖ height (8) ‖ 0 (2) ‖ body hash                  a body
//! 0x01 ‖ source (2) ‖ height (8) ‖ destination (2) ‖ receipts root   receipts of an execution
//! 0x02 ‖ shard (2) ‖ height (8) ‖ index (2) ‖ parts root             a part of a body
//! ```
//!
//! The answer to the first is the body's bytes, to the second a
//! [`ProvenBucket`](shardnode_primitives::ProvenBucket), to the third a
//! [`Share`](shardnode_coding::Share).

use crate::Identity;
use bytes::BufMut;
use commonware_codec::{Buf, Error, FixedSize, Read, ReadExt as _, Write};
use commonware_utils::Span;
use shardnode_primitives::{ChunkHeader, Digest, ExecutionResult, ShardId};
use std::fmt;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The body with this hash of a chunk of `shard` at `height`.
    Body {
        /// The shard.
        shard: ShardId,
        /// The chunk's height.
        height: u64,
        /// [`shardnode_primitives::ChunkBody::hash`].
        hash: Digest,
    },
    /// The receipts that executing the chunk of `source` at `height` sent to
    /// `destination`, under `root`.
    Bucket {
        /// The shard that executed.
        source: ShardId,
        /// The height of the executed chunk.
        height: u64,
        /// The shard they are for.
        destination: ShardId,
        /// The execution's `receipts_root`.
        root: Digest,
    },
    /// What the voter at a place holds of the body of a chunk.
    Part {
        /// The chunk's shard.
        shard: ShardId,
        /// The chunk's height.
        height: u64,
        /// The voter's place among the producers of genesis.
        index: u16,
        /// The chunk's `parts_root`.
        root: Digest,
    },
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body { shard, height, .. } => write!(f, "body of shard {shard} at {height}"),
            Self::Bucket {
                source,
                height,
                destination,
                ..
            } => write!(
                f,
                "receipts of shard {source} at {height} for {destination}"
            ),
            Self::Part {
                shard,
                height,
                index,
                ..
            } => write!(f, "part {index} of the body of shard {shard} at {height}"),
        }
    }
}

impl Write for Key {
    fn write(&self, buf: &mut impl BufMut) {
        match self {
            Self::Body {
                shard,
                height,
                hash,
            } => {
                0u8.write(buf);
                shard.write(buf);
                height.write(buf);
                0u16.write(buf);
                hash.write(buf);
            }
            Self::Bucket {
                source,
                height,
                destination,
                root,
            } => {
                1u8.write(buf);
                source.write(buf);
                height.write(buf);
                destination.write(buf);
                root.write(buf);
            }
            Self::Part {
                shard,
                height,
                index,
                root,
            } => {
                2u8.write(buf);
                shard.write(buf);
                height.write(buf);
                index.write(buf);
                root.write(buf);
            }
        }
    }
}

impl FixedSize for Key {
    const SIZE: usize = 1 + 2 + 8 + 2 + 32;
}

impl Read for Key {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        let kind = u8::read(buf)?;
        let shard = ShardId::read(buf)?;
        let height = u64::read(buf)?;
        let other = ShardId::read(buf)?;
        let digest = Digest::read(buf)?;
        match kind {
            0 if other == ShardId(0) => Ok(Self::Body {
                shard,
                height,
                hash: digest,
            }),
            0 => Err(Error::Invalid("Key", "a body has no destination")),
            1 => Ok(Self::Bucket {
                source: shard,
                height,
                destination: other,
                root: digest,
            }),
            2 => Ok(Self::Part {
                shard,
                height,
                index: other.0,
                root: digest,
            }),
            kind => Err(Error::InvalidEnum(kind)),
        }
    }
}

impl Span for Key {}

/// The receipts for the shard that this node tracks, of the executions that
/// `header` commits to.
#[must_use]
pub fn receipts_of(header: &ChunkHeader, identity: &Identity) -> Vec<Key> {
    let Some(destination) = identity.tracked() else {
        return Vec::new();
    };
    let content = &header.content;
    let key = |result: &ExecutionResult| Key::Bucket {
        source: content.shard,
        height: result.height,
        destination,
        root: result.receipts_root,
    };
    content.results.iter().map(key).collect()
}
