// SPDX-License-Identifier: Apache-2.0
//! The HTTP API over a node held in memory, and what its TLS shows.

#![allow(clippy::unwrap_used)]

mod admin;
mod clock;
mod disk;
mod fixture;
mod jsonrpc;
mod links;
mod log;
mod methods;
mod plain;
mod process;
mod profile;
mod tls;
