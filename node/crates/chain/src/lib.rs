// SPDX-License-Identifier: Apache-2.0
//! The protocol of a sharded chain.
//!
//! # The life of a transfer
//!
//! 1. A client or a generator gives it to the [`pool`] of a producer of the
//!    signer's shard.
//! 2. When a block is finalised and executed, the [`producer`] whose turn the
//!    next height is puts it into a chunk, signs the chunk's header and sends
//!    the body to the shard's other trackers, a part of it to every other
//!    voter, and the header to everybody ([`availability`]).
//!    It also sends the members of the shard's committee that do not track the
//!    shard the state witness of what the header commits to
//!    ([`witness_maker`]).
//! 3. The members check the header, from the witness or from their own state,
//!    and endorse it ([`witness_validator`]).
//! 4. The leader of the next view puts one endorsed header per shard into a
//!    block ([`application`]). Producers vote for it if it is valid
//!    ([`validity`]), if they have the body of their own shard's chunk and
//!    agree with its results, and if they hold their parts ([`parts`]) of the
//!    bodies of all others. Consensus (commonware's simplex) finalises it.
//! 5. Every tracker of the shard executes the chunk ([`ledger`]): the signer
//!    is debited; a receiver of another shard becomes a receipt.
//! 6. The shard's first header that is `executionLag` heights later or more
//!    commits to the result, receipts included. Its producer sends the receipts
//!    to the trackers of their destinations, with proofs against that header.
//! 7. The destination's next chunk, at or after the block with that header,
//!    credits the receiver.
//!
//! # What each node holds
//!
//! A producer tracks one shard: its state, its chunk bodies, the receipts for
//! it and from it. Of the other shards it sees headers, for the moment of an
//! endorsement their witnesses, and it holds one part of each body. A chunk
//! validator or an rpc node tracks none. [`fetch`] gets what was missed, or
//! [`state_sync`] a later state where that is no longer to be had; [`requests`]
//! serves clients.
//!
//! [`sizing`] decides how full chunks are, [`pool`] what waits, and
//! [`shardnode_primitives::congestion`] to which shards nothing is sent.
//!
//! All time, randomness, storage, tasks and CPU work come from the
//! [`runtime`], so a whole network runs in one deterministic process.

// Lists are bounded far below 2^32 by the limits they are decoded under.
#![allow(clippy::cast_possible_truncation)]

pub mod application;
pub mod availability;
pub mod bodies;
pub mod channels;
pub mod client_messages;
pub mod config;
pub mod due;
pub mod engine;
pub mod error;
pub mod executed;
pub mod fetch;
pub mod generator;
pub mod genesis_state;
pub mod history;
pub mod ledger;
pub mod messages;
pub mod metrics;
pub mod parts;
pub mod pool;
pub mod producer;
pub mod requests;
pub mod runtime;
pub mod sizing;
pub mod state_sync;
pub mod tolerance;
pub mod validity;
pub mod view;
pub mod window;
pub mod witness_maker;
pub mod witness_validator;

pub use channels::Channels;
pub use config::{Identity, Settings};
pub use engine::{Node, Parts, Started, start};
pub use error::ChainError;
pub use genesis_state::GenesisState;
pub use metrics::Metrics;
