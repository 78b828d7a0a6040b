// SPDX-License-Identifier: Apache-2.0
//! Many seeds of one scenario, side by side.

use crate::{report::Report, run, scenarios::Scenario};
use std::{
    num::NonZeroUsize,
    ops::Range,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use crate::lock;

/// Runs every seed on as many threads as are given. A run has a thread of its
/// own, so how many there are changes nothing about any of them.
#[must_use]
pub fn sweep(scenario: &'static Scenario, seeds: Range<u64>, threads: NonZeroUsize) -> Report {
    let next = AtomicU64::new(seeds.start);
    let report = Mutex::new(Report::new(scenario));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                break;
            }
            let outcome = thread::scope(|scope| {
                // A runtime leaves its pool on the thread that it ran on.
                scope.spawn(|| run(scenario, seed)).join()
            });
            if let Ok(outcome) = outcome {
                lock(&report).add(outcome);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.get() {
            scope.spawn(work);
        }
    });
    report
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
