// SPDX-License-Identifier: Apache-2.0
//! Serving clients: for the own shard from what this node holds, for other
//! shards by asking one of their trackers, in the formats of
//! [`client_messages`](shardnode_network::client_messages).
//!
//! What another node says about an account is believed only with a proof
//! against a state root that a finalised header committed to; a chunk only if
//! its body hashes to what the finalised header says. Outcomes are the
//! tracker's word, unless a proof of one is asked for. Clients that believe this
//! node as little are given the proof as well, against a block with its
//! certificate ([`shardnode_verifier`]).
//!
//! Transactions are verified by the node that a client talks to, those that come
//! together in one batch, and again by the producer that has their shard's pool,
//! which trusts no other node. So what does not hold costs the node alone that let
//! its sender in, and a peer whose list has a signature that does not hold is cut
//! off. All that is computed for clients and peers, for one transaction as
//! for a list, takes turns by who asks for it (`turns`), on half of the threads.
//!
//! What other nodes took in is kept until it is in a chunk, and goes to the shard's
//! next producers if it is not in time (`forwarded`); a producer that does not
//! answer is passed over for the next one at once. What is kept is in memory, as
//! pools are: a node that starts again knows nothing of what it was handed before.
//! A client that knows nothing of its transaction hands it in again, or signs
//! another with the same nonce, at most one of which can execute; from the height
//! on at which it expires, it never does.

// A rotation by a remainder is within a list of producers.
#![allow(clippy::cast_possible_truncation)]

mod actor;
mod answers;
mod budget;
mod client;
mod forwarded;
mod local;
mod metrics;
mod pending;
mod proofs;
mod signatures;
mod turns;

pub use actor::Actor;
pub use answers::{Fate, Unavailable};
pub use client::Client;
pub use local::Local;
pub use metrics::Metrics;
pub use proofs::NoProof;
pub use signatures::Signatures;
