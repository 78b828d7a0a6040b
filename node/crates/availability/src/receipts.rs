// SPDX-License-Identifier: Apache-2.0
//! Receipts for the own shard: those that are proven, those that came before
//! anybody named their root, and who waits for which.
//!
//! Every producer of the shard that they come from can send some for a height,
//! [`PER_SLOT`] at most, so none of them crowds out another's. No more are looked
//! at, either: hashing what a full chunk can send takes a millisecond.

use commonware_cryptography::ed25519::PublicKey;
use commonware_utils::channel::{fallible::OneshotExt as _, oneshot};
use shardnode_blocks::in_flight::PER_SLOT;
use shardnode_network::chunk_requests::Key;
use shardnode_primitives::{ProvenBucket, ShardId, hash::ZERO};
use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

/// Checked chunks and receipts kept below the finalised height, for a ledger
/// that is still executing.
pub(crate) const KEEP_BELOW: u64 = 64;

/// Who waits for receipts, and when to ask for them.
#[derive(Default)]
struct Waiting {
    replies: Vec<oneshot::Sender<Arc<ProvenBucket>>>,
    ask_at: Option<SystemTime>,
}

/// See the [module](self).
#[derive(Default)]
pub(crate) struct Receipts {
    unproven: BTreeMap<(u64, ShardId), Vec<ProvenBucket>>,
    proven: BTreeMap<(u64, Key), Arc<ProvenBucket>>,
    waits: BTreeMap<Key, Waiting>,
    /// How many different ones of an execution each producer sent.
    sent: BTreeMap<(u64, ShardId), BTreeMap<PublicKey, usize>>,
}

/// Before all other keys.
const FIRST: Key = Key::Body {
    shard: ShardId(0),
    height: 0,
    hash: ZERO,
};

impl Receipts {
    /// Takes in what `peer`, a producer of the source, sent.
    pub(crate) fn insert(&mut self, peer: &PublicKey, bucket: ProvenBucket) {
        let (height, source) = (bucket.bucket.height, bucket.bucket.source);
        if self.knows(&bucket) {
            return;
        }
        let sent = self.sent.entry((height, source)).or_default();
        let sent = sent.entry(peer.clone()).or_default();
        if *sent >= PER_SLOT {
            return;
        }
        *sent += 1;
        let waiting = self.waits.keys().copied();
        if let Some(key) = waiting.into_iter().find(|key| answers(key, &bucket)) {
            self.found(key, bucket);
            return;
        }
        let kept = self.unproven.entry((height, source)).or_default();
        kept.push(bucket);
    }

    /// Whether these very receipts are here.
    fn knows(&self, bucket: &ProvenBucket) -> bool {
        let (height, source) = (bucket.bucket.height, bucket.bucket.source);
        let unproven = self.unproven.get(&(height, source));
        let mut unproven = unproven.into_iter().flatten();
        let mut proven = self
            .proven
            .range((height, FIRST)..)
            .take_while(|((at, _), _)| *at == height);
        unproven.any(|known| known == bucket) || proven.any(|(_, known)| **known == *bucket)
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
        let Key::Bucket { source, height, .. } = key else {
            return;
        };
        if let Some(wait) = self.waits.get_mut(&key) {
            wait.ask_at = wait.ask_at.map(|at| at.min(ask_at));
            return;
        }
        let unproven = self.unproven.get(&(height, source));
        let mut here = unproven.into_iter().flatten();
        match here.find(|bucket| answers(&key, bucket)) {
            Some(bucket) => {
                let bucket = bucket.clone();
                self.found(key, bucket);
            }
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

    /// Forgets what is too old, and what nobody waits for any more. Says
    /// whether there was something that nobody waits for.
    pub(crate) fn forget_to(&mut self, finalized: u64) -> bool {
        let keep = |height: &u64| height.saturating_add(KEEP_BELOW) > finalized;
        self.unproven.retain(|(height, _), _| keep(height));
        self.sent.retain(|(height, _), _| keep(height));
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

    fn at(ms: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(ms)
    }

    #[test]
    fn nobody_crowds_out_the_receipts_of_another() {
        let mut receipts = Receipts::default();
        for amount in 100..110 {
            receipts.insert(&peer(1), bucket(amount).1);
        }
        let (key, honest) = bucket(7);
        receipts.insert(&peer(2), honest);
        assert!(receipts.at_hand(key, at(0)));
        let kept = receipts.unproven.get(&(5, SOURCE)).unwrap();
        assert_eq!(kept.len(), PER_SLOT + 1);
    }

    #[test]
    fn no_more_of_a_peer_is_looked_at_than_it_may_send() {
        let mut receipts = Receipts::default();
        let (key, honest) = bucket(7);
        assert!(!receipts.at_hand(key, at(10)));
        for amount in 100..110 {
            receipts.insert(&peer(1), bucket(amount).1);
        }
        receipts.insert(&peer(1), honest.clone());
        assert!(!receipts.at_hand(key, at(10)), "the eleventh was looked at");
        receipts.insert(&peer(2), honest);
        assert!(receipts.at_hand(key, at(10)));
    }

    #[test]
    fn who_sends_the_same_again_has_sent_it_once() {
        let mut receipts = Receipts::default();
        let (first, second) = (bucket(7), bucket(8));
        assert!(!receipts.at_hand(first.0, at(10)));
        for _ in 0..10 {
            receipts.insert(&peer(1), first.1.clone());
        }
        receipts.insert(&peer(1), second.1);
        assert!(receipts.at_hand(first.0, at(10)));
        assert!(receipts.at_hand(second.0, at(10)));
    }

    #[test]
    fn what_is_missing_is_asked_for_once_and_sent_to_all_who_wait() {
        let mut receipts = Receipts::default();
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
        let mut receipts = Receipts::default();
        let (key, honest) = bucket(7);
        let (reply, response) = oneshot::channel();
        receipts.wanted(key, at(10), reply);
        assert!(!receipts.forget_to(5));
        drop(response);
        assert!(receipts.forget_to(5));
        receipts.insert(&peer(1), honest);
        assert!(receipts.at_hand(key, at(10)));
        assert!(!receipts.forget_to(5 + KEEP_BELOW));
        assert!(!receipts.at_hand(key, at(10)));
    }
}
