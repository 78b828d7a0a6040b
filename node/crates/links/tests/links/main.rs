// SPDX-License-Identifier: Apache-2.0
//! Connections over links, and with faults: everything arrives, in order, as late
//! as it should, and everything else is as without a link.

#![allow(clippy::unwrap_used, clippy::panic)]

mod bandwidth;
mod delay;
mod ends;
mod faults;
mod loss;
mod names;
mod real;

use commonware_runtime::{
    Clock as _, IoBufs, Listener as _, ListenerOf, Network as _, Runner as _, Sink as _, SinkOf,
    Spawner as _, Stream as _, StreamOf, Supervisor as _,
    deterministic::{Config, Context, Runner},
};
use prometheus_client::{encoding::text::encode, registry::Registry};
use shardnode_links::{Conditions, Fault, Faults, Line, Link, Linked, Metrics, Table};
use std::{
    net::SocketAddr,
    num::NonZeroU64,
    time::{Duration, SystemTime},
};

/// The deterministic clock goes on by this much whenever anything happens.
const CYCLE: Duration = Duration::from_micros(1);
/// All that happens around one piece.
const LITTLE: Duration = Duration::from_micros(200);
/// How long the inner runtime takes to send or receive, at most.
const PATIENCE: Duration = Duration::from_secs(20);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn delay(millis: u64) -> Conditions {
    Conditions {
        delay: ms(millis),
        loss_basis_points: 0,
        bandwidth: None,
    }
}

const fn megabits(conditions: Conditions, megabits: u64) -> Conditions {
    Conditions {
        bandwidth: NonZeroU64::new(megabits * 1_000_000),
        ..conditions
    }
}

fn address() -> SocketAddr {
    "127.0.0.1:1000".parse().unwrap()
}

/// Runs a test in a deterministic runtime.
fn run<F: Future<Output = ()>>(test: impl FnOnce(Context) -> F) {
    Runner::new(Config::new().with_seed(7).with_cycle(CYCLE)).start(test);
}

/// A runtime of which `address()` is that of the peer `far`.
struct Here {
    linked: Linked<Context>,
    faults: Faults,
    registry: Registry,
}

impl Here {
    /// The peer is behind a link, or behind none.
    fn new(context: &Context, conditions: impl Into<Option<Conditions>>) -> Self {
        let mut registry = Registry::default();
        let metrics = Metrics::new(&mut registry);
        let mut table = Table::default();
        let link = |conditions| Link::new("south", conditions, &metrics);
        let line = Line::new(conditions.into().map(link));
        table.insert_address(address(), line.clone());
        Self {
            linked: Linked::new(context.child("here"), table, PATIENCE),
            faults: Faults::new([("far".to_owned(), line)].into()),
            registry,
        }
    }

    /// Begins a fault of the way to the peer.
    fn begin(&self, context: &Context, fault: Fault, duration: Duration) {
        let peers = ["far".to_owned()].into();
        let begun = self
            .faults
            .begin(context.child("fault"), peers, fault, duration);
        begun.unwrap();
    }

    fn exported(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).unwrap();
        text
    }

    /// How many series there are.
    fn series(&self) -> usize {
        let text = self.exported();
        text.lines().filter(|line| !line.starts_with('#')).count()
    }

    /// The value of a series.
    fn measured(&self, name: &str, direction: &str) -> f64 {
        let text = self.exported();
        let series = format!("{name}{{peer_region=\"south\",direction=\"{direction}\"}} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&series));
        line.unwrap_or_else(|| panic!("no {series} in {text}"))
            .parse()
            .unwrap()
    }
}

/// A connection: the near side dialled, and has the link.
struct Connection {
    here: Here,
    near: (SinkOf<Linked<Context>>, StreamOf<Linked<Context>>),
    far: (SinkOf<Context>, StreamOf<Context>),
    /// Keeps the port.
    _listener: ListenerOf<Context>,
}

async fn connect(context: &Context, conditions: impl Into<Option<Conditions>>) -> Connection {
    let here = Here::new(context, conditions);
    let mut listener = context.bind(address()).await.unwrap();
    let near = here.linked.dial(address()).await.unwrap();
    let (_, sink, stream) = listener.accept().await.unwrap();
    Connection {
        here,
        near,
        far: (sink, stream),
        _listener: listener,
    }
}

/// Bytes that say where they are.
fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes as u64)
        .map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[2])
        .collect()
}

fn flat(bufs: IoBufs) -> Vec<u8> {
    bufs.coalesce().as_ref().to_vec()
}

/// Receives so many bytes. The deterministic network holds 64 KiB, and lets
/// nobody ask for more than that at once who is sent it in pieces.
async fn receive(stream: &mut impl commonware_runtime::Stream, bytes: usize) -> Vec<u8> {
    let mut received = Vec::with_capacity(bytes);
    while received.len() < bytes {
        let some = (bytes - received.len()).min(32 << 10);
        received.extend(flat(stream.recv(some).await.unwrap()));
    }
    received
}

/// That a time is what it should be, and no less.
#[track_caller]
fn assert_takes(took: Duration, expected: Duration, tolerance: Duration) {
    assert!(
        took >= expected && took <= expected + tolerance,
        "took {took:?}, not {expected:?}"
    );
}

fn since(context: &Context, start: SystemTime) -> Duration {
    context.current().duration_since(start).unwrap()
}
