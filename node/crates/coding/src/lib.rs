// SPDX-License-Identifier: Apache-2.0
//! Bytes in parts, one for each of their owners, any few of which give them
//! back.
//!
//! A [`Code`] says how many owners there are and how many of their shares are
//! needed. Whoever divides bytes commits to all shares by one root; each share
//! shows by itself that it stands at its place under that root.
//!
//! ```text
//! share = varint ‖ Reed-Solomon shard ‖ index (2) ‖ number of leaves (4) ‖ varint ‖ siblings    coded
//!       | the bytes                                                                             copies
//! part  = index (2) ‖ share
//! ```
//!
//! Shards, their proofs and the root of a coding, that of a binary tree over
//! the shards, are those of [`ReedSolomon`] over blake3; golden vectors hold
//! them still. Where every owner has a copy, the root is the
//! [`merkle`](shardnode_primitives::merkle) root of a list with the bytes as
//! its one item.
//!
//! [`Code::rebuild`] encodes again and compares the root. So whichever shares
//! somebody has, as long as they are enough: either everybody comes to the
//! same bytes, or everybody to the same verdict, that the root is of no
//! coding.
//!
//! [`ReedSolomon`]: commonware_coding::ReedSolomon

mod code;
mod dividing;
mod share;

pub use code::Code;
pub use dividing::{CheckedShare, CodeError};
pub use share::{Part, Share, ShareLimits};
