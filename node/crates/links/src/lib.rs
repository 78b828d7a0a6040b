// SPDX-License-Identifier: Apache-2.0
//! A runtime whose connections have the delay, loss and bandwidth of links
//! between regions.
//!
//! Nodes that share a machine reach each other in microseconds, nodes of three
//! regions do not. [`Linked`] is any runtime with a table of which addresses are
//! behind which [`Link`], and what is sent over a link arrives as late as the
//! link's [`Conditions`] say. It needs nothing of the kernel, and in a
//! deterministic runtime it is deterministic.
//!
//! | module | does |
//! |---|---|
//! | `conditions` | what a link does, and what follows from it |
//! | `schedule` | when each piece arrives; nothing there waits |
//! | `piece` | pieces on their way, and how long they wait |
//! | `sink`, `stream` | the two directions of a connection |
//! | `table` | which link an address is behind |
//! | `metrics` | what links did |
//! | `runtime` | all of it around a runtime |
//!
//! # Specification
//!
//! 1. Whoever dials applies the conditions of both directions: it knows whom it
//!    dials, and the other side does not know who comes. So all nodes of a
//!    network must be told the same, and each connection is held up once.
//! 2. An address is behind a link if the table says so, or if it is what a name
//!    of the table was resolved to last. A connection to any other address, and
//!    every one that is accepted, is the inner runtime's own: nothing is copied,
//!    started or measured for it.
//! 3. What is sent is cut into pieces, which arrive whole and in order. A piece
//!    is what the bandwidth lets pass in a millisecond, at least two segments
//!    and at most 64 KiB, as kernels cut what they give a network card
//!    (`tcp_tso_autosize`). One that is accepted at a time t arrives no earlier
//!    than t, and what it takes to pass at the bandwidth after the pieces before
//!    it, and the delay. Pieces do not wait for each other's delay.
//! 4. The bandwidth is that of each direction of one connection. Two nodes have
//!    one connection, so it is that of an ordered pair of nodes.
//! 5. Each direction holds what the bandwidth lets pass in the delay, in one
//!    retransmission if there is loss, and in 10 ms, at least two pieces and at
//!    most 16 MiB, and without a bandwidth 16 MiB. When that is full, a sender
//!    waits, and nothing is read: the inner network pushes back. So what a
//!    connection carries is bounded like that of a TCP window, too: 16 MiB in
//!    each delay. The 10 ms are for timers that are late.
//! 6. Dialling takes a round trip longer, whatever comes of it.
//! 7. What a link holds when its sender is dropped still arrives, and then the
//!    end. An error of the inner network comes after what was sent before it, as
//!    late as that; one of sending is that of the next sending. Sending and
//!    receiving take no longer than `patience`, and after an error or an
//!    abandoned attempt nothing is sent or received any more.
//!
//! # Loss
//!
//! Connections are streams, and TCP repairs what is lost, so loss is delay.
//! Every piece has one segment for each 1,448 bytes begun, and each is lost with
//! the given probability, alone and independently of all others, as is each of
//! its retransmissions. A loss costs one retransmission: five quarters of a
//! round trip, and at least 10 ms. That is what RACK (RFC 8985) takes where
//! something was sent afterwards: a round trip until the sender hears of it, and
//! a quarter more for reordering. The 10 ms stand for its timers. A piece
//! arrives when its last segment does, and whatever is behind it waits, as the
//! order of a stream demands.
//!
//! Not modelled are: the slower recovery of what nothing follows (a tail loss
//! probe takes two round trips), lost segments of the handshake of TCP, the
//! bandwidth that retransmissions take, and congestion control. A sender that
//! takes loss for congestion, as CUBIC does, would slow down; BBR would not.
//! Where a connection carries less because of loss, give it that bandwidth.
//!
//! # Time
//!
//! All time is the inner runtime's, whose clock somebody may set. A clock that
//! is set back delays no piece by more than its conditions do.

mod conditions;
mod metrics;
mod piece;
mod runtime;
mod schedule;
mod sink;
mod stream;
mod table;

pub use conditions::Conditions;
pub use metrics::Metrics;
pub use runtime::{Linked, Listener};
pub use sink::Sink;
pub use stream::Stream;
pub use table::{Link, Table};
