// SPDX-License-Identifier: Apache-2.0
//! What is at hand of the chunks in flight: candidate headers of all shards and
//! their endorsements, bodies of the own shard, the own parts of the bodies of
//! all other shards, receipts for the own shard.
//!
//! What a node needs and does not have it waits for, because producers send
//! everything to whoever needs it; what has not come after
//! [`PATIENCE`](actor::asking::PATIENCE) it asks for
//! ([`chunk_requests`](shardnode_network::chunk_requests)).
//!
//! | actor | does |
//! |---|---|
//! | [`Actor`] | waits for all of this, asks for it, and says what a leader can propose |
//! | [`bodies`] | verifies the bodies of the own shard and makes them durable |
//! | [`held_parts`] | holds the own parts of the bodies of other shards |
//!
//! [`serving`] answers what other nodes ask for.
//!
//! # Bodies
//!
//! A producer divides the body of its chunk into one part for each voter
//! ([`body_code`](shardnode_network::identity::body_code)). It sends the body to
//! the shard's other trackers, and every other voter its part, before the
//! header. A voter votes for a block only with the body, or its part of it, of
//! every new chunk in the block, so the honest votes of a certificate alone
//! stand for a tracker with the body, or for as many parts as give it.
//!
//! A tracker asks the shard's other trackers for a body, and if they do not
//! answer within [`ANSWER`](recovery::ANSWER), every voter for its part. A voter
//! asks the trackers for its own part, and if a vote waits for it and they do
//! not answer, the other voters for theirs. A tracker that was shown by parts
//! that there is no body answers with those. A body without transactions is
//! known by its hash.
//!
//! # Receipts
//!
//! Receipts go to the trackers of the shard that they are for, and to nobody
//! else. A tracker votes for a header only with the receipts that it commits
//! to for its shard, and a leader proposes none without. Who lacks some asks
//! the producers of the shard that they are from, and the other trackers of its
//! own: a producer can send them to one and not to another.
//!
//! # Order
//!
//! Nothing that peers send keeps a leader from what it waits for: finished
//! checks, and what consensus and the ledger say, come before anything that
//! peers send, and of that chunks, endorsements and questions have turns
//! ([`shardnode_mailboxes::turns`]). A flood of chunk messages would otherwise
//! come before all endorsements, or one of endorsements before all chunks.
//!
//! # Who is cut off
//!
//! Headers, bodies and parts are sent by who made them and passed on by nobody,
//! and an endorsement is its sender's own. So whoever sends a header that its
//! producer did not sign, another body or part than its header's, or what is no
//! message at all, is no honest peer, and neither is the producer of an invalid
//! chunk. It is cut off at the first one: until then it costs one verification.
//!
//! What an honest peer can do as well is passed over and has no consequence:
//! messages that are late or early, or for a shard that is not the sender's, a
//! second header for one height, receipts that nobody waits for yet.
//!
//! # Bounds
//!
//! Candidates and parts are kept for heights
//! [in flight](shardnode_blocks::in_flight), at most
//! [`PER_SLOT`](shardnode_blocks::in_flight::PER_SLOT) for each shard and height,
//! and only from the producers of the shard that they belong to. Receipts
//! that nobody waits for are kept as long as a next header can commit to them, one
//! of each of these producers for each execution; the message's head says whether
//! it is looked at ([`receipts`]). Those that were waited for are kept for heights
//! from [`KEEP_BELOW`](receipts::KEEP_BELOW) below the finalised one on.
//! [`held_parts`] bounds what is held of older parts. Other voters' parts of
//! a body are made for them as long as it can enter a block, for one body at a
//! time.

mod actor;
pub mod bodies;
mod endorsements;
pub mod held_parts;
mod metrics;
mod receipts;
mod recovery;
pub mod serving;
mod unreadable;

pub use actor::{Actor, Parts};
pub use metrics::Metrics;
