// SPDX-License-Identifier: Apache-2.0
//! Which witnesses this node reads.

use shardnode_coding::Code;

/// The first byte of every encoded witness.
pub const VERSION: u8 = 2;

/// What bounds the decoding of a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of the raw encoding.
    pub raw_bytes: usize,
    /// The most transitions: `executionLag`.
    pub transitions: u8,
    /// The most receipts of a bucket: the most transactions of a chunk.
    pub receipts: u32,
    /// How bodies are divided.
    pub code: Code,
}
