// SPDX-License-Identifier: Apache-2.0
//! Faults begin and end in the middle of a stream, with a link and without one.

use super::*;
use commonware_runtime::Error;
use shardnode_links::UnknownPeer;

/// The lines that have faults.
const LINES: [Option<Conditions>; 2] = [None, Some(delay(7))];

const fn worse(delay_ms: u64, loss_basis_points: u16) -> Fault {
    Fault::Worse {
        delay: ms(delay_ms),
        loss_basis_points,
    }
}

fn own(line: Option<Conditions>) -> Duration {
    line.unwrap_or_default().delay
}

/// Sends a byte in each of so many milliseconds, and keeps the sink.
async fn count<S: commonware_runtime::Sink>(context: Context, mut sink: S, bytes: u8) -> S {
    let start = context.current();
    for number in 0..bytes {
        sink.send(vec![number]).await.unwrap();
        context.sleep_until(start + ms(u64::from(number) + 1)).await;
    }
    sink
}

/// When each of these bytes came, since the start.
async fn arrivals(
    context: &Context,
    start: SystemTime,
    stream: &mut impl commonware_runtime::Stream,
    bytes: u8,
) -> Vec<Duration> {
    let mut times = Vec::new();
    for number in 0..bytes {
        assert_eq!(flat(stream.recv(1).await.unwrap()), [number]);
        times.push(since(context, start));
    }
    times
}

/// Has bytes sent in one direction while a fault goes on from 20 ms on for 50 ms,
/// and says when each should arrive.
fn check(fault: Fault, back: bool, expected: impl Fn(u64, u64) -> u64 + Copy + 'static) {
    for line in LINES {
        run(|context| async move {
            let connection = connect(&context, line).await;
            let Connection {
                here, near, far, ..
            } = connection;
            let start = context.current();
            let begin = context.child("begin").spawn(move |context| async move {
                context.sleep_until(start + ms(20) - LITTLE).await;
                here.begin(&context, fault, ms(50));
                context.sleep(ms(200)).await;
                here
            });
            let times = if back {
                let (sink, mut stream) = (far.0, near.1);
                let sent = context.child("sender");
                let sent = sent.spawn(move |context| count(context, sink, 100));
                let times = arrivals(&context, start, &mut stream, 100).await;
                drop((sent.await.unwrap(), stream));
                times
            } else {
                let (sink, mut stream) = (near.0, far.1);
                let sent = context.child("sender");
                let sent = sent.spawn(move |context| count(context, sink, 100));
                let times = arrivals(&context, start, &mut stream, 100).await;
                drop((sent.await.unwrap(), stream));
                times
            };
            let own = u64::try_from(own(line).as_millis()).unwrap();
            for (number, time) in (0..).zip(times) {
                let expected = ms(expected(number, own));
                let off = time.abs_diff(expected);
                assert!(off < 10 * LITTLE, "{line:?}: {number} at {time:?}");
            }
            drop(begin.await.unwrap());
        });
    }
}

#[test]
fn a_delay_begins_and_ends_in_the_middle_of_a_stream() {
    for back in [false, true] {
        check(worse(40, 0), back, |number, own| match number {
            ..20 => number + own,
            20..70 => number + own + 40,
            // Behind the last that was delayed.
            _ => (number + own).max(69 + own + 40),
        });
    }
}

#[test]
fn what_is_cut_off_arrives_when_the_cut_is_over() {
    for back in [false, true] {
        check(Fault::Cut, back, |number, own| match number + own {
            // Also what was on its way before.
            arrives @ 20..70 => arrives.max(70),
            arrives => arrives,
        });
    }
}

#[test]
fn everything_arrives_in_order_whatever_happens_meanwhile() {
    let slow = Some(megabits(delay(3), 400));
    for line in [None, slow] {
        run(|context| async move {
            const BYTES: usize = 4 << 20;
            let Connection {
                here, near, far, ..
            } = connect(&context, line).await;
            let faults = [Fault::Cut, worse(9, 0), worse(0, 3_000), worse(2, 100)];
            let turns = context.child("turns").spawn(move |context| async move {
                for (turn, fault) in faults.into_iter().cycle().take(40).enumerate() {
                    here.begin(&context, fault, ms(5));
                    // Some end by themselves, some are replaced, some are ended.
                    let step = turn as u64 % 8 + 1;
                    context.sleep(Duration::from_micros(step * 900)).await;
                    if step == 3 {
                        here.faults.end();
                    }
                }
                here
            });
            let there = context.child("there");
            let there = there.spawn(move |_| send_all(near.0, BYTES));
            let back = context.child("back");
            let back = back.spawn(move |_| send_all(far.0, BYTES));
            let (mut near, mut far) = (near.1, far.1);
            let received = context.child("received").spawn(move |_| async move {
                assert!(receive(&mut far, BYTES).await == pattern(BYTES));
                far
            });
            assert!(receive(&mut near, BYTES).await == pattern(BYTES));
            let far = received.await.unwrap();
            drop((there.await.unwrap(), back.await.unwrap(), near, far));
            drop(turns.await.unwrap());
        });
    }
}

/// Sends a pattern in pieces of all sizes, and keeps the sink.
async fn send_all<S: commonware_runtime::Sink>(mut sink: S, bytes: usize) -> S {
    let mut left = IoBufs::from(pattern(bytes));
    for size in (1..).map(|turn: usize| turn * 37) {
        let size = size.min(left.len());
        if size == 0 {
            break;
        }
        sink.send(left.split_to(size)).await.unwrap();
    }
    sink
}

#[test]
fn a_fault_ends_by_itself_or_when_somebody_ends_it() {
    run(|context| async move {
        let Connection {
            here,
            mut near,
            mut far,
            _listener,
        } = connect(&context, None).await;
        assert_eq!(here.faults.ongoing(context.current()), None);
        assert_eq!(here.faults.peers(), 0);

        let start = context.current();
        here.begin(&context, Fault::Cut, ms(300));
        context.sleep(ms(100)).await;
        let ongoing = here.faults.ongoing(context.current()).unwrap();
        assert_eq!(ongoing.fault, Fault::Cut);
        assert_eq!(ongoing.peers, ["far".to_owned()].into());
        assert_takes(ms(200), ongoing.left, LITTLE);
        assert_eq!(here.faults.peers(), 1);
        near.0.send(vec![1]).await.unwrap();
        assert_eq!(flat(far.1.recv(1).await.unwrap()), [1]);
        assert_takes(since(&context, start), ms(300), LITTLE);
        assert_eq!(here.faults.ongoing(context.current()), None);

        // Another one takes its place, and the time of the first does not end it.
        let start = context.current();
        here.begin(&context, Fault::Cut, ms(300));
        context.sleep(ms(200)).await;
        here.begin(&context, Fault::Cut, ms(600));
        near.0.send(vec![2]).await.unwrap();
        assert_eq!(flat(far.1.recv(1).await.unwrap()), [2]);
        assert_takes(since(&context, start), ms(800), 2 * LITTLE);

        let start = context.current();
        here.begin(&context, Fault::Cut, ms(300));
        near.0.send(vec![3]).await.unwrap();
        context.sleep(ms(100)).await;
        here.faults.end();
        assert_eq!(flat(far.1.recv(1).await.unwrap()), [3]);
        assert_takes(since(&context, start), ms(100), LITTLE);
        // And the time of that one ends none that begins afterwards.
        here.begin(&context, Fault::Cut, ms(1_000));
        context.sleep(ms(500)).await;
        assert_eq!(here.faults.peers(), 1);
    });
}

#[test]
fn only_the_ways_to_the_peers_that_are_named_have_a_fault() {
    run(|context| async move {
        let other: SocketAddr = "127.0.0.1:1001".parse().unwrap();
        let lines = [Line::new(None), Line::new(None)];
        let mut table = Table::default();
        table.insert_address(address(), lines[0].clone());
        table.insert_address(other, lines[1].clone());
        let [first, second] = lines;
        let named = [("first".to_owned(), first), ("second".to_owned(), second)];
        let faults = Faults::new(named.into());
        let linked = Linked::new(context.child("here"), table, PATIENCE);
        let begin = |peers: &[&str]| {
            let peers = peers.iter().map(|peer| (*peer).to_owned()).collect();
            faults.begin(context.child("fault"), peers, Fault::Cut, ms(500))
        };

        let unknown = begin(&["first", "third"]);
        assert_eq!(unknown, Err(UnknownPeer("third".into())));
        assert_eq!(faults.peers(), 0);
        begin(&["first"]).unwrap();
        // What was refused ends nothing.
        assert!(begin(&["third"]).is_err());
        for (far, expected) in [(other, ms(0)), (address(), ms(500))] {
            let start = context.current();
            let mut listener = context.bind(far).await.unwrap();
            let mut near = linked.dial(far).await.unwrap();
            let (_, _sink, mut stream) = listener.accept().await.unwrap();
            near.0.send(vec![1]).await.unwrap();
            drop(stream.recv(1).await.unwrap());
            assert_takes(since(&context, start) + LITTLE, expected, 2 * LITTLE);
        }
        // The next one is of others alone.
        begin(&["first"]).unwrap();
        begin(&["second"]).unwrap();
        let start = context.current();
        drop(linked.dial(address()).await);
        assert!(since(&context, start) < LITTLE);
    });
}

#[test]
fn an_end_waits_for_the_cut_and_patience_does_not() {
    run(|context| async move {
        let mut connection = connect(&context, None).await;
        let start = context.current();
        connection.here.begin(&context, Fault::Cut, ms(90_000));
        let dialled = connection.here.linked.dial(address()).await;
        assert!(matches!(dialled, Err(Error::Timeout)));
        assert_takes(since(&context, start), PATIENCE, LITTLE);
        connection.near.0.send(vec![1; 10]).await.unwrap();
        connection.far.0.send(vec![2; 10]).await.unwrap();
        let late = connection.near.1.recv(10).await;
        assert!(matches!(late, Err(Error::Timeout)), "{late:?}");
        assert_takes(since(&context, start), 2 * PATIENCE, 2 * LITTLE);
        let closed = connection.near.1.recv(10).await;
        assert!(matches!(closed, Err(Error::Closed)), "{closed:?}");

        drop(connection.near);
        assert_eq!(flat(connection.far.1.recv(10).await.unwrap()), [1; 10]);
        assert_takes(since(&context, start), ms(90_000), LITTLE);
        let end = connection.far.1.recv(1).await;
        assert!(matches!(end, Err(Error::RecvFailed)), "{end:?}");
    });
}

#[test]
fn who_receives_already_when_a_cut_begins_waits_for_its_end() {
    run(|context| async move {
        let Connection {
            here,
            mut near,
            far,
            _listener,
        } = connect(&context, None).await;
        let start = context.current();
        let received = context.child("receiver").spawn(move |context| async move {
            let received = flat(near.1.recv(2).await.unwrap());
            let end = near.1.recv(1).await;
            assert!(matches!(end, Err(Error::RecvFailed)), "{end:?}");
            (received, since(&context, start), near.0)
        });
        context.sleep(ms(10)).await;
        here.begin(&context, Fault::Cut, ms(500));
        let (mut sink, stream) = far;
        sink.send(vec![7; 2]).await.unwrap();
        drop((sink, stream));
        let (received, took, _sink) = received.await.unwrap();
        assert_eq!(received, [7; 2]);
        assert_takes(took, ms(510), 2 * LITTLE);
    });
}

#[test]
fn a_loss_is_a_delay_and_is_measured_where_there_is_a_link() {
    run(|context| async move {
        let mut connection = connect(&context, delay(0)).await;
        connection.here.begin(&context, worse(0, 5_000), ms(60_000));
        let start = context.current();
        for _ in 0..20 {
            connection.near.0.send(vec![1]).await.unwrap();
            connection.far.1.recv(1).await.unwrap();
        }
        let lost = connection
            .here
            .measured("link_retransmissions_total", "sent");
        assert!((5.0..60.0).contains(&lost), "{lost}");
        let expected = Duration::from_secs_f64(lost / 100.0);
        assert_takes(since(&context, start), expected, 20 * LITTLE);
    });
}

#[test]
fn a_link_with_a_bandwidth_has_it_under_a_delay_as_well() {
    run(|context| async move {
        // 1,000 bytes a millisecond. Without room for 300 ms of them it would be a
        // thirtieth.
        let conditions = megabits(delay(1), 8);
        let Connection {
            here, near, far, ..
        } = connect(&context, conditions).await;
        here.begin(&context, worse(300, 0), ms(60_000));
        let start = context.current();
        const BYTES: usize = 2_000_000;
        let sent = context.child("sender").spawn(move |_| async move {
            let mut sink = near.0;
            let mut left = IoBufs::from(pattern(BYTES));
            while !left.is_empty() {
                sink.send(left.split_to(10_000)).await.unwrap();
            }
            sink
        });
        let mut stream = far.1;
        assert!(receive(&mut stream, BYTES).await == pattern(BYTES));
        assert_takes(since(&context, start), ms(2_301), ms(20));
        drop((sent.await.unwrap(), stream));
    });
}
