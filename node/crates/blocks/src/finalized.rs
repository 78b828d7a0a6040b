// SPDX-License-Identifier: Apache-2.0
//! What finalised blocks alone tell: height, block time, throughput, supply.

use crate::{
    throughput::{Rates, Window},
    validity::endorsed_stake,
};
use shardnode_network::Committees;
use shardnode_primitives::{Block, Digest, Genesis, ShardId, ShardTotals};
use std::{collections::BTreeMap, time::Duration};

/// Finalised state roots that are kept for checking proofs, per shard.
const ROOTS: usize = 64;

/// The chain as of one finalised block.
#[derive(Clone, Debug)]
pub struct ChainView {
    /// The block.
    pub block: Block,
    /// Its digest.
    pub digest: Digest,
    /// By shard, the stake behind the newest header; `None` before the first.
    pub endorsed: Vec<Option<EndorsedStake>>,
    /// The first block that it was moved to; 0 before.
    started: u64,
    window: Window,
    roots: Vec<BTreeMap<u64, Digest>>,
    supply: u64,
}

/// The stake behind a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndorsedStake {
    /// Of the members whose endorsements are in the block.
    pub endorsed: u64,
    /// Of the whole committee.
    pub mandated: u64,
}

/// Total supply as the headers of one block state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supply {
    /// What genesis created.
    pub expected: u64,
    /// Sum of all shards' balances.
    pub balances: u64,
    /// Debited in one shard and not yet credited in another.
    pub in_flight: u64,
    /// What is no more: fees, and the rest of accounts that were removed.
    pub burnt: u64,
}

impl Supply {
    /// Whether balances, value in flight and what was burnt are what genesis
    /// created.
    #[must_use]
    pub fn conserved(&self) -> bool {
        let parts = [self.balances, self.in_flight, self.burnt];
        let sum: u128 = parts.into_iter().map(u128::from).sum();
        sum == u128::from(self.expected)
    }
}

impl ChainView {
    /// The view of a node that has seen nothing after `block`.
    #[must_use]
    pub fn new(genesis: &Genesis, block: Block, digest: Digest) -> Self {
        let mut view = Self {
            endorsed: vec![None; block.chunks.len()],
            roots: vec![BTreeMap::new(); block.chunks.len()],
            started: 0,
            window: Window::default(),
            supply: genesis.supply(),
            digest,
            block,
        };
        view.note();
        view
    }

    /// Moves to the next finalised block.
    pub fn advance(&mut self, block: Block, digest: Digest, committees: &Committees) {
        let new = block.endorsements.iter().zip(committees.iter());
        for (shard, (endorsements, committee)) in self.endorsed.iter_mut().zip(new) {
            if endorsements.places() > 0 {
                *shard = Some(EndorsedStake {
                    endorsed: endorsed_stake(endorsements, committee),
                    mandated: committee.stake(),
                });
            }
        }
        if self.started == 0 {
            self.started = block.height;
        }
        self.block = block;
        self.digest = digest;
        self.note();
    }

    fn note(&mut self) {
        // Block 0 has the time of the document, not of a run.
        if self.block.height > 0 {
            let transfers = self.transfers();
            self.window.push(self.block.timestamp_ms, transfers);
        }
        for (roots, header) in self.roots.iter_mut().zip(&self.block.chunks) {
            roots.insert(
                header.content.totals.height,
                header.content.totals.state_root,
            );
            for result in &header.content.results {
                roots.insert(result.height, result.state_root);
            }
            while roots.len() > ROOTS {
                roots.pop_first();
            }
        }
    }

    /// The finalised height.
    #[must_use]
    pub const fn height(&self) -> u64 {
        self.block.height
    }

    /// The first finalised block that a node has processed since it started; 0
    /// before.
    #[must_use]
    pub const fn started(&self) -> u64 {
        self.started
    }

    /// The state root of `shard` after executing `height`, if a recent
    /// finalised header committed to it.
    #[must_use]
    pub fn root(&self, shard: ShardId, height: u64) -> Option<Digest> {
        self.roots.get(shard.index())?.get(&height).copied()
    }

    /// Transfers executed since genesis.
    #[must_use]
    pub fn transfers(&self) -> u64 {
        self.block
            .chunks
            .iter()
            .map(|header| header.content.totals.transfers)
            .sum()
    }

    /// Those of them to another shard.
    #[must_use]
    pub fn cross_shard(&self) -> u64 {
        self.block
            .chunks
            .iter()
            .map(|header| header.content.totals.cross_shard)
            .sum()
    }

    /// Blocks in the averaging window.
    #[must_use]
    pub fn window(&self) -> usize {
        self.window.len()
    }

    /// Block time and throughput over the window, when nothing was finalised
    /// for `idle` after the last block. Only of a chain that stands still
    /// `idle` makes a difference: 4 block times and more.
    #[must_use]
    pub fn rates(&self, idle: Duration) -> Rates {
        self.window.rates(idle)
    }

    /// Total supply as this block's headers state it.
    #[must_use]
    pub fn supply(&self) -> Supply {
        let totals = || {
            self.block
                .chunks
                .iter()
                .map(|header| &header.content.totals)
        };
        let sum =
            |value: fn(&ShardTotals) -> u128| totals().map(value).fold(0u128, u128::saturating_add);
        let narrow = |sum| u64::try_from(sum).unwrap_or(u64::MAX);
        let sent = sum(|totals| totals.sent);
        let received = sum(|totals| totals.received);
        Supply {
            expected: self.supply,
            balances: narrow(sum(|totals| totals.balance.into())),
            in_flight: narrow(sent.saturating_sub(received)),
            burnt: narrow(sum(|totals| totals.burnt.into())),
        }
    }
}
