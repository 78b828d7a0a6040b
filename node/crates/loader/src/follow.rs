// SPDX-License-Identifier: Apache-2.0
//! Finds out what became of transfers, from the nodes that execute their shard.
//!
//! A node knows the outcome of a transfer once the block that holds it is final
//! and executed. So nothing is asked before the finalised height has moved, and
//! then about those that were asked about the longest ago, for as long as at
//! least half of them have ended. One that no block holds, and that expired some
//! blocks ago, never will be executed. One that a pool let go of is refused after all.

use crate::{
    answers::{Fate, Outcome},
    client::{Client, MOST_TOGETHER},
    lane::{Events, Shared},
    tally::Event,
};
use commonware_runtime::{Clock as _, tokio::Context};
use shardnode_primitives::{AccountId, Digest, ShardId, ShardLayout, Transaction};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::sync::mpsc;

/// Between two looks at the chain.
const TICK: Duration = Duration::from_millis(100);
/// Blocks after which the node that is asked has executed what it will.
const SETTLED: u64 = 16;

/// A transfer that may have been taken by a pool.
#[derive(Clone, Copy, Debug)]
pub struct Followed {
    signer: AccountId,
    hash: Digest,
    expires_at: u64,
    due: Duration,
}

impl Followed {
    /// A transfer that was due then.
    #[must_use]
    pub fn new(transaction: &Transaction, due: Duration) -> Self {
        let Transaction::Transfer(signed) = transaction;
        Self {
            signer: signed.transfer.signer,
            hash: transaction.hash(),
            expires_at: signed.transfer.expires_at,
            due,
        }
    }
}

/// Those of each shard whose outcome is not known, in the order in which they are
/// asked about.
type Waiting = BTreeMap<ShardId, VecDeque<Followed>>;

/// Follows the transfers of a run.
pub struct Follower {
    /// Time.
    pub context: Context,
    /// What all share.
    pub shared: Arc<Shared>,
    /// Asks nodes.
    pub client: Client,
    /// Which shard an account belongs to.
    pub layout: ShardLayout,
    /// All nodes, the last that answered first.
    pub nodes: VecDeque<String>,
    /// The nodes to ask about each shard, the best first.
    pub nodes_of: BTreeMap<ShardId, VecDeque<String>>,
    /// What connections sent.
    pub followed: mpsc::Receiver<Vec<Followed>>,
    /// Where events go.
    pub events: mpsc::Sender<Events>,
}

impl Follower {
    /// Follows until the connections are gone and all transfers have ended, or
    /// none has for long enough. Returns how many have not.
    pub async fn run(mut self) -> u64 {
        let mut waiting = Waiting::new();
        let mut progress = self.shared.start.elapsed();
        let mut height = 0;
        loop {
            let connected = self.collect(&mut waiting);
            let left: usize = waiting.values().map(VecDeque::len).sum();
            let now = self.shared.start.elapsed();
            if connected {
                progress = now;
            }
            if !connected && (left == 0 || now > progress + self.shared.drain) {
                return left as u64;
            }
            if let Some(newest) = self.finalized().await
                && newest > height
            {
                height = newest;
                self.shared.height.store(height, Ordering::Relaxed);
                let shards: Vec<_> = waiting.keys().copied().collect();
                for shard in shards {
                    let events = self.look(shard, &mut waiting, height).await;
                    if !events.is_empty() {
                        progress = self.shared.start.elapsed();
                        // Whoever counts ends last.
                        let _ = self.events.send(events).await;
                    }
                }
            }
            self.context.sleep(TICK).await;
        }
    }

    /// Takes in what connections sent; whether there still are any.
    fn collect(&mut self, waiting: &mut Waiting) -> bool {
        loop {
            match self.followed.try_recv() {
                Ok(list) => {
                    for one in list {
                        let shard = self.layout.shard_of(&one.signer);
                        waiting.entry(shard).or_default().push_back(one);
                    }
                }
                Err(mpsc::error::TryRecvError::Empty) => return true,
                Err(mpsc::error::TryRecvError::Disconnected) => return false,
            }
        }
    }

    /// The finalised height, by one node. If it does not answer, the next is asked
    /// the next time.
    async fn finalized(&mut self) -> Option<u64> {
        let status = self.client.status(self.nodes.front()?).await;
        if status.is_err() {
            self.nodes.rotate_left(1);
        }
        Some(status.ok()?.finalized_height)
    }

    async fn look(&mut self, shard: ShardId, waiting: &mut Waiting, height: u64) -> Events {
        let mut events = Events::new();
        let mut left = waiting.get(&shard).map_or(0, VecDeque::len);
        while left > 0 {
            // Connections do not wait for answers to this.
            self.collect(waiting);
            let queue = waiting.entry(shard).or_default();
            let many = left.min(MOST_TOGETHER);
            left -= many;
            let asked: Vec<_> = queue.drain(..many).collect();
            let hashes: Vec<_> = asked.iter().map(|one| (one.signer, one.hash)).collect();
            let Some(outcomes) = self.outcomes(shard, &hashes).await else {
                // In their order, for the next time.
                for one in asked.into_iter().rev() {
                    queue.push_front(one);
                }
                break;
            };
            let at = self.shared.start.elapsed();
            let before = events.len();
            for (one, outcome) in asked.into_iter().zip(outcomes) {
                let settled = one.expires_at > 0 && one.expires_at + SETTLED < height;
                match outcome.status {
                    Fate::Executed => events.push((at, Event::Executed(one.due))),
                    Fate::Failed => events.push((at, Event::Failed(outcome.reason))),
                    Fate::Unknown if settled => events.push((at, Event::Expired)),
                    Fate::Unknown => match outcome.let_go() {
                        Some(refusal) => events.push((at, Event::Refused(refusal))),
                        None => queue.push_back(one),
                    },
                }
            }
            if (events.len() - before) * 2 < many {
                break;
            }
        }
        events
    }

    /// What a node says became of transfers. If it does not, another is asked the
    /// next time.
    async fn outcomes(
        &mut self,
        shard: ShardId,
        transfers: &[(AccountId, Digest)],
    ) -> Option<Vec<Outcome>> {
        let nodes = self.nodes_of.get_mut(&shard)?;
        let outcomes = self.client.outcomes(nodes.front()?, transfers).await;
        if outcomes.is_err() {
            nodes.rotate_left(1);
        }
        outcomes.ok()
    }
}
