// SPDX-License-Identifier: Apache-2.0
//! Verifying what clients hand in together.
//!
//! The signatures of a list are verified in one batch, on the CPU pool and not
//! in the task of whoever waits. Lists take turns, first come, first served, and
//! as many at a time as half of the pool has threads: whatever clients send, the
//! chain has the other half. A list with a signature that does not hold is
//! verified one by one, which finds it and costs no more than if each transaction
//! had come by itself.

use commonware_parallel::{Rayon, Sequential, Strategy as _};
use rand_core::{CryptoRng, Rng as _};
use shardnode_execution::signatures::{BatchSize, KeyCache, verify_each};
use shardnode_primitives::{Namespaces, Transaction};
use std::{
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::Semaphore;

/// Keys that are kept decoded.
const KEYS: usize = 65_536;

/// Verifies signatures of clients. Clones take turns together.
#[derive(Clone)]
pub struct Signatures(Arc<Inner>);

struct Inner {
    keys: KeyCache,
    strategy: Rayon,
    turns: Arc<Semaphore>,
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
    /// Verifies on half of the threads of `strategy`, and on one at least.
    pub fn new(
        strategy: Rayon,
        threads: NonZeroUsize,
        seeds: impl CryptoRng + Send + 'static,
    ) -> Self {
        Self(Arc::new(Inner {
            keys: KeyCache::new(KEYS),
            strategy,
            turns: Arc::new(Semaphore::new(threads.get().div_ceil(2))),
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
        transactions: Vec<Transaction>,
        namespaces: &Namespaces,
    ) -> Vec<(Transaction, bool)> {
        if transactions.is_empty() {
            return Vec::new();
        }
        // Nobody closes it.
        let turn = self.0.turns.clone().acquire_owned().await.ok();
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
}
