// SPDX-License-Identifier: Apache-2.0
//! A network without its network: shards that execute chunks, commit results
//! as headers do, and credit each other's receipts.

use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
use commonware_parallel::Sequential;
use shardnode_coding::{Code, Part};
use shardnode_execution::{
    Applied, ChunkInput, Crediting, Delivery, Failure, Outcome, StateView as _, apply,
    body::{self, Shown},
    execute,
    signatures::{BatchSize, KeyCache, verify_all},
    touched,
};
use shardnode_primitives::{
    AccountId, ChunkBody, ChunkContent, ChunkHeader, Congestion, Digest, DuePosition,
    ExecutionResult, Namespaces, ProvenBucket, ShardId, ShardLayout, ShardTotals, Transaction,
    Transfer,
    genesis::{CongestionControl, Protocol, private_key},
    hash::ZERO,
    highest_nonce,
};
use shardnode_state::{Account, NO_ACCOUNT, StateTree};
use shardnode_witness::{
    Due, Executable, Expected, Limits, StateWitness, Transition, Verifier, WitnessError, validate,
};
use std::{collections::BTreeMap, num::NonZeroU16};

pub(crate) const LIMITS: Limits = Limits {
    raw_bytes: 1 << 20,
    transitions: 4,
    receipts: 100,
    code: CODE,
};

/// How bodies are divided among four participants.
pub(crate) const CODE: Code = Code::any(NonZeroU16::new(2).unwrap(), NonZeroU16::new(4).unwrap());

/// A chunk that is to be.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    body: ChunkBody,
    /// As its header says.
    transactions: u32,
    /// What its parts are of: the body, unless its producer lies.
    coded: ChunkBody,
    /// Whether others know it from its parts alone.
    in_parts: bool,
}

impl Drawn {
    fn honest(body: ChunkBody, transactions: u32) -> Self {
        Self {
            coded: body.clone(),
            body,
            transactions,
            in_parts: false,
        }
    }

    fn parts_root(&self) -> Digest {
        body::divide(&self.coded, &CODE, &Sequential).unwrap().0
    }

    fn shown(&self) -> Shown {
        if !self.in_parts {
            return Shown::Body(self.body.clone());
        }
        let (_, shares) = body::divide(&self.coded, &CODE, &Sequential).unwrap();
        let parts = (0..)
            .zip(shares)
            .map(|(index, share)| Part { index, share });
        Shown::Parts(parts.skip(1).take(CODE.needed()).collect())
    }
}

/// A witness and what it must show.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) witness: StateWitness,
    pub(crate) expected: Expected,
}

impl Case {
    pub(crate) fn check(&self) -> Result<(), WitnessError> {
        check(self.witness.clone(), &self.expected)
    }
}

pub(crate) fn namespaces() -> Namespaces {
    Namespaces::new("witness-test", &ZERO)
}

fn verified(transactions: &[Transaction]) -> bool {
    let keys = KeyCache::new(64);
    let namespace = namespaces().transaction;
    let batch = BatchSize::Whole;
    verify_all(transactions, &namespace, &keys, batch, [7; 32], &Sequential)
}

pub(crate) fn check(witness: StateWitness, expected: &Expected) -> Result<(), WitnessError> {
    let verifier = Verifier {
        namespace: &namespaces().transaction,
        keys: &KeyCache::new(64),
        batch: BatchSize::Whole,
        seed: [7; 32],
        strategy: &Sequential,
    };
    validate(witness, expected, &verifier)
}

/// Numbers that follow from a seed.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    pub(crate) fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[usize::try_from(self.below(list.len() as u64)).unwrap()]
    }
}

struct Executed {
    applied: Applied,
    transition: Transition,
    executable: Executable,
}

struct Shard {
    id: ShardId,
    state: StateTree,
    totals: ShardTotals,
    header: ChunkHeader,
    executed: BTreeMap<u64, Executed>,
}

/// What happened, so that a test can tell that it did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) transfers: u32,
    pub(crate) failures: u32,
    pub(crate) created: u32,
    pub(crate) removed: u32,
    pub(crate) invalid_bodies: u32,
    pub(crate) miscoded: u32,
    pub(crate) missed: u32,
    pub(crate) receipts: u32,
    pub(crate) several_transitions: u32,
    pub(crate) held_back: u32,
    pub(crate) left_due: u32,
}

pub(crate) struct World {
    layout: ShardLayout,
    protocol: Protocol,
    lag: u64,
    keys: Vec<PrivateKey>,
    nonces: BTreeMap<AccountId, u64>,
    shards: Vec<Shard>,
    /// The results that headers committed to, by the height of their block.
    commits: Vec<(u64, ShardId, ExecutionResult)>,
    congestion: Congestion,
    height: u64,
    pub(crate) seen: Seen,
}

impl World {
    /// Some of the keys have accounts, the others wait to be paid.
    pub(crate) fn new(shards: u16, lag: u8) -> Self {
        let layout = ShardLayout::new(shards);
        let keys: Vec<_> = (1..=24).map(|number| private_key([number; 32])).collect();
        let shards = layout.iter().map(|id| {
            let accounts = keys[..16]
                .iter()
                .map(|key| AccountId::of(&key.public_key()))
                .filter(|account| layout.shard_of(account) == id)
                .map(|account| {
                    let balance = 100;
                    (account, Account { balance, nonce: 0 })
                });
            let state = StateTree::genesis(accounts).unwrap();
            let totals = ShardTotals::genesis(state.root(), state.balance());
            let header = ChunkHeader::genesis(id, totals.clone()).unwrap();
            let executed = BTreeMap::new();
            Shard {
                id,
                state,
                totals,
                header,
                executed,
            }
        });
        Self {
            layout,
            protocol: Protocol {
                execution_lag: lag,
                min_block_time_ms: 250,
                chunk_wait_ms: 1_000,
                max_transactions_per_chunk: 1_000,
                mandates_per_shard: 8,
                epoch_length: 1_000,
                congestion_control: CongestionControl::Enabled,
                transfer_fee: 1,
                least_balance: 10,
            },
            lag: lag.into(),
            shards: shards.collect(),
            keys,
            nonces: BTreeMap::new(),
            commits: Vec::new(),
            congestion: Congestion::default(),
            height: 0,
            seen: Seen::default(),
        }
    }

    /// The witnesses of a random history.
    pub(crate) fn play(seed: u64) -> (Self, Vec<Case>) {
        let mut draw = Draw(seed);
        let shards = 1 + draw.below(4) as u16;
        let mut world = Self::new(shards, 1 + draw.below(3) as u8);
        if draw.one_in(3) {
            // More than a network can have: every chunk credits one delivery.
            world.protocol.max_transactions_per_chunk = 1 << 20;
        }
        let mut cases = Vec::new();
        for _ in 0..8 {
            let chunks: Vec<_> = (0..shards)
                .map(|shard| world.draw_chunk(&mut draw, ShardId(shard)))
                .collect();
            let congested = (0..shards).filter(|_| draw.one_in(6)).map(ShardId);
            world.congestion = Congestion::of(congested);
            cases.extend(world.step(&chunks));
        }
        (world, cases)
    }

    /// A chunk; `None` for a missed one.
    fn draw_chunk(&mut self, draw: &mut Draw, shard: ShardId) -> Option<Drawn> {
        if draw.one_in(5) {
            self.seen.missed += 1;
            return None;
        }
        let transactions: Vec<_> = (0..draw.below(7))
            .map(|_| self.draw_transfer(draw, shard))
            .collect();
        let (body, count) = (ChunkBody::of(&transactions), transactions.len() as u32);
        if count == 0 || !draw.one_in(8) {
            return Some(Drawn {
                in_parts: count > 0 && draw.one_in(8),
                ..Drawn::honest(body, count)
            });
        }
        self.seen.invalid_bodies += 1;
        let mut bytes = body.0.to_vec();
        match draw.below(5) {
            0 => *bytes.last_mut().unwrap() ^= 1,
            1 => bytes.truncate(bytes.len() - 1),
            2 => return Some(Drawn::honest(body, count + 1)),
            kind => {
                self.seen.miscoded += 1;
                bytes[0] ^= 1;
                return Some(Drawn {
                    coded: ChunkBody(bytes.into()),
                    in_parts: kind == 3,
                    ..Drawn::honest(body, count)
                });
            }
        }
        Some(Drawn::honest(ChunkBody(bytes.into()), count))
    }

    fn draw_transfer(&mut self, draw: &mut Draw, shard: ShardId) -> Transaction {
        let account = |key: &PrivateKey| AccountId::of(&key.public_key());
        let own: Vec<_> = self
            .keys
            .iter()
            .filter(|key| self.layout.shard_of(&account(key)) == shard)
            .collect();
        let key = if own.is_empty() || draw.one_in(12) {
            draw.of(&self.keys)
        } else {
            *draw.of(&own)
        };
        let receiver = if draw.one_in(15) {
            NO_ACCOUNT
        } else {
            account(draw.of(&self.keys))
        };
        // Above what an account begins with that was made until now.
        let least = highest_nonce(self.height);
        let nonce = self.nonces.entry(account(key)).or_default();
        *nonce = (*nonce).max(least) + u64::from(!draw.one_in(8));
        let soon = self.height + draw.below(4);
        let most = if draw.one_in(8) { 1_000 } else { 40 };
        let transfer = Transfer {
            signer: account(key),
            receiver,
            amount: 6 + draw.below(most),
            nonce: *nonce,
            expires_at: if draw.one_in(8) { soon } else { 0 },
        };
        transfer.sign(key, &namespaces())
    }

    /// A chunk without transactions for every shard.
    pub(crate) fn empty_chunks(&self) -> Vec<Option<Drawn>> {
        vec![Some(Drawn::honest(ChunkBody::of(&[]), 0)); self.shards.len()]
    }

    /// The next height, with these chunks.
    pub(crate) fn step(&mut self, chunks: &[Option<Drawn>]) -> Vec<Case> {
        self.height += 1;
        let mut cases = Vec::new();
        for (index, drawn) in chunks.iter().enumerate() {
            if let Some(drawn) = drawn {
                cases.push(self.commit(index, drawn));
            }
        }
        for (index, drawn) in chunks.iter().enumerate() {
            if let Some(drawn) = drawn {
                self.execute(index, drawn);
            }
        }
        cases
    }

    /// Makes the shard's header and the witness for it.
    fn commit(&mut self, index: usize, drawn: &Drawn) -> Case {
        let (height, lag) = (self.height, self.lag);
        let from = self.shards[index].header.content.totals.next_due;
        let queue = self.queue(ShardId(index as u16), from, height);
        let shard = &mut self.shards[index];
        let previous = shard.header.content.clone();
        let open = || previous.uncommitted.iter().copied().chain([height]);
        let due: Vec<_> = open()
            .filter(|at| at + lag <= height)
            .map(|at| &shard.executed[&at])
            .collect();
        let totals = due
            .last()
            .map_or(&previous.totals, |executed| &executed.applied.totals);
        let content = ChunkContent {
            shard: shard.id,
            height,
            sequence: previous.sequence + 1,
            anchor: ZERO,
            previous: shard.header.hash(),
            body_hash: drawn.body.hash(),
            parts_root: drawn.parts_root(),
            body_len: drawn.body.0.len() as u32,
            transactions: drawn.transactions,
            results: due.iter().map(|one| one.applied.result.clone()).collect(),
            uncommitted: open().filter(|at| at + lag > height).collect(),
            totals: totals.clone(),
        };
        let header = ChunkHeader::sign(content, &self.keys[0], &namespaces());
        let case = Case {
            witness: StateWitness {
                shard: shard.id,
                height,
                transitions: due.iter().map(|one| one.transition.clone()).collect(),
            },
            expected: Expected {
                protocol: self.protocol,
                layout: self.layout,
                code: CODE,
                header: header.clone(),
                before: previous.totals,
                executions: due.iter().map(|one| one.executable.clone()).collect(),
                due: queue,
            },
        };
        self.seen.several_transitions += u32::from(due.len() > 1);
        let results = header.content.results.iter().cloned();
        self.commits
            .extend(results.map(|result| (height, shard.id, result)));
        shard.header = header;
        case
    }

    /// What falls due for a shard from this place on, up to `height`.
    fn queue(&self, destination: ShardId, from: DuePosition, height: u64) -> Vec<Due> {
        self.commits
            .iter()
            .filter(|(block, source, _)| {
                let place = DuePosition {
                    block: *block,
                    source: *source,
                };
                place >= from && *block <= height && *source != destination
            })
            .map(|(block, source, result)| Due {
                block: *block,
                source: *source,
                height: result.height,
                receipts_root: result.receipts_root,
            })
            .collect()
    }

    /// What a chunk of the shard with so many transactions credits.
    fn credited(&self, index: usize, transactions: usize) -> (Vec<Delivery>, Vec<ProvenBucket>) {
        let shard = &self.shards[index];
        let queue = self.queue(shard.id, shard.totals.next_due, self.height);
        let mut crediting = Crediting::new(self.protocol, transactions, shard.state.leaf_count());
        let (mut deliveries, mut proven) = (Vec::new(), Vec::new());
        for header in
            queue.chunk_by(|one, other| (one.block, one.source) == (other.block, other.source))
        {
            if !crediting.wants_more() {
                break;
            }
            let of = |due: &Due| {
                let source = &self.shards[due.source.index()];
                source.executed[&due.height].applied.buckets[index].clone()
            };
            let buckets: Vec<ProvenBucket> = header.iter().map(of).collect();
            let delivery = Delivery {
                block: header[0].block,
                source: header[0].source,
                buckets: buckets.iter().map(|one| one.bucket.clone()).collect(),
            };
            crediting.credit(&delivery);
            deliveries.push(delivery);
            proven.extend(buckets);
        }
        (deliveries, proven)
    }

    /// Executes the shard's new chunk.
    fn execute(&mut self, index: usize, drawn: &Drawn) {
        let id = self.shards[index].id;
        let content = &self.shards[index].header.content;
        let judged = body::check(drawn.shown(), content, &CODE, &Sequential, verified);
        let transactions = judged.unwrap().transactions.unwrap_or_default();
        let (deliveries, incoming) = self.credited(index, transactions.len());
        let congestion = self.congestion.clone();
        let shard = &mut self.shards[index];
        let header = shard.header.clone();
        let input = ChunkInput {
            protocol: self.protocol,
            layout: self.layout,
            shard: id,
            height: self.height,
            transactions: &transactions,
            incoming: &deliveries,
            congestion: &congestion,
        };
        let execution = execute(&shard.state, input).unwrap();
        let transition = Transition {
            height: self.height,
            body: drawn.shown(),
            incoming,
            pre_state: shard.state.partial(&touched(&input), &execution.changes),
        };
        for (id, account) in &execution.changes {
            self.seen.created += u32::from(shard.state.get(id).is_none());
            self.seen.removed += u32::from(account.is_none());
        }
        let applied = apply(&mut shard.state, execution, self.height, &shard.totals).unwrap();
        assert_eq!(applied.totals.balance, shard.state.balance());
        self.seen.transfers += applied.result.transfers;
        self.seen.failures += transactions.len() as u32 - applied.result.transfers;
        self.seen.receipts += deliveries
            .iter()
            .flat_map(|one| &one.buckets)
            .map(|one| one.receipts.len() as u32)
            .sum::<u32>();
        let congested = Outcome::Failed(Failure::Congested);
        let held_back = applied
            .outcomes
            .iter()
            .filter(|(_, outcome)| *outcome == congested);
        self.seen.held_back += held_back.count() as u32;
        let all = DuePosition::at(self.height + 1);
        self.seen.left_due += u32::from(applied.totals.next_due != all);
        shard.totals = applied.totals.clone();
        let executed = Executed {
            applied,
            transition,
            executable: Executable { header, congestion },
        };
        shard.executed.insert(self.height, executed);
    }

    /// The state of a shard after everything that was executed.
    pub(crate) fn state(&self, shard: ShardId) -> &StateTree {
        &self.shards[shard.index()].state
    }
}
