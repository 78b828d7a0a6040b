// SPDX-License-Identifier: Apache-2.0
//! A runtime whose connections have the delay, loss and bandwidth of links
//! between regions, and faults for a time.
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
//! | `fault` | what goes wrong for a time, which begins and ends while nodes run |
//! | `line` | the way to a peer: its link, and its fault |
//! | `table` | which way leads to an address |
//! | `metrics` | what links did |
//! | `runtime` | all of it around a runtime |
//!
//! # Specification
//!
//! 1. Whoever dials applies the conditions of both directions: it knows whom it
//!    dials, and the other side does not know who comes. So all nodes of a
//!    network must be told the same, and each connection is held up once.
//! 2. A [`Line`] is the way to a peer, with or without a link. An address is that
//!    of a line if the table says so, or if it is what a name of the table was
//!    resolved to last. A connection to any other address, every one that is
//!    accepted, and one of a line without a link and without a fault, is the inner
//!    runtime's own: nothing is copied, started or measured for it.
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
//! # Faults
//!
//! [`Faults`] begins and ends what is wrong with lines, while their connections
//! are open. There is one [`Fault`] at a time, of some of the lines, and it ends by
//! itself after its duration: nobody has to be there to end it. As with conditions,
//! it is of the connections that are dialled. So of two nodes that a fault is
//! between both must be told, whichever dialled.
//!
//! 1. A line that is worse has the delay and the loss of the fault on top of its
//!    link's. They hold for what is accepted from then on, and after the end no
//!    more. What was accepted before keeps its time, and nothing overtakes it.
//!    Where there is a bandwidth, a direction holds more from the first fault on
//!    that needs it.
//! 2. While a line is cut, nothing arrives in either direction: not what was on
//!    its way, nor the end of a connection, nor what comes of dialling. Nothing is
//!    lost, and everything goes on when the cut is over, as TCP has it: what would
//!    have arrived meanwhile arrives then, at once and in order. (TCP would wait
//!    for its next attempt, for as long again at most.) As it is with TCP, senders
//!    go on until what is held fills the room that there is, and a connection lives
//!    through a cut that is shorter than its ends' patience. With a longer one, an
//!    end that was abandoned is noticed by the other after the cut.
//! 3. A connection that was the inner runtime's own is one of a link from the first
//!    fault of its line on, to its end: one without conditions when there is no
//!    fault. Of what was accepted before, the inner network's own buffers have
//!    passed; what it gives while there is a fault is held up, whoever waited for
//!    it since before. Until then, a connection looks at one flag whenever it sends
//!    or receives.
//!
//! What that flag costs is measured beside the inner runtime's own connections, by
//!
//! ```sh
//! cargo run --release --package shardnode-links --example link_cost
//! ```
//!
//! # Time
//!
//! All time is the inner runtime's, whose clock somebody may set. A clock that
//! is set back delays no piece by more than its conditions do.

mod conditions;
mod fault;
mod line;
mod metrics;
mod piece;
mod runtime;
mod schedule;
mod sink;
mod stream;
mod table;

pub use conditions::Conditions;
pub use fault::{Fault, Faults, Ongoing, UnknownPeer};
pub use line::{Line, Link};
pub use metrics::Metrics;
pub use runtime::{Linked, Listener};
pub use sink::Sink;
pub use stream::Stream;
pub use table::Table;
