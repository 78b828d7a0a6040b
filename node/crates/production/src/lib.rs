// SPDX-License-Identifier: Apache-2.0
//! Chunk production: from a transaction that is let into a pool to a chunk, and
//! the state witness of what its header commits to.
//!
//! | actor | does |
//! |---|---|
//! | [`pool`] | holds transactions until a chunk takes them |
//! | [`producer`] | makes the own shard's chunks and has them sent out |
//! | [`witness_maker`] | makes their state witnesses and sends them to the committee |
//! | [`generator`] | signs transfers, for measured load |
//!
//! [`planted`] has witnesses be late on purpose, in tests of what tells of it.
//! [`chunk_size`] decides how full chunks are, [`pool`] what waits, and
//! [`shardnode_primitives::congestion`] to which shards nothing is sent.

// Chunks have far fewer transactions than 2^32.
#![allow(clippy::cast_possible_truncation)]

pub mod chunk_size;
mod error;
pub mod generator;
mod metrics;
pub mod planted;
pub mod pool;
pub mod producer;
pub mod witness_maker;

pub use error::ProducerError;
pub use metrics::Metrics;
