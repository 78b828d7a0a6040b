// SPDX-License-Identifier: Apache-2.0
//! The saved corpus through every target, golden vectors of formats whose
//! crates have none, and that no decoder is left out.

#![allow(clippy::expect_used, clippy::unwrap_used)]

mod complete;
mod corpus;
mod vectors;
