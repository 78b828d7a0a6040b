// SPDX-License-Identifier: Apache-2.0
//! A whole tree in pages, each of which shows by itself that it is right.
//!
//! # What is in one
//!
//! Page `i` has the leaves with the indices `[i * LEAVES, (i + 1) * LEAVES)`,
//! as far as the tree has them, and the nodes beside the path from them to the
//! top. `LEAVES` is a power of two: the leaves of a page are all that is below
//! one node, so a page needs at most 22 nodes more, and none of them is below
//! another page's.
//!
//! # Encoding
//!
//! ```text
//! number of leaves of the whole tree (u32) ‖ index of the page (u32)
//! leaves, by index
//! nodes, from the level of the page up
//! ```
//!
//! Both numbers together say how many leaves and nodes there are: a page has
//! one possible length. The root covers the number of leaves and the path the
//! index of the page, so a page with a right root is at its place, and whole.

use crate::{
    leaf::Leaf,
    nodes::{depth, node, seal},
};
use bytes::BufMut;
use commonware_codec::{Buf, EncodeSize, Error, FixedSize as _, Read, ReadExt as _, Write};
use shardnode_primitives::{Digest, hash::ZERO};
use std::sync::Arc;

/// Levels between the leaves of a page and the node that they are below.
pub(crate) const LEVELS: usize = 10;

/// Leaves of a page, but for the last: 80 kB.
pub const LEAVES: usize = 1 << LEVELS;

/// How many pages a tree of so many leaves has.
#[must_use]
pub const fn pages(count: u32) -> u32 {
    count.div_ceil(LEAVES as u32)
}

/// Some leaves of a tree that are next to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    count: u32,
    index: u32,
    leaves: Vec<Leaf>,
    siblings: Vec<Digest>,
}

/// A page is of another tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("page {index} leads to root {got} instead of {want}")]
pub struct PageError {
    /// Where the page claims to be.
    pub index: u32,
    /// Where it leads.
    pub got: Digest,
    /// The root that it was to be of.
    pub want: Digest,
}

impl Page {
    /// Leaves of the whole tree.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Its place among the pages.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Its leaves, if it is of the tree with this root.
    pub fn verify(self, root: &Digest) -> Result<Vec<Leaf>, PageError> {
        let got = self.root();
        if got == *root {
            return Ok(self.leaves);
        }
        Err(PageError {
            index: self.index,
            got,
            want: *root,
        })
    }

    fn root(&self) -> Digest {
        let mut level: Vec<Digest> = self.leaves.iter().map(Leaf::hash).collect();
        let depth = depth(self.count);
        // Below the node of the page all neighbours are in it, or nowhere.
        for _ in 0..depth.min(LEVELS) {
            level = level
                .chunks(2)
                .map(|pair| node(&pair[0], pair.get(1).unwrap_or(&ZERO)))
                .collect();
        }
        let mut top = level.first().copied().unwrap_or(ZERO);
        let mut siblings = self.siblings.iter();
        for at in path(self.count, self.index) {
            top = match at {
                Neighbour::Left(_) => node(siblings.next().unwrap_or(&ZERO), &top),
                Neighbour::Right(_) => node(&top, siblings.next().unwrap_or(&ZERO)),
                Neighbour::None => node(&top, &ZERO),
            };
        }
        seal(self.count, &top)
    }
}

/// What is beside a node, by its index in the level.
enum Neighbour {
    Left(u32),
    Right(u32),
    None,
}

impl Neighbour {
    const fn index(&self) -> Option<u32> {
        match self {
            Self::Left(at) | Self::Right(at) => Some(*at),
            Self::None => None,
        }
    }
}

/// The neighbours of the path from the page's node to the top, level by level.
fn path(count: u32, index: u32) -> impl Iterator<Item = Neighbour> {
    let levels = depth(count).saturating_sub(LEVELS);
    (0..levels).scan((index, pages(count)), |(at, width), _| {
        let neighbour = *at ^ 1;
        let next = match neighbour {
            left if left < *at => Neighbour::Left(left),
            right if right < *width => Neighbour::Right(right),
            _ => Neighbour::None,
        };
        *at /= 2;
        *width = width.div_ceil(2);
        Some(next)
    })
}

/// How many leaves page `index` of a tree of `count` has; `None` if there is
/// no such page.
fn length(count: u32, index: u32) -> Option<usize> {
    let first = (index as usize).checked_mul(LEAVES)?;
    let rest = (count as usize).checked_sub(first)?;
    (rest > 0).then(|| rest.min(LEAVES))
}

impl Write for Page {
    fn write(&self, buf: &mut impl BufMut) {
        self.count.write(buf);
        self.index.write(buf);
        for leaf in &self.leaves {
            leaf.write(buf);
        }
        for sibling in &self.siblings {
            sibling.write(buf);
        }
    }
}

impl EncodeSize for Page {
    fn encode_size(&self) -> usize {
        8 + self.leaves.len() * Leaf::SIZE + self.siblings.len() * Digest::SIZE
    }
}

impl Read for Page {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        let count = u32::read(buf)?;
        let index = u32::read(buf)?;
        let length = length(count, index).ok_or(Error::Invalid("Page", "beyond the tree's end"))?;
        if buf.remaining() / Leaf::SIZE < length {
            return Err(Error::EndOfBuffer);
        }
        let leaves = (0..length)
            .map(|_| Leaf::read(buf))
            .collect::<Result<_, _>>()?;
        let siblings = path(count, index)
            .filter_map(|neighbour| neighbour.index())
            .map(|_| Digest::read(buf))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            count,
            index,
            leaves,
            siblings,
        })
    }
}

/// A tree as it was once, to be given away in pages.
#[derive(Clone, Debug)]
pub struct Pages {
    leaves: Arc<Vec<Leaf>>,
    /// From the level of the pages' nodes up; of a tree of one page the root
    /// of which is lower, nothing.
    levels: Vec<Vec<Digest>>,
}

impl Pages {
    pub(crate) fn new(leaves: Vec<Leaf>, levels: &[Vec<Digest>]) -> Self {
        Self {
            leaves: Arc::new(leaves),
            levels: levels.iter().skip(LEVELS).cloned().collect(),
        }
    }

    /// All leaves by index, the sentinel first.
    #[must_use]
    pub const fn leaves(&self) -> &Arc<Vec<Leaf>> {
        &self.leaves
    }

    /// How many pages there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        pages(self.leaves.len() as u32)
    }

    /// Never: the sentinel is always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// The page at `index`, if there is one.
    #[must_use]
    pub fn page(&self, index: u32) -> Option<Page> {
        let count = self.leaves.len() as u32;
        let length = length(count, index)?;
        let first = index as usize * LEAVES;
        let siblings = path(count, index)
            .zip(&self.levels)
            .filter_map(|(neighbour, level)| level.get(neighbour.index()? as usize).copied())
            .collect();
        Some(Page {
            count,
            index,
            leaves: self.leaves[first..first + length].to_vec(),
            siblings,
        })
    }
}
