// SPDX-License-Identifier: Apache-2.0
//! `shardnode simulate`: runs whole networks in this process, with everything
//! that can go wrong, and says what came of it.

use clap::{Args, error::ErrorKind};
use shardnode_simulator::{
    Scenario, costs,
    scenarios::{self, ALL, Size},
    sweep,
};
use std::{
    io::{self, Write},
    num::NonZeroUsize,
    ops::Range,
    str::FromStr,
    thread,
};

/// What the command is given.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Names the scenarios, with a sentence each.
    #[arg(long, exclusive = true)]
    list: bool,

    /// Measures what work takes on this machine, beside what simulated ones take.
    #[arg(long, exclusive = true)]
    costs: bool,

    /// The scenario to run; `all` for every small one.
    #[arg(long, value_name = "NAME", required_unless_present_any = ["list", "costs"])]
    scenario: Option<String>,

    /// The seed to run.
    #[arg(long, value_name = "NUMBER", conflicts_with = "seeds")]
    seed: Option<u64>,

    /// The seeds to run, from the first up to, and without, the last.
    #[arg(long, value_name = "FIRST..LAST")]
    seeds: Option<Seeds>,

    /// Seeds that run side by side; by default one for each processor.
    #[arg(long, value_name = "COUNT")]
    threads: Option<NonZeroUsize>,
}

/// A range of seeds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seeds(Range<u64>);

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seeds = text.split_once("..").and_then(|(first, last)| {
            let seeds: Range<u64> = first.parse().ok()?..last.parse().ok()?;
            (!seeds.is_empty()).then_some(seeds)
        });
        seeds
            .map(Self)
            .ok_or_else(|| "must be two numbers, the second above the first, as 0..500".to_owned())
    }
}

/// Why nothing was run, or not shown.
#[derive(Debug)]
pub enum SimulateError {
    /// An argument makes no sense.
    Argument(clap::Error),
    /// Nobody can be told.
    Output(io::Error),
}

impl From<io::Error> for SimulateError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl SimulateArgs {
    /// Runs, and writes what came of each scenario as soon as it is known.
    /// Whether all of them hold.
    pub fn run(&self, out: &mut impl Write) -> Result<bool, SimulateError> {
        if self.list {
            return list(out).map(|()| true).map_err(Into::into);
        }
        if self.costs {
            return measured(out).map(|()| true).map_err(Into::into);
        }
        let seed = self.seed.unwrap_or_default();
        let seeds = self.seeds.clone().map_or(seed..seed + 1, |seeds| seeds.0);
        let threads = self
            .threads
            .or_else(|| thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN);
        let mut holds = true;
        for scenario in self.scenarios()? {
            let report = sweep(scenario, seeds.clone(), threads);
            holds &= report.holds();
            write!(out, "{report}")?;
            out.flush()?;
        }
        Ok(holds)
    }

    fn scenarios(&self) -> Result<Vec<&'static Scenario>, SimulateError> {
        let name = self.scenario.as_deref().unwrap_or("all");
        if name == "all" {
            let small = ALL.iter().filter(|scenario| scenario.size == Size::Small);
            return Ok(small.collect());
        }
        scenarios::named(name)
            .map(|scenario| vec![scenario])
            .ok_or_else(|| {
                let message = format!(
                    "invalid value '{name}' for '--scenario <NAME>': no scenario has this name, \
                     --list shows those there are\n"
                );
                SimulateError::Argument(clap::Error::raw(ErrorKind::InvalidValue, message))
            })
    }
}

/// What work takes here, and what a simulated machine takes for it.
fn measured(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "| work | here, ns | simulated, ns |")?;
    writeln!(out, "|---|---|---|")?;
    for (work, here) in costs::measure() {
        let simulated = costs::price(work).as_nanos();
        writeln!(out, "| {work} | {here:.1} | {simulated} |")?;
    }
    Ok(())
}

fn list(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "| scenario | what goes wrong |")?;
    writeln!(out, "|---|---|")?;
    for scenario in ALL {
        writeln!(out, "| `{}` | {} |", scenario.name, scenario.sentence)?;
    }
    Ok(())
}
