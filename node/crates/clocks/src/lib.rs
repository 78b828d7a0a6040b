// SPDX-License-Identifier: Apache-2.0
//! A runtime whose clock is wrong for a time.
//!
//! What a chain makes of a machine whose clock is set wrong, or is set right after it
//! was, should be known before there is one. [`Clocked`] is any runtime with a clock that
//! can be wrong. [`Faults`] begins and ends that while a node runs. It needs nothing of
//! the kernel: the machine has the right time, and so has everybody else on it.
//!
//! | module | does |
//! |---|---|
//! | `fault` | a clock that is wrong for a time, which begins and ends while nodes run |
//! | `offset` | the time that a wrong clock shows, and the right one |
//! | `runtime` | the runtime with such a clock |
//! | `metrics` | how wrong it is |
//!
//! # Specification
//!
//! 1. There is one [`Fault`] at a time, and it ends by itself after its duration:
//!    nobody has to be there to end it. Another one takes its place.
//! 2. While it lasts, the clock shows the time of the inner runtime's clock and the
//!    offset of the fault, which is ahead of it or behind. It jumps there when the fault
//!    begins and back when it ends, as a clock does that somebody sets.
//! 3. Timers run as fast as before: a sleep takes as long as it should, whenever it
//!    began. What sleeps until a time sleeps for as long as it is until then by the clock
//!    as it is at that moment, and a jump after that makes it neither longer nor shorter.
//!    So does a runtime whose machine has its clock set.
//! 4. Rate limits that are reckoned with the clock see it as it is.
//! 5. All children of a runtime, and whatever they spawn, have its clock. The fault
//!    itself lasts by the clock of whoever begins it, which should be right.
//! 6. Without a fault the inner clock is told as it is. One that is asked for the time
//!    looks at one number.
//!
//! What a node has a clock for and does not ask a runtime for is not wrong: lines that it
//! logs have the right time.

mod fault;
mod metrics;
mod offset;
mod runtime;

pub use fault::{Fault, Faults, Ongoing};
pub use metrics::Metrics;
pub use offset::Offset;
pub use runtime::Clocked;
