// SPDX-License-Identifier: Apache-2.0
//! What `shardnode` needs besides the protocol and its configuration: the
//! connections to its peers and what is between them, the servers of its HTTP API and its admin API, its
//! data directory, faults of its process, its log, the export of its spans, how many files it may open,
//! what the kernel tells of its process and its connections, and the commands that
//! need no configuration.

pub mod admin;
pub mod committee;
pub mod data_dir;
pub mod full_disk;
pub mod http;
pub mod links;
pub mod load;
pub mod log;
pub mod open_files;
pub mod p2p;
pub mod process;
pub mod process_fault;
#[cfg(feature = "simulator")]
pub mod simulate;
pub mod spans;
pub mod tcp;
