// SPDX-License-Identifier: Apache-2.0
//! How the nodes of a tree are hashed, up to the root.

use shardnode_primitives::{
    Digest,
    hash::{Domain, hash},
    witness_size,
};

pub(crate) fn node(left: &Digest, right: &Digest) -> Digest {
    hash(Domain::StateNode, &[&left.0, &right.0])
}

pub(crate) fn seal(count: u32, top: &Digest) -> Digest {
    hash(Domain::StateRoot, &[&count.to_be_bytes(), &top.0])
}

/// Levels between the leaves and the top of a tree of `count` leaves.
pub(crate) const fn depth(count: u32) -> usize {
    witness_size::depth(count) as usize
}

/// In a level above the leaves, the node that is only partly above the first
/// `end` leaves, if there is one.
pub(crate) const fn cut(end: usize, level: usize) -> Option<usize> {
    let at = end >> level;
    if at << level == end { None } else { Some(at) }
}
