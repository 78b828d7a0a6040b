// SPDX-License-Identifier: Apache-2.0
//! What the actors of one node say to each other: a mailbox for every actor
//! that others talk to, what goes through it, and the [`Runtime`] that they all
//! run on.
//!
//! An actor knows the mailboxes of others and never the others themselves: the
//! actors are in the crates above, and the engine that puts a node together
//! gives each the mailboxes that it needs.
//!
//! | mailbox | is read by the actor that |
//! |---|---|
//! | [`availability`] | knows what is at hand of the chunks in flight |
//! | [`bodies`] | takes in chunk bodies of the own shard |
//! | [`pool`] | holds transactions until a chunk takes them |
//! | [`producer`] | makes the own shard's chunks |
//! | [`witness_validator`] | does a committee member's work |
//! | [`ledger`] | owns the own shard's state |
//! | [`state_sync`] | fetches the state of a shard from those who keep it |
//!
//! # Who waits for whom
//!
//! An actor waits only for actors further down: application, ledger,
//! state_sync, witness_validator, producer, pool, availability, bodies and
//! parts. What goes up is told, not asked, or awaited beside what the actor takes
//! up meanwhile: so does the witness_validator wait for executions. No mailbox is
//! unbounded: what must not wait is dropped when it is full, and what is asked by
//! peers has a queue of its own. In which order an actor takes up what is ready,
//! and why, is specified in [`turns`].

pub mod availability;
pub mod bodies;
pub mod ledger;
pub mod pool;
pub mod producer;
pub mod refused;
mod runtime;
pub mod snapshots;
pub mod state_sync;
pub mod turns;
pub mod witness_validator;

pub use runtime::Runtime;
