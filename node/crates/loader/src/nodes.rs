// SPDX-License-Identifier: Apache-2.0
//! The nodes of a run: what they track, and how far the chain is by them.

use crate::{client::Client, error::RunError, options::Options};
use commonware_runtime::{Clock as _, tokio::Context};
use shardnode_primitives::ShardId;
use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};
use tokio::time::Instant;

/// Blocks after which headers commit to an execution, beside the lag.
const SETTLED: u64 = 2;
/// Between two looks at the chain.
const TICK: Duration = Duration::from_millis(100);

/// Where the nodes are, and what they track.
pub(crate) struct Nodes {
    /// Their addresses.
    pub(crate) all: Vec<String>,
    of: BTreeMap<ShardId, Vec<String>>,
    /// The finalised height.
    pub(crate) height: u64,
    /// The transfers up to there.
    pub(crate) transfers: u64,
}

impl Nodes {
    pub(crate) async fn ask(client: &Client, options: &Options) -> Result<Self, RunError> {
        let expected = options.genesis.hash().to_string();
        let mut nodes = Self {
            all: options.nodes.clone(),
            of: BTreeMap::new(),
            height: 0,
            transfers: 0,
        };
        for node in &options.nodes {
            let status = client.status(node).await?;
            if status.genesis_hash != expected {
                return Err(RunError::Genesis {
                    node: node.clone(),
                    found: status.genesis_hash,
                    expected,
                });
            }
            if status.finalized_height >= nodes.height {
                nodes.height = status.finalized_height;
                nodes.transfers = status.transfers;
            }
            if let Some(tracked) = status.tracked {
                let shard = ShardId(tracked.shard);
                nodes.of.entry(shard).or_default().push(node.clone());
            }
        }
        Ok(nodes)
    }

    /// The nodes for a shard: those that track it, or else all.
    fn of(&self, shard: ShardId) -> &[String] {
        self.of.get(&shard).unwrap_or(&self.all)
    }

    /// All nodes, with those for a shard first.
    pub(crate) fn best(&self, shard: ShardId) -> VecDeque<String> {
        let first = self.of(shard);
        let others = self.all.iter().filter(|node| !first.contains(node));
        first.iter().chain(others).cloned().collect()
    }

    /// The `index`th connection of a shard goes to one of them.
    pub(crate) fn pick(&self, shard: ShardId, index: u32) -> String {
        let nodes = self.of(shard);
        // Connections of different shards to nodes that track none go to
        // different nodes.
        let place = index as usize + usize::from(shard.0);
        nodes[place % nodes.len()].clone()
    }

    /// Asks again how far the chain is. A node that was behind when it was asked first, as
    /// it began, is not any more. Nodes that do not answer in time change nothing.
    pub(crate) async fn ask_again(
        &mut self,
        context: &Context,
        client: &Client,
        patience: Duration,
    ) {
        let (client, all) = (client.clone(), self.all.clone());
        let asking = async move { finalized(&client, &all).await };
        if let Ok(Some((height, transfers))) = context.timeout(patience, asking).await {
            (self.height, self.transfers) = (height, transfers);
        }
    }

    /// Waits until blocks commit to all that is executed now, which they do by this
    /// lag. Returns the finalised height, and the transfers up to there; `None` if no
    /// node answers.
    pub(crate) async fn settle(
        &self,
        context: &Context,
        client: &Client,
        lag: u64,
        patience: Duration,
    ) -> Option<(u64, u64)> {
        let begun = Instant::now();
        let (mut first, mut last) = (None, None);
        loop {
            last = last.max(finalized(client, &self.all).await);
            first = first.or(last);
            let settled = first.zip(last);
            if settled.is_some_and(|(first, last)| last.0 >= first.0 + lag + SETTLED)
                || begun.elapsed() >= patience
            {
                return last;
            }
            context.sleep(TICK).await;
        }
    }
}

/// The finalised height, and the transfers up to there, by the nodes that answer.
async fn finalized(client: &Client, nodes: &[String]) -> Option<(u64, u64)> {
    let mut last = None;
    for node in nodes {
        if let Ok(status) = client.status(node).await {
            last = last.max(Some((status.finalized_height, status.transfers)));
        }
    }
    last
}
