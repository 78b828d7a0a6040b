// SPDX-License-Identifier: Apache-2.0
//! State witnesses: what a validator without state needs to re-execute a
//! chunk.
//!
//! A chunk header commits to the results of executing earlier chunks of its
//! shard. Its *witness* lets whoever knows the finalised blocks, and nothing
//! of the shard's state, come to the same results: for each of them the body
//! of the executed chunk, the receipts that were due for it, and the part of
//! the state that it touches. [`validate`](validate()) runs the same function as the
//! nodes that track the shard.
//!
//! # Encoding
//!
//! ```text
//! witness    = version (1) ‖ zstd frame of raw, window at most 2^20 bytes
//! raw        = shard (2) ‖ height (8) ‖ varint ‖ transitions
//! transition = height (8) ‖ shown ‖ varint ‖ receipt buckets with proofs ‖ partial state
//! ```
//!
//! `shown` is the executed chunk's body, or the parts of it that show that it
//! has no valid one, as [`shardnode_execution::body`] has it. Integers are big
//! endian. `height` of the witness is that of the header
//! whose results it shows; a transition's is that of the executed chunk. There
//! is one transition for each result, in the header's order, and each partial
//! state is under the root that the one before left. Whoever makes a witness
//! checks its size before [`encode`]; [`decode`] stops decompressing one byte
//! above the bound.
//!
//! # What a validator checks
//!
//! 1. The witness is of the header's shard and height, with one transition for
//!    each result, in order.
//! 2. The body, or the parts of it, are what the executed chunk's header
//!    commits to. Whether the body is valid is decided by
//!    [`shardnode_execution::body`], as trackers decide it: an invalid one
//!    executes as a chunk without transactions.
//! 3. The partial state has the root that is to be executed on.
//! 4. There is one bucket for each list of receipts that fell due and that the
//!    chunk credits ([`shardnode_execution::crediting`]), in order, from the
//!    place on that the shard's totals name, and each is proven under the root
//!    that its source's header commits to. The partial state holds exactly
//!    what the execution touches, nothing less and nothing more.
//! 5. Executing comes to exactly the header's results and totals.
//!
//! # Parts
//!
//! The encoded witness goes to the `n` members of the committee that need it
//! as `n` parts, the owner at place `i` getting part `i` and forwarding it to
//! the other owners. From three owners on the parts are Reed-Solomon shards:
//! any `max(1, floor(3n / 5))` of them give the witness. Fewer owners get
//! all of it each.
//!
//! ```text
//! part     = manifest ‖ signature (64) ‖ part of the encoded witness
//! manifest = shard (2) ‖ height (8) ‖ header hash (32) ‖ owners (2) ‖ length (4) ‖ commitment (32)
//! ```
//!
//! The chunk's producer signs the manifest under
//! [`shardnode_primitives::Namespaces::witness`], so each part shows by itself
//! who made it and of what. What follows, and the commitment over all of it,
//! are those of [`shardnode_coding`]: all owners come to the same bytes or all
//! come to none, whichever parts they have.

pub mod encoding;
pub mod error;
pub mod expected;
pub mod limits;
mod part_set;
pub mod parts;
mod validate;
mod witness;

pub use encoding::{decode, encode};
pub use error::{DecodeError, Difference, WitnessError};
pub use expected::{Due, Executable, Expected};
pub use limits::Limits;
pub use part_set::PartSet;
pub use parts::{Manifest, PartLimits, PartsError, Subject, WitnessPart, make_parts};
pub use validate::{Verifier, validate};
pub use witness::{StateWitness, Transition};
