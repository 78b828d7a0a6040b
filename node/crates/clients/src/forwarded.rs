// SPDX-License-Identifier: Apache-2.0
//! Transactions that other nodes took in for clients, until something became of
//! them.
//!
//! A producer that takes a transaction in and never puts it into a chunk must
//! not be the last that hears of it. So the node that a client talks to keeps
//! what it passed on, [`FORWARDED`] transactions at most; beyond that it passes
//! on and does not keep. [`TURNS`] turns of a producer later it asks the next
//! producer of the shard what became of them, and hands it those of which that
//! knows nothing; and so on, until as many answered as there are. The last one is
//! the one that took them in, which may have lost its pool since. Whoever does not
//! answer is passed over, until its turn comes again.
//!
//! What a producer says of a transaction ends nothing, as it may be a lie: it
//! only means that the next one is asked at once, and not after its turns. One
//! honest producer with room is enough, whatever the others do. A transaction
//! that no chunk can execute any more, because it has expired, is not kept. Why is
//! remembered of the last [`REMEMBERED`](shardnode_mailboxes::refused::REMEMBERED) that
//! expired or that all producers refused.
//!
//! A transaction can so be in several pools. It executes once: its nonce is used
//! then. A producer is handed one list in a block, so that a shard whose pools
//! are long is not filled with what they have already. Transactions of one
//! signer stay in their order, as long as they go from the same producer to the
//! same next one; at a time one list is under way to each.

use crate::{
    answers::Fate,
    metrics::{End, Metrics},
};
use shardnode_mailboxes::refused::Refused;
use shardnode_network::client_messages::MOST_TOGETHER;
use shardnode_primitives::{Digest, Refusal, ShardId, Transaction};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

/// Turns of a producer to put a transaction into a chunk.
pub(crate) const TURNS: u64 = 8;
/// Transactions that are kept, at most.
pub(crate) const FORWARDED: usize = 65_536;
/// Lists of them that other nodes are asked about at a time.
pub(crate) const LISTS: usize = 4;

/// A producer of a shard, by its turn among those that a node asks.
pub(crate) type Route = (ShardId, u64);

/// A transaction that a producer took in.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) transaction: Transaction,
    /// Its place among all that were taken in.
    place: u64,
    /// How many answers there were to the question what became of it.
    answers: u64,
    /// Whether one of them said that a chunk has it.
    known: bool,
    /// How many of them said that no chunk can have it.
    refusals: u64,
}

/// Transactions to ask a producer about.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) route: Route,
    pub(crate) taken: Vec<Taken>,
}

/// What came of asking a producer about a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Nothing: it did not answer.
    Silence,
    /// It has it now, or might.
    Little,
    /// A chunk has it.
    Outcome,
    /// No chunk can have it.
    Refused(Refusal),
}

impl Said {
    /// What the answer to being handed a transaction comes to.
    pub(crate) const fn of(result: Result<(), Refusal>) -> Self {
        match result {
            Ok(())
            | Err(
                Refusal::Full
                | Refusal::Duplicate
                | Refusal::Overtaken
                | Refusal::Shard
                | Refusal::Congested
                | Refusal::Bytes
                | Refusal::Account
                | Refusal::Funds,
            ) => Self::Little,
            Err(
                refusal @ (Refusal::Signature
                | Refusal::Nonce
                | Refusal::Balance
                | Refusal::Receiver
                | Refusal::Expired
                | Refusal::HighNonce
                | Refusal::NoAccount
                | Refusal::Amount),
            ) => Self::Refused(refusal),
        }
    }
}

/// Transactions that producers took in, by whom to ask next.
#[derive(Debug)]
pub(crate) struct Forwarded {
    /// By the height at which to ask, and by place.
    waiting: BTreeMap<Route, BTreeMap<(u64, u64), Taken>>,
    /// Who is being asked.
    asked: BTreeSet<Route>,
    /// Who was asked last.
    last: Option<Route>,
    /// At which height a producer was handed a list.
    handed: BTreeMap<Route, u64>,
    /// All that is kept.
    kept: BTreeSet<Digest>,
    /// What no chunk can have.
    refused: Refused,
    places: u64,
    metrics: Arc<Metrics>,
}

/// The producer after that at `route`, one of so many.
fn next((shard, turn): Route, producers: u64) -> Route {
    let turn = turn.saturating_add(1).checked_rem(producers);
    (shard, turn.unwrap_or_default())
}

impl Forwarded {
    pub(crate) fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            waiting: BTreeMap::new(),
            asked: BTreeSet::new(),
            last: None,
            handed: BTreeMap::new(),
            kept: BTreeSet::new(),
            refused: Refused::default(),
            places: 0,
            metrics,
        }
    }

    /// Whether nothing is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// What this node knows of a transaction of which a producer says that no chunk
    /// has it.
    pub(crate) fn fate(&self, hash: &Digest) -> Fate {
        if self.kept.contains(hash) {
            return Fate::Pending;
        }
        let refusal = self.refused.why(hash);
        refusal.map_or(Fate::Unknown, Fate::LetGo)
    }

    /// The producer at `route`, one of so many, took a transaction in at `height`.
    pub(crate) fn taken(
        &mut self,
        route: Route,
        producers: u64,
        transaction: Transaction,
        height: u64,
    ) {
        let hash = transaction.hash();
        if self.kept.contains(&hash) {
            return;
        }
        if self.kept.len() >= FORWARDED {
            self.metrics.ended(End::Room);
            return;
        }
        self.kept.insert(hash);
        self.refused.forget(&hash);
        self.metrics.kept(self.kept.len());
        self.places += 1;
        let taken = Taken {
            transaction,
            place: self.places,
            answers: 0,
            known: false,
            refusals: 0,
        };
        let turns = TURNS.saturating_mul(producers);
        self.wait(next(route, producers), taken, height.saturating_add(turns));
    }

    /// Has the producer at `route` be asked about a transaction at `height`.
    fn wait(&mut self, route: Route, taken: Taken, height: u64) {
        let waiting = self.waiting.entry(route).or_default();
        waiting.insert((height, taken.place), taken);
    }

    /// What one producer is to be asked about at `height`; [`Self::answered`] has
    /// to follow.
    pub(crate) fn due(&mut self, height: u64) -> Option<Due> {
        if self.asked.len() >= LISTS {
            return None;
        }
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let routes = self.waiting.range((after, Bound::Unbounded));
        let (route, _) = routes.chain(&self.waiting).find(|(route, waiting)| {
            let first = waiting.first_key_value();
            !self.asked.contains(route) && first.is_some_and(|((due, _), _)| *due <= height)
        })?;
        let route = *route;
        let waiting = self.waiting.get_mut(&route)?;
        let mut taken = Vec::new();
        while taken.len() < MOST_TOGETHER
            && let Some(first) = waiting.first_entry()
            && first.key().0 <= height
        {
            taken.push(first.remove());
        }
        if waiting.is_empty() {
            self.waiting.remove(&route);
        }
        self.asked.insert(route);
        self.last = Some(route);
        Some(Due { route, taken })
    }

    /// Leaves out what has expired in a shard that executed up to `executed`.
    pub(crate) fn leave_expired(&mut self, due: &mut Due, executed: u64) {
        let over = |one: &mut Taken| one.transaction.expired(executed.saturating_add(1));
        for taken in due.taken.extract_if(.., over) {
            let hash = taken.transaction.hash();
            self.let_go(&hash, End::Expired);
            self.refused.note(hash, Refusal::Expired);
        }
    }

    /// Whether the producer at `route` may be handed a list at `height`, which it
    /// then is.
    pub(crate) fn may_hand(&mut self, route: Route, height: u64) -> bool {
        let before = self.handed.insert(route, height);
        before != Some(height)
    }

    /// Has a producer that may not be handed these now be asked again in the next
    /// block.
    pub(crate) fn postpone(&mut self, due: Due, height: u64) {
        for taken in due.taken {
            self.wait(due.route, taken, height.saturating_add(1));
        }
        self.answered(&due.route);
    }

    /// The producer at `route`, one of so many, was asked about a transaction.
    pub(crate) fn was_asked(
        &mut self,
        route: Route,
        producers: u64,
        mut taken: Taken,
        said: Said,
        height: u64,
    ) {
        taken.answers += u64::from(said != Said::Silence);
        taken.known |= said == Said::Outcome;
        taken.refusals += u64::from(matches!(said, Said::Refused(_)));
        if taken.answers >= producers {
            let hash = taken.transaction.hash();
            let end = if taken.known || taken.refusals > 0 {
                End::Known
            } else {
                End::GivenUp
            };
            self.let_go(&hash, end);
            // As long as one may have it in its pool, it is not at an end.
            if let Said::Refused(refusal) = said
                && taken.refusals == taken.answers
            {
                self.refused.note(hash, refusal);
            }
            return;
        }
        let turns = match said {
            Said::Silence | Said::Little => TURNS.saturating_mul(producers),
            Said::Outcome | Said::Refused(_) => 0,
        };
        self.wait(next(route, producers), taken, height.saturating_add(turns));
    }

    /// The producer at `route` is not being asked any more.
    pub(crate) fn answered(&mut self, route: &Route) {
        self.asked.remove(route);
    }

    fn let_go(&mut self, hash: &Digest, end: End) {
        self.kept.remove(hash);
        self.metrics.kept(self.kept.len());
        self.metrics.ended(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use prometheus_client::registry::Registry;
    use shardnode_primitives::{AccountId, Namespaces, Transfer};

    const SHARD: ShardId = ShardId(1);

    fn forwarded() -> Forwarded {
        Forwarded::new(Arc::new(Metrics::new(&mut Registry::default())))
    }

    fn expiring(nonce: u64, expires_at: u64) -> Transaction {
        let transfer = Transfer {
            signer: AccountId([1; 32]),
            receiver: AccountId([2; 32]),
            amount: 1,
            nonce,
            expires_at,
        };
        let namespaces = Namespaces::new("test", &Digest([3; 32]));
        transfer.sign(&PrivateKey::from_seed(1), &namespaces)
    }

    fn transaction(nonce: u64) -> Transaction {
        expiring(nonce, 0)
    }

    fn nonces(due: &Due) -> Vec<u64> {
        let nonces = due.taken.iter().map(|one| one.transaction.nonce());
        nonces.collect()
    }

    impl Forwarded {
        /// The producers say all the same.
        fn say(&mut self, due: Due, producers: u64, said: Said, height: u64) {
            for taken in due.taken {
                self.was_asked(due.route, producers, taken, said, height);
            }
            self.answered(&due.route);
        }
    }

    #[test]
    fn each_producer_is_asked_once_and_the_first_one_last() {
        let mut forwarded = forwarded();
        forwarded.taken((SHARD, 2), 3, transaction(1), 10);
        forwarded.taken((SHARD, 2), 3, transaction(2), 10);
        forwarded.taken((SHARD, 2), 3, transaction(2), 10);
        assert!(forwarded.due(10 + 3 * TURNS - 1).is_none());
        let mut height = 10;
        for next in [0, 1, 2] {
            height += 3 * TURNS;
            assert_eq!(forwarded.fate(&transaction(1).hash()), Fate::Pending);
            let due = forwarded.due(height).unwrap();
            assert_eq!((due.route, nonces(&due)), ((SHARD, next), vec![1, 2]));
            forwarded.say(due, 3, Said::Little, height);
        }
        assert!(forwarded.due(u64::MAX).is_none());
        assert!(forwarded.is_empty());
        assert_eq!(forwarded.fate(&transaction(1).hash()), Fate::Unknown);
    }

    /// It may have lost its pool, and may still be down.
    #[test]
    fn a_lone_producer_is_asked_again_until_it_answers() {
        let mut forwarded = forwarded();
        forwarded.taken((SHARD, 0), 1, transaction(1), 10);
        for (place, said) in [Said::Silence, Said::Silence, Said::Little]
            .iter()
            .enumerate()
        {
            let height = 10 + TURNS * (place as u64 + 1);
            assert!(forwarded.due(height - 1).is_none());
            let due = forwarded.due(height).unwrap();
            assert_eq!(due.route, (SHARD, 0));
            forwarded.say(due, 1, *said, height);
        }
        assert!(forwarded.is_empty());
    }

    /// Whoever lies that a transaction was executed keeps nobody from being asked.
    #[test]
    fn what_a_producer_says_is_asked_of_the_next_at_once() {
        let mut forwarded = forwarded();
        forwarded.taken((SHARD, 0), 3, transaction(1), 10);
        for next in [1, 2, 0] {
            let due = forwarded.due(10 + 3 * TURNS).unwrap();
            assert_eq!(due.route, (SHARD, next));
            forwarded.say(due, 3, Said::Outcome, 10 + 3 * TURNS);
        }
        assert!(forwarded.is_empty());
    }

    #[test]
    fn what_all_producers_refuse_is_known_unless_one_may_have_it() {
        let refused = Said::Refused(Refusal::Nonce);
        for (first, end) in [
            (refused, Fate::LetGo(Refusal::Nonce)),
            (Said::Little, Fate::Unknown),
            (Said::Outcome, Fate::Unknown),
        ] {
            let mut forwarded = forwarded();
            forwarded.taken((SHARD, 0), 2, transaction(1), 10);
            for said in [first, refused] {
                let hash = transaction(1).hash();
                assert_eq!(forwarded.fate(&hash), Fate::Pending);
                let due = forwarded.due(1_000).unwrap();
                forwarded.say(due, 2, said, 10);
            }
            assert_eq!(forwarded.fate(&transaction(1).hash()), end);
            // Taken in again it is passed on again.
            forwarded.taken((SHARD, 0), 2, transaction(1), 10);
            assert_eq!(forwarded.fate(&transaction(1).hash()), Fate::Pending);
        }
    }

    #[test]
    fn what_has_expired_is_not_kept_and_known() {
        let mut forwarded = forwarded();
        forwarded.taken((SHARD, 0), 2, expiring(1, 20), 10);
        forwarded.taken((SHARD, 0), 2, expiring(2, 21), 10);
        let mut due = forwarded.due(1_000).unwrap();
        forwarded.leave_expired(&mut due, 18);
        assert_eq!(nonces(&due), [1, 2]);
        // A chunk at height 20 does not execute the first, one at height 20 would
        // the second.
        forwarded.leave_expired(&mut due, 19);
        assert_eq!(nonces(&due), [2]);
        let expired = Fate::LetGo(Refusal::Expired);
        assert_eq!(forwarded.fate(&expiring(1, 20).hash()), expired);
        assert_eq!(forwarded.fate(&expiring(2, 21).hash()), Fate::Pending);
    }

    #[test]
    fn a_producer_is_handed_one_list_in_a_block() {
        let mut forwarded = forwarded();
        forwarded.taken((SHARD, 0), 2, transaction(1), 10);
        assert!(forwarded.may_hand((SHARD, 1), 100));
        let due = forwarded.due(100).unwrap();
        assert!(!forwarded.may_hand((SHARD, 1), 100));
        forwarded.postpone(due, 100);
        assert!(forwarded.due(100).is_none());
        let due = forwarded.due(101).unwrap();
        assert_eq!((due.route, nonces(&due)), ((SHARD, 1), vec![1]));
        assert!(forwarded.may_hand((SHARD, 1), 101));
    }

    #[test]
    fn lists_are_bounded_and_one_is_under_way_to_a_producer() {
        let mut forwarded = forwarded();
        let all = MOST_TOGETHER as u64 + 5;
        for nonce in 0..all {
            forwarded.taken((SHARD, 0), 2, transaction(nonce), 10);
        }
        let first = forwarded.due(1_000).unwrap();
        assert_eq!(first.taken.len(), MOST_TOGETHER);
        assert!(forwarded.due(1_000).is_none());
        forwarded.answered(&first.route);
        let rest = forwarded.due(1_000).unwrap();
        let expected: Vec<_> = (MOST_TOGETHER as u64..all).collect();
        assert_eq!(nonces(&rest), expected);
    }

    #[test]
    fn producers_take_turns_and_so_many_are_asked_at_a_time() {
        let mut forwarded = forwarded();
        for shard in 0..=LISTS {
            let number = u16::try_from(shard).unwrap();
            forwarded.taken((ShardId(number), 0), 2, transaction(number.into()), 10);
        }
        let asked: Vec<_> = (0..LISTS)
            .map(|_| forwarded.due(1_000).unwrap().route)
            .collect();
        assert!(forwarded.due(1_000).is_none());
        forwarded.answered(&asked[0]);
        let last = forwarded.due(1_000).unwrap().route;
        assert!(!asked.contains(&last));
    }

    #[test]
    fn so_many_are_kept() {
        let mut forwarded = forwarded();
        let Transaction::Transfer(mut one) = transaction(0);
        for nonce in 0..FORWARDED as u64 + 2 {
            one.transfer.nonce = nonce;
            forwarded.taken((SHARD, 0), 2, Transaction::Transfer(one.clone()), 10);
        }
        assert_eq!(forwarded.kept.len(), FORWARDED);
    }
}
