// SPDX-License-Identifier: Apache-2.0
//! Why a tree cannot be built or changed.

use shardnode_primitives::AccountId;

/// A reason why a tree cannot be built or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The id of all zeroes is reserved.
    #[error("the id of all zeroes is no account")]
    ReservedId,
    /// Ids are unique.
    #[error("account {0} appears twice")]
    Duplicate(AccountId),
    /// The first leaf is the sentinel.
    #[error("the first leaf is not the sentinel")]
    Sentinel,
    /// The leaves' list does not follow the order of ids.
    #[error("leaf of account {0} names the wrong next account")]
    Order(AccountId),
    /// More than the value that can exist.
    #[error("the sum of all balances overflows")]
    Overflow,
    /// Indices are 32 bits wide.
    #[error("more than 2^32 - 1 leaves")]
    TooMany,
    /// Only what exists can be removed.
    #[error("account {0} does not exist and cannot be removed")]
    NoAccount(AccountId),
    /// A partial tree says nothing about the account, or cannot create or
    /// remove it.
    #[error("account {0} is not covered by the partial state")]
    NotCovered(AccountId),
}
