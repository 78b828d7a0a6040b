// SPDX-License-Identifier: Apache-2.0
//! Accounts and the leaves that hold them.
//!
//! ```text
//! account = balance (8) ‖ nonce (8)
//! leaf    = id (32) ‖ next (32) ‖ account
//! ```

use bytes::BufMut;
use commonware_codec::{Buf, Error, FixedSize, Read, ReadExt as _, Write};
use shardnode_primitives::{
    AccountId, Digest,
    hash::{Domain, hash},
};

/// An account's content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Value in base units.
    pub balance: u64,
    /// The highest nonce used.
    pub nonce: u64,
}

impl Write for Account {
    fn write(&self, buf: &mut impl BufMut) {
        self.balance.write(buf);
        self.nonce.write(buf);
    }
}

impl Read for Account {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            balance: u64::read(buf)?,
            nonce: u64::read(buf)?,
        })
    }
}

impl FixedSize for Account {
    const SIZE: usize = 16;
}

/// The id that is no account's: the sentinel's own, and the end of the list.
pub const NO_ACCOUNT: AccountId = AccountId([0; 32]);

/// A leaf: an account, and the id that follows it in the order of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The account's id; zeroes for the sentinel.
    pub id: AccountId,
    /// The next greater id in the tree; zeroes after the greatest.
    pub next: AccountId,
    /// The account's content.
    pub account: Account,
}

impl Leaf {
    /// The first leaf of a tree without accounts.
    pub const SENTINEL: Self = Self {
        id: NO_ACCOUNT,
        next: NO_ACCOUNT,
        account: Account {
            balance: 0,
            nonce: 0,
        },
    };

    /// The leaf's hash.
    #[must_use]
    pub fn hash(&self) -> Digest {
        hash(
            Domain::StateLeaf,
            &[
                &self.id.0,
                &self.next.0,
                &self.account.balance.to_be_bytes(),
                &self.account.nonce.to_be_bytes(),
            ],
        )
    }

    /// Whether `id` lies strictly between this leaf and the next.
    pub(crate) fn skips(&self, id: &AccountId) -> bool {
        self.id < *id && (self.next == NO_ACCOUNT || *id < self.next)
    }
}

impl Write for Leaf {
    fn write(&self, buf: &mut impl BufMut) {
        self.id.write(buf);
        self.next.write(buf);
        self.account.write(buf);
    }
}

impl Read for Leaf {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            id: AccountId::read(buf)?,
            next: AccountId::read(buf)?,
            account: Account::read(buf)?,
        })
    }
}

impl FixedSize for Leaf {
    const SIZE: usize = 32 + 32 + Account::SIZE;
}
