// SPDX-License-Identifier: Apache-2.0
//! The chain's types and their encodings.
//!
//! | module | defines |
//! |---|---|
//! | [`ids`] | accounts, shards, and which shard owns an account |
//! | [`transaction`] | what clients sign |
//! | [`refusal`] | why a node does not take it |
//! | [`receipt`] | cross-shard effects and their proofs |
//! | [`chunk`] | one shard's transactions at one height, and the header that commits to them |
//! | [`outcome`] | what became of a chunk's transactions |
//! | [`endorsement`] | a committee's word for a header |
//! | [`block`] | one header per shard, ordered by consensus |
//! | [`randomness`] | what leaders reveal, and the epochs' seeds |
//! | [`congestion`], [`witness_size`] | how shards and witnesses are kept from growing beyond what can be checked |
//! | [`genesis`] | the document that every node of a network shares |
//! | [`merkle`], [`mod@hash`], [`namespace`] | commitments, hash domains, signature namespaces |
//! | [`list`] | reading lists of what others sent |
//! | [`mod@work`] | what keeps processors busy, counted |
//!
//! All integers are big endian and of fixed width unless said otherwise; lists
//! carry a varint length. Decoding never allocates more than the input can
//! fill and accepts exactly one encoding of a value.

// Lists are bounded far below 2^32 by the limits they are decoded under.
#![allow(clippy::cast_possible_truncation)]

pub mod block;
pub mod chunk;
pub mod congestion;
pub mod endorsement;
pub mod genesis;
pub mod hash;
pub mod ids;
pub mod list;
pub mod merkle;
pub mod namespace;
pub mod outcome;
pub mod randomness;
pub mod receipt;
pub mod refusal;
pub mod transaction;
pub mod witness_size;
pub mod work;

pub use block::{Block, BlockLimits};
pub use chunk::{ChunkBody, ChunkContent, ChunkHeader, DuePosition, ExecutionResult, ShardTotals};
pub use commonware_cryptography::blake3::Digest;
pub use congestion::Congestion;
pub use endorsement::{Endorsement, Endorsements};
pub use genesis::{Genesis, GenesisDocument};
pub use ids::{AccountId, ShardId, ShardLayout};
pub use namespace::Namespaces;
pub use randomness::Randomness;
pub use receipt::{ProvenBucket, Receipt, ReceiptBucket};
pub use refusal::Refusal;
pub use transaction::{SignedTransfer, Transaction, Transfer, highest_nonce};
