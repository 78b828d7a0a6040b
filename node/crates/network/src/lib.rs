// SPDX-License-Identifier: Apache-2.0
//! The nodes of a network: who they are, and everything that they say to each
//! other about chunks, states and on behalf of clients.
//!
//! | module | specifies |
//! |---|---|
//! | [`identity`] | who produces, votes, endorses and holds parts, and when |
//! | [`channels`] | the channels of a connection |
//! | [`limits`] | what a channel carries at most |
//! | [`new_blocks`] | which blocks a peer sends as they are proposed |
//! | [`answering`] | what answering one peer may take |
//! | [`asking`] | who is asked again |
//! | [`chunk_messages`] | new chunks, their headers and parts, receipts as they are made |
//! | [`chunk_requests`] | bodies, parts and receipts that were missed |
//! | [`state_requests`] | snapshots of a shard's state, page by page |
//! | [`client_messages`] | what a client asks of a shard that the asked node does not track |
//!
//! Parts of witnesses are specified in [`shardnode_witness`], endorsements and
//! blocks in [`shardnode_primitives`], and everything else that consensus says
//! in Commonware's crates.

// Lists are bounded far below 2^32 by the limits they are decoded under.
#![allow(clippy::cast_possible_truncation)]

pub mod answering;
pub mod asking;
pub mod channels;
pub mod chunk_messages;
pub mod chunk_requests;
pub mod client_messages;
pub mod identity;
pub mod limits;
pub mod new_blocks;
mod pace;
pub mod state_requests;

pub use channels::Channels;
pub use identity::{Committees, Identity};
pub use limits::Limits;
pub use pace::Pace;
