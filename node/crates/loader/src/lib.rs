// SPDX-License-Identifier: Apache-2.0
//! Load from clients: signed transfers over the HTTP API of nodes, and what
//! became of every one.
//!
//! The in-node generators measure validators; this measures what clients see. It
//! has no part in the chain and knows it by the node contract alone. Accounts are
//! those of genesis, and the workloads those of `shardnode_load`.
//!
//! | module | decides |
//! |---|---|
//! | [`schedule`] | when transfers are due |
//! | [`lane`] | what one connection sends, and what it does about refusals |
//! | [`backoff`] | who tries again when a pool is full, and when |
//! | [`follow`] | what became of what was sent |
//! | [`tally`] | how it is counted |
//! | [`report`] | how it is written down |
//! | [`prepared`] | files of transfers that were signed before |
//! | [`options`] | what a run is told |
//! | `division` | which connection pays from which accounts |
//! | `nodes` | to which nodes connections go, and how far the chain is by them |
//! | `sources` | what each connection sends, and what signs it |
//! | [`prepare`], [`run`] | how these come together |
//! | [`error`] | why a run has no result |
//! | [`client`], [`answers`] | requests to nodes, and what they answer |

pub mod answers;
pub mod backoff;
pub mod client;
mod division;
pub mod error;
pub mod follow;
pub mod lane;
mod nodes;
pub mod options;
pub mod prepare;
pub mod prepared;
pub mod report;
pub mod run;
pub mod schedule;
mod sources;
pub mod tally;
