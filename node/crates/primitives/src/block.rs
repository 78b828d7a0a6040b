// SPDX-License-Identifier: Apache-2.0
//! Blocks: one chunk header per shard, ordered by consensus.
//!
//! A shard without a new chunk at a height keeps the header of its last one:
//! the chunk at that height is *missed*. Each new header comes with the
//! [endorsements](crate::endorsement) of its committee, without which it is not
//! in the block. So a block alone says where every shard stands, and its
//! parent is all that is needed to check it.
//!
//! ```text
//! block   = version (1) ‖ context ‖ height (8) ‖ timestamp (8) ‖ randomness
//!           ‖ varint ‖ headers ‖ varint ‖ endorsements, a set for each header
//! context = varint epoch ‖ varint view ‖ leader (32) ‖ varint parent's view ‖ parent's digest (32)
//! ```
//!
//! The context is that of commonware's simplex.

use crate::{
    ChunkHeader, ShardId,
    endorsement::Endorsements,
    hash::{Domain, hash},
    list::read_list,
    randomness::Randomness,
};
use bytes::BufMut;
use commonware_codec::{
    Buf, Encode as _, EncodeSize, Error, FixedSize as _, MaxEncodeSize as _, Read, ReadExt as _,
    Write,
};
use commonware_consensus::{
    BoundedBlock, CertifiableBlock, Heightable, simplex::types::Context, types::Height,
};
use commonware_cryptography::{Digestible, blake3::Digest, ed25519::PublicKey};

/// What bounds the decoding of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    /// Shards of the network: a block has exactly as many headers.
    pub shards: u16,
    /// `executionLag`.
    pub lag: u8,
    /// Validators of the network: no committee has more members.
    pub validators: u16,
}

/// The version of the encoding.
const VERSION: u8 = 2;

/// A block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where consensus proposed it: round, leader, and the parent's digest.
    pub context: Context<Digest, PublicKey>,
    /// One more than the parent's.
    pub height: u64,
    /// Milliseconds since 1970, by the proposer's clock; at least
    /// `minBlockTimeMs` after the parent's.
    pub timestamp_ms: u64,
    /// What the leader revealed, and the seeds of the epochs.
    pub randomness: Randomness,
    /// The newest header of every shard, in shard order.
    pub chunks: Vec<ChunkHeader>,
    /// The endorsements of each header that is new in this block, in shard
    /// order; none of one that is not.
    pub endorsements: Vec<Endorsements>,
}

impl Block {
    /// Where an encoded block was proposed, by its first bytes.
    pub fn read_context(buf: &mut impl Buf) -> Result<Context<Digest, PublicKey>, Error> {
        let version = u8::read(buf)?;
        if version != VERSION {
            return Err(Error::InvalidEnum(version));
        }
        Context::read(buf)
    }

    /// The newest header of `shard`.
    #[must_use]
    pub fn chunk(&self, shard: ShardId) -> Option<&ChunkHeader> {
        self.chunks.get(shard.index())
    }

    /// The headers that are new in this block.
    pub fn new_chunks(&self) -> impl Iterator<Item = &ChunkHeader> {
        self.chunks
            .iter()
            .filter(|header| header.content.height == self.height && self.height > 0)
    }

    /// Chunks missed since genesis, over all shards.
    #[must_use]
    pub fn missed_chunks(&self) -> u64 {
        self.chunks
            .iter()
            .map(|header| self.height.saturating_sub(header.content.sequence))
            .fold(0, u64::saturating_add)
    }
}

impl Write for Block {
    fn write(&self, buf: &mut impl BufMut) {
        VERSION.write(buf);
        self.context.write(buf);
        self.height.write(buf);
        self.timestamp_ms.write(buf);
        self.randomness.write(buf);
        self.chunks.write(buf);
        self.endorsements.write(buf);
    }
}

impl EncodeSize for Block {
    fn encode_size(&self) -> usize {
        1 + self.context.encode_size()
            + 2 * 8
            + Randomness::SIZE
            + self.chunks.encode_size()
            + self.endorsements.encode_size()
    }
}

impl Read for Block {
    type Cfg = BlockLimits;
    fn read_cfg(buf: &mut impl Buf, limits: &BlockLimits) -> Result<Self, Error> {
        let shards = usize::from(limits.shards);
        let every = shards..=shards;
        let block = Self {
            context: Self::read_context(buf)?,
            height: u64::read(buf)?,
            timestamp_ms: u64::read(buf)?,
            randomness: Randomness::read(buf)?,
            chunks: read_list(buf, every.clone(), &limits.lag, ChunkHeader::MIN_SIZE)?,
            endorsements: read_list(buf, every, &limits.validators, Endorsements::MIN_SIZE)?,
        };
        let ordered = block
            .chunks
            .iter()
            .enumerate()
            .all(|(index, header)| header.content.shard.index() == index);
        if !ordered {
            return Err(Error::Invalid("Block", "headers not in shard order"));
        }
        Ok(block)
    }
}

impl Digestible for Block {
    type Digest = Digest;
    fn digest(&self) -> Digest {
        hash(Domain::Block, &[&self.encode()])
    }
}

impl Heightable for Block {
    fn height(&self) -> Height {
        Height::new(self.height)
    }
}

impl commonware_consensus::Block for Block {
    fn parent(&self) -> Digest {
        self.context.parent.1
    }
}

impl CertifiableBlock for Block {
    type Context = Context<Digest, PublicKey>;
    fn context(&self) -> Self::Context {
        self.context.clone()
    }
}

impl BoundedBlock for Block {
    fn max_encode_size(limits: &BlockLimits) -> usize {
        const LENGTHS: usize = 2 * 5;
        let endorsements = Endorsements::max_encode_size(usize::from(limits.validators));
        1 + Context::<Digest, PublicKey>::MAX_ENCODE_SIZE
            + 2 * 8
            + Randomness::SIZE
            + LENGTHS
            + usize::from(limits.shards) * (ChunkHeader::max_encode_size(limits.lag) + endorsements)
    }
}
