// SPDX-License-Identifier: Apache-2.0
//! The ledger once more: small, plain and slow.
//!
//! A [`Model`] is told the accounts of genesis and then, block by block, which
//! shards have a chunk and what transfers are in it. It says what the headers
//! of every block must commit to. Whoever compares that with the headers of a
//! chain learns whether the nodes that made it keep the protocol's rules, and
//! not only whether they agree.
//!
//! It is written from the specification, which is the module documentation of
//! the node's crates, and shares no code with them: no types, no encodings, no
//! tree, no batches. It keeps everything and computes every hash anew each
//! time, so it is for networks of some thousand accounts. It decodes nothing.
//! Whether a body is there, has the header's hash and coding, and as many
//! transfers as the header says is for the caller to find out: a chunk without
//! a valid body is told as one without transfers.
//!
//! | module | what it models | specified in |
//! |---|---|---|
//! | [`plain`] | what it is told and what it says | `primitives`: `chunk`, `receipt`, `transaction` |
//! | [`hashing`] | hashes and roots of lists | `primitives`: `hash`, `merkle` |
//! | [`accounts`] | the accounts of a shard and their root | `state` |
//! | [`signatures`] | which signatures hold | `primitives`: `transaction` |
//! | [`bound`] | how many receipts a chunk credits | `execution`: `crediting`; `primitives`: `witness_size` |
//! | [`model`] | which headers commit to what, queues, congestion | `primitives`: `chunk`, `congestion` |
//! | [`executing`] | what a chunk does | `execution`, `execution`: `outcome`; `primitives`: `receipt` |
//! | [`mod@difference`] | where a header says something else, in words | |
//!
//! All value that there is was made by genesis and is below 2^64, so sums are
//! plain sums here: one that overflows panics.

// Lists have a few hundred items.
#![allow(clippy::cast_possible_truncation)]

pub mod accounts;
pub mod bound;
pub mod difference;
pub mod executing;
pub mod hashing;
pub mod model;
pub mod plain;
pub mod signatures;

pub use difference::difference;
pub use model::{Model, Value};
pub use plain::{Account, Chunk, Hash, Header, Id, Outcome, Place, Rules, Sums, Totals, Transfer};
