// SPDX-License-Identifier: Apache-2.0
//! The part of a tree that an execution takes.
//!
//! # What is in it
//!
//! For a set of ids, the leaves of those that exist and, of each that does
//! not, the leaf that skips it. If there is one that does not exist the last
//! leaf is there too: the path to it has every node that the paths of new
//! leaves meet, so accounts can be created. Of accounts that are removed the
//! leaf before each in the list is there, and of a tree that becomes shorter
//! all leaves behind its new end: the path to the first of them has every node
//! that is all of leaves before it. Beside the leaves there are exactly the
//! nodes that the root takes and that do not follow from them.
//!
//! # Encoding
//!
//! ```text
//! number of leaves of the whole tree (u32)
//! varint ‖ that many (index (u32) ‖ leaf), by ascending index
//! nodes: by level from the leaves up, then by index; as many as the indices call for
//! ```
//!
//! A node is called for if it exists, its neighbour follows from the leaves
//! given and it does not. Without any leaf that is the top.

use crate::{
    leaf::{Account, Leaf, NO_ACCOUNT},
    levels,
};
use bytes::BufMut;
use commonware_codec::{
    Buf, EncodeSize, Error, FixedSize as _, RangeCfg, Read, ReadExt as _, Write,
};
use shardnode_primitives::{Digest, witness_size};

/// Some leaves of a tree and the nodes that lead from them to its root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialState {
    pub(crate) count: u32,
    pub(crate) leaves: Vec<(u32, Leaf)>,
    pub(crate) siblings: Vec<Digest>,
}

const _: () = assert!(
    PartialState::ENTRY as u64 == witness_size::LEAF,
    "the bound of witnesses counts leaves as they are"
);

impl PartialState {
    /// The bytes of one leaf with its index.
    const ENTRY: usize = 4 + Leaf::SIZE;

    /// The number of leaves of the whole tree.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The leaves given, with their indices.
    #[must_use]
    pub fn leaves(&self) -> &[(u32, Leaf)] {
        &self.leaves
    }
}

impl Write for PartialState {
    fn write(&self, buf: &mut impl BufMut) {
        self.count.write(buf);
        self.leaves.len().write(buf);
        for (index, leaf) in &self.leaves {
            index.write(buf);
            leaf.write(buf);
        }
        for node in &self.siblings {
            node.write(buf);
        }
    }
}

impl EncodeSize for PartialState {
    fn encode_size(&self) -> usize {
        4 + self.leaves.len().encode_size()
            + self.leaves.len() * Self::ENTRY
            + self.siblings.len() * Digest::SIZE
    }
}

impl Read for PartialState {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        const TYPE: &str = "PartialState";
        let count = u32::read(buf)?;
        if count == 0 {
            return Err(Error::Invalid(TYPE, "tree without leaves"));
        }
        let length = usize::read_cfg(buf, &RangeCfg::from(..))?;
        if buf.remaining() / Self::ENTRY < length {
            return Err(Error::EndOfBuffer);
        }
        let mut leaves: Vec<(u32, Leaf)> = Vec::with_capacity(length);
        for _ in 0..length {
            let (index, leaf) = (u32::read(buf)?, Leaf::read(buf)?);
            if index >= count {
                return Err(Error::Invalid(TYPE, "leaf beyond the tree's end"));
            }
            if leaves.last().is_some_and(|(before, _)| *before >= index) {
                return Err(Error::Invalid(TYPE, "leaves not in ascending order"));
            }
            if (leaf.id == NO_ACCOUNT) != (index == 0) {
                return Err(Error::Invalid(TYPE, "sentinel not at index 0"));
            }
            if index == 0 && leaf.account != Account::default() {
                return Err(Error::Invalid(TYPE, "sentinel with content"));
            }
            leaves.push((index, leaf));
        }
        let indices = leaves.iter().map(|(index, _)| *index).collect();
        let siblings = levels::siblings(count, indices)
            .map(|_| Digest::read(buf))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            count,
            leaves,
            siblings,
        })
    }
}
