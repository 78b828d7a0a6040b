// SPDX-License-Identifier: Apache-2.0
//! What `shardnode committee` prints.

use serde::Serialize;
use shardnode_mandates::security::{EqualStakes, Observed, Odds, Security, Tally};
use std::fmt;

/// The answer of the command.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    validators: u32,
    byzantine_validators: u32,
    shards: u16,
    mandates: u32,
    byzantine_mandates: u32,
    smallest_committee: u32,
    largest_committee: u32,
    block_time_ms: u32,
    computed: Computed,
    /// What dealing showed, if it was asked for.
    dealt: Option<Dealt>,
}

/// The odds at one height.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Computed {
    stalled: ComputedEvent,
    corrupted: ComputedEvent,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ComputedEvent {
    one_shard: f64,
    any_shard: f64,
    /// `None` for what never happens.
    mean_seconds_between: Option<f64>,
}

/// How often it happened.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Dealt {
    heights: u64,
    committees: u64,
    stalled: DealtEvent,
    corrupted: DealtEvent,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct DealtEvent {
    committees: u64,
    heights: u64,
}

impl Computed {
    pub(super) fn of(security: Security<Odds>, block_time_ms: u32) -> Self {
        let event = |odds: Odds| ComputedEvent {
            one_shard: odds.one_shard,
            any_shard: odds.any_shard,
            mean_seconds_between: Some(f64::from(block_time_ms) / 1_000.0 / odds.any_shard)
                .filter(|seconds| seconds.is_finite()),
        };
        Self {
            stalled: event(security.stalled),
            corrupted: event(security.corrupted),
        }
    }
}

impl Dealt {
    pub(super) fn of(observed: &Observed) -> Self {
        let event = |tally: Tally| DealtEvent {
            committees: tally.committees,
            heights: tally.heights,
        };
        Self {
            heights: observed.heights,
            committees: observed.committees,
            stalled: event(observed.tallies.stalled),
            corrupted: event(observed.tallies.corrupted),
        }
    }
}

impl Report {
    pub(super) fn new(
        network: &EqualStakes,
        block_time_ms: u32,
        computed: Computed,
        dealt: Option<Dealt>,
    ) -> Self {
        let (smallest_committee, largest_committee) = network.committee_sizes();
        Self {
            validators: network.validators(),
            byzantine_validators: network.byzantine(),
            shards: network.shards(),
            mandates: network.mandates(),
            byzantine_mandates: network.byzantine_mandates(),
            smallest_committee,
            largest_committee,
            block_time_ms,
            computed,
            dealt,
        }
    }

    fn row(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: &str,
        computed: ComputedEvent,
        dealt: impl Fn(&Dealt) -> DealtEvent,
    ) -> fmt::Result {
        write!(
            f,
            "\n{name:<26}  {:<10}  {:<10}  {}",
            probability(computed.one_shard),
            probability(computed.any_shard),
            duration(computed.mean_seconds_between),
        )?;
        let Some(all) = &self.dealt else {
            return Ok(());
        };
        let event = dealt(all);
        write!(
            f,
            "\n{:<26}  {:<10}  {}",
            format!("  in {} heights dealt", all.heights),
            probability(share(event.committees, all.committees)),
            probability(share(event.heights, all.heights)),
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let committee = if self.smallest_committee == self.largest_committee {
            self.smallest_committee.to_string()
        } else {
            format!("{} or {}", self.smallest_committee, self.largest_committee)
        };
        writeln!(
            f,
            "{} validators of equal stake, {} of them byzantine",
            self.validators, self.byzantine_validators
        )?;
        writeln!(
            f,
            "{} mandates, {committee} for each of {} shards; a block every {} ms",
            self.mandates, self.shards, self.block_time_ms
        )?;
        write!(
            f,
            "\n{:<26}  {:<10}  {:<10}  once in",
            "byzantine stake", "one shard", "any shard"
        )?;
        let computed = &self.computed;
        self.row(f, "can stall (>= 1/3)", computed.stalled, |dealt| {
            dealt.stalled
        })?;
        self.row(f, "can corrupt (> 2/3)", computed.corrupted, |dealt| {
            dealt.corrupted
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn share(hits: u64, trials: u64) -> f64 {
    hits as f64 / trials as f64
}

/// Four decimals, or three digits where these would be zeroes.
fn probability(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        0.001.. => format!("{value:.4}"),
        _ => format!("{value:.2e}"),
    }
}

/// A time with the unit that makes it a short number.
fn duration(seconds: Option<f64>) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    const YEAR: f64 = 365.25 * DAY;
    match seconds {
        None => "never".to_owned(),
        Some(seconds) if seconds < 2.0 * MINUTE => format!("{seconds:.1} s"),
        Some(seconds) if seconds < 2.0 * HOUR => format!("{:.0} min", seconds / MINUTE),
        Some(seconds) if seconds < 2.0 * DAY => format!("{:.0} h", seconds / HOUR),
        Some(seconds) if seconds < 2.0 * YEAR => format!("{:.0} days", seconds / DAY),
        Some(seconds) if seconds < 10_000.0 * YEAR => format!("{:.0} years", seconds / YEAR),
        Some(seconds) => format!("{:.1e} years", seconds / YEAR),
    }
}
