// SPDX-License-Identifier: Apache-2.0
//! A second opinion: the finalised blocks, executed over all of the state. What
//! it shares with a node is what has one definition: the function that executes
//! a chunk, the rule of which bodies are valid, and how much a chunk credits.
//! Which receipts are due, where they go and in what order it works out itself.

use crate::planted::Planted;
use commonware_parallel::Sequential;
use shardnode_blocks::GenesisState;
use shardnode_execution::{
    Applied, ChunkInput, Crediting, Delivery, Outcome, StateView as _, apply,
    body::{self, Shown},
    signatures::{BatchSize, KeyCache, verify_all},
};
use shardnode_network::identity::body_code;
use shardnode_primitives::{
    AccountId, Block, ChunkBody, ChunkHeader, Congestion, ExecutionResult, Genesis, Namespaces,
    Receipt, ReceiptBucket, ShardId, ShardTotals, Transaction,
};
use shardnode_state::StateTree;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Decoded signers kept.
const KEYS: usize = 4_096;

/// A rule that a finalised block breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A header commits to another result than the replay's.
    Root(String),
    /// Receipts that were lost, doubled, or never emitted.
    Receipt(String),
    /// Transfers that were doubled or reordered.
    Transfer(String),
    /// Value that came from nowhere or went there.
    Supply(String),
    /// A chunk that cannot be executed.
    Execution(String),
}

/// What one header sent to a shard: the executions that it committed to.
struct Due {
    block: u64,
    source: ShardId,
    heights: Vec<u64>,
}

struct Shard {
    state: StateTree,
    totals: ShardTotals,
    /// Oldest first.
    due: VecDeque<Due>,
    executed: BTreeMap<u64, (ExecutionResult, ShardTotals, Vec<ReceiptBucket>)>,
}

/// The state after the finalised blocks that it was given.
pub struct Replayer {
    genesis: Genesis,
    namespaces: Namespaces,
    shards: Vec<Shard>,
    keys: KeyCache,
    nonces: BTreeMap<AccountId, u64>,
    in_flight: BTreeMap<(AccountId, u64), Receipt>,
    /// The newest height up to which each shard has credited everything, by
    /// the headers of the block before.
    credited: Vec<u64>,
    height: u64,
    transfers: u64,
    planted: Option<Planted>,
}

impl Replayer {
    /// The state at height 0.
    #[must_use]
    pub fn new(genesis: Genesis, state: &GenesisState) -> Self {
        let shards = genesis.layout.iter().map(|shard| Shard {
            state: state.state(shard),
            totals: state.totals(shard),
            due: VecDeque::new(),
            executed: BTreeMap::new(),
        });
        Self {
            namespaces: Namespaces::new(&genesis.network, &genesis.hash()),
            shards: shards.collect(),
            keys: KeyCache::new(KEYS),
            nonces: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            credited: vec![0; usize::from(genesis.layout.shards())],
            height: 0,
            transfers: 0,
            planted: None,
            genesis,
        }
    }

    /// Makes one mistake from now on.
    pub fn plant(&mut self, bug: Planted) {
        self.planted = Some(bug);
    }

    /// Transfers executed.
    #[must_use]
    pub const fn transfers(&self) -> u64 {
        self.transfers
    }

    /// Receipts emitted and not credited.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// What the new headers of `block` commit to must be what came out here.
    /// To be called for each block in order, before [`execute`](Self::execute).
    #[must_use]
    pub fn check_results(&self, block: &Block) -> Vec<Broken> {
        let mut broken = Vec::new();
        for header in block.new_chunks() {
            let content = &header.content;
            let shard = &self.shards[content.shard.index()];
            let mut wrong = |what: String| {
                let (shard, height) = (content.shard, content.height);
                broken.push(Broken::Root(format!(
                    "chunk of shard {shard} at height {height}: {what}"
                )));
            };
            for result in &content.results {
                match shard.executed.get(&result.height) {
                    Some((own, ..)) if own == result => {}
                    Some((own, ..)) => {
                        wrong(format!("commits to {result:?}, replayed to {own:?}"));
                    }
                    None => wrong(format!(
                        "commits to height {} without a chunk",
                        result.height
                    )),
                }
            }
            let newest = content.results.last().map(|result| result.height);
            if let Some((_, totals, _)) = newest.and_then(|height| shard.executed.get(&height))
                && *totals != content.totals
            {
                wrong(format!(
                    "totals {:?}, replayed to {totals:?}",
                    content.totals
                ));
            }
        }
        broken
    }

    /// Executes the new chunks of `block`, whose bodies are `bodies`.
    pub fn execute(&mut self, block: &Block, bodies: &BTreeMap<ShardId, ChunkBody>) -> Vec<Broken> {
        for header in block.new_chunks() {
            let source = header.content.shard;
            let results = header.content.results.iter();
            let heights: Vec<u64> = results.map(|result| result.height).collect();
            for (index, shard) in self.shards.iter_mut().enumerate() {
                if index != source.index() && !heights.is_empty() {
                    shard.due.push_back(Due {
                        block: block.height,
                        source,
                        heights: heights.clone(),
                    });
                }
            }
        }
        let congestion = self.congestion();
        let mut broken = Vec::new();
        for header in block.new_chunks() {
            let body = bodies.get(&header.content.shard);
            self.execute_chunk(header, body, &congestion, &mut broken);
        }
        self.height = block.height;
        for (credited, header) in self.credited.iter_mut().zip(&block.chunks) {
            *credited = header.content.totals.next_due.block - 1;
        }
        self.check_supply(block.height, &mut broken);
        broken
    }

    fn transactions(&self, header: &ChunkHeader, body: &ChunkBody) -> Vec<Transaction> {
        let (keys, namespace) = (&self.keys, &self.namespaces.transaction);
        let verify = |transactions: &[Transaction]| {
            let batch = BatchSize::Whole;
            verify_all(transactions, namespace, keys, batch, [7; 32], &Sequential)
        };
        let (shown, code) = (Shown::Body(body.clone()), body_code(&self.genesis));
        body::check(shown, &header.content, &code, &Sequential, verify)
            .ok()
            .and_then(|judged| judged.transactions)
            .unwrap_or_default()
    }

    /// The shards that were too far behind in the block before.
    fn congestion(&self) -> Congestion {
        let lag = u64::from(self.genesis.protocol.execution_lag);
        let layout = self.genesis.layout;
        let behind = layout.iter().zip(&self.credited);
        let behind = behind.filter(|(_, credited)| **credited + lag + 4 < self.height);
        Congestion::of(behind.map(|(shard, _)| shard))
    }

    /// What a chunk with so many transactions credits, which is no longer due.
    fn incoming(&mut self, shard: ShardId, transactions: usize) -> Vec<Delivery> {
        let leaves = self.shards[shard.index()].state.leaf_count();
        let mut crediting = Crediting::new(self.genesis.protocol, transactions, leaves);
        let mut incoming = Vec::new();
        while crediting.wants_more()
            && let Some(due) = self.shards[shard.index()].due.pop_front()
        {
            let source = &self.shards[due.source.index()];
            let executed = due.heights.iter().filter_map(|at| source.executed.get(at));
            let buckets = executed.filter_map(|(_, _, buckets)| buckets.get(shard.index()));
            let delivery = Delivery {
                block: due.block,
                source: due.source,
                buckets: buckets.cloned().collect(),
            };
            crediting.credit(&delivery);
            incoming.push(delivery);
        }
        incoming
    }

    fn execute_chunk(
        &mut self,
        header: &ChunkHeader,
        body: Option<&ChunkBody>,
        congestion: &Congestion,
        broken: &mut Vec<Broken>,
    ) {
        let content = &header.content;
        let (id, height) = (content.shard, content.height);
        let empty = ChunkBody::of(&[]);
        let mut transactions = self.transactions(header, body.unwrap_or(&empty));
        let mut incoming = self.incoming(id, transactions.len());
        self.make_planted_mistake(&mut transactions, &mut incoming);
        let buckets = incoming.iter().flat_map(|delivery| &delivery.buckets);
        for receipt in buckets.flat_map(|bucket| &bucket.receipts) {
            let emitted = self.in_flight.remove(&(receipt.sender, receipt.nonce));
            if emitted.as_ref() != Some(receipt) {
                broken.push(Broken::Receipt(format!(
                    "shard {id} at height {height} credits {receipt:?}, which was not on its way"
                )));
            }
        }
        let shard = &mut self.shards[id.index()];
        let input = ChunkInput {
            protocol: self.genesis.protocol,
            layout: self.genesis.layout,
            shard: id,
            height,
            transactions: &transactions,
            incoming: &incoming,
            congestion,
        };
        let applied = match apply(&mut shard.state, input, &shard.totals) {
            Ok(applied) => applied,
            Err(error) => {
                broken.push(Broken::Execution(format!(
                    "shard {id} at height {height}: {error}"
                )));
                return;
            }
        };
        let Applied {
            result,
            totals,
            buckets,
            outcomes,
            ..
        } = applied;
        let buckets: Vec<_> = buckets.into_iter().map(|proven| proven.bucket).collect();
        shard.totals = totals.clone();
        shard
            .executed
            .insert(height, (result, totals, buckets.clone()));
        self.note_transfers(&transactions, &outcomes, height, broken);
        for receipt in buckets.iter().flat_map(|bucket| &bucket.receipts) {
            let twice = self
                .in_flight
                .insert((receipt.sender, receipt.nonce), *receipt);
            if twice.is_some() {
                broken.push(Broken::Receipt(format!(
                    "shard {id} at height {height} emits {receipt:?} a second time"
                )));
            }
        }
    }

    fn make_planted_mistake(
        &mut self,
        transactions: &mut Vec<Transaction>,
        incoming: &mut [Delivery],
    ) {
        let made = match self.planted {
            Some(Planted::DroppedReceipt) => incoming
                .iter_mut()
                .flat_map(|delivery| &mut delivery.buckets)
                .any(|bucket| bucket.receipts.pop().is_some()),
            Some(Planted::DoubledTransfer) => transactions
                .first()
                .cloned()
                .map(|first| transactions.push(first))
                .is_some(),
            Some(Planted::LostValue) => self.in_flight.pop_first().is_some(),
            _ => false,
        };
        if made {
            self.planted = None;
        }
    }

    /// Every account's transfers are executed once, in the order of its
    /// nonces.
    fn note_transfers(
        &mut self,
        transactions: &[Transaction],
        outcomes: &[(shardnode_primitives::Digest, Outcome)],
        height: u64,
        broken: &mut Vec<Broken>,
    ) {
        for (transaction, (_, outcome)) in transactions.iter().zip(outcomes) {
            if *outcome != Outcome::Executed {
                continue;
            }
            self.transfers += 1;
            let (signer, nonce) = (*transaction.signer(), transaction.nonce());
            let last = self.nonces.insert(signer, nonce).unwrap_or_default();
            if nonce <= last {
                broken.push(Broken::Transfer(format!(
                    "account {signer} at height {height}: transfer {nonce} after {last}"
                )));
            }
        }
    }

    fn check_supply(&self, height: u64, broken: &mut Vec<Broken>) {
        let balances: u64 = self.shards.iter().map(|shard| shard.state.balance()).sum();
        let in_flight: u64 = self.in_flight.values().map(|receipt| receipt.amount).sum();
        let supply = self.genesis.supply();
        if balances + in_flight != supply {
            broken.push(Broken::Supply(format!(
                "at height {height}: {balances} in accounts and {in_flight} on the way, \
                 genesis made {supply}"
            )));
        }
    }

    /// Heights of a shard at which something was executed.
    #[must_use]
    pub fn executed_heights(&self, shard: ShardId) -> BTreeSet<u64> {
        self.shards[shard.index()]
            .executed
            .keys()
            .copied()
            .collect()
    }
}
