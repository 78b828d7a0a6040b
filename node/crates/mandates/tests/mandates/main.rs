// SPDX-License-Identifier: Apache-2.0
//! Mandates, how they are dealt, and how safe that is.

#![allow(clippy::unwrap_used)]

mod choices;
mod dealing;
mod quorum;
mod security;
mod stakes;
mod vectors;
