// SPDX-License-Identifier: Apache-2.0
//! Whom to ask for what has not come, and when.

use super::{Actor, leading::Collecting};
use crate::{recovery::Awaited, serving::Fetcher};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Blocker, Receiver, Sender};
use commonware_resolver::{Fetch, Resolver as _, TargetedResolver as _};
use commonware_utils::vec::NonEmptyVec;
use shardnode_mailboxes::Runtime;
use shardnode_network::{Identity, chunk_requests::Key};
use shardnode_primitives::{ChunkContent, ChunkHeader, Digest};
use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

/// How long a producer has to send what it made before others are asked.
pub(crate) const PATIENCE: Duration = Duration::from_millis(400);

impl<E, S, R, B> Actor<E, S, R, B>
where
    E: Runtime,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
{
    pub(super) fn next_deadline(&self) -> SystemTime {
        let asks = self
            .chunk_waits
            .values()
            .filter_map(Awaited::deadline)
            .chain(self.part_waits.values().filter_map(Awaited::deadline))
            .chain(self.receipts.deadline());
        let collects = self.collects.iter().map(Collecting::deadline);
        asks.chain(collects)
            .min()
            .unwrap_or_else(|| self.context.current() + Duration::from_secs(3_600))
    }

    pub(super) fn ask_at(&self, at_once: bool) -> SystemTime {
        let now = self.context.current();
        if at_once { now } else { now + PATIENCE }
    }

    pub(super) fn ask_overdue(&mut self, now: SystemTime, fetcher: &mut Fetcher) {
        let mut asks = Vec::new();
        let code = self.identity.body_code();
        for wait in self.chunk_waits.values_mut() {
            wait.tells(now, &code);
            if wait.asks(now) {
                let holders = self.identity.other_producers(wait.header.content.shard);
                asks.push((body_of(&wait.header), holders));
            }
            if wait.collects(now) {
                asks.extend(parts_of(&wait.header, &self.identity));
            }
        }
        for wait in self.part_waits.values_mut() {
            wait.tells(now, &code);
            if wait.asks(now) {
                let content = &wait.header.content;
                let holders = self.identity.other_producers(content.shard);
                let own = self.identity.place().map(|place| part_of(content, place));
                asks.extend(own.map(|own| (own, holders)));
            }
            if wait.collects(now) {
                asks.extend(parts_of(&wait.header, &self.identity));
            }
        }
        for key in self.receipts.due(now) {
            if let Key::Bucket {
                source,
                destination,
                ..
            } = key
            {
                let mut holders = self.identity.other_producers(source);
                holders.extend(self.identity.other_producers(destination));
                asks.push((key, holders));
            }
        }
        for (key, holders) in asks {
            if let Ok(targets) = NonEmptyVec::try_from(holders) {
                fetcher.fetch_targeted(Fetch::from(key), targets);
            }
        }
    }

    /// Ends requests for what nobody waits for any more, such as the chunks of
    /// a block that consensus gave up.
    pub(super) fn stop_asking(&mut self, fetcher: &mut Fetcher) {
        if !std::mem::take(&mut self.gave_up) {
            return;
        }
        let chunks = self.chunk_waits.values().map(|wait| &wait.header);
        let parts = self.part_waits.values().map(|wait| &wait.header);
        let root = |header: &ChunkHeader| (header.content.height, header.content.parts_root);
        let roots: BTreeSet<(u64, Digest)> = chunks.clone().chain(parts).map(root).collect();
        let buckets = self.receipts.waited_for();
        let wanted: BTreeSet<Key> = chunks.map(body_of).chain(buckets).collect();
        fetcher.retain(move |key, ()| match key {
            Key::Part { height, root, .. } => roots.contains(&(*height, *root)),
            Key::Body { .. } | Key::Bucket { .. } => wanted.contains(key),
        });
    }
}

pub(super) fn body_of(header: &ChunkHeader) -> Key {
    let content = &header.content;
    Key::Body {
        shard: content.shard,
        height: content.height,
        hash: content.body_hash,
    }
}

const fn part_of(content: &ChunkContent, index: u16) -> Key {
    Key::Part {
        shard: content.shard,
        height: content.height,
        index,
        root: content.parts_root,
    }
}

/// The parts of a body that others hold, and who does: their owners, and
/// trackers of the shard.
fn parts_of(header: &ChunkHeader, identity: &Identity) -> Vec<(Key, Vec<PublicKey>)> {
    let shard = header.content.shard;
    let trackers = identity.other_producers(shard);
    let part = |(place, owner)| {
        let holders = [vec![owner], trackers.clone()].concat();
        (part_of(&header.content, place), holders)
    };
    identity.part_owners(shard).into_iter().map(part).collect()
}
