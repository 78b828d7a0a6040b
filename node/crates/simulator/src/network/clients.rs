// SPDX-License-Identifier: Apache-2.0
//! Clients that ask for what cannot be done: generators sign only what can.
//!
//! They have a few accounts of each shard, which no generator pays from, and
//! some that do not exist until somebody pays them. They submit a transfer to
//! all producers of its shard, and again when it is in a chunk; use nonces in
//! the wrong order, and far too high ones; spend what they have twice; let
//! transfers expire; sign for accounts that there are not; and empty those that
//! there are, until they are removed, and fill them again. What gets into a pool
//! in time fails in a chunk.

use super::Network;
use commonware_runtime::{Spawner as _, Supervisor as _};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use shardnode_primitives::{
    AccountId, Genesis, Namespaces, Transaction, Transfer, genesis::GenesisAccount, highest_nonce,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    time::Duration,
};

/// Accounts of each shard that no generator pays from: the clients', and a
/// last one.
pub(super) const RESERVED: usize = 4;
/// Accounts that are not of genesis, for each shard on average.
const STRANGERS: u32 = 2;
/// One request in so many looks at the network.
const ONCE_IN: u64 = 8;
/// What strangers are paid, and never keep whole: the rest is too little.
const GIFT: u64 = 1_000;

/// The accounts that are no generator's, by shard: clients have all but the
/// last one of each.
#[must_use]
pub(crate) fn reserved<'a>(
    genesis: &Genesis,
    accounts: &'a [GenesisAccount],
) -> Vec<Vec<&'a GenesisAccount>> {
    of_each_shard(genesis, accounts, 0..RESERVED)
}

/// The accounts at these places among those of their shard, by shard.
pub(super) fn of_each_shard<'a>(
    genesis: &Genesis,
    accounts: &'a [GenesisAccount],
    places: Range<usize>,
) -> Vec<Vec<&'a GenesisAccount>> {
    let mut shards = vec![Vec::new(); usize::from(genesis.layout.shards())];
    for account in accounts {
        shards[genesis.layout.shard_of(&account.id).index()].push(account);
    }
    let at_places = |shard: Vec<_>| {
        let shard = shard.into_iter().skip(places.start);
        shard.take(places.len()).collect()
    };
    shards.into_iter().map(at_places).collect()
}

struct Account {
    account: GenesisAccount,
    nonce: u64,
}

/// All clients of a run.
pub(super) struct Clients {
    accounts: Vec<Account>,
    /// Those of them that genesis made.
    existing: usize,
    namespaces: Namespaces,
    rng: ChaCha8Rng,
    /// What is submitted once more, and when.
    again: BTreeMap<Duration, Transaction>,
}

impl Clients {
    pub(super) fn new(genesis: &Genesis, accounts: &[GenesisAccount], seed: u64) -> Self {
        let reserved = reserved(genesis, accounts);
        let own = reserved.into_iter().flat_map(|mut shard| {
            shard.truncate(RESERVED - 1);
            shard.into_iter().cloned()
        });
        let own: Vec<GenesisAccount> = own.collect();
        let existing = own.len();
        let count = genesis.account_count();
        let strangers = STRANGERS * u32::from(genesis.layout.shards());
        let strangers = (count..count + strangers).map(|index| genesis.account(index));
        let accounts = own.into_iter().chain(strangers);
        Self {
            accounts: accounts
                .map(|account| Account { account, nonce: 0 })
                .collect(),
            existing,
            namespaces: Namespaces::new(&genesis.network, &genesis.hash()),
            rng: ChaCha8Rng::seed_from_u64(!seed),
            again: BTreeMap::new(),
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        let drawn = self.rng.next_u64() % bound.max(1) as u64;
        usize::try_from(drawn).unwrap_or_default()
    }

    fn amount(&mut self, low: u64, high: u64) -> u64 {
        low + self.rng.next_u64() % (high - low + 1)
    }

    fn sign(&self, signer: usize, transfer: Transfer) -> Transaction {
        let GenesisAccount { key, .. } = &self.accounts[signer].account;
        transfer.sign(key, &self.namespaces)
    }

    /// The next transfer of an account, above what it starts with if it was
    /// made until this height.
    fn unsigned(&mut self, height: u64, signer: usize, receiver: usize, amount: u64) -> Transfer {
        let receiver = self.accounts[receiver].account.id;
        let account = &mut self.accounts[signer];
        account.nonce = account.nonce.max(highest_nonce(height)) + 1;
        Transfer {
            signer: account.account.id,
            receiver,
            amount,
            nonce: account.nonce,
            expires_at: 0,
        }
    }

    fn next(&mut self, height: u64, signer: usize, receiver: usize, amount: u64) -> Transaction {
        let transfer = self.unsigned(height, signer, receiver, amount);
        self.sign(signer, transfer)
    }

    /// What clients ask for now, with the block at `height` final.
    fn requests(&mut self, now: Duration, height: u64) -> Vec<Transaction> {
        let later = self.again.split_off(&now);
        let mut requests: Vec<_> = std::mem::replace(&mut self.again, later)
            .into_values()
            .collect();
        if !self.rng.next_u64().is_multiple_of(ONCE_IN) {
            return requests;
        }
        let all = self.accounts.len();
        let (signer, receiver) = (self.below(self.existing), self.below(all));
        match self.below(9) {
            0 => {
                let amount = self.amount(1, 1_000);
                let twice = self.next(height, signer, receiver, amount);
                let after = self.amount(20, 400);
                let after = now + Duration::from_millis(after);
                self.again.insert(after, twice.clone());
                requests.push(twice);
            }
            1 => {
                let skipped = self.next(height, signer, receiver, 10);
                let after = self.next(height, signer, receiver, 20);
                requests.extend([after, skipped]);
            }
            2 => {
                let receiver = self.below(self.existing);
                for _ in 0..2 {
                    let amount = self.amount(300_000, 700_000);
                    requests.push(self.next(height, signer, receiver, amount));
                }
            }
            3 => {
                let stranger = self.existing + self.below(all - self.existing);
                let amount = self.amount(0, 2);
                requests.push(self.next(height, stranger, receiver, amount));
            }
            4 => {
                let stranger = self.existing + self.below(all - self.existing);
                requests.push(self.next(height, signer, stranger, GIFT));
            }
            5 => {
                let stranger = self.existing + self.below(all - self.existing);
                let amount = self.amount(GIFT - 8, GIFT);
                let emptied = self.next(height, stranger, receiver, amount);
                let after = now + Duration::from_millis(self.amount(100, 2_000));
                self.again.insert(after, emptied.clone());
                requests.push(emptied);
            }
            6 => {
                let soon = self.amount(0, 4);
                let mut expiring = self.unsigned(height, signer, receiver, 10);
                expiring.expires_at = height + soon;
                requests.push(self.sign(signer, expiring));
            }
            7 => {
                let mut high = self.unsigned(height, signer, receiver, 10);
                high.nonce = u64::MAX;
                requests.push(self.sign(signer, high));
            }
            _ => requests.push(self.next(height, signer, signer, 5)),
        }
        requests
    }
}

impl Network {
    /// Accounts that generators pay from.
    #[must_use]
    pub fn paying(&self) -> BTreeSet<AccountId> {
        let reserved = reserved(&self.genesis, &self.accounts);
        let reserved = reserved.iter().flatten().map(|one| one.id);
        let reserved: BTreeSet<AccountId> = reserved.chain(self.honest.accounts()).collect();
        let all = self.accounts.iter().map(|account| account.id);
        all.filter(|id| !reserved.contains(id)).collect()
    }

    /// Clients ask producers of their shards, while there is load.
    pub fn request(&mut self) {
        if self.load == 0 {
            return;
        }
        let now = self.elapsed();
        let heights = self.running().map(|(_, node)| node.view.borrow().height());
        let height = heights.max().unwrap_or_default();
        for transaction in self.clients.requests(now, height) {
            let shard = self.genesis.layout.shard_of(transaction.signer());
            for (_, node) in self.running() {
                if node.identity.tracked() != Some(shard) {
                    continue;
                }
                let (client, transaction) = (node.client.clone(), transaction.clone());
                let context = self.context.child("client");
                // Most of it is refused, and what is not may fail.
                drop(context.spawn(move |_| async move {
                    let _ = client.submit(transaction).await;
                }));
            }
        }
    }
}
