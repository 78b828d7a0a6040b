// SPDX-License-Identifier: Apache-2.0
//! What the seeds of a scenario came to.

use crate::{
    checks::{Counted, Misses},
    run::Outcome,
    scenarios::{Expectation, Scenario},
};
use std::{collections::BTreeMap, fmt, time::Duration};

/// Failed seeds whose trace is shown; of the others only the seed.
const SHOWN: usize = 3;

/// What the seeds of a scenario came to.
pub struct Report {
    scenario: &'static Scenario,
    seeds: u64,
    blocks: u64,
    transfers: u64,
    missed_chunks: u64,
    installed: u64,
    misses: Misses,
    injected: BTreeMap<&'static str, u64>,
    expected: u64,
    worst_recovery: Duration,
    cpu: Duration,
    worst_cpu: Duration,
    committees: Counted,
    failed: BTreeMap<u64, Outcome>,
}

impl Report {
    /// Of no seed.
    #[must_use]
    pub fn new(scenario: &'static Scenario) -> Self {
        Self {
            scenario,
            seeds: 0,
            blocks: 0,
            transfers: 0,
            missed_chunks: 0,
            installed: 0,
            misses: Misses::default(),
            injected: BTreeMap::new(),
            expected: 0,
            worst_recovery: Duration::ZERO,
            cpu: Duration::ZERO,
            worst_cpu: Duration::ZERO,
            committees: Counted::default(),
            failed: BTreeMap::new(),
        }
    }

    /// Adds what one seed came to.
    pub fn add(&mut self, outcome: Outcome) {
        self.seeds += 1;
        self.blocks += outcome.blocks;
        self.transfers += outcome.transfers;
        self.missed_chunks += outcome.missed_chunks;
        self.installed += outcome.installed;
        self.misses.add(&outcome.misses);
        for (kind, count) in &outcome.injected {
            *self.injected.entry(kind).or_default() += count;
        }
        self.expected += u64::from(!outcome.expected.is_empty());
        self.worst_recovery = self
            .worst_recovery
            .max(outcome.recovery.unwrap_or_default());
        self.cpu += outcome.cpu;
        self.worst_cpu = self.worst_cpu.max(outcome.cpu);
        self.committees.add(&outcome.committees);
        if !outcome.violations.is_empty() {
            self.failed.insert(outcome.seed, outcome);
        }
    }

    /// Seeds that ran.
    #[must_use]
    pub const fn seeds(&self) -> u64 {
        self.seeds
    }

    /// Whether no seed violated anything.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.failed.is_empty()
    }

    /// The seeds that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Outcome> {
        self.failed.values()
    }

    /// What was done on purpose, and how often.
    #[must_use]
    pub const fn injected(&self) -> &BTreeMap<&'static str, u64> {
        &self.injected
    }

    /// Committees.
    #[must_use]
    pub const fn committees(&self) -> &Counted {
        &self.committees
    }

    /// The most CPU time that a seed took.
    #[must_use]
    pub const fn worst_cpu(&self) -> Duration {
        self.worst_cpu
    }

    /// The command that runs one seed again.
    #[must_use]
    pub fn command(&self, seed: u64) -> String {
        let name = self.scenario.name;
        format!("shardnode simulate --scenario {name} --seed {seed}")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Scenario {
            name, expectation, ..
        } = self.scenario;
        let mean = self.cpu.as_secs_f64() / (self.seeds.max(1) as f64);
        let verdict = if self.holds() { "holds" } else { "VIOLATED" };
        writeln!(
            f,
            "{name}: {verdict}; {} seeds, {} violated, {} blocks, {} transfers, {} missed chunks, \
             worst recovery {:.1} s, CPU a seed {mean:.1} s, at most {:.1} s",
            self.seeds,
            self.failed.len(),
            self.blocks,
            self.transfers,
            self.missed_chunks,
            self.worst_recovery.as_secs_f64(),
            self.worst_cpu.as_secs_f64(),
        )?;
        if *expectation == Expectation::FalseRoot {
            writeln!(
                f,
                "  a false root was finalised and noticed, as expected, in {} seeds",
                self.expected
            )?;
        }
        if !self.injected.is_empty() {
            let injected = self.injected.iter();
            let injected: Vec<_> = injected
                .map(|(kind, count)| format!("{count} {kind}"))
                .collect();
            writeln!(f, "  injected: {}", injected.join(", "))?;
        }
        if self.installed > 0 {
            writeln!(
                f,
                "  {} states of other producers installed",
                self.installed
            )?;
        }
        if self.misses != Misses::default() {
            writeln!(
                f,
                "  missed before all was calm: {} chunks at the turn of who is dead, cut off or \
                 lies, {} under committees that cannot endorse without such members, {} more",
                self.misses.turns, self.misses.committees, self.misses.others
            )?;
        }
        let Counted {
            dealt,
            corrupted,
            corrupted_expected,
            stalled,
            stalled_expected,
        } = self.committees;
        if stalled_expected > 0.0 {
            writeln!(
                f,
                "  byzantine members had more than two thirds of {corrupted} of {dealt} committees \
                 ({corrupted_expected:.1} computed), a third or more of {stalled} \
                 ({stalled_expected:.1} computed)"
            )?;
        }
        for (index, (seed, outcome)) in self.failed.iter().enumerate() {
            writeln!(f, "\n  seed {seed}; again: {}", self.command(*seed))?;
            for violation in outcome.violations.iter().take(8) {
                writeln!(f, "    {violation}")?;
            }
            if index < SHOWN {
                writeln!(f, "    {}", outcome.plan)?;
                for line in outcome.trace.lines() {
                    writeln!(f, "    {line}")?;
                }
            }
        }
        Ok(())
    }
}
