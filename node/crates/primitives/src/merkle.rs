// SPDX-License-Identifier: Apache-2.0
//! Merkle commitments to lists, with proofs of inclusion.
//!
//! The tree over `n` leaves pairs neighbours level by level; a last node
//! without a neighbour moves up unchanged. Leaves, inner nodes and the root
//! are hashed in different domains, and the root covers `n`, so neither a node
//! nor a list of another length passes for what it is not:
//!
//! ```text
//! leaf  = blake3(0x00 ‖ content)
//! node  = blake3(0x01 ‖ left ‖ right)
//! root  = blake3(0x02 ‖ n as u32 big endian ‖ top)     (top of nothing = zeroes)
//! ```
//!
//! A proof is `index (4) ‖ n (4) ‖ varint ‖ siblings`, from the leaf up.

use crate::hash::{Domain, ZERO, hash};
use bytes::BufMut;
use commonware_codec::{Buf, EncodeSize, Error, RangeCfg, Read, ReadExt as _, Write};
use commonware_cryptography::blake3::Digest;

/// The most siblings a proof can hold: a list of 2^32 leaves needs 32.
const MAX_DEPTH: usize = 32;

/// The leaf of one item.
#[must_use]
pub fn leaf(content: &[u8]) -> Digest {
    hash(Domain::ListLeaf, &[content])
}

fn node(left: &Digest, right: &Digest) -> Digest {
    hash(Domain::ListNode, &[&left.0, &right.0])
}

fn seal(count: u32, top: &Digest) -> Digest {
    hash(Domain::ListRoot, &[&count.to_be_bytes(), &top.0])
}

fn level_up(level: &[Digest]) -> Vec<Digest> {
    level
        .chunks(2)
        .map(|pair| match pair {
            [left, right] => node(left, right),
            _ => pair[0],
        })
        .collect()
}

/// The root over `leaves`.
#[must_use]
pub fn root(leaves: Vec<Digest>) -> Digest {
    let count = leaves.len() as u32;
    let mut level = leaves;
    while level.len() > 1 {
        level = level_up(&level);
    }
    seal(count, level.first().unwrap_or(&ZERO))
}

/// Proof that one leaf is at one place of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    index: u32,
    count: u32,
    siblings: Vec<Digest>,
}

impl Proof {
    /// Proves the leaf at `index` of `leaves`; `None` beyond their end.
    #[must_use]
    pub fn of(leaves: &[Digest], index: usize) -> Option<Self> {
        if index >= leaves.len() {
            return None;
        }
        let mut siblings = Vec::new();
        let mut level = leaves.to_vec();
        let mut at = index;
        while level.len() > 1 {
            if let Some(sibling) = level.get(at ^ 1) {
                siblings.push(*sibling);
            }
            level = level_up(&level);
            at /= 2;
        }
        Some(Self {
            index: index as u32,
            count: leaves.len() as u32,
            siblings,
        })
    }

    /// The place that the leaf is proven to be at.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Whether `leaf` stands at this proof's index under `root`.
    #[must_use]
    pub fn verifies(&self, leaf: Digest, root: &Digest) -> bool {
        self.root(leaf).as_ref() == Some(root)
    }

    /// The only root under which `leaf` can stand at this proof's index, or
    /// `None` if the proof is of no list.
    #[must_use]
    pub fn root(&self, leaf: Digest) -> Option<Digest> {
        if self.index >= self.count {
            return None;
        }
        let (mut at, mut width) = (self.index, self.count);
        let mut hash = leaf;
        let mut siblings = self.siblings.iter();
        while width > 1 {
            if (at ^ 1) < width {
                let sibling = siblings.next()?;
                hash = if at % 2 == 0 {
                    node(&hash, sibling)
                } else {
                    node(sibling, &hash)
                };
            }
            at /= 2;
            width = width.div_ceil(2);
        }
        siblings.next().is_none().then(|| seal(self.count, &hash))
    }
}

impl Write for Proof {
    fn write(&self, buf: &mut impl BufMut) {
        self.index.write(buf);
        self.count.write(buf);
        self.siblings.write(buf);
    }
}

impl EncodeSize for Proof {
    fn encode_size(&self) -> usize {
        8 + self.siblings.encode_size()
    }
}

impl Read for Proof {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            index: u32::read(buf)?,
            count: u32::read(buf)?,
            siblings: Vec::read_cfg(buf, &(RangeCfg::from(0..=MAX_DEPTH), ()))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_codec::{DecodeExt as _, Encode as _};
    use proptest::prelude::*;

    fn leaves(count: usize) -> Vec<Digest> {
        (0..count).map(|i| leaf(&i.to_be_bytes())).collect()
    }

    #[test]
    fn roots_of_different_lengths_differ() {
        let mut seen = std::collections::BTreeSet::new();
        for count in 0..40 {
            assert!(seen.insert(root(leaves(count))), "{count}");
        }
    }

    proptest! {
        #[test]
        fn every_leaf_is_proven_and_no_other(count in 1usize..70, index in 0usize..70, other in 0usize..70) {
            let list = leaves(count);
            let root = root(list.clone());
            let proof = Proof::of(&list, index);
            prop_assert_eq!(proof.is_some(), index < count);
            if let Some(proof) = proof {
                prop_assert!(proof.verifies(list[index], &root));
                if other != index {
                    prop_assert!(!proof.verifies(leaf(&other.to_be_bytes()), &root));
                }
                let decoded = Proof::decode(proof.encode()).unwrap();
                prop_assert_eq!(decoded, proof);
            }
        }

        #[test]
        fn a_changed_proof_fails(count in 2usize..70, index in 0usize..70, at in 0usize..7, bit in 0u8..8) {
            let list = leaves(count);
            let root = root(list.clone());
            let index = index % count;
            let mut proof = Proof::of(&list, index).unwrap();
            if proof.siblings.is_empty() {
                proof.count += 1;
            } else {
                let at = at % proof.siblings.len();
                proof.siblings[at].0[0] ^= 1 << bit;
            }
            prop_assert!(!proof.verifies(list[index], &root));
        }
    }
}
