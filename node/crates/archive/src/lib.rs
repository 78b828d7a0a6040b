// SPDX-License-Identifier: Apache-2.0
//! The archive: keeps the newest state of every shard on its disk, so that a shard
//! comes back whose producers all lost theirs.
//!
//! An archive follows the chain without a vote, tracks no shard and signs nothing.
//! All nodes know which nodes are archives; it is not in the genesis document, so a
//! network can get one later.
//!
//! # What is kept
//!
//! Of each shard the two newest snapshots that came, of which the older one counts
//! only where the newer turns out to be damaged. A state is fetched as a producer
//! fetches one, from the shard's producers, and is made durable before it is
//! [served](shardnode_mailboxes::snapshots).
//!
//! # When
//!
//! ```text
//! the newest final header of a shard states a height     S
//! the archived state is of height                        A, or 0
//!
//! due        S - A >= snapshotIntervalBlocks: its producers took another snapshot
//! fetched    of the shards that are due, one after the other, the one first that waited longest
//! given up   when no page came for PATIENCE; the others have their turn before it is asked for again
//! ```
//!
//! So all shards' states go over the wire once in `snapshotIntervalBlocks`, one at
//! a time and at most as fast as [state sync](shardnode_mailboxes::state_sync) asks
//! for pages, and producers answer within what they answer any peer.
//!
//! # What it takes to come back
//!
//! A producer with an empty disk finds the archived state like one of another
//! producer. From there on it executes the chunks up to the shard's last one: their
//! bodies come from the parts that the other shards' producers hold, and the
//! receipts from the shards that sent them, both for `retentionBlocks`. Parts are
//! held for so long where they are durable, else only for the last 64 blocks. The
//! blocks that it takes [are kept](shardnode_blocks::kept) by every node.
//!
//! A shard is *usable* in an archive if its state is not further than
//! `retentionBlocks` below the shard's newest final header. Genesis counts as a
//! state at height 0, which every node derives. That a shard is no longer usable is
//! logged as an error, once, and so is that it is again.
//!
//! # Bounds
//!
//! On disk each account takes 160 bytes, in two snapshots, and in memory twice that
//! and its part of the tree's nodes while the next one comes. A damaged store ends
//! the node at its start: its data directory is then emptied, and what is lost is
//! fetched again as long as a producer has it.

mod actor;
mod error;
mod metrics;
mod standing;

pub use actor::{Actor, Parts};
pub use error::ArchiveError;
pub use metrics::Metrics;
pub use standing::Standing;
