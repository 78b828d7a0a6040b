// SPDX-License-Identifier: Apache-2.0
//! The protocol of a sharded chain, put together from the crates that specify
//! its parts.
//!
//! # The life of a transfer
//!
//! 1. A client ([`shardnode_clients`]) or a generator gives it to the
//!    [`pool`](shardnode_production::pool) of a producer of the signer's shard,
//!    and if that does nothing with it, to the next one's.
//! 2. When a block is finalised and executed, the
//!    [`producer`](shardnode_production::producer) whose turn the next height is
//!    puts it into a chunk, signs the chunk's header and sends the body to the
//!    shard's other trackers, a part of it to every other voter, and the header
//!    to everybody ([`shardnode_availability`]).
//!    It also sends the members of the shard's committee that do not track the
//!    shard the state witness of what the header commits to
//!    ([`witness_maker`](shardnode_production::witness_maker)).
//! 3. The members check the header, from the witness or from their own state,
//!    and endorse it ([`shardnode_validation`]).
//! 4. The leader of the next view puts one endorsed header per shard into a
//!    block ([`application`]). Producers vote for it if it is valid
//!    ([`validity`](shardnode_blocks::validity)), if they have the body of their
//!    own shard's chunk and agree with its results, and if they hold their
//!    parts ([`held_parts`](shardnode_availability::held_parts)) of the bodies of
//!    all others. Consensus (commonware's simplex) finalises it.
//! 5. Every tracker of the shard executes the chunk ([`shardnode_ledger`]): the
//!    signer is debited; a receiver of another shard becomes a receipt.
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
//! validator or an rpc node tracks none. What was missed is asked for
//! ([`chunk_requests`](shardnode_network::chunk_requests)), or a later state
//! where that is no longer to be had ([`shardnode_state_sync`]).
//!
//! # Where it is specified
//!
//! | crate | specifies |
//! |---|---|
//! | [`shardnode_network`] | who the nodes are, and what they say to each other |
//! | [`shardnode_blocks`] | what blocks alone say: validity, due receipts, throughput, supply |
//! | [`shardnode_mailboxes`] | what the actors of one node say to each other |
//! | [`shardnode_availability`] | what is at hand of the chunks in flight |
//! | [`shardnode_production`] | pool, chunks and their size, state witnesses |
//! | [`shardnode_validation`] | what a committee member endorses |
//! | [`shardnode_ledger`] | executing chunks, recovery, snapshots |
//! | [`shardnode_state_sync`] | fetching and serving states |
//! | [`shardnode_archive`] | keeping the states of all shards |
//! | [`shardnode_clients`] | what clients are answered |
//! | [`shardnode_traces`] | what is recorded of all this, and by whom |
//! | this one | [proposing and judging blocks](application), and the [`engine`] that puts a node together |
//!
//! All time, randomness, storage, tasks and CPU work come from the
//! [`Runtime`](shardnode_mailboxes::Runtime), so a whole network runs in one
//! deterministic process.

pub mod application;
pub mod engine;
mod error;
mod floors;
mod metrics;
pub mod offences;
mod proposals;
mod rounds;
mod settings;
mod settling;

pub use engine::{Node, Parts, Started, start};
pub use error::ChainError;
pub use metrics::Metrics;
pub use settings::{BLOCK_SECTION, Settings};
pub use shardnode_archive::Standing;
