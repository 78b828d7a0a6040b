// SPDX-License-Identifier: Apache-2.0
//! What clients have computed: whether signatures hold, and proofs of outcomes.
//!
//! All of it is done on the CPU pool, in [`turns`](crate::turns), and as much at a
//! time as half of the pool has threads: whatever clients and peers send, the chain
//! has the other half.
//!
//! The signatures of a list are verified in one batch. A list with a signature
//! that does not hold is verified one by one, which finds it and costs no more than
//! if each transaction had come by itself.
//!
//! A proof takes all of its chunk's outcomes, megabytes of them. So it has a place
//! from before they are looked up until it is made, and of those there are
//! [`PROOFS`].

use crate::turns::{Caller, Turn, Turns};
use commonware_parallel::{Rayon, Sequential, Strategy as _};
use rand_core::{CryptoRng, Rng as _};
use shardnode_execution::signatures::{BatchSize, KeyCache, verify_each};
use shardnode_network::client_messages::MOST_TOGETHER;
use shardnode_primitives::{Namespaces, Transaction};
use std::{
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

/// Keys that are kept decoded.
const KEYS: usize = 65_536;
/// Proofs of outcomes that are being made, at most.
const PROOFS: usize = 2;

/// Verifies signatures of clients and makes proofs for them. Clones take turns
/// together.
#[derive(Clone)]
pub struct Signatures(Arc<Inner>);

struct Inner {
    keys: KeyCache,
    strategy: Rayon,
    turns: Turns,
    proofs: Turns,
    /// Where the coefficients of batches come from. Nothing is drawn before the
    /// first batch.
    seeds: Mutex<Box<dyn CryptoRng + Send>>,
}

impl fmt::Debug for Signatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signatures").finish_non_exhaustive()
    }
}

impl Signatures {
    /// Computes on half of the threads of `strategy`, and on one at least.
    pub fn new(
        strategy: Rayon,
        threads: NonZeroUsize,
        seeds: impl CryptoRng + Send + 'static,
    ) -> Self {
        Self(Arc::new(Inner {
            keys: KeyCache::new(KEYS),
            strategy,
            turns: Turns::new(threads.get().div_ceil(2)),
            proofs: Turns::new(PROOFS),
            seeds: Mutex::new(Box::new(seeds)),
        }))
    }

    fn seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        let mut seeds = self.0.seeds.lock().unwrap_or_else(PoisonError::into_inner);
        seeds.fill_bytes(&mut seed);
        seed
    }

    /// Which of the transactions their signers signed.
    pub(crate) async fn verify(
        &self,
        caller: Caller,
        transactions: Vec<Transaction>,
        namespaces: &Namespaces,
    ) -> Vec<(Transaction, bool)> {
        if transactions.is_empty() {
            return Vec::new();
        }
        let turn = self.0.turns.take(caller, transactions.len()).await;
        let seed = self.seed();
        let inner = self.0.clone();
        let namespace = namespaces.transaction.clone();
        self.0
            .strategy
            .spawn(transactions.len(), move |_| {
                // Until it is done, and not until whoever waits has gone.
                let _turn = turn;
                let holds = verify_each(
                    &transactions,
                    &namespace,
                    &inner.keys,
                    BatchSize::Whole,
                    seed,
                    &Sequential,
                );
                transactions.into_iter().zip(holds).collect()
            })
            .await
    }

    /// Waits for a place for a proof.
    pub(crate) async fn proof(&self, caller: Caller) -> Option<Turn> {
        self.0.proofs.take(caller, MOST_TOGETHER).await
    }

    /// Makes a proof among so many outcomes.
    pub(crate) async fn prove<T: Send + 'static>(
        &self,
        caller: Caller,
        outcomes: usize,
        make: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let turn = self.0.turns.take(caller, MOST_TOGETHER).await;
        self.0
            .strategy
            .spawn(outcomes, move |_| {
                let _turn = turn;
                make()
            })
            .await
    }

    /// Takes all turns.
    #[cfg(test)]
    pub(crate) fn hold(&self) -> Vec<Turn> {
        use futures::FutureExt as _;
        let take = || self.0.turns.take(Caller::Clients, 1).now_or_never();
        std::iter::from_fn(|| take().flatten()).collect()
    }
}
