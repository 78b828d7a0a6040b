// SPDX-License-Identifier: Apache-2.0
//! A node's HTTP API.
//!
//! [`router`] serves what the node contract lists, over anything that
//! implements [`Node`]:
//!
//! | module | serves |
//! |---|---|
//! | `server` | `/healthz`, `/readyz`, `/status`, `/metrics` |
//! | `admin` | `/admin/load`, behind a bearer token |
//! | `jsonrpc` | `/rpc`: the JSON-RPC 2.0 envelope |
//! | `methods` | its methods and their parameters |
//! | [`types`], [`ledger`] | the JSON of answers |

mod admin;
mod error;
mod handler;
mod json;
mod jsonrpc;
pub mod ledger;
mod methods;
mod node;
mod server;
mod token;
pub mod types;

pub use node::{Node, SubmitError, Unavailable};
pub use server::router;
pub use token::{AdminToken, InvalidToken};
pub use types::{
    AccountReport, CopyStatus, LoadStatus, OutcomeReport, OutcomeStatus, PoolStatus, Readiness,
    Role, ShardStatus, Status, Submitted, SupplyStatus, SyncingStatus, TcpStatus, TrackedStatus,
};
