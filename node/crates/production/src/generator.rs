// SPDX-License-Identifier: Apache-2.0
//! The actor that loads the own shard: it draws transfers of the workload and
//! at the rate that it is told, signs them on the CPU pool, and puts them into
//! the pool. It starts at rate 0 and continues from the nonces of the current
//! state.
//!
//! It signs no more than the pool has room for, so that a chain that cannot take
//! the load is not kept busy with signatures that are thrown away. What it did
//! not sign is counted: `heldBack` for want of room, where the chain is the limit,
//! and `overdue` because signing took too long, where the generator is.

use crate::metrics::Metrics;
use commonware_macros::select;
use commonware_parallel::{Rayon, Strategy as _};
use commonware_runtime::Handle;
use commonware_utils::channel::watch;
use shardnode_load::{Generator, Pacer, Reach, Workload, WorkloadError};
use shardnode_mailboxes::{Runtime, ledger, pool};
use shardnode_network::Identity;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};
use tracing::warn;

/// Between two draws: short against a block, long against signing one draw.
const TICK: Duration = Duration::from_millis(25);

/// Counts of a generator since the node started.
#[derive(Debug, Default)]
pub struct Counts {
    signed: AtomicU64,
    rejected: AtomicU64,
    held_back: AtomicU64,
    overdue: AtomicU64,
}

/// What a generator is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Target {
    rate: u32,
    workload: Workload,
}

/// What a generator is told and what it did.
#[derive(Clone, Debug)]
pub struct Control {
    target: watch::Sender<Target>,
    reach: Reach,
    counts: Arc<Counts>,
    metrics: Arc<Metrics>,
}

impl Control {
    /// Sets the transfers to sign per second, and which.
    pub fn set(&self, transfers_per_second: u32, workload: Workload) -> Result<(), WorkloadError> {
        self.reach.check(&workload)?;
        self.target.send_replace(Target {
            rate: transfers_per_second,
            workload,
        });
        self.metrics.load_target(transfers_per_second);
        Ok(())
    }

    /// Sets the transfers to sign per second, and leaves which.
    pub fn set_rate(&self, transfers_per_second: u32) {
        self.target
            .send_modify(|target| target.rate = transfers_per_second);
        self.metrics.load_target(transfers_per_second);
    }

    /// The transfers to sign per second.
    #[must_use]
    pub fn rate(&self) -> u32 {
        self.target.borrow().rate
    }

    /// Which transfers it signs.
    #[must_use]
    pub fn workload(&self) -> Workload {
        self.target.borrow().workload
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

    /// Transfers that were due since the node started and were not signed,
    /// because the pool had no room.
    #[must_use]
    pub fn held_back(&self) -> u64 {
        self.counts.held_back.load(Ordering::Relaxed)
    }

    /// Transfers that were due since the node started and were not signed,
    /// because the generator was too late.
    #[must_use]
    pub fn overdue(&self) -> u64 {
        self.counts.overdue.load(Ordering::Relaxed)
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
    target: watch::Receiver<Target>,
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
        let (sender, target) = watch::channel(Target::default());
        let counts = Arc::new(Counts::default());
        let control = Control {
            target: sender,
            reach: generator.reach(),
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
            target,
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
        let mut workload = Workload::default();
        let mut nonces_known = false;
        loop {
            let target = *self.target.borrow_and_update();
            let now = now(&context);
            if target.rate != pacer.rate() {
                pacer.set_rate(target.rate, now);
            }
            if target.rate == 0 {
                self.target.changed().await.ok()?;
                continue;
            }
            if target.workload != workload {
                workload = target.workload;
                if let Err(error) = self.generator.set_workload(workload) {
                    // What it is told is checked before.
                    warn!(%error, "the workload stays as it was");
                }
            }
            if !nonces_known {
                self.load_nonces().await?;
                nonces_known = true;
                // What was due meanwhile is not wanted all at once.
                pacer = Pacer::default();
                continue;
            }
            let due = pacer.due(now);
            self.count_overdue(pacer.overdue());
            if due > 0 {
                self.sign_and_add(due).await?;
            }
            let tick = context.sleep(TICK);
            select! {
                _ = tick => {},
                changed = self.target.changed() => changed.ok()?,
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

    fn count_overdue(&self, overdue: u64) {
        self.counts.overdue.fetch_add(overdue, Ordering::Relaxed);
        self.metrics.load_overdue(overdue);
    }

    async fn sign_and_add(&mut self, due: u32) -> Option<()> {
        let room = u32::try_from(self.pool.room().await?).unwrap_or(u32::MAX);
        let held_back = u64::from(due.saturating_sub(room));
        self.counts
            .held_back
            .fetch_add(held_back, Ordering::Relaxed);
        self.metrics.load_held_back(held_back);
        let drawn = self.generator.draw(due.min(room));
        if drawn.is_empty() {
            return Some(());
        }
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

fn now(context: &impl Runtime) -> Duration {
    let since_epoch = context.current().duration_since(UNIX_EPOCH);
    since_epoch.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{self, Capacity};
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use commonware_runtime::{
        Clock as _, Runner as _, Spawner as _, Strategizer as _, Supervisor as _, deterministic,
    };
    use commonware_utils::NZUsize;
    use prometheus_client::registry::Registry;
    use shardnode_load::{Accounts, Receivers, Share};
    use shardnode_mailboxes::{ledger::Question, pool::Rejections};
    use shardnode_primitives::{GenesisDocument, ShardId};

    const ROOM: usize = 50;

    fn identity() -> Arc<Identity> {
        let key = PrivateKey::from_seed(1);
        let document: GenesisDocument = serde_json::from_value(serde_json::json!({
            "network": "test", "createdAtMs": 0, "seed": "11".repeat(32), "shards": 1,
            "accounts": {"perShard": 10, "initialBalance": 1_000},
            "protocol": {
                "executionLag": 1, "minBlockTimeMs": 100, "chunkWaitMs": 1_000,
                "maxTransactionsPerChunk": 100, "mandatesPerShard": 8, "epochLength": 1000,
                "congestionControl": "Enabled", "transferFee": 1, "leastBalance": 1,
            },
            "validators": [{
                "name": "n0", "role": "producer", "stake": 1_000, "shard": 0, "slot": 0,
                "publicKey": key.public_key().to_string(),
            }],
        }))
        .unwrap();
        Arc::new(Identity::new(document.check().unwrap(), key).unwrap())
    }

    /// A generator with a pool of [`ROOM`] transactions, and a ledger that knows
    /// no account.
    fn start(context: &deterministic::Context) -> (Control, shardnode_mailboxes::pool::Mailbox) {
        let identity = identity();
        let (ledger, mut inbox) = ledger::mailbox();
        drop(context.child("ledger").spawn(move |_| async move {
            while let Some(question) = inbox.questions.recv().await {
                if let Question::Account { reply, .. } = question {
                    let _ = reply.send((0, None));
                }
            }
        }));
        let metrics = Arc::new(Metrics::new(&mut Registry::default()));
        let capacity = Capacity {
            transactions: ROOM,
            bytes: 1 << 20,
        };
        let rejections = Rejections::new(&mut Registry::default());
        let (pool, mailbox) = pool::Actor::new(
            capacity,
            &identity.genesis,
            ShardId(0),
            rejections,
            metrics.clone(),
        );
        drop(pool.start(context.child("pool")));
        let share = Share {
            shard: ShardId(0),
            slot: 0,
            slots: 1,
        };
        let accounts = Accounts::new(&identity.genesis, share);
        let generator = Generator::new(accounts, 1).unwrap();
        let strategy = context.strategy(NZUsize!(1));
        let (actor, control) = Actor::new(
            identity,
            generator,
            ledger,
            mailbox.clone(),
            strategy,
            metrics,
        );
        drop(actor.start(context.child("generator")));
        (control, mailbox)
    }

    #[test]
    fn no_more_is_signed_than_there_is_room_for() {
        deterministic::Runner::timed(Duration::from_secs(60)).start(|context| async move {
            let (control, pool) = start(&context);
            control.set_rate(1_000);
            context.sleep(Duration::from_secs(2)).await;
            let room = ROOM as u64;
            assert_eq!(control.signed(), room);
            assert_eq!(control.rejected(), 0);
            assert_eq!(control.overdue(), 0);
            // Of two seconds, what was due in the last tick may not be counted yet.
            let due = control.signed() + control.held_back();
            assert!((1_950..=2_000).contains(&due), "{due} were due");

            pool.take(ROOM).await;
            context.sleep(TICK * 4).await;
            assert_eq!(control.signed(), 2 * room);
        });
    }

    /// What would be due in a time without load is not made up for.
    #[test]
    fn a_rest_is_a_rest() {
        deterministic::Runner::timed(Duration::from_secs(600)).start(|context| async move {
            let (control, pool) = start(&context);
            control.set_rate(20);
            context.sleep(Duration::from_secs(1)).await;
            control.set_rate(0);
            context.sleep(Duration::from_secs(100)).await;
            pool.take(ROOM).await;
            let before = control.signed();
            control.set_rate(20);
            context.sleep(Duration::from_millis(500)).await;
            let signed = control.signed() - before;
            assert!((8..=10).contains(&signed), "{signed} were signed");
            assert_eq!(control.held_back() + control.overdue(), 0);
        });
    }

    #[test]
    fn a_workload_is_checked_before_it_is_taken() {
        deterministic::Runner::timed(Duration::from_secs(60)).start(|context| async move {
            let (control, _pool) = start(&context);
            let workload = Workload {
                receivers: Receivers::OneToOne,
                ..Workload::default()
            };
            control.set(10, workload).unwrap();
            let refused = Workload {
                within_shard_percent: Some(50),
                ..Workload::default()
            };
            assert_eq!(control.set(20, refused), Err(WorkloadError::NoneOutside));
            assert_eq!((control.rate(), control.workload()), (10, workload));
            context.sleep(Duration::from_secs(1)).await;
            assert!(control.signed() > 0);
        });
    }
}
