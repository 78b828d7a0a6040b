// SPDX-License-Identifier: Apache-2.0
//! The actor: what is needed, who is asked, and when it is given up.

use crate::{
    choice::{Missing, Stated, Target, choose, holders},
    download::{Download, WINDOW},
    metrics::Metrics,
};
use bytes::Bytes;
use commonware_codec::DecodeExt as _;
use commonware_consensus::types::Height;
use commonware_cryptography::ed25519::PublicKey;
use commonware_macros::select;
use commonware_parallel::{Rayon, Strategy as _};
use commonware_resolver::{Fetch, Resolver as _, TargetedResolver as _, p2p};
use commonware_runtime::Handle;
use commonware_utils::{
    channel::{fallible::OneshotExt as _, mpsc, oneshot, watch},
    vec::NonEmptyVec,
};
use shardnode_blocks::Marshal;
use shardnode_mailboxes::{
    Runtime,
    state_sync::{Fetched, Message, Progress},
};
use shardnode_network::{
    Identity,
    state_requests::{Key, Offer},
};
use shardnode_primitives::ShardId;
use shardnode_state::StateTree;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, SystemTime},
};
use tracing::{debug, error, info, warn};

/// Between two looks at what is on offer.
const TICK: Duration = Duration::from_millis(250);
/// Between two questions for the newest snapshot.
const ROUND: Duration = Duration::from_secs(1);
/// A download without [`WINDOW`] new pages for so long is given up.
pub(crate) const STALL: Duration = Duration::from_secs(10);
/// When it is said that there is nothing to fetch.
const SILENCE: Duration = Duration::from_secs(30);

/// The requesting side's handle.
pub type Fetcher = p2p::Mailbox<Key, PublicKey, ()>;

/// What the actor works with.
pub struct Parts {
    /// Who this node is.
    pub identity: Arc<Identity>,
    /// Finalised blocks.
    pub marshal: Marshal,
    /// Asks others.
    pub fetcher: Fetcher,
    /// Where it is published how far fetching is.
    pub progress: watch::Sender<Option<Progress>>,
    /// What is measured.
    pub metrics: Arc<Metrics>,
    /// CPU work.
    pub strategy: Rayon,
}

/// What the ledger or the archive waits for.
struct Need {
    shard: ShardId,
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
    pub fn new(context: E, parts: Parts, inbox: mpsc::Receiver<Message>) -> Self {
        Self {
            context,
            parts,
            inbox,
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
                        Some(Message::Needed { shard, height, reply }) => {
                            self.on_needed(shard, height, reply);
                        }
                        Some(Message::Answer { key, value, reply }) => {
                            self.on_answer(key, value, reply);
                        }
                        None => break,
                    }
                },
                _ = tick => {},
            }
            self.step().await;
        }
    }

    fn on_needed(&mut self, shard: ShardId, height: u64, reply: oneshot::Sender<Fetched>) {
        let now = self.context.current();
        if self.need.as_ref().is_some_and(|need| need.shard != shard) {
            self.silent.clear();
            self.give_up();
        }
        self.need = Some(Need {
            shard,
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
            Key::Newest { shard, slot } => {
                let offer = Offer::decode(value);
                reply.send_lossy(offer.is_ok());
                let needed = self.need.as_ref().is_some_and(|need| need.shard == shard);
                if let Ok(offer) = offer
                    && needed
                {
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
    async fn step(&mut self) {
        let Some(need) = &self.need else {
            return;
        };
        if need.reply.is_closed() {
            self.stop();
            return;
        }
        let shard = need.shard;
        let now = self.context.current();
        let since = |then: SystemTime| now.duration_since(then).unwrap_or_default();
        if let Some(running) = self
            .running
            .take_if(|running| since(running.progressed) > STALL)
        {
            let height = running.download.target().totals.height;
            warn!(%shard, height, "nobody serves the state that is being fetched");
            self.silent.extend(running.sources);
            self.silent.extend(holders(height, &self.offers));
            self.give_up();
        }
        let (first, last) = self.asked.unwrap_or((now, SystemTime::UNIX_EPOCH));
        if since(last) >= ROUND {
            self.asked = Some((first, now));
            self.ask_for_offers(shard);
        }
        // Whoever answers first is not chosen for that.
        let others = self.parts.identity.other_keepers(shard).count();
        let heard = self.offers.len() >= others || since(first) >= ROUND;
        if self.running.is_none() && heard {
            self.choose(shard, now).await;
        }
        self.ask_for_pages(shard);
        self.publish(shard);
        self.finish(shard).await;
    }

    /// Starts to fetch the best of the offers.
    async fn choose(&mut self, shard: ShardId, now: SystemTime) {
        let Some(needed) = self.need.as_ref().map(|need| need.height) else {
            return;
        };
        let mut offers = Vec::with_capacity(self.offers.len());
        for (slot, offer) in &self.offers {
            let stated = stated(&self.parts.marshal, shard, *offer).await;
            offers.push((*slot, *offer, stated));
        }
        match choose(needed, &offers, &mut self.silent) {
            Ok(target) => {
                info!(
                    %shard,
                    needed,
                    snapshot = target.totals.height,
                    block = target.block,
                    root = %target.totals.state_root,
                    "fetching a state"
                );
                let most = most_leaves(&self.parts.identity, &target);
                self.running = Some(Running {
                    sources: holders(target.totals.height, &self.offers).collect(),
                    download: Download::new(target, most),
                    progressed: now,
                });
            }
            Err(missing) => self.report(shard, missing, now),
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
             state; start a producer of the shard that has its data directory, give this one \
             back its own, or start an archive that has the shard's state"
        );
    }

    fn ask_for_offers(&mut self, shard: ShardId) {
        for (slot, keeper) in self.parts.identity.other_keepers(shard) {
            let key = Key::Newest { shard, slot };
            let target = NonEmptyVec::new(keeper.clone());
            self.parts.fetcher.fetch_targeted(Fetch::from(key), target);
        }
    }

    fn ask_for_pages(&mut self, shard: ShardId) {
        let Some(Running { download, .. }) = &mut self.running else {
            return;
        };
        let totals = &download.target().totals;
        let (height, root) = (totals.height, totals.state_root);
        let slots: Vec<u16> = holders(height, &self.offers).collect();
        let keepers = self.parts.identity.other_keepers(shard);
        let holders: Vec<PublicKey> = keepers
            .filter(|(slot, _)| slots.contains(slot))
            .map(|(_, keeper)| keeper.clone())
            .collect();
        let Ok(targets) = NonEmptyVec::try_from(holders) else {
            return;
        };
        for index in download.ask() {
            let key = Key::Page {
                shard,
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
    let Some(totals) = totals else {
        return Stated::Otherwise;
    };
    // Crediting goes on with what fell due there: a floor may be above it.
    let due = totals.next_due.block;
    if due < offer.block && marshal.get_block(Height::new(due)).await.is_none() {
        return Stated::Unknown;
    }
    Stated::As(totals.clone())
}

/// The most leaves that a state can have: the sentinel, the accounts of
/// genesis, and one for each credit, which may create an account.
const fn most_leaves(identity: &Identity, target: &Target) -> u64 {
    let genesis = identity.genesis.account_count() as u64;
    genesis
        .saturating_add(target.totals.credits)
        .saturating_add(1)
}
