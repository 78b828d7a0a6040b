// SPDX-License-Identifier: Apache-2.0
//! Turns at what clients and peers have this node do.
//!
//! So much is under way at a time, and whoever waits for it is served in a
//! circle, by who they are and not by when they came: this node's own clients
//! are one of them, and every peer is one. Each has in its turn as much done as
//! the longest list takes, in as many pieces as it likes. So whoever asks for much
//! waits for itself, and everybody else for one list of each that waits.

use commonware_cryptography::ed25519::PublicKey;
use commonware_utils::channel::oneshot;
use shardnode_network::client_messages::MOST_TOGETHER;
use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// What is done for one in its turn: as much as for so many transactions in a list.
const SHARE: usize = MOST_TOGETHER;

/// Who has something done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Caller {
    /// The clients that talk to this node.
    Clients,
    /// Another node.
    Peer(PublicKey),
}

/// Who waits, and for how much.
#[derive(Clone)]
pub(crate) struct Turns(Arc<Mutex<State>>);

struct State {
    /// How many more may be under way.
    free: usize,
    /// Those who wait, each in the order in which they came. What waits is bounded
    /// by what each may ask for.
    waiting: BTreeMap<Caller, VecDeque<Waiting>>,
    /// Whose turn it is, and what is left of its share.
    turn: Option<(Caller, usize)>,
}

struct Waiting {
    work: usize,
    reply: oneshot::Sender<Turn>,
}

/// Something that is under way, until this is dropped.
pub(crate) struct Turn(Turns);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.lock().free += 1;
        self.0.give();
    }
}

impl Turns {
    /// So many things are under way at a time.
    pub(crate) fn new(at_a_time: usize) -> Self {
        Self(Arc::new(Mutex::new(State {
            free: at_a_time,
            waiting: BTreeMap::new(),
            turn: None,
        })))
    }

    /// Waits for a turn for work that is as much as for so many transactions.
    ///
    /// There is always one: who waits is let go of with these turns alone.
    pub(crate) async fn take(&self, caller: Caller, work: usize) -> Option<Turn> {
        let (reply, response) = oneshot::channel();
        let waiting = Waiting { work, reply };
        self.lock().wait(caller, waiting);
        self.give();
        response.await.ok()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give(&self) {
        loop {
            // It comes back with whoever has gone meanwhile, so not under the lock.
            let next = self.lock().next();
            let Some(reply) = next else { return };
            let _ = reply.send(Turn(self.clone()));
        }
    }
}

impl State {
    fn wait(&mut self, caller: Caller, waiting: Waiting) {
        self.waiting.entry(caller).or_default().push_back(waiting);
    }

    /// Who is next, if there is room for it.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        if self.free == 0 {
            return None;
        }
        loop {
            let (caller, left) = self.whose()?;
            let waiting = self.waiting.get_mut(&caller)?;
            let first = waiting.pop_front();
            if waiting.is_empty() {
                self.waiting.remove(&caller);
            }
            // Nothing is done for who has gone.
            if let Some(Waiting { work, reply }) = first
                && !reply.is_closed()
            {
                self.free -= 1;
                self.turn = Some((caller, left.saturating_sub(work)));
                return Some(reply);
            }
        }
    }

    /// Whose turn it is, and its share: still that of the last one, as long as the
    /// share is enough, or else that of the next one in the circle.
    fn whose(&self) -> Option<(Caller, usize)> {
        let after = match &self.turn {
            Some((caller, left)) => {
                let waiting = self.waiting.get(caller);
                let first = waiting.and_then(|waiting| waiting.front());
                if first.is_some_and(|first| first.work <= *left) {
                    return Some((caller.clone(), *left));
                }
                Bound::Excluded(caller)
            }
            None => Bound::Unbounded,
        };
        let mut next = self.waiting.range((after, Bound::Unbounded));
        let (caller, _) = next.next().or_else(|| self.waiting.first_key_value())?;
        Some((caller.clone(), SHARE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use futures::{
        FutureExt as _,
        future::{BoxFuture, select_all},
    };

    fn peer(seed: u64) -> Caller {
        Caller::Peer(PrivateKey::from_seed(seed).public_key())
    }

    /// Waits for turns with so much work each.
    fn wait<'a>(
        turns: &'a Turns,
        caller: &Caller,
        work: usize,
        times: usize,
    ) -> Vec<BoxFuture<'a, (Caller, Turn)>> {
        let one = || {
            let who = caller.clone();
            let turn = turns.take(who.clone(), work);
            let mut taken = turn.map(move |turn| (who, turn.unwrap())).boxed();
            assert!((&mut taken).now_or_never().is_none());
            taken
        };
        (0..times).map(|_| one()).collect()
    }

    /// Gives one turn after the other, and says who had them.
    fn order(mut all: Vec<BoxFuture<'_, (Caller, Turn)>>, held: Turn) -> Vec<Caller> {
        drop(held);
        let mut order = Vec::new();
        while !all.is_empty() {
            let ((caller, turn), _, rest) = select_all(all).now_or_never().unwrap();
            order.push(caller);
            all = rest;
            drop(turn);
        }
        order
    }

    fn hold(turns: &Turns) -> Turn {
        let turn = turns.take(Caller::Clients, SHARE).now_or_never();
        turn.unwrap().unwrap()
    }

    #[test]
    fn who_waits_is_served_in_a_circle() {
        let turns = Turns::new(1);
        let held = hold(&turns);
        let (one, other) = (peer(1), peer(2));
        let mut all = wait(&turns, &one, SHARE, 40);
        all.extend(wait(&turns, &other, SHARE, 2));
        all.extend(wait(&turns, &Caller::Clients, SHARE, 2));
        let order = order(all, held);
        let place = |caller: &Caller, which: usize| {
            let mut places = order.iter().enumerate().filter(|(_, who)| *who == caller);
            places.nth(which).unwrap().0
        };
        assert!(place(&other, 0) < 3 && place(&Caller::Clients, 0) < 3);
        assert!(place(&other, 1) < 6 && place(&Caller::Clients, 1) < 6);
        assert_eq!(order.len(), 44);
    }

    #[test]
    fn small_work_comes_to_a_share() {
        let turns = Turns::new(1);
        let held = hold(&turns);
        let (one, other) = (peer(1), peer(2));
        let mut all = wait(&turns, &one, 1, 2 * SHARE);
        all.extend(wait(&turns, &other, SHARE, 2));
        let order = order(all, held);
        let runs: Vec<_> = order
            .chunk_by(|a, b| a == b)
            .map(|run| (run[0].clone(), run.len()))
            .collect();
        let mut lengths: Vec<_> = runs.iter().map(|(_, length)| *length).collect();
        assert_ne!(runs[0].0, runs[1].0);
        lengths.sort_unstable();
        assert_eq!(lengths, [1, 1, SHARE, SHARE]);
    }

    #[test]
    fn so_many_are_under_way_and_who_has_gone_takes_none() {
        let turns = Turns::new(2);
        let (first, second) = (hold(&turns), hold(&turns));
        let mut gone = wait(&turns, &peer(1), SHARE, 10);
        let mut all = wait(&turns, &peer(2), SHARE, 1);
        // One goes before its turn comes, the others with theirs at hand.
        drop(gone.pop());
        drop(first);
        drop(second);
        drop(gone);
        let (_, turn) = all.remove(0).now_or_never().unwrap();
        let (another, none) = (hold(&turns), wait(&turns, &peer(3), 1, 1));
        drop((turn, another));
        drop(none);
        assert_eq!(turns.lock().free, 2);
        assert!(turns.lock().waiting.is_empty());
    }
}
