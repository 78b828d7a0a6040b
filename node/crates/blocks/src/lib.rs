// SPDX-License-Identifier: Apache-2.0
//! What blocks alone say, to every node and without any shard's state.
//!
//! | module | says |
//! |---|---|
//! | [`genesis_state`] | what the block of height 0 commits to |
//! | [`validity`] | what a block may say, given its parent |
//! | [`in_flight`] | for which heights chunks are kept before a block names them |
//! | [`due_receipts`] | which receipts fall due with a block, and in which order |
//! | [`history`] | where finalised blocks are |
//! | [`kept`] | which of them are kept, and from which one a node goes on that was away for longer |
//! | [`finalized`], [`throughput`] | what they come to: height, block time, transfers, supply |
//!
//! [`Metrics`] count what finalised blocks say, never what this node believes
//! that it did.

// Heights and counts are bounded far below 2^32 by the limits they are decoded under.
#![allow(clippy::cast_possible_truncation)]

pub mod due_receipts;
pub mod finalized;
pub mod genesis_state;
pub mod history;
pub mod in_flight;
pub mod kept;
mod metrics;
mod misses;
pub mod throughput;
pub mod validity;

pub use finalized::ChainView;
pub use genesis_state::GenesisState;
pub use history::{History, Marshal};
pub use metrics::Metrics;
pub use misses::Miss;
