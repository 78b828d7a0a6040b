// SPDX-License-Identifier: Apache-2.0
//! What `shardnode` needs besides the protocol and its configuration: the
//! server of its admin API, its data directory, its log, what the kernel tells of its process and its
//! connections, and the commands that need no configuration.

pub mod admin;
pub mod committee;
pub mod data_dir;
pub mod log;
pub mod process;
#[cfg(feature = "simulator")]
pub mod simulate;
pub mod tcp;
