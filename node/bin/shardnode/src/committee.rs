// SPDX-License-Identifier: Apache-2.0
//! `shardnode committee`: how likely byzantine validators can abuse a
//! committee, for a network of validators with equal stakes.

mod fraction;
mod report;

use clap::{Args, ValueEnum, error::ErrorKind, value_parser};
use fraction::Fraction;
use report::{Computed, Dealt, Report};
use shardnode_mandates::security::{EqualStakes, SecurityError, computed, simulated};

/// What the command is given.
#[derive(Debug, Args)]
pub struct CommitteeArgs {
    /// Validators, all of the same stake.
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..=50_000))]
    validators: u32,

    /// Shards.
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u16).range(1..=1_024))]
    shards: u16,

    /// The least mandates of a shard at a height. Every validator holds the
    /// same number of mandates, so a shard can have more.
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..=50_000))]
    mandates_per_shard: u32,

    /// The part of the stake that is byzantine, as 0.30 or 1/3. Rounded down
    /// to whole validators.
    #[arg(long, value_name = "FRACTION")]
    byzantine_stake: Fraction,

    /// The time between two heights.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 600, value_parser = value_parser!(u32).range(1..))]
    block_time_ms: u32,

    /// Also deal this many heights, and count.
    #[arg(long, value_name = "HEIGHTS", value_parser = value_parser!(u32).range(1..=10_000_000))]
    samples: Option<u32>,

    /// The epoch seed of the heights that are dealt, as a number.
    #[arg(long, value_name = "NUMBER", requires = "samples", default_value_t = 0)]
    seed: u64,

    /// How to print the answer.
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Output::Text)]
    output: Output,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Output {
    Text,
    Json,
}

impl CommitteeArgs {
    /// Computes the odds, and deals if asked to; the answer as it is to be
    /// printed. An error names the argument.
    pub fn answer(&self) -> Result<String, clap::Error> {
        let report = self.report().map_err(|error| {
            let message = format!("invalid value for '--mandates-per-shard <COUNT>': {error}\n");
            clap::Error::raw(ErrorKind::ValueValidation, message)
        })?;
        match self.output {
            Output::Text => Ok(report.to_string()),
            Output::Json => serde_json::to_string_pretty(&report)
                .map_err(|error| clap::Error::raw(ErrorKind::Io, error)),
        }
    }

    fn report(&self) -> Result<Report, SecurityError> {
        let network = EqualStakes::new(
            self.validators,
            self.byzantine_stake.of(self.validators),
            self.shards,
            self.mandates_per_shard,
        )?;
        let dealt = self.samples.map(|heights| {
            let observed = simulated(&network, heights.into(), self.epoch_seed())?;
            Ok::<_, SecurityError>(Dealt::of(&observed))
        });
        Ok(Report::new(
            &network,
            self.block_time_ms,
            Computed::of(computed(&network), self.block_time_ms),
            dealt.transpose()?,
        ))
    }

    fn epoch_seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        seed[24..].copy_from_slice(&self.seed.to_be_bytes());
        seed
    }
}
