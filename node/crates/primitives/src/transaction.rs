// SPDX-License-Identifier: Apache-2.0
//! What clients sign.
//!
//! A transaction starts with one byte that names its kind, so that further
//! kinds keep the same envelope. Kind 1 is the native transfer, 153 bytes:
//!
//! ```text
//! kind (1) ‖ signer (32) ‖ receiver (32) ‖ amount (8) ‖ nonce (8) ‖ expires at (8) ‖ signature (64)
//! ```
//!
//! The signature is ed25519 under ZIP-215 rules over
//! `uvarint(len(ns)) ‖ ns ‖ the bytes before the signature`, with `ns` =
//! [`Namespaces::transaction`], which is of one chain alone. A transaction's
//! hash is plain blake3 of all its bytes.
//!
//! # Nonces
//!
//! An account's nonces only rise, and a chunk at height `h` executes none above
//! [`highest_nonce`]`(h)` = 2^20 h. An account that a chunk at height `h` makes
//! starts there. So one that was removed and is made again begins above all that
//! it ever used, and nothing that it signed before is executed a second time.

use crate::{
    AccountId,
    namespace::Namespaces,
    work::{self, Work},
};
use bytes::BufMut;
use commonware_codec::{
    Buf, DecodeExt as _, EncodeFixed as _, Error, FixedSize, Read, ReadExt as _, Write,
};
use commonware_cryptography::{
    Signer as _, Verifier as _,
    blake3::Digest,
    ed25519::{PrivateKey, PublicKey, Signature},
};

const KIND_TRANSFER: u8 = 1;

/// By how much the highest nonce rises from one height to the next: more than
/// a chunk can hold.
const NONCES_PER_HEIGHT: u64 = 1 << 20;

/// The highest nonce that a chunk at this height executes, and the one that an
/// account has which it makes.
#[must_use]
pub const fn highest_nonce(height: u64) -> u64 {
    height.saturating_mul(NONCES_PER_HEIGHT)
}

/// A transfer of native value, without its signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Pays, and signs.
    pub signer: AccountId,
    /// Is paid.
    pub receiver: AccountId,
    /// Value in base units.
    pub amount: u64,
    /// Greater than every nonce the signer has used.
    pub nonce: u64,
    /// The first height at which it is not executed any more; 0 for none.
    pub expires_at: u64,
}

impl Transfer {
    /// The bytes that are signed: kind and fields.
    const SIGNED: usize = 1 + 32 + 32 + 8 + 8 + 8;

    fn signed_bytes(&self) -> [u8; Self::SIGNED] {
        let mut bytes = [0; Self::SIGNED];
        bytes[0] = KIND_TRANSFER;
        bytes[1..33].copy_from_slice(&self.signer.0);
        bytes[33..65].copy_from_slice(&self.receiver.0);
        bytes[65..73].copy_from_slice(&self.amount.to_be_bytes());
        bytes[73..81].copy_from_slice(&self.nonce.to_be_bytes());
        bytes[81..89].copy_from_slice(&self.expires_at.to_be_bytes());
        bytes
    }

    /// Whether a chunk at this height does not execute it any more.
    #[must_use]
    pub const fn expired(&self, height: u64) -> bool {
        self.expires_at != 0 && self.expires_at <= height
    }

    /// Signs with the signer's key.
    #[must_use]
    pub fn sign(self, key: &PrivateKey, namespaces: &Namespaces) -> Transaction {
        work::count(Work::Signing, 1);
        let signature = key.sign(&namespaces.transaction, &self.signed_bytes());
        Transaction::Transfer(SignedTransfer {
            transfer: self,
            signature,
        })
    }
}

/// A transfer and its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedTransfer {
    /// What is signed.
    pub transfer: Transfer,
    /// By [`Transfer::signer`].
    pub signature: Signature,
}

/// A signed transaction of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transaction {
    /// Kind 1: native value from one account to another.
    Transfer(SignedTransfer),
}

impl Transaction {
    /// The account that pays and whose nonce is used.
    #[must_use]
    pub const fn signer(&self) -> &AccountId {
        match self {
            Self::Transfer(signed) => &signed.transfer.signer,
        }
    }

    /// The nonce it uses.
    #[must_use]
    pub const fn nonce(&self) -> u64 {
        match self {
            Self::Transfer(signed) => signed.transfer.nonce,
        }
    }

    /// Whether a chunk at this height does not execute it any more.
    #[must_use]
    pub const fn expired(&self, height: u64) -> bool {
        match self {
            Self::Transfer(signed) => signed.transfer.expired(height),
        }
    }

    /// The transaction's hash.
    #[must_use]
    pub fn hash(&self) -> Digest {
        let bytes: [u8; Self::SIZE] = self.encode_fixed();
        Digest(*blake3::hash(&bytes).as_bytes())
    }

    /// The signature, and the message it must be over.
    #[must_use]
    pub fn signed_message(&self) -> ([u8; Transfer::SIGNED], &Signature) {
        match self {
            Self::Transfer(signed) => (signed.transfer.signed_bytes(), &signed.signature),
        }
    }

    /// Whether the signer's signature holds. Use a batch for many.
    #[must_use]
    pub fn verify(&self, namespaces: &Namespaces) -> bool {
        work::count(Work::Signature, 1);
        let Ok(key) = PublicKey::decode(self.signer().0.to_vec()) else {
            return false;
        };
        let (message, signature) = self.signed_message();
        key.verify(&namespaces.transaction, &message, signature)
    }
}

impl Write for Transaction {
    fn write(&self, buf: &mut impl BufMut) {
        let (message, signature) = self.signed_message();
        buf.put_slice(&message);
        signature.write(buf);
    }
}

impl Read for Transaction {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        match u8::read(buf)? {
            KIND_TRANSFER => Ok(Self::Transfer(SignedTransfer {
                transfer: Transfer {
                    signer: AccountId::read(buf)?,
                    receiver: AccountId::read(buf)?,
                    amount: u64::read(buf)?,
                    nonce: u64::read(buf)?,
                    expires_at: u64::read(buf)?,
                },
                signature: Signature::read(buf)?,
            })),
            kind => Err(Error::InvalidEnum(kind)),
        }
    }
}

impl FixedSize for Transaction {
    const SIZE: usize = Transfer::SIGNED + Signature::SIZE;
}
