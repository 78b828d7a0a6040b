// SPDX-License-Identifier: Apache-2.0
//! What became of a transaction.
//!
//! An outcome is one byte: 0 for executed, else the number of the [`Failure`].
//! An execution's `outcomes_root` is that of the list that
//! [`shardnode_primitives::outcome`] specifies.

use shardnode_primitives::{Digest, outcome};

/// What became of one transaction of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The signer was debited.
    Executed,
    /// The amount stayed where it was.
    Failed(Failure),
}

/// Why a transaction moved nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
pub enum Failure {
    /// The nonce is not above the signer's.
    #[error("nonce is not above the signer's")]
    StaleNonce = 1,
    /// The amount is above the signer's balance.
    #[error("amount is above the signer's balance")]
    InsufficientBalance = 2,
    /// The signer belongs to another shard.
    #[error("signer belongs to another shard")]
    WrongShard = 3,
    /// The signer does not exist.
    #[error("signer does not exist")]
    NoAccount = 4,
    /// The receiver is the id that no account can have.
    #[error("receiver is the reserved id of all zeroes")]
    ReservedReceiver = 5,
    /// The receiver's shard is behind with what was sent to it.
    #[error("receiver's shard is congested")]
    Congested = 6,
    /// The amount is less than an account must have.
    #[error("amount is below the least balance")]
    LittleAmount = 7,
    /// The chunk is at the height at which it expires, or above.
    #[error("transfer has expired")]
    Expired = 8,
    /// The nonce is above [`highest_nonce`](shardnode_primitives::highest_nonce).
    #[error("nonce is above the highest of this height")]
    HighNonce = 9,
}

impl Failure {
    /// What it is counted as.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::StaleNonce => "nonce",
            Self::InsufficientBalance => "balance",
            Self::WrongShard => "shard",
            Self::NoAccount => "no_account",
            Self::ReservedReceiver => "receiver",
            Self::Congested => "congested",
            Self::LittleAmount => "amount",
            Self::Expired => "expired",
            Self::HighNonce => "high_nonce",
        }
    }

    /// Whether the signer pays the fee all the same, and the nonce is used.
    ///
    /// It is not for what no signer did (there is none in the shard, or the
    /// nonce was used already), for what is no longer to be executed, and for
    /// what may be executed at a later height.
    #[must_use]
    pub const fn is_charged(self) -> bool {
        match self {
            Self::InsufficientBalance | Self::ReservedReceiver | Self::LittleAmount => true,
            Self::StaleNonce
            | Self::WrongShard
            | Self::NoAccount
            | Self::Congested
            | Self::Expired
            | Self::HighNonce => false,
        }
    }
}

impl Outcome {
    /// Every outcome there is.
    pub const ALL: [Self; 10] = [
        Self::Executed,
        Self::Failed(Failure::StaleNonce),
        Self::Failed(Failure::InsufficientBalance),
        Self::Failed(Failure::WrongShard),
        Self::Failed(Failure::NoAccount),
        Self::Failed(Failure::ReservedReceiver),
        Self::Failed(Failure::Congested),
        Self::Failed(Failure::LittleAmount),
        Self::Failed(Failure::Expired),
        Self::Failed(Failure::HighNonce),
    ];

    /// 0 for executed, else the failure's number.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Executed => 0,
            Self::Failed(failure) => failure as u8,
        }
    }

    /// The outcome with this [`code`](Self::code).
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.code() == code)
    }

    /// The leaf of the outcome of the transaction with this hash.
    #[must_use]
    pub fn leaf(self, transaction: &Digest) -> Digest {
        outcome::leaf(transaction, self.code())
    }
}
