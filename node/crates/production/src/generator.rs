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
//!
//! While it has no load it can be told to sign transfers before they are due, as
//! [`shardnode_load::target`] says. Of a load that it takes from there, what is
//! due when the stock is used up is counted as `exhausted`.

mod control;
mod stock;

pub use control::Control;

use crate::metrics::Metrics;
use commonware_macros::select;
use commonware_parallel::{Rayon, Strategy as _};
use commonware_runtime::Handle;
use commonware_utils::channel::watch;
use control::{Counts, Told};
use shardnode_load::{Generator, Pacer, Signing, Workload};
use shardnode_mailboxes::{Runtime, ledger, pool};
use shardnode_network::Identity;
use shardnode_primitives::Transaction;
use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, UNIX_EPOCH},
};
use stock::{Progress, Stock};
use tracing::warn;

/// Between two draws: short against a block, long against signing one draw.
const TICK: Duration = Duration::from_millis(25);
/// Transfers of a stock that are signed together.
const STOCK_BATCH: u32 = 1_024;

/// The actor.
pub struct Actor {
    identity: Arc<Identity>,
    generator: Generator,
    /// What the generator draws.
    workload: Workload,
    ledger: ledger::Mailbox,
    pool: pool::Mailbox,
    strategy: Rayon,
    metrics: Arc<Metrics>,
    /// Where the stock is kept.
    partition: String,
    progress: watch::Sender<Progress>,
    told: watch::Receiver<Told>,
    counts: Arc<Counts>,
}

impl Actor {
    /// Creates the actor; `partition` is where its stock is kept.
    #[must_use]
    pub fn new(
        partition: String,
        identity: Arc<Identity>,
        generator: Generator,
        ledger: ledger::Mailbox,
        pool: pool::Mailbox,
        strategy: Rayon,
        metrics: Arc<Metrics>,
    ) -> (Self, Control) {
        let (sender, told) = watch::channel(Told::default());
        let (progress, receiver) = watch::channel(Progress::default());
        let counts = Arc::new(Counts::default());
        let control = Control {
            told: sender,
            progress: receiver,
            reach: generator.reach(),
            counts: counts.clone(),
            metrics: metrics.clone(),
        };
        let actor = Self {
            identity,
            generator,
            workload: Workload::default(),
            ledger,
            pool,
            strategy,
            metrics,
            partition,
            progress,
            told,
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

    async fn run<E: Runtime>(mut self, context: E) -> Option<()> {
        let (partition, progress) = (self.partition.clone(), self.progress.clone());
        let mut stock = Stock::new(context.child("stock"), partition, progress).await;
        let mut pacer = Pacer::default();
        let mut nonces_known = false;
        loop {
            let told = *self.told.borrow_and_update();
            if told.order != stock.order() {
                stock.begin(told.order).await;
            }
            let now = now(&context);
            if told.rate != pacer.rate() {
                pacer.set_rate(told.rate, now);
            }
            let missing = stock.missing();
            if told.rate == 0 && missing == 0 {
                self.told.changed().await.ok()?;
                continue;
            }
            self.draw(match told.order {
                Some(order) if missing > 0 => order.workload,
                _ => told.workload,
            });
            if !nonces_known {
                self.load_nonces().await?;
                nonces_known = true;
                // What was due meanwhile is not wanted all at once.
                pacer = Pacer::default();
                continue;
            }
            if missing > 0 {
                let signed = self.sign(missing.min(STOCK_BATCH)).await;
                stock.put(&signed).await;
                continue;
            }
            let due = pacer.due(now);
            self.count_overdue(pacer.overdue());
            if due > 0 {
                let admitted = self.admit(due).await?;
                let transfers = match told.signing {
                    Signing::Live => self.sign(admitted).await,
                    Signing::Before => self.take(&mut stock, admitted).await,
                };
                self.add(transfers).await?;
            }
            let tick = context.sleep(TICK);
            select! {
                _ = tick => {},
                changed = self.told.changed() => changed.ok()?,
            }
        }
    }

    /// Has the generator draw a workload from now on.
    fn draw(&mut self, workload: Workload) {
        if workload == self.workload {
            return;
        }
        self.workload = workload;
        if let Err(error) = self.generator.set_workload(workload) {
            // What it is told is checked before.
            warn!(%error, "the workload stays as it was");
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

    /// As many of those that are due as the pool has room for.
    async fn admit(&self, due: u32) -> Option<u32> {
        let room = u32::try_from(self.pool.room().await?).unwrap_or(u32::MAX);
        let held_back = u64::from(due.saturating_sub(room));
        self.counts
            .held_back
            .fetch_add(held_back, Ordering::Relaxed);
        self.metrics.load_held_back(held_back);
        Some(due.min(room))
    }

    async fn sign(&mut self, count: u32) -> Vec<Transaction> {
        let drawn = self.generator.draw(count);
        if drawn.is_empty() {
            return Vec::new();
        }
        let signer = self.generator.signer();
        let identity = self.identity.clone();
        self.strategy
            .spawn(drawn.len(), move |strategy| {
                strategy
                    .map_collect_vec(drawn, |unsigned| {
                        signer.sign(&[unsigned], &identity.namespaces)
                    })
                    .into_iter()
                    .flatten()
                    .collect()
            })
            .await
    }

    async fn take<E: Runtime>(&self, stock: &mut Stock<E>, count: u32) -> Vec<Transaction> {
        let taken = stock.take(count).await;
        let exhausted = u64::from(count) - taken.len() as u64;
        self.counts
            .exhausted
            .fetch_add(exhausted, Ordering::Relaxed);
        self.metrics.load_exhausted(exhausted);
        taken
    }

    async fn add(&self, transfers: Vec<Transaction>) -> Option<()> {
        if transfers.is_empty() {
            return Some(());
        }
        self.counts
            .signed
            .fetch_add(transfers.len() as u64, Ordering::Relaxed);
        self.metrics.load_signed(transfers.len());
        let refused = self
            .pool
            .add(transfers)
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
    use commonware_utils::{NZUsize, probability};
    use prometheus_client::registry::Registry;
    use shardnode_load::{
        Accounts, Receivers, Senders, Share, Target, TargetError, WorkloadError, target::MAX_STOCK,
    };
    use shardnode_mailboxes::{ledger::Question, pool::Rejections};
    use shardnode_primitives::{AccountId, GenesisDocument, ShardId};
    use std::collections::BTreeMap;

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
            "generator-stock".into(),
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
            let told = |transfers_per_second, workload| Target {
                transfers_per_second,
                workload,
                ..Target::default()
            };
            control.set(told(10, workload)).unwrap();
            let refused = Workload {
                within_shard_percent: Some(50),
                ..Workload::default()
            };
            assert_eq!(
                control.set(told(20, refused)),
                Err(TargetError::Workload(WorkloadError::NoneOutside))
            );
            assert_eq!((control.rate(), control.workload()), (10, workload));
            context.sleep(Duration::from_secs(1)).await;
            assert!(control.signed() > 0);
        });
    }

    const UNIFORM: Workload = Workload {
        senders: Senders::Uniform,
        receivers: Receivers::Uniform,
        within_shard_percent: None,
    };

    fn before(transfers_per_second: u32, stock: Option<u32>) -> Target {
        Target {
            transfers_per_second,
            workload: UNIFORM,
            signing: Signing::Before,
            stock,
        }
    }

    /// Has transfers signed before, and waits for it.
    async fn fill(context: &deterministic::Context, control: &Control, transfers: u32) {
        control.set(before(0, Some(transfers))).unwrap();
        while control.stock().unwrap().signed < transfers {
            assert_eq!(control.stock().unwrap().failure, None);
            context.sleep(TICK).await;
        }
    }

    /// Checks that the nonces of each account follow each other, from 1 on.
    fn follow_nonces(nonces: &mut BTreeMap<AccountId, u64>, taken: &[Transaction]) {
        for transaction in taken {
            let nonce = nonces.entry(*transaction.signer()).or_default();
            *nonce += 1;
            assert_eq!(transaction.nonce(), *nonce);
        }
    }

    /// All of a stock comes into the pool, once and in order, and nothing else does.
    #[test]
    fn a_load_is_taken_from_the_stock() {
        deterministic::Runner::timed(Duration::from_secs(60)).start(|context| async move {
            let (control, pool) = start(&context);
            let transfers = STOCK_BATCH + 100;
            fill(&context, &control, transfers).await;
            assert_eq!(control.signed(), 0, "none was due");
            assert!(pool.take(ROOM).await.transactions.is_empty());

            control.set(before(1_000, None)).unwrap();
            let mut nonces = BTreeMap::new();
            let mut seen = 0;
            while seen < transfers as usize {
                context.sleep(TICK).await;
                let taken = pool.take(ROOM).await.transactions;
                follow_nonces(&mut nonces, &taken);
                seen += taken.len();
            }
            assert_eq!(seen, transfers as usize);
            assert_eq!(control.signed(), u64::from(transfers));
            assert_eq!(control.stock().unwrap().left, 0);

            let counted = control.exhausted();
            context.sleep(Duration::from_secs(1)).await;
            let exhausted = control.exhausted() - counted;
            assert!(
                (950..=1_050).contains(&exhausted),
                "{exhausted} were not there"
            );
            assert_eq!(control.signed(), u64::from(transfers));
            assert_eq!((control.overdue(), control.rejected()), (0, 0));
        });
    }

    /// What the pool has no room for stays in stock.
    #[test]
    fn what_is_held_back_stays_in_stock() {
        deterministic::Runner::timed(Duration::from_secs(60)).start(|context| async move {
            let (control, pool) = start(&context);
            fill(&context, &control, 200).await;
            control.set(before(1_000, None)).unwrap();
            context.sleep(Duration::from_secs(1)).await;
            assert_eq!(control.signed(), ROOM as u64);
            assert_eq!(control.stock().unwrap().left, 200 - ROOM as u32);
            assert!(control.held_back() > 0);
            assert_eq!(control.exhausted(), 0);
            let mut nonces = BTreeMap::new();
            follow_nonces(&mut nonces, &pool.take(ROOM).await.transactions);
            context.sleep(TICK * 4).await;
            follow_nonces(&mut nonces, &pool.take(ROOM).await.transactions);
            assert_eq!(nonces.values().sum::<u64>(), 2 * ROOM as u64);
        });
    }

    /// The nonces of another stock, and of a live load, go on after those of the
    /// stock before: it is gone, and none of its transfers comes any more.
    #[test]
    fn a_stock_is_gone_with_the_next_and_with_a_live_load() {
        deterministic::Runner::timed(Duration::from_secs(60)).start(|context| async move {
            let (control, pool) = start(&context);
            fill(&context, &control, 1_000).await;
            fill(&context, &control, 30).await;
            control.set(before(1_000, None)).unwrap();
            context.sleep(Duration::from_secs(1)).await;
            let taken = pool.take(ROOM).await.transactions;
            assert_eq!(taken.len(), 30);
            // Ten accounts signed a thousand before.
            assert!(taken.iter().all(|transaction| transaction.nonce() > 50));

            fill(&context, &control, 20).await;
            let live = Target {
                transfers_per_second: 1_000,
                ..Target::default()
            };
            control.set(live).unwrap();
            assert_eq!(control.stock(), None);
            assert_eq!(
                control.set(before(1_000, None)),
                Err(TargetError::NoStock),
                "it was not kept"
            );
            context.sleep(TICK * 8).await;
            let taken = pool.take(ROOM).await.transactions;
            assert_eq!(taken.len(), ROOM);
            assert!(taken.iter().all(|transaction| transaction.nonce() > 50));
        });
    }

    #[test]
    fn what_cannot_be_taken_from_a_stock_is_refused() {
        deterministic::Runner::timed(Duration::from_secs(60)).start(|context| async move {
            let (control, _pool) = start(&context);
            assert_eq!(control.set(before(1, None)), Err(TargetError::NoStock));
            for (target, refusal) in [
                (before(0, Some(0)), TargetError::Size),
                (before(0, Some(MAX_STOCK + 1)), TargetError::Size),
                (before(1, Some(5)), TargetError::Loaded),
                (
                    Target {
                        signing: Signing::Live,
                        ..before(0, Some(5))
                    },
                    TargetError::Unused,
                ),
            ] {
                assert_eq!(control.set(target), Err(refusal));
                assert_eq!(control.stock(), None);
            }
            control.set(before(0, Some(40))).unwrap();
            let unfinished = TargetError::Unfinished {
                signed: 0,
                transfers: 40,
            };
            assert_eq!(control.set(before(1, None)), Err(unfinished));
            fill(&context, &control, 40).await;
            let other = Target {
                workload: Workload::default(),
                ..before(1, None)
            };
            assert_eq!(control.set(other), Err(TargetError::OtherWorkload));
            assert_eq!(control.rate(), 0);
            control.set(before(1, None)).unwrap();
        });
    }

    /// A disk that fails ends the load that comes from it, and nothing else.
    #[test]
    fn a_stock_that_cannot_be_read_is_used_up() {
        deterministic::Runner::timed(Duration::from_secs(60)).start(|context| async move {
            let (control, pool) = start(&context);
            // More than is in memory.
            let transfers = 20_000;
            fill(&context, &control, transfers).await;
            let faults = context.storage_fault_config();
            faults.write().read_rate = Some(probability!(1.0));
            control.set(before(1_000, None)).unwrap();
            context.sleep(Duration::from_secs(1)).await;
            let stock = control.stock().unwrap();
            let failure = stock.failure.expect("the disk failed");
            assert_eq!((stock.left, control.signed()), (transfers, 0));
            let exhausted = control.exhausted();
            assert!(
                (950..=1_000).contains(&exhausted),
                "{exhausted} were not there"
            );
            assert_eq!(
                control.set(before(1_000, None)),
                Err(TargetError::Failed(failure))
            );

            faults.write().read_rate = None;
            fill(&context, &control, 30).await;
            control.set(before(1_000, None)).unwrap();
            context.sleep(Duration::from_secs(1)).await;
            assert_eq!(pool.take(ROOM).await.transactions.len(), 30);
        });
    }

    /// What an earlier process left in stock is not taken for what this one signed.
    #[test]
    fn a_stock_does_not_outlive_its_process() {
        let fills = |context: deterministic::Context| async move {
            let (control, pool) = start(&context);
            assert_eq!(control.stock(), None);
            fill(&context, &control, 20).await;
            control.set(before(1_000, None)).unwrap();
            context.sleep(Duration::from_secs(1)).await;
            let taken = pool.take(ROOM).await.transactions;
            let mut nonces = BTreeMap::new();
            follow_nonces(&mut nonces, &taken);
            assert_eq!(taken.len(), 20);
        };
        let runner = deterministic::Runner::timed(Duration::from_secs(60));
        let ((), kept) = runner.start_and_recover(fills);
        deterministic::Runner::from(kept).start(fills);
    }
}
