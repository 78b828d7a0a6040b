// SPDX-License-Identifier: Apache-2.0
//! The ledger of a producer, on storage that counts what is read.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod engine;
mod fixture;
mod producing;
mod serving;
