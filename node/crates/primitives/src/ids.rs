// SPDX-License-Identifier: Apache-2.0
//! Accounts, shards, and which shard an account belongs to.

use bytes::BufMut;
use commonware_codec::{Buf, Error, FixedSize, Read, ReadExt as _, Write};
use commonware_cryptography::ed25519::PublicKey;
use std::fmt;

/// An account: the 32 bytes of its ed25519 public key.
///
/// Two encodings of one curve point are two accounts; equality and order are
/// those of the bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(pub [u8; 32]);

impl AccountId {
    /// The account of a public key.
    #[must_use]
    pub fn of(key: &PublicKey) -> Self {
        let mut id = [0; 32];
        id.copy_from_slice(key.as_ref());
        Self(id)
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Write for AccountId {
    fn write(&self, buf: &mut impl BufMut) {
        buf.put_slice(&self.0);
    }
}

impl Read for AccountId {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self(<[u8; 32]>::read(buf)?))
    }
}

impl FixedSize for AccountId {
    const SIZE: usize = 32;
}

/// The index of a shard, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardId(pub u16);

impl ShardId {
    /// The index as a position in a list of all shards.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Write for ShardId {
    fn write(&self, buf: &mut impl BufMut) {
        self.0.write(buf);
    }
}

impl Read for ShardId {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self(u16::read(buf)?))
    }
}

impl FixedSize for ShardId {
    const SIZE: usize = 2;
}

/// How the account ids are divided among the shards.
///
/// Shard `i` of `n` owns the ids whose first eight bytes, as a big-endian
/// number `x`, have `floor(x * n / 2^64) = i`: `n` ranges of equal width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardLayout {
    shards: u16,
}

impl ShardLayout {
    /// A layout of `shards` shards; at least one.
    #[must_use]
    pub const fn new(shards: u16) -> Self {
        assert!(shards > 0, "a network has at least one shard");
        Self { shards }
    }

    /// The number of shards.
    #[must_use]
    pub const fn shards(self) -> u16 {
        self.shards
    }

    /// All shards in order.
    pub fn iter(self) -> impl Iterator<Item = ShardId> {
        (0..self.shards).map(ShardId)
    }

    /// The shard that owns `account`.
    #[must_use]
    pub fn shard_of(self, account: &AccountId) -> ShardId {
        let mut prefix = [0; 8];
        prefix.copy_from_slice(&account.0[..8]);
        let scaled = u128::from(u64::from_be_bytes(prefix)) * u128::from(self.shards);
        // The product is below shards * 2^64, so what remains fits in u16.
        ShardId(u16::try_from(scaled >> 64).unwrap_or(u16::MAX))
    }
}
