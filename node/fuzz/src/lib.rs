// SPDX-License-Identifier: Apache-2.0
//! Hostile bytes for every decoder of the node.
//!
//! A [`Target`] is a group of [`Decoder`]s of one subject. Each of its inputs
//! goes through all of them, so an input is nothing but the bytes that a peer,
//! a client or a disk could hold. Of every decoder, whatever the bytes are:
//!
//! - it does not panic, nor does what the node does next with what it decoded:
//!   verifying, executing, rebuilding;
//! - the memory that it has at any moment is within a [`Budget`] that follows
//!   from the input's length;
//! - what it decodes encodes to the same bytes again, where it is of a format
//!   in which every value has one encoding.
//!
//! | target | decodes |
//! |---|---|
//! | [`transactions`](targets::transactions) | what clients sign, and bodies of chunks |
//! | [`receipts`](targets::receipts) | receipts and their proofs |
//! | [`blocks`](targets::blocks) | blocks, headers, endorsements, randomness |
//! | [`state`](targets::state) | leaves, proofs of accounts, partial states |
//! | [`witness`](targets::witness) | state witnesses, compressed and not |
//! | [`parts`](targets::parts) | parts of witnesses |
//! | [`proofs`](targets::proofs) | what clients are shown of accounts and outcomes |
//! | [`messages`](targets::messages) | what nodes send each other about chunks and for clients |
//! | [`records`](targets::records) | what is read back from disk |
//! | [`documents`](targets::documents) | the files that a node is started with |
//! | [`api`](targets::api) | what clients send to the HTTP API |
//!
//! Messages of consensus, of the p2p handshake and of the request protocol
//! around [`Key`](shardnode_network::chunk_requests::Key) are decoded by Commonware's
//! crates, which have fuzz targets of their own.
//!
//! The folder `corpus` holds inputs for every target, among them all golden
//! vectors that it decodes. Tests of this crate run each of them; `make fuzz`
//! looks for more with libFuzzer.

mod budget;
mod decoder;
mod documents;
pub mod targets;

pub use budget::Budget;
pub use decoder::Decoder;
pub use targets::{Target, targets};
