// SPDX-License-Identifier: Apache-2.0
//! A shard's accounts, authenticated: an indexed binary tree over blake3.
//!
//! # Leaves
//!
//! Each account is a leaf, and there are no gaps between the leaves. Leaf 0 is
//! a sentinel that is no account. Every leaf names the next greater id in the
//! tree, so the leaves also form a list in the order of ids, from the sentinel
//! (id zero) to the leaf whose `next` is zero. A leaf with `id < x < next` proves
//! that there is no account `x`; the sentinel itself proves that zero is none.
//!
//! # Changes
//!
//! [`Changes`] give accounts new contents, create and remove them, all at once:
//!
//! 1. Accounts that are removed leave the list, and their indices are vacant.
//! 2. New accounts, in the order of their ids, take the vacant indices from the
//!    lowest up, and then those after the last leaf.
//! 3. If `n` indices are still vacant, the tree ends `n` leaves earlier: what is
//!    behind that end moves, by index, to the indices that are vacant before it.
//!
//! # Hashes
//!
//! ```text
//! leaf = blake3(0x10 ‖ id ‖ next ‖ balance ‖ nonce)
//! node = blake3(0x11 ‖ left ‖ right)          a missing right neighbour is all zeroes
//! root = blake3(0x12 ‖ number of leaves as u32 ‖ top)
//! ```
//!
//! A tree of `n` leaves has `ceil(log2 n)` levels above them. The root covers
//! `n`, so a path has exactly one possible length.
//!
//! # History
//!
//! Indices depend on the order in which accounts were created and removed:
//! those of genesis are in id order. The root is a function of the sequence of
//! changes.
//!
//! # Parts
//!
//! An [`AccountProof`] shows one account to whoever knows the root. A
//! [`PartialState`] is what executing on some accounts takes: it becomes a
//! [`PartialTree`], which reads them and changes them to the same root as the
//! whole tree. The module [`partial`] specifies both. A [`Page`] is a run of
//! leaves that whoever knows the root can tell from any other; all of them are
//! the tree ([`page`]).

// Leaves are bounded by 2^32, which every way into a tree checks.
#![allow(clippy::cast_possible_truncation)]

mod changes;
mod error;
mod leaf;
mod levels;
mod nodes;
pub mod page;
pub mod partial;
mod partial_tree;
mod proof;
mod tree;

pub use changes::Changes;
pub use error::StateError;
pub use leaf::{Account, Leaf, NO_ACCOUNT};
pub use page::{Page, PageError, Pages};
pub use partial::PartialState;
pub use partial_tree::{CoverError, PartialError, PartialTree};
pub use proof::{AccountProof, ProofError};
pub use tree::StateTree;
