// SPDX-License-Identifier: Apache-2.0
//! The result of a run, as JSON.

use crate::tally::{Counted, Percentiles, Tally};
use serde::Serialize;
use shardnode_load::Workload;

/// The version of the document.
const VERSION: u32 = 1;

/// What a run was told to do.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// The nodes that transfers were sent to.
    pub nodes: Vec<String>,
    /// How transfers became due.
    #[serde(flatten)]
    pub profile: Profile,
    /// Who pays whom. Users are the senders, if there are users.
    pub workload: Workload,
    /// Connections.
    pub connections: u32,
    /// The most transfers of a request.
    pub batch: usize,
    /// What is done about a pool that is full.
    pub when_full: &'static str,
    /// Which part of the accounts is used, of how many.
    pub part: [u16; 2],
}

/// How transfers become due.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Profile {
    /// As soon as the last are answered.
    #[serde(rename_all = "camelCase")]
    Workers {
        /// So many at a time.
        workers: u32,
    },
    /// At a fixed rate.
    #[serde(rename_all = "camelCase")]
    Rate {
        /// Of so many a second.
        transfers_per_second: u32,
    },
    /// By users, whatever the answers.
    #[serde(rename_all = "camelCase")]
    Users {
        /// So many.
        users: u32,
        /// Each with one in so many milliseconds.
        every_ms: u64,
    },
    /// Those of a file.
    #[serde(rename_all = "camelCase")]
    File {
        /// How many it holds.
        transfers: u64,
        /// The checksum in its header.
        checksum: String,
    },
}

/// Whether the loader was the limit.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Saturation {
    /// By how much later transfers were sent than the answers let them.
    pub schedule_lag_ms: Percentiles,
    /// Transfers that were sent more than 100 ms late for it.
    pub missed_ticks: u64,
    /// CPU time of the loader.
    pub cpu_seconds: f64,
    /// Processors that it can use.
    pub cores: usize,
    /// Whether one transfer in a hundred was late, or the processors were used to
    /// nine tenths.
    pub saturated: bool,
}

/// What finalised blocks say.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Blocks {
    /// The finalised height before the first transfer.
    pub first_height: u64,
    /// The finalised height after the last.
    pub last_height: u64,
    /// Transfers of anybody that were executed between.
    pub executed: u64,
}

/// The document.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    version: u32,
    network: String,
    genesis_hash: String,
    settings: Settings,
    started_at_ms: u64,
    elapsed_seconds: f64,
    totals: Totals,
    accepted_ms: Percentiles,
    executed_ms: Percentiles,
    saturation: Saturation,
    blocks: Option<Blocks>,
    seconds: Vec<Counted>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Totals {
    #[serde(flatten)]
    counted: Counted,
    in_flight: u64,
}

/// Not every transfer that was sent has one end, or is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "of {sent} transfers that were sent, {executed} were executed, {lost} were not and {in_flight} \
     are in flight: the counts are wrong"
)]
pub struct Unbalanced {
    sent: u64,
    executed: u64,
    lost: u64,
    in_flight: u64,
}

/// What is known of a run besides what happened to its transfers.
#[derive(Debug)]
pub struct Facts {
    /// The network's name.
    pub network: String,
    /// Identifies the network.
    pub genesis_hash: String,
    /// What the run was told to do.
    pub settings: Settings,
    /// When it began.
    pub started_at_ms: u64,
    /// How long it took, drain included.
    pub elapsed_seconds: f64,
    /// For how long of that transfers were sent.
    pub sending_seconds: f64,
    /// CPU time until then.
    pub cpu_seconds: f64,
    /// Processors.
    pub cores: usize,
    /// What blocks say, if a node still told it.
    pub blocks: Option<Blocks>,
}

impl Report {
    /// Puts it together. So many transfers were followed to the end, and had none.
    pub fn new(facts: Facts, tally: Tally, in_flight: u64) -> Result<Self, Unbalanced> {
        let totals = &tally.totals;
        if totals.in_flight() != Some(in_flight) {
            return Err(Unbalanced {
                sent: totals.sent,
                executed: totals.executed,
                lost: totals.lost(),
                in_flight,
            });
        }
        let used = facts.sending_seconds * u32::try_from(facts.cores).map_or(1.0, f64::from);
        let late = tally.late * 100 > tally.totals.sent;
        let saturation = Saturation {
            schedule_lag_ms: tally.lag.percentiles(),
            missed_ticks: tally.late,
            cpu_seconds: facts.cpu_seconds,
            cores: facts.cores,
            saturated: late || facts.cpu_seconds > 0.9 * used,
        };
        Ok(Self {
            version: VERSION,
            network: facts.network,
            genesis_hash: facts.genesis_hash,
            settings: facts.settings,
            started_at_ms: facts.started_at_ms,
            elapsed_seconds: facts.elapsed_seconds,
            accepted_ms: tally.accepted.percentiles(),
            executed_ms: tally.executed.percentiles(),
            saturation,
            blocks: facts.blocks,
            totals: Totals {
                counted: tally.totals,
                in_flight,
            },
            seconds: tally.seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Event;
    use std::time::Duration;

    fn facts() -> Facts {
        Facts {
            network: "net".into(),
            genesis_hash: "00".into(),
            settings: Settings {
                nodes: Vec::new(),
                profile: Profile::Workers { workers: 1 },
                workload: Workload::default(),
                connections: 1,
                batch: 1,
                when_full: "Retry",
                part: [1, 1],
            },
            started_at_ms: 0,
            elapsed_seconds: 1.0,
            sending_seconds: 1.0,
            cpu_seconds: 0.0,
            cores: 1,
            blocks: None,
        }
    }

    /// Who counts and who follows know the same of what is in flight.
    #[test]
    fn a_transfer_that_nobody_follows_is_missed() {
        let mut tally = Tally::new().unwrap();
        for _ in 0..3 {
            tally.note(Duration::ZERO, &Event::Sent(Duration::ZERO));
        }
        tally.note(Duration::ZERO, &Event::Executed(Duration::ZERO));
        assert!(Report::new(facts(), tally.clone(), 2).is_ok());
        for in_flight in [0, 1, 3] {
            let error = Report::new(facts(), tally.clone(), in_flight).unwrap_err();
            assert_eq!(error.in_flight, in_flight);
        }
    }
}
