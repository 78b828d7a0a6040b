// SPDX-License-Identifier: Apache-2.0
//! A runtime's storage with faults for a time.
//!
//! What a chain makes of a disk that became slow or full should be known before one
//! does. [`Disk`] is the storage of any runtime, and what is kept on it is kept by that
//! storage. [`Faults`] begins and ends what is wrong with it while a node runs. It needs
//! nothing of the kernel, and what it waits for is the runtime's time.
//!
//! | module | does |
//! |---|---|
//! | `fault` | what goes wrong for a time, which begins and ends while nodes run |
//! | `disk` | the storage, and what a fault does to an operation |
//! | `file` | a blob of it |
//! | `error` | why a disk refuses to write |
//! | `metrics` | what faults did |
//!
//! # Specification
//!
//! 1. There is one [`Fault`] at a time, and it ends by itself after its duration:
//!    nobody has to be there to end it. Another one takes its place.
//! 2. A disk that is slow takes longer, by the delay of the fault, for every
//!    operation that writes: for each write, resize and sync of a blob, and each
//!    removal. It does what the inner storage does, and is done so much later. What
//!    the inner storage refuses is refused as late.
//! 3. Reading is as fast as before, and so are listing and opening: whether a blob is
//!    made by being opened is not known before.
//! 4. Operations are not in each other's way: each takes longer by the delay, however
//!    many there are. So a disk has a latency, and no bandwidth.
//! 5. An operation is held up if it began while the disk was slow. When the fault
//!    ends, all that are held up are done at once, in no order that can be told.
//! 6. A sync that was started goes on whether or not anybody waits for it, and is done
//!    as late.
//! 7. A disk that is full refuses every write and every resize, before the inner storage
//!    hears of it, with [`std::io::ErrorKind::StorageFull`]. What is written already can
//!    be read, made durable and removed, and that makes no room. It is so from a quarter
//!    of a second after the fault began: a node that cannot write ends, and whoever asked
//!    for the fault should have an answer.
//! 8. Without a fault nothing is copied, started or measured. An operation that writes
//!    looks at one flag, and one that reads at none.
//!
//! What that flag costs is measured beside the inner storage's own operations, by
//!
//! ```sh
//! cargo run --release --package shardnode-disks --example disk_cost
//! ```
//!
//! All time is the inner runtime's, whose clock somebody may set. A fault lasts no
//! longer for it: what it holds up waits for timers.

mod disk;
mod error;
mod fault;
mod file;
mod metrics;

pub use disk::Disk;
pub use error::full;
pub use fault::{Fault, Faults, Ongoing};
pub use file::File;
pub use metrics::Metrics;
