// SPDX-License-Identifier: Apache-2.0
//! Stores on simulated disks: what was acknowledged is there after a crash,
//! what was not is whole or absent, and damage never goes unnoticed.

#![allow(clippy::unwrap_used, clippy::panic)]

mod bodies;
mod crashes;
mod damage;
mod fixture;
mod log;
mod snapshot_store;
