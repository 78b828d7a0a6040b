// SPDX-License-Identifier: Apache-2.0
//! What one peer asked and was sent.

use super::terms::Allowance;
use crate::Pace;
use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

/// What an answer counts at least: looking for what is not there takes time, too.
const LEAST: u64 = 4 << 10;
/// How long a question is under way at most. Its answer is not coming any more, and
/// what it counted as has been made up for.
const FORGOTTEN: Duration = Duration::from_secs(5);

/// What one peer was sent and has not been made up for, as of `at`.
#[derive(Debug, Default)]
pub(super) struct Budget {
    bytes: u64,
    at: Option<SystemTime>,
    /// What its questions count as that are not answered, and since when, by their
    /// numbers.
    asked: BTreeMap<u64, (u64, SystemTime)>,
    /// Until when the refusals take that it was told of.
    told: Option<SystemTime>,
}

impl Budget {
    /// Takes a question of this price, if it fits into the allowance and so many may
    /// be under way.
    pub(super) fn take(
        &mut self,
        number: u64,
        price: u64,
        (allowance, questions): (Allowance, Pace),
        now: SystemTime,
    ) -> bool {
        let open = questions.burst as usize;
        let passed = self.at.and_then(|at| now.duration_since(at).ok());
        let passed = passed.unwrap_or_default().as_millis();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        let recovered = allowance.rate.saturating_mul(passed) / 1_000;
        self.bytes = self.bytes.saturating_sub(recovered);
        self.at = Some(now);
        let bytes = self.bytes.saturating_add(price);
        if bytes > allowance.bytes || self.asked.contains_key(&number) {
            return false;
        }
        if self.asked.len() >= open {
            let age = |since| now.duration_since(since).unwrap_or_default();
            self.asked.retain(|_, (_, since)| age(*since) < FORGOTTEN);
        }
        if self.asked.len() >= open {
            return false;
        }
        self.bytes = bytes;
        self.asked.insert(number, (price, now));
        true
    }

    /// The question of this number is answered with so many bytes.
    pub(super) fn answered(&mut self, number: u64, bytes: u64) {
        if let Some((price, _)) = self.asked.remove(&number) {
            let unused = price.saturating_sub(bytes.max(LEAST));
            self.bytes = self.bytes.saturating_sub(unused);
        }
    }

    /// Whether the peer is told that it is refused something: as often as it asks if
    /// it keeps to this pace.
    pub(super) fn is_told(&mut self, questions: Pace, now: SystemTime) -> bool {
        questions.admits(self.told.get_or_insert(now), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const OPEN: Pace = Pace {
        interval: Duration::from_millis(10),
        burst: 8,
    };
    const ALLOWANCE: Allowance = Allowance {
        bytes: 1_000,
        rate: 100,
    };

    fn at(second: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(second)
    }

    #[test]
    fn bytes_are_bounded_and_come_back_with_time() {
        let mut budget = Budget::default();
        let mut taken =
            |number, price, second| budget.take(number, price, (ALLOWANCE, OPEN), at(second));
        assert!(taken(1, 600, 0));
        assert!(!taken(2, 600, 0));
        assert!(taken(3, 400, 0), "the rest");
        assert!(!taken(4, 600, 5), "500 came back");
        assert!(taken(5, 600, 6));
    }

    #[test]
    fn an_answer_gives_back_what_it_does_not_take() {
        let large = Allowance {
            bytes: 1_000 * LEAST,
            rate: 0,
        };
        let mut budget = Budget::default();
        let take = |budget: &mut Budget, number, price| {
            budget.take(number, price * LEAST, (large, OPEN), at(0))
        };
        assert!(take(&mut budget, 1, 1_000));
        budget.answered(2, 0);
        assert!(!take(&mut budget, 3, 600), "another's answer");
        budget.answered(1, 300 * LEAST);
        budget.answered(1, 0);
        assert!(!take(&mut budget, 4, 800), "300 were taken");
        assert!(take(&mut budget, 5, 700));
    }

    #[test]
    fn a_number_is_asked_under_once_at_a_time() {
        let mut budget = Budget::default();
        assert!(budget.take(1, 10, (ALLOWANCE, OPEN), at(0)));
        assert!(!budget.take(1, 10, (ALLOWANCE, OPEN), at(0)));
        budget.answered(1, 10);
        assert!(budget.take(1, 10, (ALLOWANCE, OPEN), at(0)));
    }

    #[test]
    fn so_many_questions_are_under_way_until_they_are_answered_or_forgotten() {
        let mut budget = Budget::default();
        let free = Allowance {
            bytes: u64::MAX,
            rate: 0,
        };
        let take =
            |budget: &mut Budget, number, second| budget.take(number, 1, (free, OPEN), at(second));
        for number in 0..u64::from(OPEN.burst) {
            assert!(take(&mut budget, number, 0));
        }
        assert!(!take(&mut budget, 100, 4));
        budget.answered(3, 1);
        assert!(take(&mut budget, 100, 4));
        assert!(!take(&mut budget, 101, 4));
        assert!(take(&mut budget, 101, 5), "the first are forgotten");
        assert_eq!(budget.asked.len(), 2);
    }

    #[test]
    fn looking_for_what_is_not_there_counts_as_well() {
        let large = Allowance {
            bytes: 3 * LEAST,
            rate: 0,
        };
        let mut budget = Budget::default();
        for number in 0..3 {
            assert!(budget.take(number, LEAST, (large, OPEN), at(0)));
            budget.answered(number, 9);
        }
        assert!(!budget.take(3, LEAST, (large, OPEN), at(0)));
    }

    #[test]
    fn a_peer_is_told_of_as_many_refusals_as_it_may_ask_questions() {
        let mut budget = Budget::default();
        let mut told = |second| {
            let told = (0..1_000).filter(|_| budget.is_told(OPEN, at(second)));
            told.count()
        };
        assert_eq!([0, 0, 1].map(&mut told), [8, 0, 8]);
    }
}
