// SPDX-License-Identifier: Apache-2.0
//! Replacing nodes by ones with an empty disk, as whoever rolls out a change
//! does where nodes have no volumes.

use super::{Member, Network};
use crate::plan::Fault;
use shardnode_chain::Node;
use shardnode_mailboxes::ledger::CLOSE;

impl Network {
    /// Replaces a node, if it may go by now.
    pub async fn replace(&mut self, index: usize) -> bool {
        if let Err(why) = self.may_go(index) {
            if self.members[index].waits_for.as_ref() != Some(&why) {
                self.note(index, format!("is not replaced yet: {why}"));
                self.members[index].waits_for = Some(why);
            }
            return false;
        }
        self.apply(&Fault::LoseDisk(index)).await;
        self.apply(&Fault::Start(index)).await;
        true
    }

    /// Whether all other nodes follow the chain, and all producers have complete
    /// copies.
    fn may_go(&self, index: usize) -> Result<(), String> {
        let tip = self.members.iter().map(Member::height).max();
        let tip = tip.unwrap_or_default();
        for (other, member) in self.members.iter().enumerate() {
            let height = member.height();
            if height == 0 || height.saturating_add(CLOSE) < tip {
                return Err(format!("n{other} is at {height} of {tip}"));
            }
            let lacks = member.node().and_then(Node::lacks).unwrap_or_default();
            if other != index && !lacks.is_empty() {
                let lacks: Vec<_> = lacks.iter().map(ToString::to_string).collect();
                return Err(format!("n{other}: {}", lacks.join(", ")));
            }
        }
        Ok(())
    }
}
