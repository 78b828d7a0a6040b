// SPDX-License-Identifier: Apache-2.0
//! What happened last to each node, for when a run fails.

use crate::lock;
use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::Mutex,
    time::Duration,
};

/// Events kept of each node.
const LAST: usize = 12;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Since the start of the run.
    pub at: Duration,
    /// The node's finalised height.
    pub height: u64,
    /// What happened.
    pub what: String,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, height, what } = self;
        write!(f, "{:9.3} s  height {height:4}  {what}", at.as_secs_f64())
    }
}

/// Keeps events; it outlives a run that panics.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Recorded>);

#[derive(Debug, Default)]
struct Recorded {
    nodes: BTreeMap<usize, VecDeque<Event>>,
    /// What there was when the run first failed.
    kept: Option<String>,
}

impl Recorded {
    fn trace(&self) -> String {
        let mut lines = Vec::new();
        for (node, events) in &self.nodes {
            lines.push(format!("n{node}"));
            lines.extend(events.iter().map(|event| format!("  {event}")));
        }
        lines.join("\n")
    }
}

impl Recorder {
    /// Something happened to a node.
    pub fn note(&self, node: usize, event: Event) {
        let mut recorded = lock(&self.0);
        let events = recorded.nodes.entry(node).or_default();
        events.push_back(event);
        if events.len() > LAST {
            events.pop_front();
        }
    }

    /// The run has failed, and goes on: its trace is what there is now.
    pub fn keep(&self) {
        let mut recorded = lock(&self.0);
        if recorded.kept.is_none() {
            recorded.kept = Some(recorded.trace());
        }
    }

    /// What is kept, node by node.
    #[must_use]
    pub fn trace(&self) -> String {
        let recorded = lock(&self.0);
        recorded.kept.clone().unwrap_or_else(|| recorded.trace())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_events_of_each_node_are_kept() {
        let recorder = Recorder::default();
        for height in 0..20 {
            let at = Duration::from_millis(height * 100);
            let what = format!("finalised {height}");
            recorder.note(1, Event { at, height, what });
        }
        let trace = recorder.trace();
        assert_eq!(trace.lines().count(), 1 + LAST);
        assert!(trace.starts_with("n1\n"), "{trace}");
        assert!(
            trace.ends_with("1.900 s  height   19  finalised 19"),
            "{trace}"
        );
        assert!(!trace.contains("finalised 7"), "{trace}");
    }

    #[test]
    fn a_run_that_failed_is_shown_as_it_was_then() {
        let recorder = Recorder::default();
        let note = |what: &str| {
            let (at, height, what) = (Duration::ZERO, 1, what.into());
            recorder.note(0, Event { at, height, what });
        };
        note("one");
        recorder.keep();
        note("two");
        recorder.keep();
        assert_eq!(recorder.trace(), "n0\n      0.000 s  height    1  one");
    }
}
