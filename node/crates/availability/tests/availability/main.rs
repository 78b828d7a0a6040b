// SPDX-License-Identifier: Apache-2.0
//! The actor that knows what is at hand, among peers that send whatever they
//! like.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod cost;
mod damage;
mod fixture;
mod floods;
mod liars;
mod missing;
mod peers;
mod questions;
mod receipts;
