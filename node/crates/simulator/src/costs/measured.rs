// SPDX-License-Identifier: Apache-2.0
//! What work takes on this machine.

use crate::{cpu, shape::Shape};
use bytes::Bytes;
use commonware_cryptography::Signer as _;
use commonware_parallel::Sequential;
use shardnode_blocks::GenesisState;
use shardnode_coding::Code;
use shardnode_execution::{
    ChunkInput, execute,
    signatures::{BatchSize, KeyCache, verify_all},
};
use shardnode_load::accounts::derive;
use shardnode_primitives::{
    Congestion, Genesis, Namespaces, Randomness, ShardId, Transaction, Transfer,
    genesis::GenesisAccount,
    hash::ZERO,
    work::{self, Work},
};
use std::{hint::black_box, num::NonZeroU16, time::Duration};

/// Each kind of work is done for this long.
const LONG: Duration = Duration::from_millis(300);
/// Transactions of a batch and of a chunk.
const TRANSACTIONS: u64 = 128;
/// Bytes that are divided.
const BYTES: usize = 1 << 20;
/// Into so many parts, of which so many are needed.
const PARTS: (u16, u16) = (8, 3);

/// What this work takes here, in nanoseconds, for every kind that can be done alone.
#[must_use]
pub fn measure() -> Vec<(Work, f64)> {
    let bench = Bench::new();
    let kinds: [(Work, &dyn Fn()); 6] = [
        (Work::Signing, &|| bench.sign()),
        (Work::Signature, &|| bench.verify()),
        (Work::BatchedSignature, &|| bench.verify_batch()),
        (Work::Reveal, &|| bench.reveal()),
        (Work::Transfer, &|| bench.execute()),
        (Work::CodedByte, &|| bench.divide()),
    ];
    let timed = kinds.map(|(work, act)| (work, time(work, act)));
    timed.to_vec()
}

/// What one of these takes, in nanoseconds, by doing it for long enough.
fn time(work: Work, act: &dyn Fn()) -> f64 {
    // What is done for the first time fills caches.
    act();
    let _ = work::take();
    let started = cpu::time();
    let took = loop {
        act();
        let took = cpu::time().saturating_sub(started);
        if took >= LONG {
            break took;
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let times = work::take().of(work).max(1) as f64;
    took.as_secs_f64() * 1e9 / times
}

struct Bench {
    genesis: Genesis,
    state: GenesisState,
    namespaces: Namespaces,
    accounts: Vec<GenesisAccount>,
    transactions: Vec<Transaction>,
    keys: KeyCache,
    bytes: Bytes,
}

impl Bench {
    #[expect(clippy::expect_used, reason = "a network of the simulator, not input")]
    fn new() -> Self {
        let genesis = Shape::new(1, 1, 0, 1).genesis(1);
        let accounts = derive(&genesis, 0..genesis.account_count());
        let state = GenesisState::new(&genesis, &accounts).expect("accounts are distinct");
        let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
        let transactions = (0..TRANSACTIONS)
            .zip(accounts.iter().cycle())
            .map(|(nonce, account)| {
                transfer(account, &accounts, nonce + 1).sign(&account.key, &namespaces)
            })
            .collect();
        Self {
            genesis,
            state,
            namespaces,
            accounts,
            transactions,
            keys: KeyCache::new(1_024),
            bytes: vec![7; BYTES].into(),
        }
    }

    fn sign(&self) {
        if let Some(account) = self.accounts.first() {
            let signed = transfer(account, &self.accounts, 1);
            black_box(signed.sign(&account.key, &self.namespaces));
        }
    }

    fn verify(&self) {
        if let Some(transaction) = self.transactions.first() {
            black_box(transaction.verify(&self.namespaces));
        }
    }

    fn verify_batch(&self) {
        black_box(verify_all(
            &self.transactions,
            &self.namespaces.transaction,
            &self.keys,
            BatchSize::Whole,
            [7; 32],
            &Sequential,
        ));
    }

    fn reveal(&self) {
        let (key, before) = (Shape::key(0), Randomness::genesis(ZERO));
        let child = before.child(1, 16, &key);
        let checked = child.map(|child| before.check_child(&child, 1, 16, &key.public_key()));
        let _ = black_box(checked);
    }

    fn execute(&self) {
        let input = ChunkInput {
            protocol: self.genesis.protocol,
            layout: self.genesis.layout,
            shard: ShardId(0),
            height: 1,
            transactions: &self.transactions,
            incoming: &[],
            congestion: &Congestion::default(),
        };
        let mut state = self.state.state(ShardId(0));
        if let Ok(execution) = execute(&state, input) {
            let _ = black_box(state.apply(&execution.changes));
        }
    }

    fn divide(&self) {
        let code = NonZeroU16::new(PARTS.1).zip(NonZeroU16::new(PARTS.0));
        if let Some((needed, owners)) = code {
            let _ = black_box(Code::any(needed, owners).divide(&self.bytes, &Sequential));
        }
    }
}

/// From an account to the first one.
fn transfer(from: &GenesisAccount, accounts: &[GenesisAccount], nonce: u64) -> Transfer {
    let receiver = accounts.first().unwrap_or(from);
    Transfer {
        signer: from.id,
        receiver: receiver.id,
        amount: 10,
        nonce,
        expires_at: 0,
    }
}
