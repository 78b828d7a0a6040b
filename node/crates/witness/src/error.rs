// SPDX-License-Identifier: Apache-2.0
//! Why a witness shows nothing.

use shardnode_execution::{ApplyError, body::Unshown};
use shardnode_primitives::ShardId;
use shardnode_state::{CoverError, PartialError};
use std::io;

/// Why bytes are no witness.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// There are none.
    #[error("no bytes")]
    Empty,
    /// The version is not one that this node reads.
    #[error("version {got}, this node reads {}", crate::limits::VERSION)]
    Version {
        /// What the first byte says.
        got: u8,
    },
    /// What follows the version is no zstd frame.
    #[error("no zstd frame")]
    Frame,
    /// The frame cannot be decompressed.
    #[error("cannot be decompressed: {0}")]
    Compression(#[source] io::Error),
    /// More than is allowed comes out of the frame.
    #[error("more than {limit} bytes when decompressed")]
    TooLarge {
        /// What is allowed.
        limit: usize,
    },
    /// Something follows the frame.
    #[error("{bytes} bytes after the end")]
    Trailing {
        /// How much.
        bytes: usize,
    },
    /// What comes out of the frame does not decode.
    #[error("cannot be decoded: {0}")]
    Codec(#[from] commonware_codec::Error),
}

/// Why a witness does not show what a header says. `execution` is the height
/// of the executed chunk.
#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    /// It does not decode.
    #[error("the witness is malformed")]
    Decode(#[from] DecodeError),
    /// It is of another shard.
    #[error("witness of shard {got} for a header of shard {want}")]
    Shard {
        /// The witness's.
        got: ShardId,
        /// The header's.
        want: ShardId,
    },
    /// It is of another height.
    #[error("witness of height {got} for a header at height {want}")]
    Height {
        /// The witness's.
        got: u64,
        /// The header's.
        want: u64,
    },
    /// It shows more or fewer executions.
    #[error("{got} transitions for {want} results")]
    Transitions {
        /// The witness's.
        got: usize,
        /// The header's.
        want: usize,
    },
    /// It shows another execution, or not in this place.
    #[error("transition {index} is of height {got} instead of {want}")]
    Order {
        /// Which one.
        index: usize,
        /// Its height.
        got: u64,
        /// The height of the result in its place.
        want: u64,
    },
    /// It shows nothing of the chunk's body.
    #[error("execution {execution}: {why}")]
    Body {
        /// The executed height.
        execution: u64,
        /// Why not.
        why: Unshown,
    },
    /// More or fewer buckets than the chunk credits of those that fell due.
    #[error("execution {execution}: {got} receipt buckets instead of {want}")]
    Buckets {
        /// The executed height.
        execution: u64,
        /// The witness's.
        got: usize,
        /// What it must credit, or at least that.
        want: usize,
    },
    /// A bucket is not the one that fell due in its place.
    #[error(
        "execution {execution}: receipts of shard {source_shard} at height {height} are not \
         those that fell due"
    )]
    Receipts {
        /// The executed height.
        execution: u64,
        /// Whose receipts were due.
        source_shard: ShardId,
        /// The height of the execution that emitted them.
        height: u64,
    },
    /// The partial state is of another state.
    #[error("execution {execution}: state before")]
    PreState {
        /// The executed height.
        execution: u64,
        /// How it differs.
        #[source]
        source: PartialError,
    },
    /// The partial state is not what the execution touches.
    #[error("execution {execution}: state before")]
    Cover {
        /// The executed height.
        execution: u64,
        /// What is missing or too much.
        #[source]
        source: CoverError,
    },
    /// It cannot be executed.
    #[error("execution {execution}")]
    Apply {
        /// The executed height.
        execution: u64,
        /// Why.
        #[source]
        source: ApplyError,
    },
    /// Executing comes to something else than the header says.
    #[error("execution {execution}: {difference}")]
    Result {
        /// The executed height.
        execution: u64,
        /// What differs.
        difference: Difference,
    },
    /// The sums since genesis come to something else than the header says.
    #[error("totals: {0}")]
    Totals(Difference),
}

/// The first thing in which an execution and a header differ.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {got}, the header says {want}")]
pub struct Difference {
    /// What.
    pub field: &'static str,
    /// What the execution comes to.
    pub got: String,
    /// What the header says.
    pub want: String,
}
