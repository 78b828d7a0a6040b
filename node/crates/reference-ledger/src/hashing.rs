// SPDX-License-Identifier: Apache-2.0
//! Hashes by domain, and roots of lists.

use crate::plain::{Hash, NOBODY};

/// The hash of nothing, and what stands for a missing neighbour in a state.
pub const ZEROES: Hash = NOBODY;

/// What is hashed in the model, by the byte before it.
pub mod domain {
    /// A leaf of a list.
    pub const LIST_LEAF: u8 = 0x00;
    /// An inner node of a list.
    pub const LIST_NODE: u8 = 0x01;
    /// The root of a list.
    pub const LIST_ROOT: u8 = 0x02;
    /// A leaf of a state.
    pub const STATE_LEAF: u8 = 0x10;
    /// An inner node of a state.
    pub const STATE_NODE: u8 = 0x11;
    /// The root of a state.
    pub const STATE_ROOT: u8 = 0x12;
    /// All receipts of an execution for one shard.
    pub const BUCKET: u8 = 0x30;
    /// The outcome of a transfer.
    pub const OUTCOME: u8 = 0x31;
}

/// blake3 of the domain and then the bytes.
#[must_use]
pub fn hash(domain: u8, bytes: &[u8]) -> Hash {
    *blake3::hash(&[&[domain], bytes].concat()).as_bytes()
}

/// blake3 of the bytes alone: a transaction's hash.
#[must_use]
pub fn plain_hash(bytes: &[u8]) -> Hash {
    *blake3::hash(bytes).as_bytes()
}

/// The root of the list of these contents.
#[must_use]
pub fn list_root(contents: &[Hash]) -> Hash {
    let count = contents.len() as u32;
    let sealed = [&count.to_be_bytes()[..], &list_top(contents)].concat();
    hash(domain::LIST_ROOT, &sealed)
}

/// Pairing neighbours level by level, where a last one without a neighbour
/// moves up unchanged, puts the greatest power of two below the number of
/// leaves to the left of the top, and the rest to its right.
fn list_top(contents: &[Hash]) -> Hash {
    match contents {
        [] => ZEROES,
        [only] => hash(domain::LIST_LEAF, only),
        more => {
            let left = more.len().next_power_of_two() / 2;
            let (left, right) = more.split_at(left);
            let pair = [list_top(left), list_top(right)].concat();
            hash(domain::LIST_NODE, &pair)
        }
    }
}

/// A number in seven bits a byte, the lowest first: the length of a list.
#[must_use]
pub fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push((number % 0x80) as u8 | 0x80);
        number /= 0x80;
    }
    bytes.push(number as u8);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_every_shape_are_paired_from_the_left() {
        let leaf = |of: Hash| hash(domain::LIST_LEAF, &of);
        let node = |one: Hash, other: Hash| hash(domain::LIST_NODE, &[one, other].concat());
        let [a, b, c, d, e] = [[1; 32], [2; 32], [3; 32], [4; 32], [5; 32]];
        let three = node(node(leaf(a), leaf(b)), leaf(c));
        assert_eq!(list_top(&[a, b, c]), three);
        let four = node(node(leaf(a), leaf(b)), node(leaf(c), leaf(d)));
        assert_eq!(list_top(&[a, b, c, d]), four);
        assert_eq!(list_top(&[a, b, c, d, e]), node(four, leaf(e)));
    }

    #[test]
    fn lengths_take_as_many_bytes_as_they_need() {
        assert_eq!(varint(0), [0]);
        assert_eq!(varint(127), [127]);
        assert_eq!(varint(300), [0b1010_1100, 0b10]);
    }
}
