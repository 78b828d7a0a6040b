// SPDX-License-Identifier: Apache-2.0
//! Why a node does not take a client's transaction.
//!
//! One list for all: the HTTP API and the metric `pool_rejected` call a refusal
//! by its [`reason`](Refusal::reason), and nodes tell each other its
//! [`code`](Refusal::code).

/// Why a transaction was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[repr(u8)]
pub enum Refusal {
    /// The pool holds `mempoolCapacity` transactions.
    #[error("pool is full")]
    Full = 1,
    /// The pool has a transaction with this signer and nonce.
    #[error("a transaction with this signer and nonce is pooled already")]
    Duplicate = 2,
    /// The signature does not hold.
    #[error("signature does not hold")]
    Signature = 3,
    /// The nonce was used.
    #[error("nonce is not above the signer's")]
    Nonce = 4,
    /// The signer cannot pay.
    #[error("amount and fee are above the signer's balance")]
    Balance = 5,
    /// No node of the signer's shard answered.
    #[error("no node of the signer's shard answered")]
    Shard = 6,
    /// No account can have the receiver's id.
    #[error("receiver is the reserved id of all zeroes")]
    Receiver = 7,
    /// The pool holds as much for congested shards as it may.
    #[error("receiver's shard is congested, and enough transfers wait for such shards")]
    Congested = 8,
    /// The pool holds `mempoolMebibytes` of transactions.
    #[error("pool is full")]
    Bytes = 9,
    /// The pool holds as much of the signer as it may of one account.
    #[error("signer has as many transactions in the pool as one account may have")]
    Account = 10,
    /// What the pool holds of the signer costs more than it has.
    #[error("signer cannot pay for this and what it has in the pool")]
    Funds = 11,
    /// No chunk would execute it any more.
    #[error("transaction has expired")]
    Expired = 12,
    /// The nonce is above what any chunk executes soon.
    #[error("nonce is above the highest of this height")]
    HighNonce = 13,
    /// Nobody can pay.
    #[error("signer does not exist")]
    NoAccount = 14,
    /// It moves too little.
    #[error("amount is below the least balance")]
    Amount = 15,
    /// The pool has a transaction of the signer with a higher nonce, after which this one
    /// could not be executed.
    #[error("a transaction of this signer with a higher nonce is pooled already")]
    Overtaken = 16,
}

impl Refusal {
    /// Every refusal there is.
    pub const ALL: [Self; 16] = [
        Self::Full,
        Self::Duplicate,
        Self::Signature,
        Self::Nonce,
        Self::Balance,
        Self::Shard,
        Self::Receiver,
        Self::Congested,
        Self::Bytes,
        Self::Account,
        Self::Funds,
        Self::Expired,
        Self::HighNonce,
        Self::NoAccount,
        Self::Amount,
        Self::Overtaken,
    ];

    /// What it is called, and counted as.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Duplicate => "duplicate",
            Self::Signature => "signature",
            Self::Nonce => "nonce",
            Self::Balance => "balance",
            Self::Shard => "shard",
            Self::Receiver => "receiver",
            Self::Congested => "congested",
            Self::Bytes => "bytes",
            Self::Account => "account",
            Self::Funds => "funds",
            Self::Expired => "expired",
            Self::HighNonce => "high_nonce",
            Self::NoAccount => "no_account",
            Self::Amount => "amount",
            Self::Overtaken => "overtaken",
        }
    }

    /// The refusal that is called so.
    #[must_use]
    pub fn from_reason(reason: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.reason() == reason)
    }

    /// Its number among nodes; 0 is none, for a transaction that was taken.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The refusal with this [`code`](Self::code).
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.code() == code)
    }

    /// Whether the pool has no room for it now: the same transaction may be
    /// taken later.
    #[must_use]
    pub const fn is_for_want_of_room(self) -> bool {
        matches!(
            self,
            Self::Full | Self::Bytes | Self::Account | Self::Congested
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_refusal_has_a_name_and_a_number_of_its_own() {
        let names: BTreeSet<_> = Refusal::ALL.iter().map(|one| one.reason()).collect();
        assert_eq!(names.len(), Refusal::ALL.len());
        for (number, one) in (1..).zip(Refusal::ALL) {
            assert_eq!(one.code(), number);
            assert_eq!(Refusal::from_code(number), Some(one));
            assert_eq!(Refusal::from_reason(one.reason()), Some(one));
        }
        assert_eq!(Refusal::from_code(0), None);
        assert_eq!(Refusal::from_code(17), None);
    }
}
