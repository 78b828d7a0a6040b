// SPDX-License-Identifier: Apache-2.0
//! CPU profiles of this process, on demand.
//!
//! | module | does |
//! |---|---|
//! | `sampling` | takes samples from the beginning to the end of a profile |
//! | `encoding` | makes a file of them that viewers of profiles read |
//! | [`error`] | why there is no profile |
//!
//! # Specification
//!
//! 1. A sample is the stack of the thread that runs when the process has used
//!    another 1/[`FREQUENCY_HERTZ`] s of CPU time, on all processors together:
//!    the kernel sends it `SIGPROF`. So a process that waits has no samples, and
//!    what waits is in none. Kernels count in ticks, most of 4 ms.
//! 2. There is one profile at a time in a process, as there is one such timer.
//! 3. Signals come only while a profile is taken. Before and after it nothing of
//!    this crate runs, but what samples were kept in, some 70 MB, is kept from
//!    the first profile of a process to its end.
//! 4. The handler takes no lock that anybody waits for and allocates nothing. It
//!    unwinds with what the compiler says of frames, which the C library finds
//!    without a lock from glibc 2.35 on. A sample that hits the C library, the
//!    unwinder or what the kernel maps is left out: there a stack may be half
//!    made.
//! 5. Equal stacks are counted, different ones are kept, of 128 frames each:
//!    16,384 of them in memory, and what has no place there in a file of a folder
//!    that the caller names. A profile is full when that has
//!    [`MAX_SPILLED_BYTES`], and should end.
//! 6. The file is the `profile.proto` of pprof, compressed with gzip, and has at
//!    most [`MAX_BYTES`]. Its samples have labels: the `thread`, and the `node`,
//!    by which profiles of several nodes can be told apart when they are merged.
//!    Its comments say whose it is, and of which heights.

mod encoding;
pub mod error;
mod sampling;

pub use encoding::Subject;
pub use error::ProfileError;
pub use sampling::{Profile, Sampling};

/// Samples in a second of CPU time.
pub const FREQUENCY_HERTZ: u32 = 250;
/// The most that a profile may take on the disk while it is taken.
pub const MAX_SPILLED_BYTES: u64 = 64 << 20;
/// The most bytes that the file of a profile has.
pub const MAX_BYTES: usize = 4 << 20;
