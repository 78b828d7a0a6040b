// SPDX-License-Identifier: Apache-2.0
//! Witnesses of random executions, and everything that can be wrong with one.

// What is counted here is small.
#![allow(clippy::cast_possible_truncation)]
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod cost;
mod encoding;
mod mutations;
mod parts;
mod validation;
mod vectors;
mod world;
