// SPDX-License-Identifier: Apache-2.0
//! Files that are closed and opened behind the backs of their owners: nobody
//! notices, at most so many are open, and no promise of the storage is broken.

#![allow(clippy::unwrap_used, clippy::panic)]

mod concurrent;
mod crashes;
mod disk;
mod equal;
mod real;
mod rules;
