// SPDX-License-Identifier: Apache-2.0
//! The actor that loads the own shard: it draws transfers at the rate it is
//! told, signs them on the CPU pool, and puts them into the pool. It starts
//! at rate 0 and continues from the nonces of the current state.

use crate::metrics::Metrics;
use commonware_macros::select;
use commonware_parallel::{Rayon, Strategy as _};
use commonware_runtime::Handle;
use commonware_utils::channel::watch;
use shardnode_load::{generator::Generator, pacer::Pacer};
use shardnode_mailboxes::{Runtime, ledger, pool};
use shardnode_network::Identity;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};

/// Between two draws: short against a block, long against signing one draw.
const TICK: Duration = Duration::from_millis(25);

/// Counts of a generator since the node started.
#[derive(Debug, Default)]
pub struct Counts {
    signed: AtomicU64,
    rejected: AtomicU64,
}

/// What a generator is told and what it did.
#[derive(Clone, Debug)]
pub struct Control {
    rate: watch::Sender<u32>,
    counts: Arc<Counts>,
    metrics: Arc<Metrics>,
}

impl Control {
    /// Sets the transfers to sign per second.
    pub fn set_rate(&self, transfers_per_second: u32) {
        self.rate.send_replace(transfers_per_second);
        self.metrics.load_target(transfers_per_second);
    }

    /// The transfers to sign per second.
    #[must_use]
    pub fn rate(&self) -> u32 {
        *self.rate.borrow()
    }

    /// Transfers signed since the node started.
    #[must_use]
    pub fn signed(&self) -> u64 {
        self.counts.signed.load(Ordering::Relaxed)
    }

    /// Those of them that the pool refused.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.counts.rejected.load(Ordering::Relaxed)
    }
}

/// The actor.
pub struct Actor {
    identity: Arc<Identity>,
    generator: Generator,
    ledger: ledger::Mailbox,
    pool: pool::Mailbox,
    strategy: Rayon,
    metrics: Arc<Metrics>,
    rate: watch::Receiver<u32>,
    counts: Arc<Counts>,
}

impl Actor {
    /// Creates the actor.
    #[must_use]
    pub fn new(
        identity: Arc<Identity>,
        generator: Generator,
        ledger: ledger::Mailbox,
        pool: pool::Mailbox,
        strategy: Rayon,
        metrics: Arc<Metrics>,
    ) -> (Self, Control) {
        let (sender, rate) = watch::channel(0);
        let counts = Arc::new(Counts::default());
        let control = Control {
            rate: sender,
            counts: counts.clone(),
            metrics: metrics.clone(),
        };
        let actor = Self {
            identity,
            generator,
            ledger,
            pool,
            strategy,
            metrics,
            rate,
            counts,
        };
        (actor, control)
    }

    /// Runs until nobody is left to talk to.
    pub fn start(self, context: impl Runtime) -> Handle<()> {
        context.spawn(move |context| async move {
            // The node stops when its pool or its control is gone.
            let _ = self.run(context).await;
        })
    }

    async fn run(mut self, context: impl Runtime) -> Option<()> {
        let mut pacer = Pacer::default();
        let mut nonces_known = false;
        loop {
            if *self.rate.borrow() == 0 {
                self.rate.changed().await.ok()?;
            }
            if !nonces_known {
                self.load_nonces().await?;
                nonces_known = true;
            }
            let now = context
                .current()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            let rate = *self.rate.borrow_and_update();
            if rate != pacer.rate() {
                pacer.set_rate(rate, now);
            }
            let due = pacer.due(now);
            if due > 0 {
                self.sign_and_add(due).await?;
            }
            let tick = context.sleep(TICK);
            select! {
                _ = tick => {},
                changed = self.rate.changed() => changed.ok()?,
            }
        }
    }

    async fn load_nonces(&mut self) -> Option<()> {
        let own: Vec<_> = self.generator.own_accounts().collect();
        for id in own {
            let (_, account) = self.ledger.account(id).await?;
            self.generator
                .set_nonce(&id, account.unwrap_or_default().nonce);
        }
        Some(())
    }

    async fn sign_and_add(&mut self, due: u32) -> Option<()> {
        let drawn = self.generator.draw(due);
        let signer = self.generator.signer();
        let identity = self.identity.clone();
        let signed = self
            .strategy
            .spawn(drawn.len(), move |strategy| {
                strategy
                    .map_collect_vec(drawn, |unsigned| {
                        signer.sign(&[unsigned], &identity.namespaces)
                    })
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
            })
            .await;
        self.counts
            .signed
            .fetch_add(signed.len() as u64, Ordering::Relaxed);
        self.metrics.load_signed(signed.len());
        let refused = self
            .pool
            .add(signed)
            .await?
            .iter()
            .filter(|added| added.is_err())
            .count();
        self.counts
            .rejected
            .fetch_add(refused as u64, Ordering::Relaxed);
        Some(())
    }
}
