// SPDX-License-Identifier: Apache-2.0
//! The actor: which state is fetched next, and what becomes of it.

use crate::{ArchiveError, Metrics, Standing};
use commonware_macros::select;
use commonware_parallel::{Rayon, Strategy as _};
use commonware_runtime::{Handle, buffer::paged::CacheRef};
use commonware_utils::channel::watch;
use shardnode_blocks::ChainView;
use shardnode_ledger::{Origin, restore};
use shardnode_mailboxes::{
    Runtime,
    snapshots::Shelves,
    state_sync::{self, Fetched, Progress},
};
use shardnode_primitives::ShardId;
use shardnode_storage::{Snapshot, SnapshotStore, SnapshotStoreConfig};
use std::{
    collections::BTreeMap,
    pin::pin,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tracing::{debug, error, info};

/// How long the next page of a state, or an offer of one, may take to come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// What the actor works with.
pub struct Parts {
    /// Heights between two snapshots that producers take.
    pub snapshot_interval: u64,
    /// Blocks for which bodies and receipts stay available.
    pub retention: u64,
    /// Prefix of its partitions.
    pub partition: String,
    /// Pages shared with other stores.
    pub page_cache: CacheRef,
    /// The chain as of the last finalised block.
    pub view: watch::Receiver<Arc<ChainView>>,
    /// Fetches states.
    pub state_sync: state_sync::Mailbox,
    /// How far that is.
    pub progress: watch::Receiver<Option<Progress>>,
    /// Where states are served from, of all shards.
    pub shelves: Shelves,
    /// Where it is published what is archived.
    pub standings: watch::Sender<Vec<Standing>>,
    /// What is measured.
    pub metrics: Arc<Metrics>,
    /// CPU work.
    pub strategy: Rayon,
}

/// One shard's states.
struct Kept<E: Runtime> {
    /// Away only while it is written to.
    store: Option<SnapshotStore<E>>,
    /// The height of the newest one.
    height: Option<u64>,
    /// When it was last asked for another one.
    asked: SystemTime,
    /// Whether it was last said that the shard could come back from it.
    usable: bool,
}

/// The actor.
pub struct Actor<E: Runtime> {
    context: E,
    parts: Parts,
    shards: BTreeMap<ShardId, Kept<E>>,
}

impl<E: Runtime> Actor<E> {
    /// Creates the actor, which serves at once what it finds on its disk.
    pub async fn open(
        context: E,
        parts: Parts,
        shards: impl IntoIterator<Item = ShardId>,
    ) -> Result<Self, ArchiveError> {
        let mut actor = Self {
            context,
            parts,
            shards: BTreeMap::new(),
        };
        for shard in shards {
            let config = SnapshotStoreConfig {
                partition: format!("{}-{shard}", actor.parts.partition),
                page_cache: actor.parts.page_cache.clone(),
            };
            let context = actor.context.child("states");
            let (store, snapshot) = SnapshotStore::open(context, config)
                .await
                .map_err(|source| ArchiveError::Storage { shard, source })?;
            let height = match snapshot {
                Some(snapshot) => Some(actor.serve(shard, snapshot).await?),
                None => None,
            };
            let kept = Kept {
                store: Some(store),
                height,
                asked: SystemTime::UNIX_EPOCH,
                usable: true,
            };
            actor.shards.insert(shard, kept);
        }
        Ok(actor)
    }

    /// Serves a snapshot that was read back; its height.
    async fn serve(&self, shard: ShardId, snapshot: Snapshot) -> Result<u64, ArchiveError> {
        let leaves = snapshot.leaves.len();
        let restored = self
            .parts
            .strategy
            .spawn(leaves, move |_| restore(shard, snapshot))
            .await;
        let (origin, state) = restored?;
        let (height, want) = (origin.totals.height, origin.totals.state_root);
        let got = state.root();
        if got != want {
            return Err(ArchiveError::Root {
                shard,
                height,
                got,
                want,
            });
        }
        if let Some(shelf) = self.parts.shelves.get(shard) {
            shelf.put(origin.served(state.pages()));
        }
        info!(%shard, height, "archived state found");
        Ok(height)
    }

    /// Runs until storage fails or the chain ends.
    pub fn start(self) -> Handle<Result<(), ArchiveError>> {
        let context = self.context.child("run");
        context.spawn(move |_| self.run())
    }

    async fn run(mut self) -> Result<(), ArchiveError> {
        loop {
            let view = self.parts.view.borrow_and_update().clone();
            self.publish(&view);
            let Some(shard) = self.next(&view) else {
                let pause = self.context.sleep(PATIENCE);
                select! {
                    changed = self.parts.view.changed() => {
                        if changed.is_err() {
                            return Ok(());
                        }
                    },
                    () = pause => {},
                }
                continue;
            };
            match self.fetch(shard).await {
                Some(fetched) => self.keep(shard, fetched).await?,
                None => debug!(%shard, "nobody offers a newer state"),
            }
        }
    }

    /// What is archived, as of a block.
    fn standings(&self, view: &ChainView) -> impl Iterator<Item = Standing> {
        let retention = self.parts.retention;
        self.shards.iter().map(move |(shard, kept)| {
            let header = view.block.chunk(*shard);
            let stated = header.map_or(0, |header| header.content.totals.height);
            Standing::new(*shard, kept.height, stated, retention)
        })
    }

    /// Says what is archived, and once of a shard that it could not come back,
    /// and that it could again.
    fn publish(&mut self, view: &ChainView) {
        let standings: Vec<_> = self.standings(view).collect();
        for standing in &standings {
            let Some(kept) = self.shards.get_mut(&standing.shard) else {
                continue;
            };
            let Standing {
                shard,
                archived,
                stated,
                usable,
            } = *standing;
            if kept.usable == usable {
                continue;
            }
            kept.usable = usable;
            if usable {
                info!(%shard, archived, stated, "shard could come back from the archived state again");
            } else {
                let retention = self.parts.retention;
                error!(
                    %shard,
                    archived,
                    stated,
                    retention,
                    "shard could not come back from this archive: what follows its state is no \
                     longer kept, and no producer gave a later state"
                );
            }
        }
        let usable = standings.iter().filter(|standing| standing.usable).count();
        let behind = standings.iter().map(Standing::behind).max();
        self.parts
            .metrics
            .stands(usable, behind.unwrap_or_default());
        self.parts.standings.send_if_modified(|before| {
            let changed = *before != standings;
            *before = standings;
            changed
        });
    }

    /// The shard whose state is due and that waited longest, unless it was asked
    /// for just now.
    fn next(&self, view: &ChainView) -> Option<ShardId> {
        let now = self.context.current();
        let asked = |standing: &Standing| self.shards.get(&standing.shard).map(|kept| kept.asked);
        self.standings(view)
            .filter(|standing| standing.behind() >= self.parts.snapshot_interval)
            .filter_map(|standing| Some((asked(&standing)?, standing.shard)))
            .filter(|(asked, _)| now.duration_since(*asked).unwrap_or_default() >= PATIENCE)
            .min()
            .map(|(_, shard)| shard)
    }

    /// A later state of a shard than the one archived, if somebody gives one.
    async fn fetch(&mut self, shard: ShardId) -> Option<Fetched> {
        let now = self.context.current();
        let kept = self.shards.get_mut(&shard)?;
        kept.asked = now;
        let above = kept.height.unwrap_or_default().saturating_add(1);
        let mut needed = pin!(self.parts.state_sync.needed(shard, above));
        let mut before = None;
        loop {
            let patience = self.context.sleep(PATIENCE);
            select! {
                fetched = &mut needed => {
                    return fetched;
                },
                () = patience => {
                    let progress = *self.parts.progress.borrow();
                    if stalled(before, progress) {
                        return None;
                    }
                    before = progress;
                },
            }
        }
    }

    /// Makes a state durable, then serves it.
    async fn keep(&mut self, shard: ShardId, fetched: Fetched) -> Result<(), ArchiveError> {
        let Fetched {
            block,
            totals,
            state,
        } = fetched;
        let height = totals.height;
        let origin = Origin { block, totals };
        let Some(kept) = self.shards.get_mut(&shard) else {
            return Ok(());
        };
        let Some(store) = kept.store.take() else {
            return Ok(());
        };
        let pages = state.pages();
        let store = store
            .keep(&origin.snapshot(&pages))
            .await
            .map_err(|source| ArchiveError::Storage { shard, source })?;
        kept.store = Some(store);
        kept.height = Some(height);
        if let Some(shelf) = self.parts.shelves.get(shard) {
            shelf.put(origin.served(pages));
        }
        self.parts.metrics.kept();
        info!(%shard, height, block, "state archived");
        Ok(())
    }
}

/// Whether no page came between two looks, and some are missing.
fn stalled(before: Option<Progress>, now: Option<Progress>) -> bool {
    let Some(now) = now else {
        return true;
    };
    let complete = now.pages == Some(now.fetched);
    let same = before.is_some_and(|before| before.fetched == now.fetched);
    !complete && (now.fetched == 0 || same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(fetched: u32, pages: Option<u32>) -> Option<Progress> {
        Some(Progress {
            shard: ShardId(1),
            needed: 7,
            snapshot: Some(10),
            fetched,
            pages,
        })
    }

    #[test]
    fn a_state_of_which_no_page_comes_is_given_up() {
        let some = progress(3, Some(9));
        assert!(stalled(None, None), "nothing is fetched");
        assert!(stalled(None, progress(0, None)), "nobody offers one");
        assert!(!stalled(None, some), "pages came");
        assert!(!stalled(some, progress(4, Some(9))), "another page came");
        assert!(stalled(some, some), "no other page came");
        let all = progress(9, Some(9));
        assert!(!stalled(all, all), "the tree is built");
    }
}
