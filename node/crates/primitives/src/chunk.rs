// SPDX-License-Identifier: Apache-2.0
//! Chunks: one shard's transactions at one height.
//!
//! # What a header says
//!
//! The header of a chunk at height `h` commits to the chunk's body, to the
//! parts from which others can recover it, and to the results of executing the
//! shard's chunks up to height `h - k`, where `k` is the network's
//! `executionLag`. A shard executes only at heights at which it has a chunk, so
//! between two chunks of a shard, however far apart, zero to `k` executions
//! become due:
//!
//! ```text
//! previous.uncommitted ++ [h]  =  heights(results) ++ uncommitted
//! heights(results) = those at most h - k
//! ```
//!
//! [`ShardTotals`] adds up everything since genesis as of the newest result,
//! so the headers of a single block state throughput and total supply for the
//! whole network. No total can overflow: balances and what was burnt are part
//! of the supply, which is below 2^64, and what was sent and received is at most
//! the supply for each of fewer than 2^64 transfers.
//!
//! # Who makes it
//!
//! The producers of a shard take turns by height: slot `h mod producers`.
//! `anchor` is the digest of the finalised block at `h - k` that the newest
//! possible result was computed on; a header anchored elsewhere is invalid.
//!
//! # Encoding
//!
//! ```text
//! header   = content ‖ signature (64)
//! content  = shard (2) ‖ height (8) ‖ sequence (8) ‖ anchor ‖ hash of the previous header
//!            ‖ body hash ‖ parts root ‖ length of the body (4) ‖ transactions (4)
//!            ‖ varint ‖ results ‖ varint ‖ uncommitted heights (8 each) ‖ totals
//! result   = height (8) ‖ state root ‖ outcomes root ‖ receipts root ‖ transfers (4) ‖ credits (4)
//! totals   = height (8) ‖ state root ‖ transfers (8) ‖ cross-shard (8) ‖ credits (8)
//!            ‖ balance (8) ‖ burnt (8) ‖ sent (16) ‖ received (16)
//!            ‖ next due: block (8) ‖ source (2)
//! body     = its transactions, one after the other
//! ```
//!
//! Roots and hashes have 32 bytes. The signature is the producer's, over the
//! content; a header's hash covers both, that of a body its bytes.

use crate::{
    ShardId, Transaction,
    hash::{Domain, ZERO, hash},
    namespace::Namespaces,
    work::{self, Work},
};
use bytes::{BufMut, Bytes};
use commonware_codec::{
    Buf, DecodeExt as _, Encode as _, EncodeSize, Error, FixedSize, RangeCfg, Read, ReadExt as _,
    Write,
};
use commonware_cryptography::{
    Signer as _, Verifier as _,
    blake3::Digest,
    ed25519::{PrivateKey, PublicKey, Signature},
};
use std::fmt;

/// The transactions of a chunk, as they travel and are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkBody(pub Bytes);

impl ChunkBody {
    /// The body of these transactions.
    #[must_use]
    pub fn of(transactions: &[Transaction]) -> Self {
        let mut bytes = Vec::with_capacity(transactions.len() * Transaction::SIZE);
        for transaction in transactions {
            transaction.write(&mut bytes);
        }
        Self(bytes.into())
    }

    /// What the header commits to.
    #[must_use]
    pub fn hash(&self) -> Digest {
        hash(Domain::ChunkBody, &[&self.0])
    }

    /// The transactions, or the first thing wrong with the bytes.
    pub fn transactions(&self) -> Result<Vec<Transaction>, Error> {
        self.transactions_from(0, usize::MAX)
    }

    /// Of the transactions, those from a position on, and at most so many.
    pub fn transactions_from(&self, from: usize, most: usize) -> Result<Vec<Transaction>, Error> {
        if !self.0.len().is_multiple_of(Transaction::SIZE) {
            return Err(Error::EndOfBuffer);
        }
        self.0
            .chunks_exact(Transaction::SIZE)
            .enumerate()
            .skip(from)
            .take(most)
            .map(|(position, _)| {
                let start = position * Transaction::SIZE;
                Transaction::decode(self.0.slice(start..start + Transaction::SIZE))
            })
            .collect()
    }
}

/// What executing one chunk came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionResult {
    /// The height of the executed chunk.
    pub height: u64,
    /// The shard's state afterwards.
    pub state_root: Digest,
    /// The list of transaction outcomes.
    pub outcomes_root: Digest,
    /// The receipts to all shards.
    pub receipts_root: Digest,
    /// Transfers executed (debits).
    pub transfers: u32,
    /// Credits applied, from this shard and others.
    pub credits: u32,
}

impl Write for ExecutionResult {
    fn write(&self, buf: &mut impl BufMut) {
        self.height.write(buf);
        self.state_root.write(buf);
        self.outcomes_root.write(buf);
        self.receipts_root.write(buf);
        self.transfers.write(buf);
        self.credits.write(buf);
    }
}

impl Read for ExecutionResult {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            height: u64::read(buf)?,
            state_root: Digest::read(buf)?,
            outcomes_root: Digest::read(buf)?,
            receipts_root: Digest::read(buf)?,
            transfers: u32::read(buf)?,
            credits: u32::read(buf)?,
        })
    }
}

impl FixedSize for ExecutionResult {
    const SIZE: usize = 8 + 3 * 32 + 2 * 4;
}

/// A place in the queue of receipts that fall due for a shard; see
/// [`crate::congestion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DuePosition {
    /// A block's height.
    pub block: u64,
    /// The first shard whose header in that block is not before the place.
    pub source: ShardId,
}

impl DuePosition {
    /// Before everything that falls due with the block at this height.
    #[must_use]
    pub const fn at(block: u64) -> Self {
        Self {
            block,
            source: ShardId(0),
        }
    }

    /// After what falls due with the header of `source` in `block`.
    #[must_use]
    pub const fn after(block: u64, source: ShardId) -> Self {
        Self {
            block,
            source: ShardId(source.0.saturating_add(1)),
        }
    }
}

impl Write for DuePosition {
    fn write(&self, buf: &mut impl BufMut) {
        self.block.write(buf);
        self.source.write(buf);
    }
}

impl Read for DuePosition {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            block: u64::read(buf)?,
            source: ShardId::read(buf)?,
        })
    }
}

impl FixedSize for DuePosition {
    const SIZE: usize = 8 + ShardId::SIZE;
}

impl fmt::Display for DuePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shard {} in block {}", self.source, self.block)
    }
}

/// Everything a shard did since genesis, as of its newest committed
/// execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardTotals {
    /// The height of that execution; 0 for the genesis state.
    pub height: u64,
    /// The state after it.
    pub state_root: Digest,
    /// Transfers executed.
    pub transfers: u64,
    /// Those of them whose receiver is in another shard.
    pub cross_shard: u64,
    /// Credits applied.
    pub credits: u64,
    /// Sum of all balances of the shard.
    pub balance: u64,
    /// Value that is no more: fees, and the rest of accounts that were removed.
    pub burnt: u64,
    /// Value that left for other shards.
    pub sent: u128,
    /// Value that came from other shards.
    pub received: u128,
    /// The receipts that fell due before this place are credited, and no
    /// others.
    pub next_due: DuePosition,
}

impl ShardTotals {
    /// Of a shard that has executed nothing yet.
    #[must_use]
    pub const fn genesis(state_root: Digest, balance: u64) -> Self {
        Self {
            height: 0,
            state_root,
            transfers: 0,
            cross_shard: 0,
            credits: 0,
            balance,
            burnt: 0,
            sent: 0,
            received: 0,
            next_due: DuePosition::at(1),
        }
    }
}

impl Write for ShardTotals {
    fn write(&self, buf: &mut impl BufMut) {
        self.height.write(buf);
        self.state_root.write(buf);
        self.transfers.write(buf);
        self.cross_shard.write(buf);
        self.credits.write(buf);
        self.balance.write(buf);
        self.burnt.write(buf);
        self.sent.write(buf);
        self.received.write(buf);
        self.next_due.write(buf);
    }
}

impl Read for ShardTotals {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            height: u64::read(buf)?,
            state_root: Digest::read(buf)?,
            transfers: u64::read(buf)?,
            cross_shard: u64::read(buf)?,
            credits: u64::read(buf)?,
            balance: u64::read(buf)?,
            burnt: u64::read(buf)?,
            sent: u128::read(buf)?,
            received: u128::read(buf)?,
            next_due: DuePosition::read(buf)?,
        })
    }
}

impl FixedSize for ShardTotals {
    const SIZE: usize = 6 * 8 + 32 + 2 * 16 + DuePosition::SIZE;
}

/// The signed part of a chunk header; see the [module](self) for its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkContent {
    /// The shard.
    pub shard: ShardId,
    /// The height of the block this chunk is for.
    pub height: u64,
    /// How many chunks the shard has had, this one included.
    pub sequence: u64,
    /// The finalised block at `height - k`.
    pub anchor: Digest,
    /// The shard's previous chunk header.
    pub previous: Digest,
    /// The body.
    pub body_hash: Digest,
    /// The body's parts, one for each participant of consensus; zeroes for a
    /// body without transactions, which is in no parts.
    pub parts_root: Digest,
    /// The body's length in bytes.
    pub body_len: u32,
    /// Transactions in the body.
    pub transactions: u32,
    /// Executions that this header is the first to commit to.
    pub results: Vec<ExecutionResult>,
    /// Heights of chunks, this one last, whose execution no header commits to
    /// yet.
    pub uncommitted: Vec<u64>,
    /// Everything since genesis as of the newest result.
    pub totals: ShardTotals,
}

impl Write for ChunkContent {
    fn write(&self, buf: &mut impl BufMut) {
        self.shard.write(buf);
        self.height.write(buf);
        self.sequence.write(buf);
        self.anchor.write(buf);
        self.previous.write(buf);
        self.body_hash.write(buf);
        self.parts_root.write(buf);
        self.body_len.write(buf);
        self.transactions.write(buf);
        self.results.write(buf);
        self.uncommitted.write(buf);
        self.totals.write(buf);
    }
}

impl EncodeSize for ChunkContent {
    fn encode_size(&self) -> usize {
        Self::FIXED + self.results.encode_size() + self.uncommitted.encode_size()
    }
}

impl ChunkContent {
    const FIXED: usize = ShardId::SIZE + 2 * 8 + 4 * 32 + 2 * 4 + ShardTotals::SIZE;
}

impl ChunkContent {
    /// The height of the shard's chunk before this one; 0 before the first.
    #[must_use]
    pub fn previous_height(&self) -> u64 {
        let committed = self.results.iter().map(|result| result.height);
        let heights = committed.chain(self.uncommitted.iter().copied());
        heights.rev().nth(1).unwrap_or_default()
    }
}

impl Read for ChunkContent {
    /// `executionLag`.
    type Cfg = u8;
    fn read_cfg(buf: &mut impl Buf, lag: &u8) -> Result<Self, Error> {
        let due = RangeCfg::from(0..=usize::from(*lag));
        Ok(Self {
            shard: ShardId::read(buf)?,
            height: u64::read(buf)?,
            sequence: u64::read(buf)?,
            anchor: Digest::read(buf)?,
            previous: Digest::read(buf)?,
            body_hash: Digest::read(buf)?,
            parts_root: Digest::read(buf)?,
            body_len: u32::read(buf)?,
            transactions: u32::read(buf)?,
            results: Vec::read_cfg(buf, &(due, ()))?,
            uncommitted: Vec::read_cfg(buf, &(due, ()))?,
            totals: ShardTotals::read(buf)?,
        })
    }
}

/// A chunk header: its content and the producer's signature over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    /// What is signed.
    pub content: ChunkContent,
    /// By the producer whose turn `height` is; zeroes at genesis.
    pub signature: Signature,
}

impl ChunkHeader {
    /// Signs `content`.
    #[must_use]
    pub fn sign(content: ChunkContent, key: &PrivateKey, namespaces: &Namespaces) -> Self {
        work::count(Work::Signing, 1);
        let signature = key.sign(&namespaces.chunk, &content.encode());
        Self { content, signature }
    }

    /// The header that stands for a shard's genesis state: height 0, no body.
    pub fn genesis(shard: ShardId, totals: ShardTotals) -> Result<Self, Error> {
        Ok(Self {
            content: ChunkContent {
                shard,
                height: 0,
                sequence: 0,
                anchor: ZERO,
                previous: ZERO,
                body_hash: ChunkBody(Bytes::new()).hash(),
                parts_root: ZERO,
                body_len: 0,
                transactions: 0,
                results: Vec::new(),
                uncommitted: Vec::new(),
                totals,
            },
            signature: Signature::decode(vec![0; Signature::SIZE])?,
        })
    }

    /// Whether `producer` signed this header.
    #[must_use]
    pub fn verify(&self, producer: &PublicKey, namespaces: &Namespaces) -> bool {
        work::count(Work::Signature, 1);
        producer.verify(&namespaces.chunk, &self.content.encode(), &self.signature)
    }

    /// The header's hash, signature included.
    #[must_use]
    pub fn hash(&self) -> Digest {
        hash(Domain::ChunkHeader, &[&self.encode()])
    }

    /// The fewest bytes of an encoding: no results and nothing uncommitted.
    pub const MIN_SIZE: usize = ChunkContent::FIXED + 2 + Signature::SIZE;

    /// The largest encoding under `lag`.
    #[must_use]
    pub const fn max_encode_size(lag: u8) -> usize {
        const LENGTHS: usize = 2 * 5;
        ChunkContent::FIXED + LENGTHS + lag as usize * (ExecutionResult::SIZE + 8) + Signature::SIZE
    }
}

impl Write for ChunkHeader {
    fn write(&self, buf: &mut impl BufMut) {
        self.content.write(buf);
        self.signature.write(buf);
    }
}

impl EncodeSize for ChunkHeader {
    fn encode_size(&self) -> usize {
        self.content.encode_size() + Signature::SIZE
    }
}

impl Read for ChunkHeader {
    /// `executionLag`.
    type Cfg = u8;
    fn read_cfg(buf: &mut impl Buf, lag: &u8) -> Result<Self, Error> {
        Ok(Self {
            content: ChunkContent::read_cfg(buf, lag)?,
            signature: Signature::read(buf)?,
        })
    }
}
