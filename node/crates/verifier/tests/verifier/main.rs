// SPDX-License-Identifier: Apache-2.0
//! Proofs that hold, and lies.

#![allow(clippy::unwrap_used)]

mod cases;
mod fixture;
mod vectors;
