// SPDX-License-Identifier: Apache-2.0
//! A node's HTTP API.
//!
//! [`router`] serves what the node contract lists for everybody, and
//! [`admin_router`] what it lists for whoever has the token, over anything that
//! implements [`Node`]:
//!
//! | module | serves |
//! |---|---|
//! | `server` | `/healthz`, `/readyz`, `/status`, `/metrics` |
//! | `admin` | `/admin/load`, behind a bearer token |
//! | `links` | `/admin/links`, behind it as well |
//! | `disk` | `/admin/disk`, behind it as well |
//! | `clock` | `/admin/clock`, behind it as well |
//! | `process` | `/admin/process`, behind it as well |
//! | `bounds` | what faults may be |
//! | `profile` | `/admin/profile`, behind it as well |
//! | `log` | `/admin/log`, behind it as well |
//! | `jsonrpc` | `/rpc`: the JSON-RPC 2.0 envelope |
//! | `methods` | its methods and their parameters |
//! | `kept` | answers once for all who ask at about the same time |
//! | `large` | answers that take memory, a few at a time |
//! | [`tls`] | proves to callers of the admin API which node they talk to |
//! | [`types`], [`ledger`] | the JSON of answers |

mod admin;
mod bounds;
mod clock;
mod disk;
mod error;
mod handler;
mod json;
mod jsonrpc;
mod kept;
mod large;
pub mod ledger;
mod links;
mod log;
mod methods;
mod node;
mod process;
mod profile;
mod server;
pub mod tls;
mod token;
pub mod types;

pub use json::MAX_BODY;
pub use large::ClientAddress;
pub use methods::MOST_TOGETHER;
pub use node::{Node, ProfileOngoing, Unavailable, UnknownPeer};
pub use server::{admin_router, router};
pub use token::{AdminToken, InvalidToken};
pub use types::{
    AccountReport, ArchiveStatus, ArchivedStatus, ClockFault, CopyStatus, DiskCondition, DiskFault,
    DiskStatus, LinkCondition, LinkFault, LoadStatus, LogLevel, MachineStatus, MemoryStatus,
    OutcomeReport, OutcomeStatus, PoolStatus, ProcessCondition, ProcessFault, ProfileExtent,
    ProfileKind, ProfileStage, ProfileStatus, ProofReport, Readiness, Role, ShardStatus, Status,
    Submitted, SupplyStatus, SyncingStatus, TcpStatus, TrackedStatus,
};
