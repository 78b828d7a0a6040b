// SPDX-License-Identifier: Apache-2.0
//! A committee member, among peers that send whatever they like.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod fixture;
mod floods;
mod liars;
mod memory;
#[path = "../../../availability/tests/availability/peers.rs"]
mod peers;
