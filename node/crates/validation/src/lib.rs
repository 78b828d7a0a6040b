// SPDX-License-Identifier: Apache-2.0
//! A committee member's work: it checks chunk headers and endorses those that
//! are right.
//!
//! The committees of height `h` are known with block `h - 1`, and a chunk for
//! `h` is made once that block is final. A member then endorses a header for
//! `h`
//!
//! - of the shard that it tracks, if the results are its own and the chunk's
//!   body is at hand, durable and valid;
//! - of any other shard, if the chunk's state witness shows the results
//!   ([`shardnode_witness`]), or there are none to show. The first of the
//!   committee's members that do not track the shard gets the first part from
//!   the producer, and so on; each forwards its part to the others.
//!
//! A verdict that is there is acted on before another part is looked at, and so
//! are finalised blocks and headers ([`shardnode_mailboxes::turns`]): a flood of
//! parts would otherwise hold every endorsement back.
//!
//! A part is sent by its producer, which signed it, to its owner, or by its
//! owner, which checked it before it passed it on. Whoever sends one for another
//! number of owners than the committee has, one that is not its own, or one whose
//! signature or proof does not hold is cut off.
//!
//! Bounds: headers are kept for heights [in flight](shardnode_blocks::in_flight),
//! parts, which are large, for [`PARTS_HORIZON`](actor::PARTS_HORIZON) heights
//! above the finalised one, for
//! [`PER_SLOT`](shardnode_blocks::in_flight::PER_SLOT) headers of a shard and
//! height, and only if the producer whose turn it is signed them. The committees
//! of these heights are known: parts are taken in of those witnesses alone that
//! this node checks, as many as give the witness, and the one that it passes on;
//! beyond the next height of one header of a slot, as an honest producer makes one.
//! One sender adds one part to a witness, and a producer the own one, and each of
//! them is hashed once.

// Places in a committee are bounded by the validators of genesis.
#![allow(clippy::cast_possible_truncation)]

mod actor;
mod checks;
mod expected;
mod metrics;
mod seats;

pub use actor::{Actor, Parts};
pub use metrics::Metrics;
