// SPDX-License-Identifier: Apache-2.0
//! What blocks may say, and what they come to.

// What is counted here is small.
#![allow(clippy::cast_possible_truncation)]
#![allow(clippy::unwrap_used)]

mod chain;
mod endorsements;
mod headers;
mod heights;
mod measures;
mod views;
