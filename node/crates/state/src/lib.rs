// SPDX-License-Identifier: Apache-2.0
//! A shard's accounts, authenticated: an indexed binary tree over blake3.
//!
//! # Leaves
//!
//! Each account is a leaf; a new account takes the next free index, and
//! accounts are never removed. Leaf 0 is a sentinel that is no account. Every
//! leaf names the next greater id in the tree, so the leaves also form a list
//! in the order of ids, from the sentinel (id zero) to the leaf whose `next`
//! is zero. A leaf with `id < x < next` proves that there is no account `x`; the
//! sentinel itself proves that zero is none.
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
//! Indices depend on the order in which accounts were created: accounts of
//! genesis in id order, then those of each [`StateTree::apply`] in id order.
//! The root is a function of the sequence of change sets.
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

mod error;
mod leaf;
mod levels;
mod nodes;
pub mod page;
pub mod partial;
mod partial_tree;
mod proof;
mod tree;

pub use error::StateError;
pub use leaf::{Account, Leaf, NO_ACCOUNT};
pub use page::{Page, PageError, Pages};
pub use partial::PartialState;
pub use partial_tree::{CoverError, PartialError, PartialTree};
pub use proof::{AccountProof, ProofError};
pub use tree::StateTree;
