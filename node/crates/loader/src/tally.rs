// SPDX-License-Identifier: Apache-2.0
//! The accounts of a run: every transfer that was sent ends once, or is in
//! flight.
//!
//! ```text
//! offered = sent + unsent
//! sent    = executed + refused + failed + expired + in flight
//! ```
//!
//! A transfer is *accepted* when a pool took it, and *executed* when a finalised
//! block did. One that a full pool refused and that is sent again has not ended. One that
//! a pool took and let go of, as nobody could pay for it any more, is *refused* as well.
//! One without an answer may have been accepted: it is followed like the others.

use hdrhistogram::Histogram;
use serde::Serialize;
use shardnode_primitives::Refusal;
use std::{collections::BTreeMap, time::Duration};

/// What happens to a transfer. Times are since the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It was due.
    Offered,
    /// It was due, and the run ended before it could be sent.
    Unsent,
    /// It was sent for the first time, so much later than it could have been.
    Sent(Duration),
    /// A pool took it; when it was due.
    Accepted(Duration),
    /// A pool did not take it, and it will be sent again.
    Retried(Refusal),
    /// It was signed again with another nonce.
    Renewed,
    /// There was no answer to the request that it was in.
    NoAnswer(&'static str),
    /// A block executed it; when it was due.
    Executed(Duration),
    /// A pool did not take it, or let go of it, and that was that.
    Refused(Refusal),
    /// A block holds it and did not execute it.
    Failed(String),
    /// No block will execute it any more.
    Expired,
}

/// How many transfers, by what they are called.
pub type Counts = BTreeMap<String, u64>;

/// What happened in a second, or in all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counted {
    /// Became due.
    pub offered: u64,
    /// Were due, and never sent.
    pub unsent: u64,
    /// Were sent, for the first time.
    pub sent: u64,
    /// Were taken by a pool.
    pub accepted: u64,
    /// Were executed, as far as known then.
    pub executed: u64,
    /// Were refused, by reason.
    pub refused: Counts,
    /// Were in a block that did not execute them, by reason.
    pub failed: Counts,
    /// Can be executed no more.
    pub expired: u64,
    /// Refusals after which transfers were sent again, by reason.
    pub retried: Counts,
    /// Were signed again with another nonce.
    pub renewed: u64,
    /// Were in requests without an answer, by what came instead.
    pub no_answer: Counts,
}

/// Names that are told apart, and their length. Nodes have fewer, and shorter ones.
const NAMES: usize = 32;
const NAME: usize = 100;
const OTHER: &str = "other";

fn count(counts: &mut Counts, name: &str) {
    let known = counts.contains_key(name) || (counts.len() < NAMES && name.len() <= NAME);
    let name = if known { name } else { OTHER };
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            counts.insert(name.to_owned(), 1);
        }
    }
}

impl Counted {
    fn note(&mut self, event: &Event) {
        match event {
            Event::Offered => self.offered += 1,
            Event::Unsent => self.unsent += 1,
            Event::Sent(_) => self.sent += 1,
            Event::Accepted(_) => self.accepted += 1,
            Event::Retried(refusal) => count(&mut self.retried, refusal.reason()),
            Event::Renewed => self.renewed += 1,
            Event::NoAnswer(instead) => count(&mut self.no_answer, instead),
            Event::Executed(_) => self.executed += 1,
            Event::Refused(refusal) => count(&mut self.refused, refusal.reason()),
            Event::Failed(reason) => count(&mut self.failed, reason),
            Event::Expired => self.expired += 1,
        }
    }

    /// Those that ended otherwise than executed.
    #[must_use]
    pub fn lost(&self) -> u64 {
        let refused: u64 = self.refused.values().sum();
        let failed: u64 = self.failed.values().sum();
        refused + failed + self.expired
    }

    /// Those that were sent and have not ended. `None` if more ended than were
    /// sent, which nothing explains.
    #[must_use]
    pub fn in_flight(&self) -> Option<u64> {
        self.sent.checked_sub(self.executed + self.lost())
    }
}

/// Times in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Percentiles {
    /// Of how many.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Half are below.
    pub p50: f64,
    /// Nine in ten are below.
    pub p90: f64,
    /// All but one in a hundred are below.
    pub p99: f64,
    /// All but one in a thousand are below.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

/// Times, to three digits, up to an hour.
#[derive(Clone, Debug)]
pub struct Times(Histogram<u64>);

const HOUR_MICROS: u64 = 3_600_000_000;

impl Times {
    fn new() -> Result<Self, hdrhistogram::CreationError> {
        Histogram::new_with_bounds(1, HOUR_MICROS, 3).map(Self)
    }

    fn note(&mut self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.0.saturating_record(micros);
    }

    /// In milliseconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "microseconds of an hour")]
    pub fn percentiles(&self) -> Percentiles {
        let at = |quantile| self.0.value_at_quantile(quantile) as f64 / 1_000.0;
        if self.0.is_empty() {
            return Percentiles::default();
        }
        Percentiles {
            count: self.0.len(),
            mean: self.0.mean() / 1_000.0,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: self.0.max() as f64 / 1_000.0,
        }
    }
}

/// All that happened.
#[derive(Clone, Debug)]
pub struct Tally {
    /// By second since the start.
    pub seconds: Vec<Counted>,
    /// In all.
    pub totals: Counted,
    /// From when transfers were due until a pool took them.
    pub accepted: Times,
    /// From when transfers were due until they were known to be executed.
    pub executed: Times,
    /// By how much later transfers were sent than they could have been.
    pub lag: Times,
    /// Those of them that were later by more than [`LATE`].
    pub late: u64,
}

/// A transfer that is sent later than this after it could have been is late.
pub const LATE: Duration = Duration::from_millis(100);

impl Tally {
    /// Nothing yet.
    pub fn new() -> Result<Self, hdrhistogram::CreationError> {
        Ok(Self {
            seconds: Vec::new(),
            totals: Counted::default(),
            accepted: Times::new()?,
            executed: Times::new()?,
            lag: Times::new()?,
            late: 0,
        })
    }

    /// Something happened to a transfer.
    pub fn note(&mut self, at: Duration, event: &Event) {
        let second = usize::try_from(at.as_secs()).unwrap_or(usize::MAX);
        if second >= self.seconds.len() {
            self.seconds.resize_with(second + 1, Counted::default);
        }
        self.seconds[second].note(event);
        self.totals.note(event);
        match event {
            Event::Sent(lag) => {
                self.lag.note(*lag);
                self.late += u64::from(*lag > LATE);
            }
            Event::Accepted(due) => self.accepted.note(at.saturating_sub(*due)),
            Event::Executed(due) => self.executed.note(at.saturating_sub(*due)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn tally(events: &[(u64, Event)]) -> Tally {
        let mut tally = Tally::new().unwrap();
        for (at, event) in events {
            tally.note(millis(*at), event);
        }
        tally
    }

    #[test]
    fn every_transfer_ends_once_or_is_in_flight() {
        let sent = || Event::Sent(Duration::ZERO);
        let tally = tally(&[
            (0, Event::Offered),
            (0, Event::Offered),
            (0, Event::Unsent),
            (1, sent()),
            (1, sent()),
            (2, sent()),
            (2, sent()),
            (2, sent()),
            (3, sent()),
            (4, Event::Retried(Refusal::Full)),
            (5, Event::Renewed),
            (5, Event::NoAnswer("timeout")),
            (6, Event::Accepted(millis(0))),
            (7, Event::Refused(Refusal::Nonce)),
            (8, Event::Failed("why".into())),
            (9, Event::Expired),
            (1_500, Event::Executed(millis(0))),
        ]);
        let totals = &tally.totals;
        assert_eq!((totals.sent, totals.executed, totals.lost()), (6, 1, 3));
        // What is sent again, signed again or not answered has not ended.
        assert_eq!(totals.in_flight(), Some(2));
        assert_eq!(totals.retried["full"], 1);
        assert_eq!(totals.refused["nonce"], 1);
        assert_eq!(
            (tally.seconds[0].executed, tally.seconds[1].executed),
            (0, 1)
        );
    }

    #[test]
    fn what_nodes_call_things_is_bounded() {
        let failed = |number: usize| (0, Event::Failed("n".repeat(number)));
        let named: Vec<_> = (0..=NAMES + 3)
            .map(failed)
            .chain([failed(NAME + 1)])
            .collect();
        let counts = tally(&named).totals.failed;
        assert_eq!(counts.len(), NAMES + 1);
        assert_eq!(counts[OTHER], 5);
    }

    #[test]
    fn more_ends_than_were_sent_is_an_error() {
        let tally = tally(&[(0, Event::Expired)]);
        assert_eq!(tally.totals.in_flight(), None);
    }

    /// What was due at 0 and was held up for two seconds took two seconds, though
    /// the request it was sent with took no time.
    #[test]
    fn latency_counts_from_when_a_transfer_was_due() {
        let tally = tally(&[
            (2_000, Event::Sent(millis(5))),
            (2_001, Event::Accepted(millis(0))),
            (3_000, Event::Executed(millis(0))),
        ]);
        let accepted = tally.accepted.percentiles();
        assert!((2_000.0..2_010.0).contains(&accepted.p50), "{accepted:?}");
        assert!((3_000.0..3_010.0).contains(&tally.executed.percentiles().max));
        assert!((4.9..5.1).contains(&tally.lag.percentiles().max));
        assert_eq!(tally.late, 0);
    }

    #[test]
    fn who_is_late_is_counted() {
        let late = LATE + millis(1);
        let tally = tally(&[(0, Event::Sent(late)), (0, Event::Sent(LATE))]);
        assert_eq!(tally.late, 1);
    }
}
