// SPDX-License-Identifier: Apache-2.0
//! That no honest node endorses a chunk whose committee it is not in.

use super::{Committees, Promise, Violation};
use crate::lies::Endorsed;
use shardnode_primitives::Block;

/// Endorsements that honest nodes sent and that cannot be judged yet.
#[derive(Default)]
pub(super) struct Endorsers {
    waiting: Vec<Endorsed>,
}

impl Endorsers {
    /// Judges what was sent for heights up to the one after `tip`. A node
    /// endorses for the height after its newest final block, so the committees
    /// are those that the final blocks say, and nothing is sent for any later
    /// height.
    pub(super) fn check(
        &mut self,
        sent: Vec<Endorsed>,
        committees: &Committees,
        tip: &Block,
    ) -> Vec<Violation> {
        self.waiting.extend(sent);
        let known = |endorsed: &mut Endorsed| endorsed.height <= tip.height + 1;
        let judged: Vec<Endorsed> = self.waiting.extract_if(.., known).collect();
        judged
            .into_iter()
            .filter(|endorsed| !committees.seats(endorsed, tip))
            .map(|endorsed| {
                let Endorsed {
                    validator,
                    shard,
                    height,
                } = endorsed;
                Violation::new(
                    Promise::Committees,
                    format!(
                        "{validator} endorses a chunk of shard {shard} at height {height} and is \
                         not in its committee"
                    ),
                )
            })
            .collect()
    }
}
