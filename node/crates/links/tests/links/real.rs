// SPDX-License-Identifier: Apache-2.0
//! Over TCP, on the clock of this machine.

use super::{PATIENCE, delay, ms};
use commonware_runtime::{
    Clock as _, Listener as _, Network as _, Runner as _, Sink as _, Spawner as _, Stream as _,
    Supervisor as _,
    tokio::{Config, Runner},
};
use prometheus_client::registry::Registry;
use shardnode_links::{Line, Link, Linked, Metrics, Table};

#[test]
fn a_round_trip_takes_two_delays_and_throughput_is_not_that_of_one_piece_each() {
    Runner::new(Config::new().with_worker_threads(2)).start(|context| async move {
        let mut listener = context.bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let far = listener.local_addr().unwrap();
        let mut table = Table::default();
        let metrics = Metrics::new(&mut Registry::default());
        let link = Link::new("south", delay(100), &metrics);
        table.insert_address(far, Line::new(Some(link)));
        let linked = Linked::new(context.child("here"), table, PATIENCE);

        const PIECES: usize = 200;
        const BYTES: usize = 64 << 10;
        let echo = context.child("echo").spawn(move |_| async move {
            let (_, mut sink, mut stream) = listener.accept().await.unwrap();
            for _ in 0..PIECES {
                sink.send(stream.recv(BYTES).await.unwrap()).await.unwrap();
            }
            // Keeps the connection until the other side is done.
            drop(stream.recv(1).await);
        });
        let (mut sink, mut stream) = linked.dial(far).await.unwrap();
        let start = context.current();
        let sending = context.child("sender").spawn(move |_| async move {
            for _ in 0..PIECES {
                sink.send(vec![7; BYTES]).await.unwrap();
            }
            sink
        });
        drop(stream.recv(BYTES).await.unwrap());
        let first = context.current().duration_since(start).unwrap();
        assert!(first >= ms(200), "{first:?}");
        for _ in 1..PIECES {
            drop(stream.recv(BYTES).await.unwrap());
        }
        let all = context.current().duration_since(start).unwrap();
        // One after the other they would take 40 s.
        assert!(all < ms(20_000), "{all:?}");
        drop((sending.await.unwrap(), stream));
        echo.await.unwrap();
    });
}
