// SPDX-License-Identifier: Apache-2.0
//! What clients are answered, and the codes in which other nodes say it.

use shardnode_execution::Outcome;
use shardnode_mailboxes::pool::PoolError;
use shardnode_primitives::ShardId;

/// Why a transfer was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The pool would not have it.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The signature does not hold.
    #[error("signature does not hold")]
    Signature,
    /// The nonce was used.
    #[error("nonce is not above the signer's")]
    Nonce,
    /// The nonce is above what any chunk executes soon.
    #[error("nonce is above the highest of this height")]
    HighNonce,
    /// Nobody can pay.
    #[error("signer does not exist")]
    NoAccount,
    /// The signer cannot pay.
    #[error("amount and fee are above the signer's balance")]
    Balance,
    /// It moves too little.
    #[error("amount is below the least balance")]
    Amount,
    /// No account can have the receiver's id.
    #[error("receiver is the reserved id of all zeroes")]
    Receiver,
    /// No node of the signer's shard answered.
    #[error("no node of shard {0} answered")]
    Unavailable(ShardId),
}

/// No node of the shard answered with what could be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no node of shard {0} answered")]
pub struct Unavailable(pub ShardId);

/// The code of a transaction of which nothing is known; of all others it is
/// that of their [`Outcome`].
pub(crate) const UNKNOWN: u8 = u8::MAX;

/// The fate of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Not among the last executed chunks of its shard.
    Unknown,
    /// In the chunk at this height.
    Known(u64, Outcome),
}

const SUBMITTED: u8 = 0;

pub(crate) const fn submit_code(result: Result<(), SubmitError>) -> u8 {
    match result {
        Ok(()) => SUBMITTED,
        Err(SubmitError::Pool(PoolError::Full)) => 1,
        Err(SubmitError::Pool(PoolError::Duplicate)) => 2,
        Err(SubmitError::Signature) => 3,
        Err(SubmitError::Nonce) => 4,
        Err(SubmitError::Balance) => 5,
        Err(SubmitError::Unavailable(_)) => 6,
        Err(SubmitError::Receiver) => 7,
        Err(SubmitError::Pool(PoolError::Congested)) => 8,
        Err(SubmitError::Pool(PoolError::Bytes)) => 9,
        Err(SubmitError::Pool(PoolError::Account)) => 10,
        Err(SubmitError::Pool(PoolError::Funds)) => 11,
        Err(SubmitError::Pool(PoolError::Expired)) => 12,
        Err(SubmitError::HighNonce) => 13,
        Err(SubmitError::NoAccount) => 14,
        Err(SubmitError::Amount) => 15,
    }
}

pub(crate) const fn submit_result(code: u8, shard: ShardId) -> Result<(), SubmitError> {
    match code {
        SUBMITTED => Ok(()),
        1 => Err(SubmitError::Pool(PoolError::Full)),
        2 => Err(SubmitError::Pool(PoolError::Duplicate)),
        3 => Err(SubmitError::Signature),
        4 => Err(SubmitError::Nonce),
        5 => Err(SubmitError::Balance),
        7 => Err(SubmitError::Receiver),
        8 => Err(SubmitError::Pool(PoolError::Congested)),
        9 => Err(SubmitError::Pool(PoolError::Bytes)),
        10 => Err(SubmitError::Pool(PoolError::Account)),
        11 => Err(SubmitError::Pool(PoolError::Funds)),
        12 => Err(SubmitError::Pool(PoolError::Expired)),
        13 => Err(SubmitError::HighNonce),
        14 => Err(SubmitError::NoAccount),
        15 => Err(SubmitError::Amount),
        _ => Err(SubmitError::Unavailable(shard)),
    }
}
