// SPDX-License-Identifier: Apache-2.0
//! The delay: exact, one way each, and never that of the piece before.

use super::*;

#[test]
fn both_directions_take_the_delay() {
    run(|context| async move {
        let mut connection = connect(&context, delay(40)).await;
        let start = context.current();
        connection.near.0.send(vec![1; 100]).await.unwrap();
        assert!(since(&context, start) < LITTLE, "sending waits");
        assert_eq!(flat(connection.far.1.recv(100).await.unwrap()), [1; 100]);
        assert_takes(since(&context, start), ms(40), LITTLE);

        connection.far.0.send(vec![2; 100]).await.unwrap();
        assert_eq!(flat(connection.near.1.recv(100).await.unwrap()), [2; 100]);
        assert_takes(since(&context, start), ms(80), 2 * LITTLE);

        let here = connection.here;
        assert_eq!(here.series(), 30);
        for direction in ["sent", "received"] {
            assert_eq!(here.measured("link_bytes_total", direction), 100.0);
            assert_eq!(here.measured("link_hold_seconds_count", direction), 1.0);
            let held = here.measured("link_hold_seconds_sum", direction);
            assert_takes(Duration::from_secs_f64(held), ms(40), LITTLE);
        }
    });
}

#[test]
fn dialling_takes_a_round_trip_whatever_comes_of_it() {
    run(|context| async move {
        let start = context.current();
        let connection = connect(&context, delay(40)).await;
        assert_takes(since(&context, start), ms(80), LITTLE);
        drop(connection);

        let nobody = Here::new(&context, delay(40));
        let mut table = Table::default();
        let metrics = Metrics::new(&mut Registry::default());
        let far = "127.0.0.1:1001".parse().unwrap();
        let link = Link::new("south", delay(40), &metrics);
        table.insert_address(far, Line::new(Some(link)));
        let linked = Linked::new(context.child("nobody"), table, PATIENCE);
        let start = context.current();
        assert!(linked.dial(far).await.is_err());
        assert_takes(since(&context, start), ms(80), LITTLE);
        // And none without a link.
        let start = context.current();
        assert!(nobody.linked.dial(far).await.is_err());
        assert!(since(&context, start) < LITTLE);
    });
}

#[test]
fn pieces_do_not_wait_for_each_others_delay() {
    run(|context| async move {
        let Connection {
            mut near, mut far, ..
        } = connect(&context, delay(40)).await;
        let start = context.current();
        let sent = context.child("sender").spawn(move |context| async move {
            for number in 0..100_u8 {
                near.0.send(vec![number; 1_000]).await.unwrap();
                context.sleep(ms(1)).await;
            }
            near
        });
        for number in 0..100_u8 {
            let piece = far.1.recv(1_000).await.unwrap();
            assert_eq!(flat(piece), [number; 1_000]);
            let expected = ms(40 + u64::from(number));
            assert_takes(since(&context, start), expected, 100 * LITTLE);
        }
        drop(sent.await.unwrap());
    });
}

#[test]
fn everything_arrives_in_order_however_it_is_cut() {
    run(|context| async move {
        let conditions = Conditions {
            loss_basis_points: 500,
            ..megabits(delay(7), 200)
        };
        let Connection { near, far, .. } = connect(&context, conditions).await;
        let (mut near_sink, mut near_stream) = near;
        let (mut far_sink, mut far_stream) = far;
        const BYTES: usize = 3 << 20;
        // All sizes from one byte to more than any link holds.
        let sizes = |step: usize| {
            let mut left = BYTES;
            (1..).map_while(move |turn: usize| {
                let size = (turn * turn * step).min(left);
                left -= size;
                (size > 0).then_some(size)
            })
        };
        let there = context.child("there").spawn(move |_| async move {
            let mut bytes = IoBufs::from(pattern(BYTES));
            for size in sizes(3) {
                near_sink.send(bytes.split_to(size)).await.unwrap();
            }
            near_sink
        });
        let back = context.child("back").spawn(move |_| async move {
            let mut bytes = IoBufs::from(pattern(BYTES));
            for size in sizes(5) {
                far_sink.send(bytes.split_to(size)).await.unwrap();
            }
            far_sink
        });
        let received = context.child("received").spawn(move |_| async move {
            let mut received = Vec::new();
            for size in sizes(7) {
                received.extend(receive(&mut far_stream, size).await);
            }
            received
        });
        let mut came_back = Vec::new();
        for size in sizes(2) {
            // What can be seen before is what comes.
            let seen = near_stream.peek(size).to_vec();
            let came = flat(near_stream.recv(size).await.unwrap());
            assert_eq!(came[..seen.len()], seen);
            came_back.extend(came);
        }
        assert!(received.await.unwrap() == pattern(BYTES));
        assert!(came_back == pattern(BYTES));
        drop((there.await.unwrap(), back.await.unwrap()));
    });
}

#[test]
fn what_is_accepted_and_what_is_not_in_the_table_is_the_inner_runtimes() {
    run(|context| async move {
        let here = Here::new(&context, delay(40));
        let other: SocketAddr = "127.0.0.1:2000".parse().unwrap();
        let mut listener = here.linked.bind(other).await.unwrap();
        assert_eq!(listener.local_addr().unwrap(), other);
        let start = context.current();
        let mut dialled = here.linked.dial(other).await.unwrap();
        let (_, mut sink, mut stream) = listener.accept().await.unwrap();
        dialled.0.send(vec![1; 10]).await.unwrap();
        assert_eq!(flat(stream.recv(4).await.unwrap()), [1; 4]);
        assert_eq!(stream.peek(9), [1; 6]);
        sink.send(vec![2; 10]).await.unwrap();
        assert_eq!(flat(dialled.1.recv(10).await.unwrap()), [2; 10]);
        assert!(since(&context, start) < LITTLE);
        assert_eq!(here.measured("link_bytes_total", "sent"), 0.0);
    });
}
