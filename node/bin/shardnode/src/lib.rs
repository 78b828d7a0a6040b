// SPDX-License-Identifier: Apache-2.0
//! What `shardnode` needs besides the protocol: its files, its log and the
//! figures of its process.

pub mod config;
pub mod log;
pub mod process;
