// SPDX-License-Identifier: Apache-2.0
//! Profiles of this process, on demand: where its CPU time goes, and what it
//! allocates.
//!
//! | module | does |
//! |---|---|
//! | `sampling` | begins and ends a profile of either kind |
//! | `time` | takes samples of what processors do |
//! | `counting` | is the allocator, and counts what is allocated |
//! | `allocations` | takes samples of that |
//! | `table` | names the functions of their stacks, and adds them up |
//! | `encoding` | makes a file that viewers of profiles read |
//! | [`error`] | why there is no profile |
//!
//! # Specification
//!
//! 1. There is one profile of a kind at a time in a process. Samples are taken only
//!    while there is one.
//! 2. The file is the `profile.proto` of pprof, compressed with gzip, and has at
//!    most [`MAX_BYTES`]. Its samples have labels: the `thread`, and the `node`,
//!    by which profiles of several nodes can be told apart when they are merged.
//!    Its comments say whose it is, of which heights, and how many samples were
//!    lost, if any were.
//! 3. A stack has 128 frames, the innermost.
//!
//! Of CPU time:
//!
//! 4. A sample is the stack of the thread that runs when the process has used
//!    another 1/[`FREQUENCY_HERTZ`] s of CPU time, on all processors together:
//!    the kernel sends it `SIGPROF`. So a process that waits has no samples, and
//!    what waits is in none. Kernels count in ticks, most of 4 ms.
//! 5. Signals come only while a profile is taken. Before and after it nothing of
//!    it runs, but what samples were kept in, some 70 MB, is kept from the first
//!    profile of a process to its end.
//! 6. The handler takes no lock that anybody waits for and allocates nothing. It
//!    unwinds with what the compiler says of frames, which the C library finds
//!    without a lock from glibc 2.35 on. A sample that hits the C library, the
//!    unwinder or what the kernel maps is left out: there a stack may be half
//!    made.
//! 7. Equal stacks are counted, different ones are kept: 16,384 of them in memory,
//!    and what has no place there in a file of a folder that the caller names. A
//!    profile is full when that has [`MAX_SPILLED_BYTES`], and should end.
//!
//! Of allocations:
//!
//! 8. They are those of Rust, of a process whose allocator is [`Counting`], which
//!    asks another one for memory. What C libraries ask of theirs is not counted. A
//!    reallocation counts as one of its new size.
//! 9. Each thread counts for itself, and tells after 64 KiB: that is a number which
//!    it subtracts from, and nothing else as long as no profile is taken.
//! 10. A sample is the stack of the allocation that has the last of so many bytes of
//!     its thread, [`MEAN_INTERVAL_BYTES`] in the mean and distributed exponentially:
//!     as if each byte were sampled by itself with the same chance. So an allocation
//!     of `n` bytes is sampled with the chance `1 - exp(-n / mean)`, and stands for
//!     as many as that is the inverse of. Sums are right in the mean, whatever the
//!     sizes are; of `s` samples they are off by about `1 / sqrt(s)`.
//! 11. Who allocates takes no lock that anybody waits for, but who begins or ends a
//!     profile. What it allocates to take a sample is in none.
//! 12. A profile has 65,536 samples, 70 MB of memory until its file is made. Then it
//!     is full, and should end: further samples are lost, and counted.

mod allocations;
mod counting;
mod encoding;
pub mod error;
mod sampling;
mod table;
mod time;

pub use counting::{Counting, allocated_bytes};
pub use encoding::Subject;
pub use error::ProfileError;
pub use sampling::{Profile, Sampling};

/// Samples in a second of CPU time.
pub const FREQUENCY_HERTZ: u32 = 250;
/// The mean of the bytes that a thread allocates from one sample to the next.
pub const MEAN_INTERVAL_BYTES: u32 = 512 << 10;
/// The most that a profile of CPU time may take on the disk while it is taken.
pub const MAX_SPILLED_BYTES: u64 = 64 << 20;
/// The most bytes that the file of a profile has.
pub const MAX_BYTES: usize = 4 << 20;
