// SPDX-License-Identifier: Apache-2.0
//! Which nodes of a tree have to be given, level by level, for the root to
//! follow from some of its leaves.

use crate::nodes::depth;

/// The nodes that are needed beside the leaves at `indices`, which must be in
/// ascending order and within a tree of `count` leaves, as pairs of level and
/// index: by level from the leaves up, then by index. Without any leaf that is
/// the top.
pub(crate) fn siblings(count: u32, indices: Vec<u32>) -> impl Iterator<Item = (usize, u32)> {
    let top = depth(count);
    let nothing = indices.is_empty();
    let mut known = indices;
    let mut width = count;
    (0..top)
        .flat_map(move |level| {
            let missing = unpaired(&known, width);
            for at in &mut known {
                *at /= 2;
            }
            known.dedup();
            width = width.div_ceil(2);
            missing.into_iter().map(move |at| (level, at))
        })
        .chain(nothing.then_some((top, 0)))
}

/// The neighbours of the nodes at `known` that are not among them and exist
/// in a level of `width` nodes.
fn unpaired(known: &[u32], width: u32) -> Vec<u32> {
    let mut missing = Vec::new();
    let mut rest = known;
    while let Some((at, after)) = rest.split_first() {
        rest = after;
        let neighbour = at ^ 1;
        if rest.first() == Some(&neighbour) {
            rest = &rest[1..];
        } else if neighbour < width {
            missing.push(neighbour);
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leaves of the tree, the leaves given, and what else is needed.
    type Case = (u32, &'static [u32], &'static [(usize, u32)]);

    #[test]
    fn siblings_are_those_that_the_root_needs_and_no_other() {
        let cases: [Case; 9] = [
            (1, &[], &[(0, 0)]),
            (1, &[0], &[]),
            (2, &[1], &[(0, 0)]),
            (2, &[0, 1], &[]),
            (3, &[2], &[(1, 0)]),
            (3, &[0, 2], &[(0, 1)]),
            (5, &[], &[(3, 0)]),
            (5, &[1, 2], &[(0, 0), (0, 3), (2, 1)]),
            (8, &[0, 1, 7], &[(0, 6), (1, 1), (1, 2)]),
        ];
        for (count, indices, want) in cases {
            let got: Vec<_> = siblings(count, indices.to_vec()).collect();
            assert_eq!(got, want, "{indices:?} of {count}");
        }
    }
}
