// SPDX-License-Identifier: Apache-2.0
//! Whom this node asks: not who said nothing, and nobody too much.
//!
//! `commonware-resolver` asks one peer for one thing at a time, and waits for as
//! long as a large answer may take. Of those that have the thing it picks one by
//! chance, and the likelier the more it answered before. So a peer that is asked
//! and says nothing could be picked again and again, and hold back whoever needs
//! what it has: receipts, which nobody else has but the other producers of two
//! shards, above all.
//!
//! Each question that a peer leaves without an answer for [`SILENT`] makes it
//! *owe* one. Who owes is passed over the next time that it is picked, and owes
//! one less: the resolver asks another peer at once, or this one after a pause if
//! nobody else has it. Having nothing is an answer. Nothing but being passed over
//! makes up for silence, or a peer could answer what does not matter. It owes
//! [`MOST`] at most, so one that comes back is soon asked again.
//!
//! And no peer is asked faster, nor has more questions open, than it can answer on
//! the channel beside its own questions ([`limits`](crate::limits)): what it would
//! not answer, it would owe. What is not asked of it now is asked of another one, or
//! after a pause.

use crate::Pace;
use commonware_cryptography::ed25519::PublicKey;
use commonware_runtime::Clock;
use prometheus_client::metrics::counter::Counter;
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

/// How long an answer may take. No resolver waits for less before it asks anew.
pub const SILENT: Duration = Duration::from_secs(1);
/// What a peer owes at most.
pub const MOST: u32 = 8;

/// What one peer was asked and has not answered.
#[derive(Debug, Default)]
struct Asked {
    /// When, by the questions' numbers, which rise.
    open: BTreeMap<u64, SystemTime>,
    owes: u32,
    /// Until when its questions take.
    taken: Option<SystemTime>,
}

impl Asked {
    /// Counts what it left without an answer by now.
    fn overdue(&mut self, now: SystemTime) -> u64 {
        let silent = |asked: SystemTime| now.duration_since(asked).unwrap_or_default() >= SILENT;
        let mut overdue = 0;
        while let Some(oldest) = self.open.first_entry().filter(|asked| silent(*asked.get())) {
            oldest.remove();
            overdue += 1;
        }
        let owes = u32::try_from(overdue).unwrap_or(u32::MAX);
        self.owes = self.owes.saturating_add(owes).min(MOST);
        overdue
    }

    /// Whether it is passed over, which makes up for one.
    const fn is_passed_over(&mut self) -> bool {
        let passed = self.owes > 0;
        self.owes = self.owes.saturating_sub(1);
        passed
    }

    /// Whether there is room for another question.
    fn has_room(&mut self, pace: Pace, now: SystemTime) -> bool {
        let taken = self.taken.get_or_insert(now);
        self.open.len() < pace.burst as usize && pace.admits(taken, now)
    }
}

/// What peers were asked on one channel and have not answered.
pub(crate) struct Questioned<C> {
    clock: Arc<C>,
    pace: Pace,
    unanswered: Counter,
    peers: Mutex<BTreeMap<PublicKey, Asked>>,
}

impl<C> fmt::Debug for Questioned<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questioned")
            .field("unanswered", &self.unanswered)
            .finish_non_exhaustive()
    }
}

impl<C: Clock> Questioned<C> {
    /// Nothing yet; no peer is asked faster than at this pace, or has more questions
    /// open than its burst. `unanswered` counts those that stay without an answer.
    pub(crate) fn new(clock: Arc<C>, pace: Pace, unanswered: Counter) -> Self {
        Self {
            clock,
            pace,
            unanswered,
            peers: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PublicKey, Asked>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a peer is asked this time.
    pub(crate) fn may_ask(&self, peer: &PublicKey) -> bool {
        let now = self.clock.current();
        let mut peers = self.lock();
        let asked = peers.entry(peer.clone()).or_default();
        self.unanswered.inc_by(asked.overdue(now));
        !asked.is_passed_over() && asked.has_room(self.pace, now)
    }

    /// A peer is sent the question of this number.
    pub(crate) fn asks(&self, peer: &PublicKey, number: u64) {
        let now = self.clock.current();
        let mut peers = self.lock();
        let asked = peers.entry(peer.clone()).or_default();
        asked.open.insert(number, now);
    }

    /// A peer answered the question of this number.
    pub(crate) fn answered(&self, peer: &PublicKey, number: u64) {
        if let Some(asked) = self.lock().get_mut(peer) {
            asked.open.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(ms)
    }

    #[test]
    fn who_says_nothing_is_passed_over_once_for_each_question() {
        let mut asked = Asked::default();
        asked.open.insert(1, at(0));
        asked.open.insert(2, at(500));
        assert_eq!(asked.overdue(at(999)), 0);
        assert!(!asked.is_passed_over());
        assert_eq!(asked.overdue(at(1_499)), 1);
        assert_eq!(asked.overdue(at(1_500)), 1);
        assert_eq!(asked.overdue(at(9_000)), 0, "each counts once");
        assert!(asked.is_passed_over() && asked.is_passed_over());
        assert!(!asked.is_passed_over());
    }

    #[test]
    fn an_answer_in_time_leaves_nothing_to_make_up_for() {
        let mut asked = Asked::default();
        asked.open.insert(1, at(0));
        asked.open.remove(&1);
        assert_eq!(asked.overdue(at(1_000)), 0);
        assert!(!asked.is_passed_over());
    }

    #[test]
    fn a_peer_that_comes_back_is_soon_asked_again() {
        let mut asked = Asked::default();
        for number in 0..100 {
            asked.open.insert(number, at(0));
        }
        assert_eq!(asked.overdue(at(1_000)), 100);
        let passed = (0..100).filter(|_| asked.is_passed_over()).count();
        assert_eq!(passed, MOST as usize);
    }

    #[test]
    fn so_many_questions_are_open_and_no_more_are_asked_in_a_time() {
        let pace = Pace {
            interval: Duration::from_millis(10),
            burst: 4,
        };
        let mut asked = Asked::default();
        let mut answered = Asked::default();
        let ask = |asked: &mut Asked, answers: bool, now| {
            let some = (0..100).filter(|number| {
                let room = asked.has_room(pace, at(now));
                if room && !answers {
                    asked.open.insert(now + number, at(now));
                }
                room
            });
            some.count()
        };
        assert_eq!(
            [0, 500, 999].map(|now| ask(&mut asked, false, now)),
            [4, 0, 0]
        );
        assert_eq!(
            [0, 20, 500].map(|now| ask(&mut answered, true, now)),
            [4, 2, 4]
        );
        // Who said nothing owes, and has room again.
        assert_eq!(asked.overdue(at(1_000)), 4);
        assert_eq!(ask(&mut asked, false, 1_000), 4);
    }

    #[test]
    fn a_clock_that_goes_back_makes_nobody_owe() {
        let mut asked = Asked::default();
        asked.open.insert(1, at(5_000));
        assert_eq!(asked.overdue(at(0)), 0);
    }
}
