// SPDX-License-Identifier: Apache-2.0
//! Which blocks have been proposed over the same parent, without becoming final.
//!
//! Producers that keep back parts of their chunks' bodies have the views of all
//! leaders end in vain that propose these chunks, each because it holds its own
//! part. One such chunk does that to as many leaders as can be byzantine, three
//! of them to everybody, and for as long as they like. So a leader that has seen
//! [`IN_VAIN`] such proposals proposes no chunk at all: a block that nobody's vote
//! waits for. A leader that is down proposes nothing, and does not count.

use shardnode_primitives::Digest;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

/// Proposals over the same parent, after which the next is without chunks.
pub(crate) const IN_VAIN: usize = 2;

/// Parents that are remembered.
const PARENTS: usize = 64;

/// The views of the proposals, by their height and their parent.
type ByParent = BTreeMap<(u64, Digest), BTreeSet<u64>>;

/// The proposals over the newest parents. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proposals(Arc<Mutex<ByParent>>);

impl Proposals {
    /// A block of this height was proposed over `parent`, in this view.
    pub(crate) fn seen(&self, height: u64, parent: Digest, view: u64) {
        let mut parents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let views = parents.entry((height, parent)).or_default();
        // The first ones say all there is to know.
        if views.len() < IN_VAIN {
            views.insert(view);
        }
        if parents.len() > PARENTS {
            parents.pop_first();
        }
    }

    /// Whether so many blocks of this height were proposed over `parent`, in views
    /// before this one, that another should be without chunks.
    pub(crate) fn in_vain(&self, height: u64, parent: Digest, view: u64) -> bool {
        let parents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let views = parents.get(&(height, parent));
        views.is_some_and(|views| views.range(..view).count() >= IN_VAIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: Digest = Digest([7; 32]);

    #[test]
    fn proposals_over_one_parent_are_counted() {
        let proposals = Proposals::default();
        proposals.seen(5, PARENT, 9);
        // Of one view there is one proposal, however often it is judged.
        proposals.seen(5, PARENT, 9);
        assert!(!proposals.in_vain(5, PARENT, 10));
        proposals.seen(5, PARENT, 11);
        assert!(!proposals.in_vain(5, PARENT, 11));
        assert!(proposals.in_vain(5, PARENT, 12));
        assert!(!proposals.in_vain(6, PARENT, 12));
        assert!(!proposals.in_vain(5, Digest([8; 32]), 12));
    }

    #[test]
    fn old_parents_are_forgotten() {
        let proposals = Proposals::default();
        for height in 0..=PARENTS as u64 {
            proposals.seen(height, PARENT, 1);
            proposals.seen(height, PARENT, 2);
        }
        assert!(!proposals.in_vain(0, PARENT, 3));
        assert!(proposals.in_vain(1, PARENT, 3));
    }
}
