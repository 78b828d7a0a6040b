// SPDX-License-Identifier: Apache-2.0
//! One run: a scenario with a seed.
//!
//! 1. All nodes start, generators sign transfers, clients ask for what fails,
//!    and the plan's faults happen until all is calm: first nobody lies any more, and [`ARRIVAL`] later
//!    nothing else is wrong either.
//! 2. The chain has to go on within [`RECOVERY`].
//! 3. Generators and clients stop, and what was sent has to arrive within [`DRAIN`].
//! 4. What must hold of the whole run is checked.

use crate::{
    checks::{Checks, Counted, Misses, Promise, Violation},
    cpu,
    dice::Dice,
    lies::Shared,
    lock,
    network::{Member, Network},
    plan::Plan,
    planted::Planted,
    recorder::Recorder,
    scenarios::{Expectation, Scenario},
};
use commonware_runtime::{Runner as _, Supervisor as _, deterministic};
use std::{
    any::Any,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

/// How long the chain may take to go on once all is calm.
pub const RECOVERY: Duration = Duration::from_secs(30);
/// What was sent has arrived by then: the longest link takes 60 ms, and no
/// link varies by more than tens of milliseconds.
const ARRIVAL: Duration = Duration::from_millis(500);
/// How long everything sent may take to arrive after that.
pub const DRAIN: Duration = Duration::from_secs(60);
/// Blocks that every node finalises before the chain counts as going on.
const GOES_ON: u64 = 3;
/// Blocks without a change before a network counts as drained.
const STILL: u64 = 4;
/// How often nodes are looked at.
const TICK: Duration = Duration::from_millis(20);
/// Real time that one iteration of the runtime takes.
const CYCLE: Duration = Duration::from_micros(5);
/// A run that is not over by then never will be.
const TIMEOUT: Duration = Duration::from_secs(600);

/// What became of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// Blocks finalised.
    pub blocks: u64,
    /// Transfers executed.
    pub transfers: u64,
    /// Chunks missed.
    pub missed_chunks: u64,
    /// States that nodes got from others and went on from.
    pub installed: u64,
    /// Why, in a scenario with dead producers.
    pub misses: Misses,
    /// What was done on purpose, and how often.
    pub injected: BTreeMap<&'static str, u64>,
    /// What must not happen and did.
    pub violations: Vec<Violation>,
    /// What was expected to happen and did.
    pub expected: Vec<Violation>,
    /// How long the chain took to go on once all was calm.
    pub recovery: Option<Duration>,
    /// Committees.
    pub committees: Counted,
    /// CPU time.
    pub cpu: Duration,
    /// A hash of everything that happened; empty if the run panicked.
    pub fingerprint: String,
    /// The last events of every node before something was violated.
    pub trace: String,
    /// What was to go wrong, if something was violated.
    pub plan: String,
}

/// What is different from a scenario as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// A mistake.
    pub planted: Option<Planted>,
}

/// Runs a scenario with a seed.
#[must_use]
pub fn run(scenario: &Scenario, seed: u64) -> Outcome {
    run_with(scenario, seed, Changes::default())
}

/// [`run`], with changes.
#[must_use]
pub fn run_with(scenario: &Scenario, seed: u64, changes: Changes) -> Outcome {
    let plan = (scenario.plan)(&mut Dice::new(seed));
    let (shared, recorder) = (Arc::new(Shared::default()), Arc::new(Recorder::default()));
    let started = cpu::time();
    let ran = catch_unwind(AssertUnwindSafe(|| {
        let config = deterministic::Config::new()
            .with_seed(seed)
            .with_cycle(CYCLE)
            .with_timeout(Some(TIMEOUT));
        deterministic::Runner::new(config).start(|context| {
            let story = Story {
                plan: &plan,
                expectation: scenario.expectation,
                changes,
                shared: shared.clone(),
                recorder: recorder.clone(),
            };
            story.tell(context, seed)
        })
    }));
    let mut outcome = ran.unwrap_or_else(|panic| {
        let what = format!("the run panicked: {}", message(&*panic));
        Outcome {
            violations: vec![Violation::new(Promise::Running, what)],
            ..Outcome::new(seed)
        }
    });
    outcome.cpu = cpu::time().saturating_sub(started);
    outcome.injected = lock(&shared.injected).clone();
    if !outcome.violations.is_empty() {
        outcome.trace = recorder.trace();
        outcome.plan = format!("{plan:?}");
    }
    outcome
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}

impl Outcome {
    const fn new(seed: u64) -> Self {
        Self {
            seed,
            blocks: 0,
            transfers: 0,
            missed_chunks: 0,
            installed: 0,
            misses: Misses {
                turns: 0,
                committees: 0,
                others: 0,
            },
            injected: BTreeMap::new(),
            violations: Vec::new(),
            expected: Vec::new(),
            recovery: None,
            committees: Counted {
                dealt: 0,
                corrupted: 0,
                corrupted_expected: 0.0,
                stalled: 0,
                stalled_expected: 0.0,
            },
            cpu: Duration::ZERO,
            fingerprint: String::new(),
            trace: String::new(),
            plan: String::new(),
        }
    }
}

struct Story<'a> {
    plan: &'a Plan,
    expectation: Expectation,
    changes: Changes,
    shared: Arc<Shared>,
    recorder: Arc<Recorder>,
}

impl Story<'_> {
    async fn tell(self, context: deterministic::Context, seed: u64) -> Outcome {
        let mut network = Network::new(
            context.child("network"),
            self.plan,
            seed,
            self.shared.clone(),
            self.recorder.clone(),
        )
        .await;
        let mut checks = Checks::new(&network, self.plan, self.changes.planted);
        let mut outcome = Outcome::new(seed);
        network.start_all().await;
        network.set_load(self.plan.load);
        outcome.misses = self.storm(&mut network, &mut checks).await;
        self.keep_failure(&checks);
        match self.expectation {
            Expectation::Safe => {
                self.end_lies(&mut network, &mut checks).await;
                network.calm().await;
                outcome.recovery = self.recover(&mut network, &mut checks).await;
                network.set_load(0);
                if outcome.recovery.is_some() && self.drain(&mut network, &mut checks).await {
                    checks.end(&network, self.plan).await;
                }
                outcome.violations = checks.violations().to_vec();
            }
            Expectation::FalseRoot => {
                let (expected, violations) = checks
                    .violations()
                    .iter()
                    .cloned()
                    .partition(|violation| violation.promise == Promise::ValidRoots);
                outcome.expected = expected;
                outcome.violations = violations;
                if outcome.expected.is_empty() {
                    outcome.violations.push(Violation::new(
                        Promise::ValidRoots,
                        "committees above two thirds byzantine finalised no false root, \
                         or nobody noticed",
                    ));
                }
            }
        }
        outcome.blocks = checks.height();
        outcome.transfers = checks.transfers();
        outcome.missed_chunks = checks
            .tip()
            .map_or(0, shardnode_primitives::Block::missed_chunks);
        outcome.installed = network.members.iter().map(Member::installed).sum();
        outcome.committees = checks.committees().counted();
        outcome.fingerprint = context.auditor().state();
        // They hold links, which must not outlive the run.
        self.shared.colluders.disband();
        outcome
    }

    /// Attends to nodes and looks at what they finalised.
    async fn tick(&self, network: &mut Network, checks: &mut Checks) {
        network.sleep(TICK).await;
        for (index, why) in network.attend().await {
            // A false root ends the nodes that know better.
            let honest = !self.plan.byzantine().contains(&index);
            if honest && self.expectation == Expectation::Safe {
                checks.violated(Violation::new(
                    Promise::Running,
                    format!("n{index} ended: {why}"),
                ));
            }
        }
        network.request();
        network.hand_in();
        network.lie();
        checks.look(network).await;
        self.keep_failure(checks);
    }

    /// Keeps what happened before something was violated that must not be.
    fn keep_failure(&self, checks: &Checks) {
        if self.expectation == Expectation::Safe && !checks.violations().is_empty() {
            self.recorder.keep();
        }
    }

    /// Lets the plan's faults happen, and says what the dead cost.
    async fn storm(&self, network: &mut Network, checks: &mut Checks) -> Misses {
        let mut faults = self.plan.faults.iter().peekable();
        let mut replaced = self.plan.replaced.iter().copied().peekable();
        let replaces = !self.plan.replaced.is_empty();
        let mut first = None;
        let (mut height, mut since) = (0, network.elapsed());
        let lull = self.plan.longest_lull();
        while network.elapsed() < self.plan.calm_at {
            while let Some((_, fault)) = faults.next_if(|(at, _)| *at <= network.elapsed()) {
                network.apply(fault).await;
                first.get_or_insert(checks.height());
                since = network.elapsed();
            }
            self.tick(network, checks).await;
            if let Some(next) = replaced.peek()
                && network.replace(*next).await
            {
                replaced.next();
                since = network.elapsed();
            }
            if replaces && replaced.peek().is_none() && faults.peek().is_none() {
                break;
            }
            if let Some(within) = self.plan.executed_within
                && (checks.check_honest(network, within) || !checks.violations().is_empty())
            {
                break;
            }
            let now = network.elapsed();
            if checks.advanced(height) {
                (height, since) = (checks.height(), now);
            }
            if now.saturating_sub(since) > lull {
                checks.violated(Violation::new(
                    Promise::Liveness,
                    format!("no block after {height} for {} s", lull.as_secs_f64()),
                ));
                since = now;
            }
            if let Some(behind) = self.plan.behind
                && checks.violations().is_empty()
            {
                self.keep_up(network, checks, behind);
                if !checks.violations().is_empty() {
                    break;
                }
            }
            let over = self.expectation == Expectation::FalseRoot;
            if over && !checks.violations().is_empty() {
                return Misses::default();
            }
        }
        if let Some(most) = self.plan.block_time {
            self.keep_pace(network, checks, most);
        }
        if let Some(within) = self.plan.executed_within
            && checks.violations().is_empty()
            && !checks.check_honest(network, within)
            && checks.violations().is_empty()
        {
            let what = "honest clients are not done when all is calm";
            checks.violated(Violation::new(Promise::NothingIgnored, what));
        }
        if let Some(left) = replaced.next() {
            let waits_for = network.members[left].waits_for.clone().unwrap_or_default();
            let what = format!("n{left} could not be replaced: {waits_for}");
            checks.violated(Violation::new(Promise::Liveness, what));
        }
        let Some(blamed) = self.plan.blamed() else {
            return Misses::default();
        };
        // What was on its way when they died may come or not.
        let (from, to) = (first.unwrap_or_default() + 2, checks.height());
        checks.check_misses(network, &blamed, from, to)
    }

    /// Checks that blocks did not take longer than that.
    fn keep_pace(&self, network: &Network, checks: &mut Checks, most: Duration) {
        let blocks = u32::try_from(checks.height()).unwrap_or(u32::MAX).max(1);
        let each = network.elapsed() / blocks;
        if each > most {
            checks.violated(Violation::new(
                Promise::Liveness,
                format!(
                    "{} ms for a block, and not {}",
                    each.as_millis(),
                    most.as_millis()
                ),
            ));
        }
    }

    /// Checks that no honest node is further behind than that.
    fn keep_up(&self, network: &Network, checks: &mut Checks, behind: u64) {
        let byzantine = self.plan.byzantine();
        let honest = network.members.iter().enumerate();
        let late = honest
            .filter(|(index, one)| {
                !byzantine.contains(index) && one.height() + behind < checks.height()
            })
            .map(|(index, one)| format!("n{index} at {}", one.height()))
            .next();
        if let Some(late) = late {
            checks.violated(Violation::new(
                Promise::Liveness,
                format!(
                    "more than {behind} blocks behind height {}: {late}",
                    checks.height()
                ),
            ));
        }
    }

    /// Makes everybody honest, and lets the last lies arrive.
    async fn end_lies(&self, network: &mut Network, checks: &mut Checks) {
        network.behave();
        let arrived = network.elapsed() + ARRIVAL;
        while network.elapsed() < arrived {
            self.tick(network, checks).await;
        }
    }

    /// How long the chain takes to go on.
    async fn recover(&self, network: &mut Network, checks: &mut Checks) -> Option<Duration> {
        let calm_at = network.elapsed();
        let wanted = checks.height() + GOES_ON;
        loop {
            let took = network.elapsed().saturating_sub(calm_at);
            if network.members.iter().all(|one| one.height() >= wanted) {
                return Some(took);
            }
            if took > RECOVERY {
                let behind: Vec<_> = network
                    .members
                    .iter()
                    .enumerate()
                    .filter(|(_, one)| one.height() < wanted)
                    .map(|(index, one)| format!("n{index} at {}", one.height()))
                    .collect();
                checks.violated(Violation::new(
                    Promise::Liveness,
                    format!(
                        "not at height {wanted} {} s after all was calm: {}",
                        took.as_secs(),
                        behind.join(", ")
                    ),
                ));
                return None;
            }
            self.tick(network, checks).await;
        }
    }

    /// Whether everything that was sent arrives.
    async fn drain(&self, network: &mut Network, checks: &mut Checks) -> bool {
        let until = network.elapsed() + DRAIN;
        let (mut last, mut since) = (None, checks.height());
        while checks.height() < since + STILL {
            self.tick(network, checks).await;
            let Some(block) = checks.tip() else { continue };
            let sum = |count: fn(&shardnode_primitives::ShardTotals) -> u128| {
                block
                    .chunks
                    .iter()
                    .map(|header| count(&header.content.totals))
                    .sum::<u128>()
            };
            let (sent, received) = (sum(|totals| totals.sent), sum(|totals| totals.received));
            let in_flight = sent.saturating_sub(received);
            let pooled: u64 = network
                .running()
                .map(|(_, node)| node.metrics.production.pooled())
                .sum();
            let now = (sum(|totals| totals.transfers.into()), in_flight, pooled);
            if last != Some(now) || in_flight > 0 || pooled > 0 {
                since = checks.height();
            }
            last = Some(now);
            if network.elapsed() > until {
                checks.violated(Violation::new(
                    Promise::Liveness,
                    format!(
                        "{in_flight} of value on its way and {pooled} transfers in pools {} s \
                         after all was calm",
                        DRAIN.as_secs()
                    ),
                ));
                return false;
            }
        }
        true
    }
}
