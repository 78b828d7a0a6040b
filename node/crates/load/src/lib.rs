// SPDX-License-Identifier: Apache-2.0
//! The in-node load generator.
//!
//! A producer under measured load signs transfers into its own pool. This
//! crate says which, and how many are due; it has no clock, no threads and no
//! randomness of its own, so a run is a function of its seeds.
//!
//! | module | decides |
//! |---|---|
//! | [`accounts`] | which of the genesis accounts a generator pays from |
//! | [`zipf`] | how popular an account is |
//! | [`workload`] | which kinds of accounts pay, and are paid |
//! | [`generator`] | who pays whom, with which nonce |
//! | [`pacer`] | how many transfers are due |
//! | [`target`] | what a generator can be told, and when it signs |

pub mod accounts;
pub mod generator;
pub mod pacer;
pub mod target;
pub mod workload;
pub mod zipf;

pub use accounts::{Accounts, Share};
pub use generator::{Generator, LoadError, Signer, Unsigned};
pub use pacer::Pacer;
pub use target::{Signing, Stock, Target, TargetError};
pub use workload::{Reach, Receivers, Senders, Workload, WorkloadError};
pub use zipf::ZipfMandelbrot;
