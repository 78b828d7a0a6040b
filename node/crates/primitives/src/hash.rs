// SPDX-License-Identifier: Apache-2.0
//! Domain-separated hashing.
//!
//! Every hash of the chain is blake3 over a one-byte domain and then the
//! parts, so a hash of one domain can never be presented as a hash of another.
//! There are two exceptions: a transaction's hash is that of its bytes, which
//! are longer than a list node's, whose domain is its first byte, and the roots
//! of codings are those of `commonware-coding`.

use commonware_cryptography::blake3::Digest;

/// What a hash stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Domain {
    /// A leaf of a [`crate::merkle`] list.
    ListLeaf = 0x00,
    /// An inner node of a [`crate::merkle`] list.
    ListNode = 0x01,
    /// The root of a [`crate::merkle`] list: the number of leaves and the top.
    ListRoot = 0x02,
    /// A leaf of the state tree.
    StateLeaf = 0x10,
    /// An inner node of the state tree.
    StateNode = 0x11,
    /// The root of the state tree: the number of leaves and the top.
    StateRoot = 0x12,
    /// A chunk header.
    ChunkHeader = 0x20,
    /// A chunk body.
    ChunkBody = 0x21,
    /// A block.
    Block = 0x22,
    /// The genesis document.
    Genesis = 0x23,
    /// The secret key of a genesis account.
    AccountKey = 0x24,
    /// The chain's randomness after a block.
    Randomness = 0x25,
    /// The receipts that one execution sends to one shard.
    ReceiptBucket = 0x30,
    /// The outcome of one transaction.
    Outcome = 0x31,
}

/// Hashes `parts` under `domain`.
#[must_use]
pub fn hash(domain: Domain, parts: &[&[u8]]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[domain as u8]);
    for part in parts {
        hasher.update(part);
    }
    Digest(*hasher.finalize().as_bytes())
}

/// The digest of all zeroes: the parent of the genesis block and the root of
/// nothing.
pub const ZERO: Digest = Digest([0; 32]);
