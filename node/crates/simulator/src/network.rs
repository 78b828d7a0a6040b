// SPDX-License-Identifier: Apache-2.0
//! The nodes of a run and the links between them: starts, kills and watches
//! real nodes on simulated machines and links.

pub(crate) mod clients;
pub(crate) mod honest;
mod links;
mod member;
mod replacement;

pub use member::Member;

use self::{clients::Clients, honest::Honest, links::Links};
use crate::{
    lies::Shared,
    machine::{Faults, Machine, Processors},
    plan::{Fault, Plan},
    recorder::{Event, Recorder},
    shape::Shape,
    wire::Wire,
};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_runtime::{Clock as _, Spawner as _, Supervisor as _, deterministic::Context};
use commonware_utils::{NZU64, NZUsize};
use futures::future::{Either, select};
use shardnode_blocks::{GenesisState, kept::Kept};
use shardnode_chain::{Metrics, Node, Parts, Settings};
use shardnode_execution::signatures::BatchSize;
use shardnode_load::{
    accounts::{Accounts, Share, derive},
    generator::Generator,
};
use shardnode_network::{Channels, Identity, Limits, channels};
use shardnode_open_files::Bounded;
use shardnode_primitives::{AccountId, Genesis, genesis::GenesisAccount};
use shardnode_production::{generator::Control, pool::Capacity};
use std::{
    future::Future,
    num::{NonZeroU64, NonZeroUsize},
    pin::pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// How long a node may take to answer a question.
const PATIENCE: Duration = Duration::from_millis(500);
/// Files that a node keeps open: fewer than it uses, so that in every run files
/// are closed and opened again.
const OPEN_FILES: NonZeroUsize = NZUsize!(8);
/// Chunks between two snapshots of a state.
const SNAPSHOT_INTERVAL: u64 = 5;
/// Blocks that a node lets go of together.
const BLOCK_SECTION: NonZeroU64 = NZU64!(64);

/// The network of a run.
pub struct Network {
    context: Context,
    started: SystemTime,
    /// Its genesis.
    pub genesis: Genesis,
    /// Its state at height 0.
    pub state: Arc<GenesisState>,
    /// Its nodes.
    pub members: Vec<Member>,
    accounts: Vec<GenesisAccount>,
    clients: Clients,
    pub(crate) honest: Honest,
    links: Links,
    /// What its wires share.
    pub shared: Arc<Shared>,
    recorder: Arc<Recorder>,
    load: u32,
    retention: u64,
    processors: Option<NonZeroUsize>,
    seed: u64,
}

impl Network {
    /// The network of a plan; no node runs yet.
    ///
    /// # Panics
    ///
    /// If the plan's shape is none that a network can have.
    #[expect(clippy::expect_used, reason = "scenarios are code, not input")]
    pub async fn new(
        context: Context,
        plan: &Plan,
        seed: u64,
        shared: Arc<Shared>,
        recorder: Arc<Recorder>,
    ) -> Self {
        let genesis = plan.shape.genesis(seed);
        let accounts = derive(&genesis, 0..genesis.account_count());
        let state = GenesisState::new(&genesis, &accounts).expect("accounts are distinct");
        let keys: Vec<PublicKey> = (0..plan.shape.validators())
            .map(|index| Shape::key(index).public_key())
            .collect();
        let links = Links::new(&context, keys.clone(), plan).await;
        let members = (0..keys.len())
            .map(|index| {
                let identity = Identity::new(genesis.clone(), Shape::key(index))
                    .expect("every validator has whole mandates");
                let identity = Arc::new(identity);
                let lies = plan.liars.get(&index).into_iter().flatten();
                let others = keys.iter().filter(|key| **key != keys[index]);
                let wire = Wire::new(
                    identity.clone(),
                    others.cloned().collect(),
                    shared.clone(),
                    lies.map(crate::plan::Lies::behaviour).collect(),
                    seed ^ index as u64,
                    plan.records(),
                );
                if plan.colluders.contains(&index) {
                    shared.colluders.join(wire.clone());
                }
                let skew = plan.clocks.get(&index).copied().unwrap_or_default();
                let costs = plan.processors.is_some();
                let faults = Faults::new(context.child("disk"), skew, costs);
                Member::new(identity, wire, faults)
            })
            .collect();
        Self {
            started: context.current(),
            context,
            clients: Clients::new(&genesis, &accounts, seed),
            honest: match plan.executed_within {
                Some(_) => Honest::new(&genesis, &accounts),
                None => Honest::default(),
            },
            genesis,
            state: Arc::new(state),
            members,
            accounts,
            links,
            shared,
            recorder,
            load: 0,
            retention: plan.retention,
            processors: plan.processors,
            seed,
        }
    }

    /// Since the start of the run.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        let now = self.context.current();
        now.duration_since(self.started).unwrap_or_default()
    }

    /// Lets time pass.
    pub async fn sleep(&self, duration: Duration) {
        self.context.sleep(duration).await;
    }

    /// What a node answers, unless it takes too long.
    pub async fn ask<T>(&self, question: impl Future<Output = T>) -> Option<T> {
        let patience = pin!(self.context.sleep(PATIENCE));
        match select(pin!(question), patience).await {
            Either::Left((answer, _)) => Some(answer),
            Either::Right(_) => None,
        }
    }

    /// Whether a node whose newest block is at `tip` may rightly have none at
    /// `height`.
    #[must_use]
    pub const fn may_lack(&self, height: u64, tip: u64) -> bool {
        let kept = Kept::new(self.retention, SNAPSHOT_INTERVAL);
        height.saturating_add(kept.approach()) < tip
    }

    /// Something happened to a node.
    pub fn note(&self, index: usize, what: impl Into<String>) {
        let event = Event {
            at: self.elapsed(),
            height: self.members[index].height(),
            what: what.into(),
        };
        self.recorder.note(index, event);
    }

    /// Makes a fault happen, or end.
    pub async fn apply(&mut self, fault: &Fault) {
        if let Some(kind) = fault.kind() {
            self.shared.count(kind);
        }
        match fault {
            Fault::Kill(index) => self.kill(*index).await,
            Fault::LoseDisk(index) => {
                self.kill(*index).await;
                self.members[*index].disk += 1;
                self.note(*index, "lost its disk");
            }
            Fault::Start(index) => self.start(*index).await,
            Fault::StopAtDisk(index, operations) => {
                self.members[*index].faults.stop_after(*operations);
                self.note(*index, format!("stops after {operations} disk operations"));
            }
            Fault::Partition(side) => {
                for index in 0..self.members.len() {
                    let side = if side.contains(&index) {
                        "one"
                    } else {
                        "the other"
                    };
                    self.note(index, format!("partitioned, on {side} side"));
                }
                self.links.partition(side).await;
            }
            Fault::Deafen(from, to) => {
                self.note(*to, format!("no longer hears n{from}"));
                self.links.cut(*from, *to).await;
            }
            Fault::Heal => {
                for index in 0..self.members.len() {
                    self.note(index, "all links are back");
                }
                self.links.heal().await;
            }
            Fault::SlowDisk(index, delay) => {
                self.members[*index].faults.slow_disk(*delay);
                self.note(*index, format!("disk takes {} ms", delay.as_millis()));
            }
        }
    }

    /// Has liars say what they say of their own accord.
    pub fn lie(&self) {
        for member in self.members.iter().filter(|member| member.is_up()) {
            member.wire.tick();
        }
    }

    /// Ends every lie: what nodes send from now on is what their code says.
    pub fn behave(&self) {
        self.shared.colluders.disband();
        for member in &self.members {
            member.wire.behave();
        }
    }

    /// Ends every fault, and starts every node that is down. No lie may be on
    /// its way any more: who believes to have heard one stays blocked.
    pub async fn calm(&mut self) {
        self.links.calm().await;
        for index in 0..self.members.len() {
            let member = &self.members[index];
            member.faults.slow_disk(Duration::ZERO);
            if member.faults.stopped() {
                self.kill(index).await;
            }
            self.members[index].faults.start();
            self.start(index).await;
            self.note(index, "all is calm");
        }
    }

    /// Starts every node that is not running.
    pub async fn start_all(&mut self) {
        for index in 0..self.members.len() {
            self.start(index).await;
        }
    }

    /// Starts a node on what it has stored, unless it runs.
    #[expect(
        clippy::expect_used,
        clippy::panic,
        reason = "the network outlives its nodes"
    )]
    async fn start(&mut self, index: usize) {
        if self.members[index].is_up() {
            return;
        }
        let member = &self.members[index];
        member.faults.start();
        let key = member.identity.key.public_key();
        let control = self.links.oracle.control(key);
        let limits = Limits::of(&member.identity);
        let mut registered = Vec::new();
        for channel in channels::ALL {
            let (sender, receiver) = control
                .register(channel, limits.quota(channel))
                .await
                .expect("links run as long as the run");
            registered.push(member.wire.connect(channel, sender, receiver));
        }
        let Ok(registered) = registered.try_into() else {
            panic!("as many channels as ids");
        };
        let parts = Parts {
            settings: Settings {
                signature_batch: BatchSize::Whole,
                mempool: Capacity {
                    transactions: 10_000,
                    bytes: 10 << 20,
                },
                adaptive_chunk_size: true,
                snapshot_interval: SNAPSHOT_INTERVAL,
                retention: self.retention,
                block_section: BLOCK_SECTION,
                save_parts: false,
                cpu_threads: NZUsize!(1),
            },
            genesis: self.state.clone(),
            generator: self.generator(index),
            metrics: Arc::new(Metrics::new("simulated", "", &format!("n{index}"))),
            partition: format!("node-{index}-{}", member.disk),
            channels: Channels::from_registered(registered),
            peers: self.links.oracle.manager(),
            blocker: control,
            identity: member.identity.clone(),
            traces: shardnode_traces::Recorder::OFF,
        };
        let context = self.context.child("node").with_attribute("index", index);
        let processors = self.processors.map(|count| {
            let clock = self.context.child("processors");
            Processors::new(clock, count)
        });
        let machine = Machine::new(context, member.faults.clone(), processors);
        let (sender, started) = commonware_utils::channel::oneshot::channel();
        let handle = machine.spawn(move |machine| async move {
            let storage = Bounded::new(machine.child("chain"), OPEN_FILES);
            let started = Box::pin(shardnode_chain::start(storage, parts)).await;
            let started = match started {
                Ok(started) => started,
                Err(error) => return member::describe(&error),
            };
            // A run that ended needs no node.
            let _ = sender.send(started.node);
            let (ended, ..) = futures::future::select_all(started.tasks).await;
            match ended {
                Ok(Err(error)) => member::describe(&error),
                Ok(Ok(())) => "a part ended".to_owned(),
                Err(error) => error.to_string(),
            }
        });
        self.members[index].up(handle, started);
        self.note(index, "started");
    }

    fn generator(&self, index: usize) -> Option<Generator> {
        let producer = self.members[index].identity.producer.as_ref()?;
        let slots = self.genesis.producers_of(producer.shard).count();
        let share = Share {
            shard: producer.shard,
            slot: producer.slot,
            slots: u16::try_from(slots).ok()?,
        };
        let (paying, mut accounts) = (self.paying(), self.accounts.clone());
        accounts.retain(|account| paying.contains(&account.id));
        let accounts = Accounts::from_parts(&self.genesis, share, [accounts]);
        Generator::new(accounts, self.seed ^ index as u64).ok()
    }

    async fn kill(&mut self, index: usize) {
        if !self.members[index].is_up() {
            return;
        }
        self.note(index, "killed");
        self.members[index].down().await;
        // What was spawned is dropped in the next turn of the loop.
        self.context.sleep(Duration::from_millis(1)).await;
    }

    /// Notices nodes that have come up, ended, or whose machine stopped.
    /// Returns those that ended by themselves, and why.
    pub async fn attend(&mut self) -> Vec<(usize, String)> {
        let mut ended = Vec::new();
        for index in 0..self.members.len() {
            if self.members[index].faults.stopped() {
                self.note(index, "stopped at a disk operation");
                self.kill(index).await;
                self.members[index].faults.start();
                continue;
            }
            if let Some(why) = self.members[index].ended() {
                self.note(index, format!("ended: {why}"));
                ended.push((index, why));
                continue;
            }
            if self.members[index].greet() {
                let load = self.load;
                if let Some(control) = self.members[index].load() {
                    control.set_rate(load);
                }
            }
        }
        ended
    }

    /// Sets the rate of every generator, also of nodes that start later.
    pub fn set_load(&mut self, transfers_per_second: u32) {
        self.load = transfers_per_second;
        for control in self.members.iter().filter_map(Member::load) {
            control.set_rate(transfers_per_second);
        }
    }

    /// All accounts of genesis.
    pub fn accounts(&self) -> impl Iterator<Item = AccountId> {
        self.accounts.iter().map(|account| account.id)
    }

    /// The nodes that can be asked.
    pub fn running(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.members
            .iter()
            .enumerate()
            .filter_map(|(index, member)| Some((index, member.node()?)))
    }

    /// What the node with this key is called.
    #[must_use]
    pub fn named(&self, key: &PublicKey) -> String {
        let members = self.members.iter();
        let index = members.take_while(|member| !member.wire.is(key)).count();
        format!("n{index}")
    }

    /// Transfers signed by all generators.
    #[must_use]
    pub fn signed(&self) -> u64 {
        self.members.iter().map(Member::signed).sum()
    }

    /// The generator of a running producer.
    #[must_use]
    pub fn control(&self, index: usize) -> Option<&Control> {
        self.members[index].load()
    }
}
