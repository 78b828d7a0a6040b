// SPDX-License-Identifier: Apache-2.0
//! What it costs that a connection without a link can have a fault: round trips over
//! TCP on this machine, on connections of the runtime's own and on those of a line,
//! in turns. What two of the same kind differ by is what this can tell.

#![allow(clippy::unwrap_used)]
#![allow(clippy::print_stdout, reason = "it is what this is for")]

use commonware_runtime::{
    Clock, Listener as _, Network, Runner as _, Sink as _, Spawner as _, Stream as _,
    Supervisor as _,
    tokio::{Config, Context, Runner},
};
use shardnode_links::{Line, Linked, Table};
use std::{net::SocketAddr, time::Duration};

const TURNS: usize = 150;
const ROUND_TRIPS: u32 = 1_000;
const BYTES: usize = 64;

/// Answers with what is sent, on each connection.
async fn echo(context: &Context) -> SocketAddr {
    let mut listener = context.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(context.child("echo").spawn(move |context| async move {
        while let Ok((_, mut sink, mut stream)) = listener.accept().await {
            drop(context.child("connection").spawn(move |_| async move {
                while let Ok(received) = stream.recv(BYTES).await {
                    sink.send(received).await.unwrap();
                }
            }));
        }
    }));
    address
}

/// The time of one round trip, on one more connection.
async fn round_trip(network: &(impl Network + Clock), far: SocketAddr) -> Duration {
    let (mut sink, mut stream) = network.dial(far).await.unwrap();
    let start = network.current();
    for _ in 0..ROUND_TRIPS {
        sink.send(vec![7; BYTES]).await.unwrap();
        drop(stream.recv(BYTES).await.unwrap());
    }
    network.current().duration_since(start).unwrap() / ROUND_TRIPS
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn main() {
    let config = Config::new()
        .with_worker_threads(2)
        .with_tcp_nodelay(Some(true));
    Runner::new(config).start(|context| async move {
        let far = echo(&context).await;
        let mut table = Table::default();
        table.insert_address(far, Line::new(None));
        let linked = Linked::new(context.child("here"), table, Duration::from_secs(20));
        let (mut own, mut again, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        for turn in 0..TURNS {
            // Each is the first, the second and the last as often as the others.
            for place in 0..3 {
                match (turn + place) % 3 {
                    0 => own.push(round_trip(&context, far).await),
                    1 => lines.push(round_trip(&linked, far).await),
                    _ => again.push(round_trip(&context, far).await),
                }
            }
        }
        let [own, again, lines] = [own, again, lines].map(median);
        println!("a round trip on the runtime's own connections: {own:?}");
        println!("on others of the same kind:                    {again:?}");
        println!("and on those of a line without a fault:        {lines:?}");
    });
}
