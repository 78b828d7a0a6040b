// SPDX-License-Identifier: Apache-2.0
//! Whom this node asks again: not who said nothing.
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
/// Questions to one peer that are remembered until it answers.
const QUESTIONS: usize = 1_024;

/// What one peer was asked and has not answered.
#[derive(Debug, Default)]
struct Asked {
    /// When, by the questions' numbers, which rise.
    open: BTreeMap<u64, SystemTime>,
    owes: u32,
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

    fn ask(&mut self, number: u64, now: SystemTime) {
        self.open.insert(number, now);
        while self.open.len() > QUESTIONS {
            self.open.pop_first();
        }
    }
}

/// What peers were asked on one channel and have not answered.
pub(crate) struct Questioned<C> {
    clock: Arc<C>,
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
    /// Nothing yet; `unanswered` counts the questions that stay without an answer.
    pub(crate) fn new(clock: Arc<C>, unanswered: Counter) -> Self {
        Self {
            clock,
            unanswered,
            peers: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PublicKey, Asked>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a peer is not asked this time.
    pub(crate) fn passes_over(&self, peer: &PublicKey) -> bool {
        let now = self.clock.current();
        let mut peers = self.lock();
        let asked = peers.entry(peer.clone()).or_default();
        self.unanswered.inc_by(asked.overdue(now));
        asked.is_passed_over()
    }

    /// A peer is sent the question of this number.
    pub(crate) fn asks(&self, peer: &PublicKey, number: u64) {
        let now = self.clock.current();
        self.lock()
            .entry(peer.clone())
            .or_default()
            .ask(number, now);
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
        asked.ask(1, at(0));
        asked.ask(2, at(500));
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
        asked.ask(1, at(0));
        asked.open.remove(&1);
        assert_eq!(asked.overdue(at(1_000)), 0);
        assert!(!asked.is_passed_over());
    }

    #[test]
    fn a_peer_that_comes_back_is_soon_asked_again() {
        let mut asked = Asked::default();
        for number in 0..100 {
            asked.ask(number, at(0));
        }
        assert_eq!(asked.overdue(at(1_000)), 100);
        let passed = (0..100).filter(|_| asked.is_passed_over()).count();
        assert_eq!(passed, MOST as usize);
    }

    #[test]
    fn so_many_questions_are_remembered() {
        let mut asked = Asked::default();
        for number in 0..3 * QUESTIONS as u64 {
            asked.ask(number, at(0));
        }
        assert_eq!(asked.open.len(), QUESTIONS);
    }

    #[test]
    fn a_clock_that_goes_back_makes_nobody_owe() {
        let mut asked = Asked::default();
        asked.ask(1, at(5_000));
        assert_eq!(asked.overdue(at(0)), 0);
    }
}
