// SPDX-License-Identifier: Apache-2.0
//! Why mandates cannot be dealt.

/// Why stake cannot be divided into mandates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MandatesError {
    /// Nothing to deal to, or nothing to deal.
    #[error("a network has at least one shard and one mandate for each")]
    NoMandates,
    /// Dealing is done at every height.
    #[error("{wanted} mandates are more than {most}")]
    TooManyMandates {
        /// `shards * mandates per shard`.
        wanted: u64,
        /// What it may be.
        most: u64,
    },
    /// A mandate is at least one unit of stake.
    #[error("a total stake of {total} is too little for {wanted} mandates")]
    TooLittleStake {
        /// Over all validators.
        total: u64,
        /// `shards * mandates per shard`.
        wanted: u64,
    },
    /// The total stake is an unsigned 64-bit number.
    #[error("the total stake exceeds 2^64 - 1")]
    StakeOverflow,
    /// A validator has one stake.
    #[error("a validator is listed twice")]
    DuplicateValidator,
}
