// SPDX-License-Identifier: Apache-2.0
//! What must hold in every run, checked after every finalised block.

mod committees;
mod endorsers;
mod misses;

pub use committees::{Committees, Counted};
pub use misses::Misses;

use self::endorsers::Endorsers;
use crate::{network::Network, oracle::Oracle, plan::Plan, planted::Planted};
use commonware_consensus::types::Height;
use commonware_cryptography::{Digested, Digestible as _, Hasher as _, blake3::Blake3};
use shardnode_primitives::{Block, ChunkBody, ChunkHeader, Digest, ShardId};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// What can be violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// All nodes finalise the same blocks.
    OneChain,
    /// No finalised header commits to what is not the model's.
    ValidRoots,
    /// No transfer is lost, doubled or reordered.
    Transfers,
    /// The sum of all balances and of what is on the way never changes.
    Supply,
    /// A chunk is endorsed and re-executed by its committee, and nobody else.
    Committees,
    /// The chain goes on once nothing goes wrong any more.
    Liveness,
    /// No honest node ends by itself.
    Running,
    /// Chunks are missed only for a reason.
    MissedChunks,
    /// What a node takes in for a client comes into a chunk.
    NothingIgnored,
    /// What fails in a chunk of an honest producer costs its signer something.
    NothingForNothing,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OneChain => "one chain",
            Self::ValidRoots => "valid roots",
            Self::Transfers => "transfers once and in order",
            Self::Supply => "total supply",
            Self::Committees => "committees only",
            Self::Liveness => "liveness",
            Self::Running => "nodes keep running",
            Self::MissedChunks => "missed chunks are explained",
            Self::NothingIgnored => "nothing is ignored",
            Self::NothingForNothing => "nothing for nothing",
        })
    }
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which one.
    pub promise: Promise,
    /// How.
    pub what: String,
}

impl Violation {
    /// This promise is broken like this.
    #[must_use]
    pub fn new(promise: Promise, what: impl Into<String>) -> Self {
        Self {
            promise,
            what: what.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.what)
    }
}

/// Follows the chain through the eyes of every node.
pub struct Checks {
    oracle: Oracle,
    committees: Committees,
    chain: Vec<Digested<Block>>,
    genesis: Digest,
    next: Vec<u64>,
    told: usize,
    compared: usize,
    endorsers: Endorsers,
    planted: Option<Planted>,
    byzantine: BTreeSet<usize>,
    violations: Vec<Violation>,
}

impl Checks {
    /// Of a network that has not started. With `planted`, the oracle or a check
    /// is wrong.
    #[must_use]
    pub fn new(network: &Network, plan: &Plan, planted: Option<Planted>) -> Self {
        let (genesis, accounts) = (&network.genesis, network.accounts());
        Self {
            oracle: Oracle::new(genesis, accounts, network.paying(), planted),
            committees: Committees::new(genesis, plan, planted),
            chain: Vec::new(),
            genesis: network.state.digest,
            next: vec![1; network.members.len()],
            told: 0,
            compared: 0,
            endorsers: Endorsers::default(),
            planted,
            byzantine: plan.byzantine(),
            violations: Vec::new(),
        }
    }

    /// What was violated.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Something was violated that is not for a block to tell.
    pub fn violated(&mut self, violation: Violation) {
        self.violations.push(violation);
    }

    /// Blocks that were finalised.
    #[must_use]
    pub fn height(&self) -> u64 {
        self.chain.len() as u64
    }

    /// The newest block.
    #[must_use]
    pub fn tip(&self) -> Option<&Block> {
        self.chain.last().map(Digested::inner)
    }

    /// The committees of all blocks.
    #[must_use]
    pub const fn committees(&self) -> &Committees {
        &self.committees
    }

    /// Transfers executed.
    #[must_use]
    pub const fn transfers(&self) -> u64 {
        self.oracle.transfers()
    }

    /// Looks at what nodes have finalised since the last time.
    pub async fn look(&mut self, network: &Network) {
        for (index, member) in network.members.iter().enumerate() {
            let Some(node) = member.node() else {
                // All that it has is looked at again once it is back.
                self.next[index] = 1;
                continue;
            };
            let height = node.view.borrow().height();
            while self.next[index] <= height {
                let at = self.next[index];
                let Some(block) = network.ask(node.marshal.get_block(Height::new(at))).await else {
                    // It answers once it is done with something else.
                    break;
                };
                let Some(block) = block else {
                    if !network.may_lack(at, height) {
                        break;
                    }
                    // It was away for so long that it went on over a floor, or keeps
                    // what is newer.
                    self.next[index] += 1;
                    continue;
                };
                network.note(index, format!("finalised block {at}, {}", block.digest()));
                let block = self.seen(index, block);
                self.see(index, at, block);
                self.next[index] += 1;
            }
        }
        self.follow(network).await;
        let looked_into = self.oracle.look_into(network).await;
        self.violations.extend(looked_into);
        let checked = self.chain.get(..self.compared);
        if let Some(tip) = checked.and_then(<[_]>::last) {
            let endorsed = network.shared.take_endorsed();
            let broken = self
                .endorsers
                .check(endorsed, &self.committees, tip.inner());
            self.violations.extend(broken);
        }
    }

    /// The block as the checks see it.
    fn seen(&self, index: usize, block: Digested<Block>) -> Digested<Block> {
        if self.planted != Some(Planted::OtherBlock) || index == 0 {
            return block;
        }
        let other = Blake3::hash(&[block.digest().as_ref()]);
        Digested::precomputed(block.inner().clone(), other)
    }

    fn see(&mut self, index: usize, height: u64, block: Digested<Block>) {
        let place = usize::try_from(height - 1).unwrap_or(usize::MAX);
        match self.chain.get(place) {
            Some(known) if known.digest() == block.digest() => {}
            Some(known) => self.violations.push(Violation::new(
                Promise::OneChain,
                format!(
                    "at height {height} n{index} has {}, others have {}",
                    block.digest(),
                    known.digest()
                ),
            )),
            None => {
                let parent = self.chain.last().map_or(self.genesis, Digested::digest);
                let inner = block.inner();
                if inner.context.parent.1 != parent || inner.height != height {
                    self.violations.push(Violation::new(
                        Promise::OneChain,
                        format!(
                            "block {height} of n{index} is not a child of block {}",
                            height - 1
                        ),
                    ));
                }
                self.chain.push(block);
            }
        }
    }

    /// Compares blocks with the model, and tells it of them once their bodies
    /// are there.
    async fn follow(&mut self, network: &Network) {
        while let Some(block) = self.chain.get(self.told) {
            let block = block.inner().clone();
            if self.compared == self.told {
                self.compared += 1;
                self.violations.extend(self.oracle.compare(&block));
                self.violations.extend(self.committees.check(&block));
            }
            let Some(bodies) = bodies(network, &block).await else {
                break;
            };
            for _ in bodies.len()..block.new_chunks().count() {
                network.shared.count("finalised invalid bodies");
            }
            self.violations
                .extend(self.oracle.execute(network, &block, &bodies));
            self.violations.extend(self.free_failures(network, &block));
            self.told += 1;
        }
    }

    /// What a client has in the new chunks of `block` that failed for nothing, if the
    /// producer is honest: the first of each shard.
    fn free_failures(&self, network: &Network, block: &Block) -> Vec<Violation> {
        let lies = |key: &_| {
            let mut byzantine = self.byzantine.iter();
            byzantine.any(|index| network.members[*index].wire.is(key))
        };
        let chunks = block.new_chunks().filter_map(|header| {
            let shard = header.content.shard;
            let producer = network.genesis.producer_at(shard, block.height)?;
            let failed = self.oracle.free_failure(shard, block.height)?;
            (!lies(&producer.key)).then(|| {
                let (name, height) = (&producer.name, block.height);
                let what = format!("{name} has in the chunk of shard {shard} at height {height}");
                Violation::new(Promise::NothingForNothing, format!("{what} {failed}"))
            })
        });
        chunks.collect()
    }

    /// Whether the transfers of honest clients were taken in and executed. One that
    /// was not within so many blocks is a violation.
    pub fn check_honest(&mut self, network: &Network, within: u64) -> bool {
        let mut left = 0;
        for one in network.honest.taken_in() {
            if self.oracle.nonce(one.shard, &one.signer) > 0 {
                continue;
            }
            left += 1;
            if self.height() > one.height + within {
                self.violated(Violation::new(
                    Promise::NothingIgnored,
                    format!(
                        "the transfer of account {} of shard {}, taken in at height {}, was not \
                         executed within {within} blocks",
                        one.signer, one.shard, one.height
                    ),
                ));
            }
        }
        left == 0 && network.honest.is_done()
    }

    /// What must hold of all of a run once it is drained.
    pub async fn end(&mut self, network: &Network, plan: &Plan) {
        self.look(network).await;
        if self.told < self.chain.len() {
            self.violated(Violation::new(
                Promise::Transfers,
                format!("no node has the bodies of block {}", self.told + 1),
            ));
            return;
        }
        let left = self.oracle.in_flight();
        if left > 0 {
            self.violated(Violation::new(
                Promise::Transfers,
                format!("{left} receipts were never credited"),
            ));
        }
        let (signed, executed) = (network.signed(), self.oracle.counted());
        if plan.keeps_memory() && signed != executed {
            self.violated(Violation::new(
                Promise::Transfers,
                format!("{signed} were signed, {executed} executed"),
            ));
        }
        self.check_agreement(network);
        if let Some(tip) = self.chain.last() {
            let overworked = self.committees.check_work(network, plan, tip.inner());
            self.violations.extend(overworked);
        }
    }

    /// Nodes of one shard have the same state at the same height.
    fn check_agreement(&mut self, network: &Network) {
        let mut roots: BTreeMap<(ShardId, u64), BTreeSet<Digest>> = BTreeMap::new();
        for (_, node) in network.running() {
            if let Some(tracked) = *node.tracked.borrow() {
                let at = (tracked.shard, tracked.height);
                roots.entry(at).or_default().insert(tracked.root);
            }
        }
        for ((shard, height), roots) in roots {
            if roots.len() > 1 {
                self.violated(Violation::new(
                    Promise::ValidRoots,
                    format!("nodes of shard {shard} differ at height {height}: {roots:?}"),
                ));
            }
        }
    }

    /// Whether there is a block above `height`.
    pub fn advanced(&self, height: u64) -> bool {
        self.height() > height && self.planted != Some(Planted::NoBlocks)
    }
}

/// The bodies of the new chunks of `block`, by nodes that have them. A chunk
/// that a liar made without a valid body has none here, whatever nodes have:
/// it must be executed as one without transactions.
async fn bodies(network: &Network, block: &Block) -> Option<BTreeMap<ShardId, ChunkBody>> {
    let mut bodies = BTreeMap::new();
    for header in block.new_chunks() {
        if network.shared.is_bodiless(&header.hash()) {
            continue;
        }
        let body = body(network, header).await?;
        bodies.insert(header.content.shard, body);
    }
    Some(bodies)
}

async fn body(network: &Network, header: &ChunkHeader) -> Option<ChunkBody> {
    let shard = header.content.shard;
    for (_, node) in network.running() {
        if node.identity.tracked() == Some(shard)
            && let Some(Ok(body)) = network.ask(node.client.body(header)).await
        {
            return Some(body);
        }
    }
    None
}
