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
//! | [`prepare`], [`run`] | how these come together |
//! | [`client`], [`answers`] | requests to nodes, and what they answer |

pub mod answers;
pub mod backoff;
pub mod client;
pub mod follow;
pub mod lane;
pub mod prepare;
pub mod prepared;
pub mod report;
pub mod run;
pub mod schedule;
pub mod tally;
