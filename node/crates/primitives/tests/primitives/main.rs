// SPDX-License-Identifier: Apache-2.0
//! Encodings, commitments and the genesis document.

#![allow(clippy::unwrap_used)]

mod arbitrary;
mod blocks;
mod codec;
mod genesis;
mod ids;
mod layouts;
mod randomness;
mod receipts;
mod signatures;
mod vectors;
