// SPDX-License-Identifier: Apache-2.0
//! The actor that fetches the own shard's state from other producers, when
//! what executing the next chunk takes is no longer to be had.
//!
//! # When
//!
//! A producer that starts with nothing, or was away, executes what it missed
//! from bodies and receipts that peers keep. These keep them for
//! `retentionBlocks`. If the next chunk to execute is further below the
//! finalised tip than that, or if nobody has answered for [`PATIENCE`], the
//! [`ledger`](crate::ledger) says that it needs a later state, and goes on
//! asking for bodies and receipts: whichever comes first counts.
//!
//! # What is served
//!
//! Each time the own shard has had another `snapshotIntervalBlocks` chunks, a
//! producer freezes the state after executing the last of them. Once a
//! finalised header states that state's totals, the snapshot is made durable
//! and offered, and so is the one before it ([`served`]). Where a header
//! commits to several executions it states the totals of the last only, so a
//! frozen state is followed by others until one is stated. All producers of a
//! shard with the same interval offer the same snapshots.
//!
//! # What is fetched
//!
//! Only the accounts. The totals and the root are in the header that states
//! the snapshot, which is in a finalised block that this node has itself.
//! Every execution up to the snapshot is committed to by then, so no header
//! will ask for one of them. The totals also say which receipts are not yet
//! credited (`next_due`): those of headers in blocks from that place on, which
//! this node has, too. A shard that is behind has some from below the snapshot
//! among them. They are asked for as ever: the shards that sent them keep them
//! for `retentionBlocks`.
//!
//! # How
//!
//! ```text
//! ask every other producer of the shard for its newest snapshot      (height, block that states it)
//! choose the newest one that the block states, at the needed height or above
//! ask for page 0, which tells how many there are; then for 16 at a time, of all who offer it
//! verify each page against the root as it comes; whoever sent a wrong one is cut off
//! build the tree, compare its balance with the totals, hand it to the ledger
//! ```
//!
//! The ledger makes it durable in one step and goes on executing after it. A
//! node that is killed before that starts over.
//!
//! # Bounds
//!
//! A page is 80 kB and 22 hashes at most; 16 are asked for at a time. A state
//! has at most as many accounts as genesis has and credits created. A download
//! that lacks its next [`WINDOW`] pages after [`STALL`] is given up for what
//! those offer who did not offer this one; once nobody else is left, everybody
//! counts again.

pub mod messages;
pub mod served;

mod download;
mod policy;

pub use self::policy::is_behind;

use self::{
    download::{Download, WINDOW},
    messages::{Key, Offer},
    policy::{Missing, Stated, Target, choose, holders},
};
use crate::{config::Identity, ledger::Marshal, metrics::Metrics, runtime::Runtime};
use bytes::Bytes;
use commonware_codec::DecodeExt as _;
use commonware_consensus::types::Height;
use commonware_cryptography::ed25519::PublicKey;
use commonware_macros::select;
use commonware_parallel::{Rayon, Strategy as _};
use commonware_resolver::{Consumer, Delivery, Fetch, Resolver as _, TargetedResolver as _, p2p};
use commonware_runtime::Handle;
use commonware_utils::{
    channel::{fallible::OneshotExt as _, mpsc, oneshot, watch},
    vec::NonEmptyVec,
};
use shardnode_primitives::{ShardId, ShardTotals, genesis::Producer};
use shardnode_state::StateTree;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, SystemTime},
};
use tracing::{debug, error, info, warn};

/// How long peers have to answer for what an execution takes before a later
/// state is asked for as well.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks at what is on offer.
const TICK: Duration = Duration::from_millis(250);
/// Between two questions for the newest snapshot.
const ROUND: Duration = Duration::from_secs(1);
/// A download without [`WINDOW`] new pages for so long is given up.
const STALL: Duration = Duration::from_secs(10);
/// When it is said that there is nothing to fetch.
const SILENCE: Duration = Duration::from_secs(30);

/// A state that a finalised header states.
#[derive(Debug)]
pub struct Fetched {
    /// The block with that header.
    pub block: u64,
    /// What the header says; the state's height and root are in it.
    pub totals: ShardTotals,
    /// The state.
    pub state: StateTree,
}

/// How far a node is that cannot execute on from the state that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The shard tracked.
    pub shard: ShardId,
    /// The height that cannot be executed.
    pub needed: u64,
    /// The height of the snapshot that is fetched instead, once there is one.
    pub snapshot: Option<u64>,
    /// Pages of it that are here.
    pub fetched: u32,
    /// Pages of it, once that is known.
    pub pages: Option<u32>,
}

enum Message {
    Needed {
        height: u64,
        reply: oneshot::Sender<Fetched>,
    },
    Answer {
        key: Key,
        value: Bytes,
        reply: oneshot::Sender<bool>,
    },
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<Message>);

impl Mailbox {
    /// Waits for a state of the own shard at `height` or above. Who stops
    /// waiting stops the fetching.
    pub async fn needed(&self, height: u64) -> Option<Fetched> {
        let (reply, response) = oneshot::channel();
        self.0.send(Message::Needed { height, reply }).await.ok()?;
        response.await.ok()
    }
}

/// The receiving end of a [`Mailbox`].
pub struct Inbox(mpsc::Receiver<Message>);

/// The mailbox of an actor that is created later with [`Actor::new`].
#[must_use]
pub fn mailbox() -> (Mailbox, Inbox) {
    let (sender, inbox) = mpsc::channel(256);
    (Mailbox(sender), Inbox(inbox))
}

impl Consumer for Mailbox {
    type Key = Key;
    type Value = Bytes;
    type Subscriber = ();
    type Outcome = bool;

    fn deliver(&mut self, delivery: Delivery<Key, ()>, value: Bytes) -> oneshot::Receiver<bool> {
        let (reply, response) = oneshot::channel();
        let key = delivery.key;
        let _ = self.0.try_send(Message::Answer { key, value, reply });
        response
    }
}

/// The requesting side's handle.
pub type Fetcher = p2p::Mailbox<Key, PublicKey, ()>;

/// What the actor works with.
pub struct Parts {
    /// Who this node is.
    pub identity: Arc<Identity>,
    /// Finalised blocks.
    pub marshal: Marshal,
    /// Asks other producers.
    pub fetcher: Fetcher,
    /// Where it is published how far fetching is.
    pub progress: watch::Sender<Option<Progress>>,
    /// What is measured.
    pub metrics: Arc<Metrics>,
    /// CPU work.
    pub strategy: Rayon,
}

/// What the ledger waits for.
struct Need {
    height: u64,
    since: SystemTime,
    reported: bool,
    reply: oneshot::Sender<Fetched>,
}

/// A state on its way.
struct Running {
    download: Download,
    /// The slots that offered it when it was chosen.
    sources: BTreeSet<u16>,
    /// When another [`WINDOW`] of pages was here.
    progressed: SystemTime,
}

/// The actor.
pub struct Actor<E: Runtime> {
    context: E,
    parts: Parts,
    inbox: mpsc::Receiver<Message>,
    need: Option<Need>,
    /// By slot.
    offers: BTreeMap<u16, Offer>,
    /// Slots that offered what they did not serve.
    silent: BTreeSet<u16>,
    /// When everybody was asked first, and last, since the last download.
    asked: Option<(SystemTime, SystemTime)>,
    running: Option<Running>,
}

impl<E: Runtime> Actor<E> {
    /// Creates the actor.
    pub fn new(context: E, parts: Parts, inbox: Inbox) -> Self {
        Self {
            context,
            parts,
            inbox: inbox.0,
            need: None,
            offers: BTreeMap::new(),
            silent: BTreeSet::new(),
            asked: None,
            running: None,
        }
    }

    /// Runs until nobody is left to talk to.
    pub fn start(self) -> Handle<()> {
        let context = self.context.child("run");
        context.spawn(move |_| self.run())
    }

    async fn run(mut self) {
        loop {
            let wait = if self.need.is_some() {
                TICK
            } else {
                Duration::from_secs(3_600)
            };
            let tick = self.context.sleep(wait);
            select! {
                message = self.inbox.recv() => {
                    match message {
                        Some(Message::Needed { height, reply }) => self.on_needed(height, reply),
                        Some(Message::Answer { key, value, reply }) => {
                            self.on_answer(key, value, reply);
                        }
                        None => break,
                    }
                },
                _ = tick => {},
            }
            let Some(me) = self.parts.identity.producer.clone() else {
                continue;
            };
            self.step(&me).await;
        }
    }

    fn on_needed(&mut self, height: u64, reply: oneshot::Sender<Fetched>) {
        let now = self.context.current();
        self.need = Some(Need {
            height,
            since: now,
            reported: false,
            reply,
        });
        let too_old = |running: &Running| running.download.target().totals.height < height;
        if self.running.as_ref().is_some_and(too_old) {
            self.give_up();
        }
    }

    fn on_answer(&mut self, key: Key, value: Bytes, reply: oneshot::Sender<bool>) {
        match key {
            Key::Newest { slot, .. } => {
                let offer = Offer::decode(value);
                reply.send_lossy(offer.is_ok());
                if let Ok(offer) = offer {
                    self.offers.insert(slot, offer);
                }
            }
            Key::Page {
                height,
                root,
                index,
                ..
            } => {
                let Some(running) = &mut self.running else {
                    return;
                };
                let totals = &running.download.target().totals;
                if (totals.height, totals.state_root) != (height, root) {
                    return;
                }
                let bytes = value.len();
                match running.download.accept(index, value) {
                    Ok(()) => {
                        if running.download.fetched() % WINDOW == 1 {
                            running.progressed = self.context.current();
                        }
                        self.parts.metrics.state_page_fetched(bytes);
                        reply.send_lossy(true);
                    }
                    Err(refused) => {
                        warn!(height, index, %refused, "page of a state refused");
                        self.parts.metrics.state_page_refused();
                        reply.send_lossy(false);
                    }
                }
            }
        }
    }

    /// Does what can be done for the state that is needed.
    async fn step(&mut self, me: &Producer) {
        let Some(need) = &self.need else {
            return;
        };
        if need.reply.is_closed() {
            self.stop();
            return;
        }
        let now = self.context.current();
        let since = |then: SystemTime| now.duration_since(then).unwrap_or_default();
        if let Some(running) = self
            .running
            .take_if(|running| since(running.progressed) > STALL)
        {
            let height = running.download.target().totals.height;
            warn!(shard = %me.shard, height, "nobody serves the state that is being fetched");
            self.silent.extend(running.sources);
            self.silent.extend(holders(height, &self.offers));
            self.give_up();
        }
        let (first, last) = self.asked.unwrap_or((now, SystemTime::UNIX_EPOCH));
        if since(last) >= ROUND {
            self.asked = Some((first, now));
            self.ask_for_offers(me);
        }
        // Whoever answers first is not chosen for that.
        let others = self.parts.identity.other_producers(me.shard).len();
        let heard = self.offers.len() >= others || since(first) >= ROUND;
        if self.running.is_none() && heard {
            self.choose(me, now).await;
        }
        self.ask_for_pages(me);
        self.publish(me.shard);
        self.finish(me.shard).await;
    }

    /// Starts to fetch the best of the offers.
    async fn choose(&mut self, me: &Producer, now: SystemTime) {
        let Some(needed) = self.need.as_ref().map(|need| need.height) else {
            return;
        };
        let mut offers = Vec::with_capacity(self.offers.len());
        for (slot, offer) in &self.offers {
            let stated = stated(&self.parts.marshal, me.shard, *offer).await;
            offers.push((*slot, *offer, stated));
        }
        match choose(needed, &offers, &mut self.silent) {
            Ok(target) => {
                info!(
                    shard = %me.shard,
                    needed,
                    snapshot = target.totals.height,
                    block = target.block,
                    root = %target.totals.state_root,
                    "fetching the state of another producer"
                );
                let most = most_leaves(&self.parts.identity, &target);
                self.running = Some(Running {
                    sources: holders(target.totals.height, &self.offers).collect(),
                    download: Download::new(target, most),
                    progressed: now,
                });
            }
            Err(missing) => self.report(me.shard, missing, now),
        }
    }

    /// Says once that nothing can be fetched.
    fn report(&mut self, shard: ShardId, missing: Missing, now: SystemTime) {
        let Some(need) = &mut self.need else {
            return;
        };
        let waited = now.duration_since(need.since).unwrap_or_default();
        if need.reported || waited < SILENCE {
            return;
        }
        need.reported = true;
        error!(
            %shard,
            height = need.height,
            reason = %missing,
            "shard cannot be executed: what this height takes is not to be had, and no later \
             state; start a producer of the shard that has its data directory, or give this one \
             back its own"
        );
    }

    fn ask_for_offers(&mut self, me: &Producer) {
        let others: Vec<Producer> = self
            .parts
            .identity
            .genesis
            .producers_of(me.shard)
            .filter(|other| other.slot != me.slot)
            .cloned()
            .collect();
        for other in others {
            let key = Key::Newest {
                shard: me.shard,
                slot: other.slot,
            };
            let target = NonEmptyVec::new(other.key);
            self.parts.fetcher.fetch_targeted(Fetch::from(key), target);
        }
    }

    fn ask_for_pages(&mut self, me: &Producer) {
        let Some(Running { download, .. }) = &mut self.running else {
            return;
        };
        let totals = &download.target().totals;
        let (height, root) = (totals.height, totals.state_root);
        let slots: Vec<u16> = holders(height, &self.offers).collect();
        let producers = self.parts.identity.genesis.producers_of(me.shard);
        let holders: Vec<PublicKey> = producers
            .filter(|other| slots.contains(&other.slot))
            .map(|other| other.key.clone())
            .collect();
        let Ok(targets) = NonEmptyVec::try_from(holders) else {
            return;
        };
        for index in download.ask() {
            let key = Key::Page {
                shard: me.shard,
                height,
                root,
                index,
            };
            let fetch = Fetch::from(key);
            self.parts.fetcher.fetch_targeted(fetch, targets.clone());
        }
    }

    fn publish(&self, shard: ShardId) {
        let progress = self.need.as_ref().map(|need| {
            let download = self.running.as_ref().map(|running| &running.download);
            Progress {
                shard,
                needed: need.height,
                snapshot: download.map(|download| download.target().totals.height),
                fetched: download.map_or(0, Download::fetched),
                pages: download.and_then(Download::pages),
            }
        });
        self.parts.progress.send_if_modified(|before| {
            let changed = *before != progress;
            *before = progress;
            changed
        });
    }

    /// Hands a complete state over.
    async fn finish(&mut self, shard: ShardId) {
        let complete = |running: &mut Running| running.download.is_complete();
        let Some(Running { download, .. }) = self.running.take_if(complete) else {
            return;
        };
        let (target, leaves) = download.into_leaves();
        let built = self
            .parts
            .strategy
            .spawn(leaves.len(), move |_| StateTree::from_leaves(leaves))
            .await;
        let height = target.totals.height;
        let state = match built {
            Ok(state) if state.balance() == target.totals.balance => state,
            Ok(state) => {
                let (balance, totals) = (state.balance(), target.totals.balance);
                error!(%shard, height, balance, totals, "state does not have the balance that its header states");
                self.give_up();
                return;
            }
            Err(source) => {
                error!(%shard, height, %source, "state under a finalised root cannot be built");
                self.give_up();
                return;
            }
        };
        if let Some(need) = self.need.take() {
            need.reply.send_lossy(Fetched {
                block: target.block,
                totals: target.totals,
                state,
            });
        }
        self.stop();
    }

    /// Drops the download; another may follow.
    fn give_up(&mut self) {
        self.running = None;
        self.offers.clear();
        self.asked = None;
        self.parts.fetcher.retain(|_, ()| false);
    }

    /// Ends all fetching.
    fn stop(&mut self) {
        self.need = None;
        self.silent.clear();
        self.give_up();
        debug!("no state is needed");
        self.parts
            .progress
            .send_if_modified(|before| before.take().is_some());
    }
}

/// What the block named in an offer says, if this node has it.
async fn stated(marshal: &Marshal, shard: ShardId, offer: Offer) -> Stated {
    let Some(block) = marshal.get_block(Height::new(offer.block)).await else {
        return Stated::Unknown;
    };
    let totals = block
        .inner()
        .chunk(shard)
        .map(|header| &header.content.totals)
        .filter(|totals| totals.height == offer.height);
    totals.map_or(Stated::Otherwise, |totals| Stated::As(totals.clone()))
}

/// The most leaves that a state can have: the sentinel, the accounts of
/// genesis, and one for each credit, which may create an account.
const fn most_leaves(identity: &Identity, target: &Target) -> u64 {
    let genesis = identity.genesis.account_count() as u64;
    genesis
        .saturating_add(target.totals.credits)
        .saturating_add(1)
}
