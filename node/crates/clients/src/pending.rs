// SPDX-License-Identifier: Apache-2.0
//! The questions that this node has under way at others.
//!
//! They are looked at when their time is over and not with each message: peers
//! send many. Those whose clients have gone make room with the next ones: each
//! that begins has [`LOOKED_AT`] looked at, one after the other in a circle.

use crate::{
    budget::{LISTED, QUESTIONS},
    forwarded::Route,
};
use commonware_cryptography::ed25519::PublicKey;
use commonware_utils::channel::oneshot;
use shardnode_network::client_messages::{Answer, Question};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    time::SystemTime,
};

/// How many are looked at when one begins.
const LOOKED_AT: usize = 32;

/// Who wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// A client.
    Client,
    /// A client, because a producer did not answer.
    ClientAgain,
    /// This node, of what it passed on.
    Own,
}

/// A question that was not answered yet.
pub(crate) struct Pending {
    pub(crate) asked: PublicKey,
    /// Its turn.
    pub(crate) route: Route,
    /// For whom it was asked.
    pub(crate) of: Asker,
    /// The question again, if it hands over a client's transactions.
    pub(crate) submitted: Option<Question>,
    /// How many transactions it is about.
    pub(crate) listed: usize,
    /// Whether it is for a body.
    pub(crate) body: bool,
    pub(crate) deadline: SystemTime,
    pub(crate) reply: oneshot::Sender<Answer>,
}

/// All of them.
#[derive(Default)]
pub(crate) struct AllPending {
    questions: BTreeMap<u64, Pending>,
    deadlines: BTreeSet<(SystemTime, u64)>,
    listed: usize,
    /// The last one that was looked at.
    looked_at: u64,
}

impl AllPending {
    /// Whether there is room for a question about so many transactions.
    pub(crate) fn has_room(&mut self, listed: usize) -> bool {
        self.let_go();
        self.questions.len() < QUESTIONS && self.listed + listed <= LISTED
    }

    /// Lets go of some that nobody waits for an answer to any more. A body is under
    /// way at the peer even if its client has gone.
    fn let_go(&mut self) {
        let after = (Bound::Excluded(self.looked_at), Bound::Unbounded);
        let circle = self.questions.range(after).chain(&self.questions);
        let some = circle.take(LOOKED_AT.min(self.questions.len()));
        let some: Vec<_> = some
            .map(|(number, pending)| (*number, !pending.body && pending.reply.is_closed()))
            .collect();
        for (number, gone) in some {
            self.looked_at = number;
            if gone {
                self.remove(number);
            }
        }
    }

    pub(crate) fn insert(&mut self, number: u64, pending: Pending) {
        self.listed += pending.listed;
        self.deadlines.insert((pending.deadline, number));
        self.questions.insert(number, pending);
    }

    fn remove(&mut self, number: u64) -> Option<Pending> {
        let pending = self.questions.remove(&number)?;
        self.deadlines.remove(&(pending.deadline, number));
        self.listed = self.listed.saturating_sub(pending.listed);
        Some(pending)
    }

    /// The question with this number, which is answered, if `peer` was asked it.
    pub(crate) fn answered(&mut self, number: u64, peer: &PublicKey) -> Option<Pending> {
        let pending = self.questions.get(&number)?;
        if pending.asked != *peer {
            return None;
        }
        self.remove(number)
    }

    /// One whose time is over.
    pub(crate) fn over(&mut self, now: SystemTime) -> Option<Pending> {
        let (deadline, number) = *self.deadlines.first()?;
        if deadline > now {
            return None;
        }
        self.remove(number)
    }

    /// When the time of one is over next.
    pub(crate) fn next_over(&self) -> Option<SystemTime> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Bodies that a peer is asked for.
    pub(crate) fn bodies_asked(&self, peer: &PublicKey) -> usize {
        self.questions
            .values()
            .filter(|pending| pending.body && pending.asked == *peer)
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use shardnode_primitives::ShardId;
    use std::time::Duration;

    fn peer(seed: u64) -> PublicKey {
        PrivateKey::from_seed(seed).public_key()
    }

    fn at(second: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(second)
    }

    /// A question that is over at a second, and who waits for the answer.
    fn question(listed: usize, second: u64) -> (Pending, oneshot::Receiver<Answer>) {
        let (reply, response) = oneshot::channel();
        let pending = Pending {
            asked: peer(1),
            route: (ShardId(0), 0),
            of: Asker::Client,
            submitted: None,
            listed,
            body: false,
            deadline: at(second),
            reply,
        };
        (pending, response)
    }

    #[test]
    fn those_that_are_over_come_in_their_order() {
        let mut all = AllPending::default();
        let seconds = [(1, 5), (2, 3), (3, 4), (4, 9)];
        let responses = seconds.map(|(number, second)| {
            let (pending, response) = question(1, second);
            all.insert(number, pending);
            response
        });
        assert_eq!(all.next_over(), Some(at(3)));
        assert!(all.over(at(2)).is_none());
        // Only whoever was asked answers.
        assert!(all.answered(3, &peer(2)).is_none());
        assert!(all.answered(3, &peer(1)).is_some());
        let over: Vec<_> = std::iter::from_fn(|| all.over(at(5)))
            .map(|pending| pending.deadline)
            .collect();
        assert_eq!(over, [at(3), at(5)]);
        assert_eq!((all.next_over(), all.listed), (Some(at(9)), 1));
        drop(responses);
    }

    #[test]
    fn those_whose_clients_have_gone_make_room() {
        let mut all = AllPending::default();
        let mut waiting = Vec::new();
        for number in 0..QUESTIONS as u64 {
            assert!(all.has_room(1));
            let (pending, response) = question(1, 5);
            all.insert(number, pending);
            waiting.push(response);
        }
        assert!(!all.has_room(1));
        // The last ones go, and are come to in time.
        waiting.truncate(QUESTIONS - 2);
        let come_to = (0..QUESTIONS / LOOKED_AT).filter(|_| all.has_room(1));
        assert!(come_to.count() > 0);
        assert_eq!(all.questions.len(), QUESTIONS - 2);
        assert_eq!(all.deadlines.len(), QUESTIONS - 2);

        // A body is under way all the same.
        let (mut body, _) = question(0, 6);
        body.body = true;
        all.insert(5_000, body);
        waiting.clear();
        for _ in 0..QUESTIONS {
            assert!(all.has_room(0));
        }
        assert_eq!((all.questions.len(), all.bodies_asked(&peer(1))), (1, 1));
        assert_eq!(all.listed, 0);
        assert!(all.has_room(LISTED) && !all.has_room(LISTED + 1));
    }
}
