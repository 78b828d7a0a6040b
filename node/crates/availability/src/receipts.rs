// SPDX-License-Identifier: Apache-2.0
//! Receipts for the own shard: those that are proven, those that came before
//! anybody named their root, and who waits for which.
//!
//! Every producer of the shard that they come from can send some for a height,
//! [`PER_SLOT`] at most, so none of them crowds out another's. No more are looked
//! at, either: hashing what a full chunk can send takes a millisecond.
//!
//! Producers send receipts with the chunk whose header commits to them, before
//! anybody waits for these. So that is taken in as well, one of each producer
//! and height, for executions to which the next headers can commit: those that
//! the finalised header of their shard leaves uncommitted, and those of heights above
//! the finalised one: as many beyond the execution lag as a node falls behind while
//! it is busy for a second. What is further ahead is asked for once it is waited for,
//! like everything that is not taken in.

use commonware_cryptography::ed25519::PublicKey;
use commonware_utils::channel::{fallible::OneshotExt as _, oneshot};
use shardnode_blocks::in_flight::PER_SLOT;
use shardnode_network::{chunk_messages::BucketHead, chunk_requests::Key};
use shardnode_primitives::{Digest, ProvenBucket, ReceiptBucket, ShardId};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::SystemTime,
};

/// Checked chunks and receipts kept below the finalised height, for a ledger
/// that is still executing.
pub(crate) const KEEP_BELOW: u64 = 64;

/// Who waits for receipts, and when to ask for them.
#[derive(Default)]
struct Waiting {
    replies: Vec<oneshot::Sender<Arc<ProvenBucket>>>,
    ask_at: Option<SystemTime>,
}

/// The least and the most heights beyond the execution lag above the finalised one
/// for which receipts are taken in that nobody waits for.
const AHEAD: (u64, u64) = (2, 16);

/// Receipts of one execution, which nobody waits for, that a producer can send.
const UNAWAITED: usize = 1;

/// See the [module](self).
#[derive(Default)]
pub(crate) struct Receipts {
    /// Heights above the finalised one whose receipts are expected.
    ahead: u64,
    finalized: u64,
    /// Executions that no finalised header commits to.
    uncommitted: BTreeSet<(ShardId, u64)>,
    /// By the root that they are under.
    unproven: BTreeMap<(u64, ShardId), BTreeMap<Digest, ProvenBucket>>,
    proven: BTreeMap<(u64, Key), Arc<ProvenBucket>>,
    waits: BTreeMap<Key, Waiting>,
    /// How many of an execution each producer sent that were looked at.
    sent: BTreeMap<(u64, ShardId), BTreeMap<PublicKey, usize>>,
}

impl Receipts {
    /// Of a network with this execution lag, and blocks as far apart.
    pub(crate) fn new(lag: u8, min_block_time_ms: u64) -> Self {
        let blocks = 1_000 / min_block_time_ms.max(1);
        Self {
            ahead: u64::from(lag) + blocks.clamp(AHEAD.0, AHEAD.1),
            ..Self::default()
        }
    }

    /// Whether the next headers of `source` can commit to its execution at `height`.
    fn expects(&self, source: ShardId, height: u64) -> bool {
        let ahead = height.checked_sub(self.finalized);
        ahead.is_some_and(|ahead| (1..=self.ahead).contains(&ahead))
            || self.uncommitted.contains(&(source, height))
    }

    /// Whether receipts with this head are looked at, if `peer` is a producer of
    /// their source.
    pub(crate) fn takes(&self, peer: &PublicKey, head: &BucketHead) -> bool {
        let BucketHead {
            source,
            height,
            destination,
        } = *head;
        let sent = self.sent.get(&(height, source));
        let sent = sent.and_then(|sent| sent.get(peer)).copied();
        let key = |byte| Key::Bucket {
            source,
            height,
            destination,
            root: Digest([byte; 32]),
        };
        let awaited = || self.waits.range(key(0)..=key(0xff)).next().is_some();
        match sent.unwrap_or_default() {
            PER_SLOT.. => false,
            sent => sent < UNAWAITED && self.expects(source, height) || awaited(),
        }
    }

    /// Takes in what `peer`, a producer of the source, sent, if it
    /// [is looked at](Self::takes).
    pub(crate) fn insert(&mut self, peer: &PublicKey, bucket: ProvenBucket) {
        let ReceiptBucket {
            source,
            height,
            destination,
            ..
        } = bucket.bucket;
        let sent = self.sent.entry((height, source)).or_default();
        *sent.entry(peer.clone()).or_default() += 1;
        let Some(root) = bucket.receipts_root() else {
            return;
        };
        let key = Key::Bucket {
            source,
            height,
            destination,
            root,
        };
        if self.proven.contains_key(&(height, key)) {
            return;
        }
        if self.waits.contains_key(&key) {
            self.found(key, bucket);
        } else if self.expects(source, height) {
            let kept = self.unproven.entry((height, source)).or_default();
            kept.insert(root, bucket);
        }
    }

    /// Takes in an answer. Says whether it is what `key` names.
    pub(crate) fn answered(&mut self, key: Key, bucket: ProvenBucket) -> bool {
        let right = answers(&key, &bucket);
        if right {
            self.found(key, bucket);
        }
        right
    }

    fn found(&mut self, key: Key, bucket: ProvenBucket) {
        let bucket = Arc::new(bucket);
        if let Some(wait) = self.waits.remove(&key) {
            for reply in wait.replies {
                reply.send_lossy(bucket.clone());
            }
        }
        self.proven.insert((bucket.bucket.height, key), bucket);
    }

    /// Sends the receipts that `key` names as soon as they are here. Whoever
    /// has them is asked at `ask_at`.
    pub(crate) fn wanted(
        &mut self,
        key: Key,
        ask_at: SystemTime,
        reply: oneshot::Sender<Arc<ProvenBucket>>,
    ) {
        if let Some(bucket) = self.get(&key) {
            reply.send_lossy(bucket.clone());
            return;
        }
        self.wait_for(key, ask_at);
        if let Some(bucket) = self.get(&key) {
            reply.send_lossy(bucket.clone());
        } else if let Some(wait) = self.waits.get_mut(&key) {
            wait.replies.retain(|reply| !reply.is_closed());
            wait.replies.push(reply);
        }
    }

    /// Whether the receipts that `key` names are here. Whoever has them is
    /// asked at `ask_at` if they are not.
    pub(crate) fn at_hand(&mut self, key: Key, ask_at: SystemTime) -> bool {
        if self.get(&key).is_none() {
            self.wait_for(key, ask_at);
        }
        self.get(&key).is_some()
    }

    /// The receipts that `key` names, if they are here.
    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<ProvenBucket>> {
        let Key::Bucket { height, .. } = key else {
            return None;
        };
        self.proven.get(&(*height, *key))
    }

    /// Starts to wait, unless somebody waits already: whatever came since then
    /// was compared with the key.
    fn wait_for(&mut self, key: Key, ask_at: SystemTime) {
        let Key::Bucket {
            source,
            height,
            root,
            ..
        } = key
        else {
            return;
        };
        if let Some(wait) = self.waits.get_mut(&key) {
            wait.ask_at = wait.ask_at.map(|at| at.min(ask_at));
            return;
        }
        let unproven = self.unproven.get_mut(&(height, source));
        match unproven.and_then(|unproven| unproven.remove(&root)) {
            Some(bucket) => self.found(key, bucket),
            None => {
                let wait = Waiting {
                    replies: Vec::new(),
                    ask_at: Some(ask_at),
                };
                self.waits.insert(key, wait);
            }
        }
    }

    /// What is to be asked for at `now`.
    pub(crate) fn due(&mut self, now: SystemTime) -> Vec<Key> {
        let due = |(key, wait): (&Key, &mut Waiting)| {
            let due = wait.ask_at.take_if(|at| *at <= now);
            due.map(|_| *key)
        };
        self.waits.iter_mut().filter_map(due).collect()
    }

    /// When something is to be asked for next.
    pub(crate) fn deadline(&self) -> Option<SystemTime> {
        self.waits.values().filter_map(|wait| wait.ask_at).min()
    }

    /// What is waited for.
    pub(crate) fn waited_for(&self) -> impl Iterator<Item = Key> {
        self.waits.keys().copied()
    }

    /// Forgets what is too old, what no further header commits to, and what nobody
    /// waits for any more. Says whether there was something that nobody waits for.
    pub(crate) fn finalized(
        &mut self,
        finalized: u64,
        uncommitted: BTreeSet<(ShardId, u64)>,
    ) -> bool {
        self.finalized = finalized;
        self.uncommitted = uncommitted;
        let keep = |height: &u64| height.saturating_add(KEEP_BELOW) > finalized;
        let mut unproven = std::mem::take(&mut self.unproven);
        unproven.retain(|(height, source), _| self.expects(*source, *height));
        self.unproven = unproven;
        // As long as some of an execution are taken in, it is known of whom.
        let mut sent = std::mem::take(&mut self.sent);
        sent.retain(|(height, source), _| keep(height) || self.expects(*source, *height));
        self.sent = sent;
        self.proven.retain(|(height, _), _| keep(height));
        let before = self.waits.len();
        self.waits
            .retain(|_, wait| wait.replies.iter().any(|reply| !reply.is_closed()));
        self.waits.len() < before
    }
}

/// Whether `bucket` is what `key` names, proof included.
fn answers(key: &Key, bucket: &ProvenBucket) -> bool {
    let Key::Bucket {
        source,
        height,
        destination,
        root,
    } = key
    else {
        return false;
    };
    bucket.bucket.source == *source
        && bucket.bucket.height == *height
        && bucket.bucket.destination == *destination
        && bucket.verifies(root)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use shardnode_primitives::{AccountId, Receipt, ReceiptBucket};
    use std::time::{Duration, UNIX_EPOCH};

    const SOURCE: ShardId = ShardId(1);

    fn peer(seed: u64) -> PublicKey {
        PrivateKey::from_seed(seed).public_key()
    }

    /// Receipts of one amount, and the key that names them.
    fn bucket(amount: u64) -> (Key, ProvenBucket) {
        let receipt = Receipt {
            sender: AccountId([1; 32]),
            receiver: AccountId([2; 32]),
            amount,
            nonce: 1,
        };
        let of = |destination, receipts| ReceiptBucket {
            source: SOURCE,
            destination: ShardId(destination),
            height: 5,
            receipts,
        };
        let all = vec![of(0, vec![receipt]), of(1, Vec::new())];
        let (root, mut proven) = ProvenBucket::prove_all(all);
        let key = Key::Bucket {
            source: SOURCE,
            height: 5,
            destination: ShardId(0),
            root,
        };
        (key, proven.swap_remove(0))
    }

    /// Those of a network whose execution lag is 1, with a finalised block at 4.
    fn receipts() -> Receipts {
        let mut receipts = Receipts::new(1, 600);
        receipts.finalized(4, BTreeSet::new());
        receipts
    }

    /// Sends receipts as the actor takes them in; says whether they are looked at.
    fn send(receipts: &mut Receipts, from: u64, bucket: ProvenBucket) -> bool {
        let head = BucketHead {
            source: bucket.bucket.source,
            height: bucket.bucket.height,
            destination: bucket.bucket.destination,
        };
        let takes = receipts.takes(&peer(from), &head);
        if takes {
            receipts.insert(&peer(from), bucket);
        }
        takes
    }

    fn at(ms: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(ms)
    }

    #[test]
    fn nobody_crowds_out_the_receipts_of_another() {
        let mut receipts = receipts();
        for amount in 100..110 {
            send(&mut receipts, 1, bucket(amount).1);
        }
        let (key, honest) = bucket(7);
        send(&mut receipts, 2, honest);
        assert!(receipts.at_hand(key, at(0)));
        let kept = receipts.unproven.get(&(5, SOURCE)).unwrap();
        assert_eq!(kept.len(), 1, "beside the one that is proven");
    }

    #[test]
    fn no_more_of_a_peer_is_looked_at_than_it_may_send() {
        let mut receipts = receipts();
        let (key, honest) = bucket(7);
        assert!(!receipts.at_hand(key, at(10)));
        for amount in 100..110 {
            send(&mut receipts, 1, bucket(amount).1);
        }
        send(&mut receipts, 1, honest.clone());
        assert!(!receipts.at_hand(key, at(10)), "the eleventh was looked at");
        send(&mut receipts, 2, honest);
        assert!(receipts.at_hand(key, at(10)));
    }

    #[test]
    fn no_more_of_a_peer_is_looked_at_whatever_it_sends() {
        let mut receipts = receipts();
        let looked = (100..110).filter(|amount| send(&mut receipts, 1, bucket(*amount).1));
        assert_eq!(looked.count(), UNAWAITED);
        let (key, honest) = bucket(7);
        assert!(!receipts.at_hand(key, at(10)));
        let looked = (0..10).filter(|_| send(&mut receipts, 1, bucket(100).1));
        assert_eq!(looked.count(), PER_SLOT - UNAWAITED);
        assert!(send(&mut receipts, 2, honest));
        assert!(receipts.at_hand(key, at(10)));
    }

    #[test]
    fn what_nobody_waits_for_is_taken_in_if_a_next_header_can_commit_to_it() {
        let taken = |finalized, uncommitted: &[u64]| {
            let mut receipts = receipts();
            let uncommitted = uncommitted.iter().map(|height| (SOURCE, *height));
            receipts.finalized(finalized, uncommitted.collect());
            let taken = send(&mut receipts, 1, bucket(7).1);
            assert_eq!(receipts.at_hand(bucket(7).0, at(10)), taken);
            taken
        };
        assert!(!taken(1, &[]), "too far ahead");
        assert!(taken(2, &[]));
        assert!(taken(4, &[]));
        assert!(
            !taken(5, &[]),
            "the shard had no chunk there, or it is committed to"
        );
        assert!(taken(5, &[5]));
        assert!(taken(500, &[5, 6]), "the shard stands still");
        assert!(!taken(500, &[6]));
    }

    #[test]
    fn no_more_is_taken_in_of_a_shard_that_stands_still() {
        let mut receipts = receipts();
        let standing = BTreeSet::from([(SOURCE, 5)]);
        let taken = (0..100).filter(|passed| {
            receipts.finalized(500 + passed, standing.clone());
            send(&mut receipts, 1, bucket(*passed).1)
        });
        assert_eq!(taken.count(), UNAWAITED);
        // The shard goes on, and nothing of it is left.
        receipts.finalized(600, BTreeSet::new());
        assert!(receipts.unproven.is_empty() && receipts.sent.is_empty());
    }

    #[test]
    fn as_far_ahead_as_blocks_come_in_a_second() {
        let furthest = |min_block_time_ms| {
            let mut receipts = Receipts::new(1, min_block_time_ms);
            receipts.finalized(100, BTreeSet::new());
            let expected = (100..200).filter(|height| receipts.expects(SOURCE, *height));
            expected.max().unwrap() - 100
        };
        assert_eq!([1_000, 600, 200, 50, 0].map(furthest), [3, 3, 6, 17, 17]);
    }

    #[test]
    fn what_somebody_waits_for_is_taken_in_whenever_it_comes() {
        let mut receipts = receipts();
        receipts.finalized(60, BTreeSet::new());
        let (key, honest) = bucket(7);
        assert!(!send(&mut receipts, 1, honest.clone()));
        assert!(!receipts.at_hand(key, at(10)));
        assert!(send(&mut receipts, 1, honest));
        assert!(receipts.at_hand(key, at(10)));
    }

    #[test]
    fn unproven_receipts_go_once_a_finalised_header_commits_to_others() {
        let mut receipts = receipts();
        send(&mut receipts, 1, bucket(7).1);
        receipts.finalized(5, BTreeSet::from([(SOURCE, 5)]));
        assert_eq!(receipts.unproven.len(), 1);
        receipts.finalized(6, BTreeSet::from([(SOURCE, 6)]));
        assert!(receipts.unproven.is_empty());
    }

    #[test]
    fn what_is_missing_is_asked_for_once_and_sent_to_all_who_wait() {
        let mut receipts = receipts();
        let (key, honest) = bucket(7);
        assert!(!receipts.at_hand(key, at(10)));
        assert_eq!(receipts.deadline(), Some(at(10)));
        let (one, mut first) = oneshot::channel();
        let (other, mut second) = oneshot::channel();
        receipts.wanted(key, at(12), one);
        receipts.wanted(key, at(50), other);
        assert_eq!(receipts.due(at(9)), Vec::new());
        assert_eq!(receipts.due(at(10)), vec![key]);
        assert_eq!(receipts.due(at(60)), Vec::new());
        assert!(!receipts.answered(key, bucket(8).1));
        assert!(receipts.answered(key, honest.clone()));
        assert_eq!(*first.try_recv().unwrap(), honest);
        assert_eq!(*second.try_recv().unwrap(), honest);
        assert_eq!(receipts.waited_for().count(), 0);
    }

    #[test]
    fn what_nobody_waits_for_is_forgotten() {
        let mut receipts = receipts();
        let (key, honest) = bucket(7);
        let (reply, response) = oneshot::channel();
        receipts.wanted(key, at(10), reply);
        assert!(!receipts.finalized(4, BTreeSet::new()));
        drop(response);
        assert!(receipts.finalized(4, BTreeSet::new()));
        send(&mut receipts, 1, honest);
        assert!(receipts.at_hand(key, at(10)));
        assert!(!receipts.finalized(5 + KEEP_BELOW, BTreeSet::new()));
        assert!(!receipts.at_hand(key, at(10)));
    }
}
