// SPDX-License-Identifier: Apache-2.0
//! What a run is told.

use crate::{lane::WhenFull, prepared::Prepared};
use shardnode_load::Workload;
use shardnode_primitives::Genesis;
use std::{num::NonZeroUsize, sync::Arc, time::Duration};

/// How transfers become due.
#[derive(Debug)]
pub enum Profile {
    /// So many connections, each with the next request as soon as the last is
    /// answered, until so many transfers are sent, if there is an end to them.
    Workers {
        /// Connections.
        workers: u32,
        /// Transfers.
        count: Option<u64>,
    },
    /// So many a second.
    Rate(u32),
    /// Users, each with one transfer in a time.
    Users {
        /// How many.
        users: u32,
        /// The time.
        every: Duration,
    },
    /// Those of a file, as fast as they are answered.
    File(Prepared),
}

/// What a run is told.
#[derive(Debug)]
pub struct Options {
    /// The addresses of nodes, as `http://127.0.0.1:26700`.
    pub nodes: Vec<String>,
    /// The network.
    pub genesis: Arc<Genesis>,
    /// How transfers become due.
    pub profile: Profile,
    /// Who pays whom, if no file says so.
    pub workload: Workload,
    /// Connections, of profiles that do not say.
    pub connections: Option<u32>,
    /// The most transfers of a request.
    pub batch: usize,
    /// What is done about a pool that is full.
    pub when_full: WhenFull,
    /// Which part of the accounts, of how many.
    pub part: (u16, u16),
    /// How long transfers are sent.
    pub length: Duration,
    /// How long nothing may happen afterwards.
    pub drain: Duration,
    /// How long an answer may take.
    pub answer_timeout: Duration,
    /// Blocks until a transfer expires.
    pub expire_blocks: u64,
    /// When it begins, in milliseconds since 1970; as soon as it can, if it does
    /// not say.
    pub start_at_ms: Option<u64>,
    /// The CPU time of this process.
    pub cpu_seconds: fn() -> f64,
    /// Processors.
    pub cores: NonZeroUsize,
}
