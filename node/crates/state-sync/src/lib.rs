// SPDX-License-Identifier: Apache-2.0
//! State sync: fetching the state of a shard from those who keep it, and serving
//! it. A producer fetches that of its own shard when what executing the next chunk
//! takes is no longer to be had: when that is, and which states it serves, the
//! ledger says. An archive fetches the states of all shards, one after the other,
//! and serves them.
//!
//! [`Actor`] fetches, [`Server`] answers, in the formats of
//! [`state_requests`](shardnode_network::state_requests).
//!
//! # What is served
//!
//! The [newest snapshots](shardnode_mailboxes::snapshots) that a finalised header
//! states: by producers of their own shard, by archives of all.
//!
//! # What is fetched
//!
//! Only the accounts. The totals and the root are in the header that states
//! the snapshot, which is in a finalised block that this node has itself.
//! Every execution up to the snapshot is committed to by then, so no header
//! will ask for one of them. The totals also say which receipts are not yet
//! credited (`next_due`): those of headers in blocks from that place on, which
//! this node has, too. A shard that is behind has some from below the snapshot
//! among them. They are asked for as ever: the shards that sent them keep them
//! for `retentionBlocks`.
//!
//! # How
//!
//! ```text
//! ask the shard's other producers and the archives for their newest snapshots     (height, block that states it)
//! choose the newest one that the block states, at the needed height or above
//! ask for page 0, which tells how many there are; then for 16 at a time, of all who offer it
//! verify each page against the root as it comes; whoever sent a wrong one is cut off
//! build the tree, compare its balance with the totals, hand it to the ledger
//! ```
//!
//! The ledger makes it durable in one step and goes on executing after it. A
//! node that is killed before that starts over.
//!
//! # Bounds
//!
//! A page is 80 kB and 22 hashes at most; 16 are asked for at a time. A state
//! has at most as many accounts as genesis has and credits created. A download
//! that lacks its next [`WINDOW`](download::WINDOW) pages after
//! [`STALL`](actor::STALL) is given up for what those offer who did not offer
//! this one; once nobody else is left, everybody counts again.

// Pages of a state are bounded by its leaves, which are counted in 32 bits.
#![allow(clippy::cast_possible_truncation)]

mod actor;
mod choice;
mod download;
mod metrics;
mod server;

pub use actor::{Actor, Fetcher, Parts};
pub use metrics::Metrics;
pub use server::Server;
