// SPDX-License-Identifier: Apache-2.0
//! Whole networks in one deterministic process, with everything that can go
//! wrong.
//!
//! A [`scenario`](scenarios) is a kind of trouble. With a seed it becomes a
//! [`plan`]: the network's [`shape`], who lies and how ([`byzantine`]), which
//! [`machine`]s stop, have slow disks or wrong clocks, and what happens to the
//! links between three [`regions`]. A [`run`](run()) starts real nodes on it,
//! all the code of a node on simulated links, storage and time, and
//! holds them to the promises of [`checks`] after every finalised block. One
//! seed is one run, whatever else runs: the same blocks, votes and crashes.
//!
//! What the nodes execute is compared with what a model of the ledger makes of
//! the finalised blocks ([`oracle`]). A [`mod@sweep`] runs many seeds side by side and adds up what they
//! came to ([`report`]).
//!
//! # What is real and what is not
//!
//! Nodes run all of their code on the runtime's memory storage, which forgets
//! what was not synced. A machine can stop at any operation that changes its
//! disk. It never loses part of a write that was not synced while it keeps a
//! later one, and its disk never returns an error or damaged bytes: the tests
//! of `shardnode-storage` cover those. A wrong clock is wrong by a constant.
//! Links drop, delay and cut messages; what takes long inside a link stays in
//! order. CPU work, disks and bytes take time where a plan says so ([`costs`]): a
//! run then has far more events. A node that blocks a peer no longer hears it
//! until all is calm, where the network of a real one hears it again after 30
//! seconds; in half of the seeds with liars blocking has no effect, and liars
//! go on talking.

pub mod byzantine;
pub mod checks;
pub mod colluders;
pub mod costs;
pub mod cpu;
pub mod dice;
pub mod lies;
pub mod machine;
pub mod network;
pub mod oracle;
pub mod plan;
mod planted;
mod promises;
pub mod recorder;
pub mod regions;
pub mod report;
mod run;
pub mod scenarios;
pub mod shape;
pub mod sweep;
pub mod wire;

pub use checks::{Misses, Promise, Violation};
pub use planted::Planted;
pub use report::Report;
pub use run::{Changes, DRAIN, Outcome, RECOVERY, run, run_with};
pub use scenarios::{Expectation, Scenario};
pub use sweep::sweep;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Holds on, whatever became of other holders.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
