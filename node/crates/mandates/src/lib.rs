// SPDX-License-Identifier: Apache-2.0
//! Mandates: which validators check which shard at which height.
//!
//! A *mandate* is a unit of stake that checks one shard at one height. The
//! validators that hold the mandates of a shard at a height are the shard's
//! *committee* there. Everything here is a function of its arguments, in
//! integers, except [`security`], which estimates and decides nothing.
//!
//! # Price
//!
//! A network of `S` shards wants `M` mandates for each. The *price* of a
//! mandate is the largest `m` with
//!
//! ```text
//! floor(stake_1 / m) + … + floor(stake_n / m)  >=  S * M
//! ```
//!
//! and validator `i` holds `floor(stake_i / m)` *whole* mandates of stake `m`
//! each and, if `stake_i mod m` is not 0, one *partial* mandate of that stake.
//! So every unit of stake is in exactly one mandate. There can be more than
//! `S * M` whole mandates, never fewer.
//!
//! # Dealing
//!
//! The committees of height `h` in an epoch with the 32-byte seed `s`:
//!
//! ```text
//! rng          ChaCha20, key s, stream (nonce) h, from block 0; taken 64 bits at a time, little endian
//! draw(b)      x = the next 64 bits, until x < 2^64 - (2^64 mod b); then x mod b
//! shuffle(l)   for i = len(l) - 1 down to 1: swap l[i] and l[draw(i + 1)]
//!
//! 1. order of the shards for whole mandates    = shuffle([0, …, S - 1])
//! 2. order of the shards for partial mandates  = shuffle([0, …, S - 1])
//! 3. whole   = shuffle(the holder of each whole mandate, in validator order)
//! 4. partial = shuffle(the holder of each partial mandate, in validator order)
//! 5. mandate i of a list goes to the shard at place i mod S of the list's order
//! 6. for each shard in order 0, …, S - 1:
//!    members = shuffle(the validators with a mandate of the shard, in validator order)
//! ```
//!
//! Validator order is the order of their identities. A member's stake is the
//! sum of its mandates of the shard. Every shard gets the same number of whole
//! mandates to within one, and the same of partial ones. Two shuffled orders
//! of the shards keep the shards that get one more from being always the same,
//! and from being the same for both lists. The members' order gives each a
//! place, by which parts and endorsements can be told apart.
//!
//! # Quorum
//!
//! A committee with the stake `T` has endorsed once members with at least
//! `floor(2T / 3) + 1` have. So, as [`committee`] shows, members with a third
//! of the stake or more can withhold an endorsement, and members with more
//! than two thirds can give one on their own.

pub mod committee;
mod deal;
pub mod error;
pub mod mandates;
pub mod security;

pub use committee::{Committee, Member, quorum};
pub use error::MandatesError;
pub use mandates::Mandates;
