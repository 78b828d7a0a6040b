// SPDX-License-Identifier: Apache-2.0
//! All shards, block by block: what falls due where, who is congested, and
//! what headers commit to.

use crate::{
    accounts::Accounts,
    bound::Shown,
    executing::{self, Executed},
    plain::{Account, Chunk, Header, Id, Outcome, Place, Receipt, Rules, Totals, Transfer},
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Blocks that a shard may be behind before it is congested.
const MOST_BEHIND: u64 = 4;

/// What fell due for a shard with one header.
#[derive(Clone, Debug)]
struct Due {
    block: u64,
    source: u16,
    /// The executions that the header commits to.
    heights: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Shard {
    genesis: Accounts,
    /// The newest chunk's.
    header: Header,
    /// By the height of the chunk, with the totals after it.
    executed: BTreeMap<u64, (Executed, Totals)>,
    /// What fell due and is not credited, oldest first.
    queue: VecDeque<Due>,
}

impl Shard {
    fn accounts(&self) -> &Accounts {
        let last = self.executed.values().next_back();
        last.map_or(&self.genesis, |(executed, _)| &executed.accounts)
    }
}

/// Where all value is that genesis made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// In accounts.
    pub balances: u64,
    /// Sent and not credited.
    pub in_flight: u64,
    /// Nowhere: fees, and what accounts had left that were removed.
    pub burnt: u64,
}

impl Value {
    /// All of it.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        self.balances + self.in_flight + self.burnt
    }
}

/// The ledger of all shards.
#[derive(Clone, Debug)]
pub struct Model {
    rules: Rules,
    shards: Vec<Shard>,
    height: u64,
}

impl Model {
    /// The ledger with the accounts of genesis, whatever shard they are in.
    #[must_use]
    pub fn new(rules: Rules, accounts: &BTreeMap<Id, Account>) -> Self {
        let shard = |shard| {
            let own = accounts
                .iter()
                .filter(|(id, _)| rules.shard_of(id) == shard);
            let genesis = Accounts::genesis(own.map(|(id, account)| (*id, *account)).collect());
            let totals = Totals {
                height: 0,
                state_root: genesis.root(),
                transfers: 0,
                cross_shard: 0,
                credits: 0,
                balance: genesis.balance(),
                burnt: 0,
                sent: 0,
                received: 0,
                next_due: Place {
                    block: 1,
                    source: 0,
                },
            };
            Shard {
                genesis,
                header: Header {
                    sequence: 0,
                    results: Vec::new(),
                    uncommitted: Vec::new(),
                    totals,
                },
                executed: BTreeMap::new(),
                queue: VecDeque::new(),
            }
        };
        Self {
            shards: (0..rules.shards).map(shard).collect(),
            rules,
            height: 0,
        }
    }

    /// The newest block's height.
    #[must_use]
    pub const fn height(&self) -> u64 {
        self.height
    }

    /// What the header of a shard's chunk in the next block commits to: of the
    /// executions that no header commits to yet, those that are the lag behind
    /// or more.
    #[must_use]
    pub fn next_header(&self, shard: u16) -> Header {
        let shard = &self.shards[usize::from(shard)];
        let height = self.height + 1;
        let heights = shard.header.uncommitted.iter().copied().chain([height]);
        let lag = u64::from(self.rules.lag);
        let (due, uncommitted): (Vec<u64>, Vec<u64>) = heights.partition(|at| at + lag <= height);
        let newest = due.last().map(|at| shard.executed[at].1.clone());
        Header {
            sequence: shard.header.sequence + 1,
            results: due
                .iter()
                .map(|at| shard.executed[at].0.sums.clone())
                .collect(),
            uncommitted,
            totals: newest.unwrap_or_else(|| shard.header.totals.clone()),
        }
    }

    /// The shards that are too far behind in the newest block.
    fn congested(&self) -> BTreeSet<u16> {
        let behind = |shard: &Shard| {
            let keeps_up = self.height + 1;
            let next = shard.header.totals.next_due.block;
            keeps_up > next + u64::from(self.rules.lag) + MOST_BEHIND
        };
        let all = (0..).zip(&self.shards);
        all.filter(|(_, shard)| self.rules.congestion_control && behind(shard))
            .map(|(shard, _)| shard)
            .collect()
    }

    /// The next block, with these new chunks in the order of shards.
    pub fn next_block(&mut self, chunks: &[Chunk]) {
        let congested = self.congested();
        let headers: Vec<_> = chunks
            .iter()
            .map(|chunk| (chunk.shard, self.next_header(chunk.shard)))
            .collect();
        self.height += 1;
        for (source, header) in headers {
            let heights: Vec<u64> = header.results.iter().map(|sums| sums.height).collect();
            self.shards[usize::from(source)].header = header;
            if heights.is_empty() {
                continue;
            }
            for (destination, shard) in (0..).zip(&mut self.shards) {
                if destination != source {
                    shard.queue.push_back(Due {
                        block: self.height,
                        source,
                        heights: heights.clone(),
                    });
                }
            }
        }
        for chunk in chunks {
            self.execute(chunk, &congested);
        }
    }

    fn execute(&mut self, chunk: &Chunk, congested: &BTreeSet<u16>) {
        let transfers = executing::valid(&self.rules, chunk);
        let (credited, next_due) = self.take_due(chunk.shard, transfers.len());
        let place = (chunk.shard, self.height);
        let shard = &mut self.shards[usize::from(chunk.shard)];
        let executed = executing::execute(
            &self.rules,
            place,
            shard.accounts(),
            credited,
            transfers,
            congested,
        );
        let before = shard.executed.values().next_back();
        let before = before.map_or(&shard.header.totals, |(_, totals)| totals);
        let totals = Totals {
            height: self.height,
            state_root: executed.sums.state_root,
            transfers: before.transfers + u64::from(executed.sums.transfers),
            cross_shard: before.cross_shard + executed.cross_shard,
            credits: before.credits + u64::from(executed.sums.credits),
            balance: executed.accounts.balance(),
            burnt: before.burnt + executed.burnt,
            sent: before.sent + u128::from(executed.sent),
            received: before.received + u128::from(executed.received),
            next_due,
        };
        shard.executed.insert(self.height, (executed, totals));
    }

    /// The receipts that a chunk with so many transfers credits, which are no
    /// longer due, and where the next one goes on.
    fn take_due(&mut self, shard: u16, transfers: usize) -> (Vec<Receipt>, Place) {
        let mut shown = Shown {
            transfers: transfers as u64,
            buckets: 0,
            receipts: 0,
            leaves: self.shards[usize::from(shard)].accounts().leaf_count(),
        };
        let mut credited = Vec::new();
        let mut last: Option<Place> = None;
        loop {
            let more = !self.rules.congestion_control || shown.leaves_room(&self.rules);
            if let Some(last) = last
                && !more
            {
                return (credited, last);
            }
            let Some(due) = self.shards[usize::from(shard)].queue.pop_front() else {
                let block = self.height + 1;
                return (credited, Place { block, source: 0 });
            };
            let source = &self.shards[usize::from(due.source)];
            for at in &due.heights {
                credited.extend(&source.executed[at].0.receipts[usize::from(shard)]);
            }
            shown.buckets += due.heights.len() as u64;
            shown.receipts = credited.len() as u64;
            last = Some(Place {
                block: due.block,
                source: due.source + 1,
            });
        }
    }

    /// Every transfer of the shard's chunk at `height`, and what became of it.
    #[must_use]
    pub fn outcomes(&self, shard: u16, height: u64) -> &[(Transfer, Outcome)] {
        let executed = self.shards[usize::from(shard)].executed.get(&height);
        executed.map_or(&[], |(executed, _)| &executed.outcomes)
    }

    /// The receipts that the shard's chunk at `height` credits, in order.
    #[must_use]
    pub fn credited(&self, shard: u16, height: u64) -> &[Receipt] {
        let executed = self.shards[usize::from(shard)].executed.get(&height);
        executed.map_or(&[], |(executed, _)| &executed.credited)
    }

    /// The shard's accounts after its newest chunk at or below `height`.
    #[must_use]
    pub fn accounts(&self, shard: u16, height: u64) -> &BTreeMap<Id, Account> {
        let shard = &self.shards[usize::from(shard)];
        let at = shard.executed.range(..=height).next_back();
        at.map_or(&shard.genesis, |(_, (executed, _))| &executed.accounts)
            .by_id()
    }

    /// Where all value is.
    #[must_use]
    pub fn value(&self) -> Value {
        let balances = self.shards.iter().map(|one| one.accounts().balance());
        let executed = self.shards.iter().flat_map(|one| one.executed.values());
        let (mut sent, mut received, mut burnt) = (0u128, 0u128, 0);
        for (executed, _) in executed {
            sent += u128::from(executed.sent);
            received += u128::from(executed.received);
            burnt += executed.burnt;
        }
        Value {
            balances: balances.sum(),
            in_flight: (sent - received) as u64,
            burnt,
        }
    }

    /// Receipts that were sent and not credited.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        let executed = self.shards.iter().flat_map(|one| one.executed.values());
        let (mut sent, mut credited) = (0, 0);
        for (executed, _) in executed {
            sent += executed.receipts.iter().map(Vec::len).sum::<usize>();
            credited += executed.credited.len();
        }
        sent - credited
    }
}
