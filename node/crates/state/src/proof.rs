// SPDX-License-Identifier: Apache-2.0
//! Proofs that an account is in a state, or is not.
//!
//! ```text
//! index (4) ‖ number of leaves of the whole tree (4) ‖ leaf ‖ varint ‖ siblings, from the leaf up
//! ```

use crate::{
    leaf::{Account, Leaf},
    nodes::{depth, node, seal},
};
use bytes::BufMut;
use commonware_codec::{Buf, EncodeSize, Error, FixedSize, RangeCfg, Read, ReadExt as _, Write};
use shardnode_primitives::{AccountId, Digest};

/// The most levels a tree can have: indices are 32 bits wide.
const MAX_DEPTH: usize = 32;

/// A leaf and its path: the leaf of the account itself, or the leaf that
/// skips its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountProof {
    pub(crate) index: u32,
    pub(crate) count: u32,
    pub(crate) leaf: Leaf,
    pub(crate) siblings: Vec<Digest>,
}

/// Why a proof proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The leaf is beyond the tree's end.
    #[error("leaf {index} in a tree of {count} leaves")]
    Index {
        /// Where the leaf claims to be.
        index: u32,
        /// The leaves that the proof claims.
        count: u32,
    },
    /// The path's length is not that of a tree with so many leaves.
    #[error("path of {got} nodes in a tree of {count} leaves")]
    Path {
        /// Its length.
        got: usize,
        /// The leaves that the proof claims.
        count: u32,
    },
    /// The leaf is another account's and does not skip the id either.
    #[error("leaf says nothing about account {0}")]
    Unrelated(AccountId),
    /// The path leads to another root.
    #[error("path leads to root {got} instead of {want}")]
    Root {
        /// Where it leads.
        got: Digest,
        /// The root that was to be proven against.
        want: Digest,
    },
}

impl AccountProof {
    /// The account with `id` under `root`, `None` if there is provably none.
    pub fn verify(&self, id: &AccountId, root: &Digest) -> Result<Option<Account>, ProofError> {
        if self.index >= self.count {
            return Err(ProofError::Index {
                index: self.index,
                count: self.count,
            });
        }
        if self.siblings.len() != depth(self.count) {
            return Err(ProofError::Path {
                got: self.siblings.len(),
                count: self.count,
            });
        }
        let mut at = self.index;
        let mut hash = self.leaf.hash();
        for sibling in &self.siblings {
            hash = if at.is_multiple_of(2) {
                node(&hash, sibling)
            } else {
                node(sibling, &hash)
            };
            at /= 2;
        }
        let got = seal(self.count, &hash);
        if got != *root {
            return Err(ProofError::Root { got, want: *root });
        }
        if self.leaf.id == *id {
            // The sentinel is a leaf but no account: its id proves its absence.
            return Ok((self.index > 0).then_some(self.leaf.account));
        }
        if self.leaf.skips(id) {
            return Ok(None);
        }
        Err(ProofError::Unrelated(*id))
    }
}

impl Write for AccountProof {
    fn write(&self, buf: &mut impl BufMut) {
        self.index.write(buf);
        self.count.write(buf);
        self.leaf.write(buf);
        self.siblings.write(buf);
    }
}

impl EncodeSize for AccountProof {
    fn encode_size(&self) -> usize {
        8 + Leaf::SIZE + self.siblings.encode_size()
    }
}

impl Read for AccountProof {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            index: u32::read(buf)?,
            count: u32::read(buf)?,
            leaf: Leaf::read(buf)?,
            siblings: Vec::read_cfg(buf, &(RangeCfg::from(0..=MAX_DEPTH), ()))?,
        })
    }
}
