// SPDX-License-Identifier: Apache-2.0
//! The bandwidth: exact, in each direction, and pushing back where it ends.

use super::*;

const BYTES: usize = 10_000_000;

#[test]
fn as_much_passes_as_is_said_in_each_direction() {
    for (rate, millis) in [(100, 0), (100, 40), (8, 40), (1_000, 150)] {
        run(|context| async move {
            let conditions = megabits(delay(millis), rate);
            let Connection {
                mut near, mut far, ..
            } = connect(&context, conditions).await;
            let bytes = BYTES.min(usize::try_from(rate).unwrap() * 100_000);
            let start = context.current();
            let there = context.child("there").spawn(move |_| async move {
                near.0.send(vec![1; bytes]).await.unwrap();
                near
            });
            drop(receive(&mut far.1, bytes).await);
            let expected = Duration::from_micros(bytes as u64 * 8 / rate) + ms(millis);
            // Within a percent.
            assert_takes(since(&context, start), expected, expected / 100);

            let mut near = there.await.unwrap();
            let start = context.current();
            let back = context.child("back").spawn(move |_| async move {
                far.0.send(vec![1; bytes]).await.unwrap();
                far
            });
            drop(near.1.recv(bytes).await.unwrap());
            assert_takes(since(&context, start), expected, expected / 100);
            drop(back.await.unwrap());
        });
    }
}

#[test]
fn without_a_bandwidth_a_window_passes_in_each_delay() {
    run(|context| async move {
        let Connection {
            mut near, mut far, ..
        } = connect(&context, delay(40)).await;
        const WINDOW: usize = 16 << 20;
        let start = context.current();
        let there = context.child("there").spawn(move |_| async move {
            near.0.send(vec![1; 3 * WINDOW]).await.unwrap();
            near
        });
        drop(receive(&mut far.1, 3 * WINDOW).await);
        let expected = 3 * ms(40);
        assert_takes(since(&context, start), expected, expected / 20);
        drop(there.await.unwrap());
    });
}

/// What a link holds: 50 ms of 12,500 bytes a millisecond.
const HOLDS: usize = 50 * 12_500;
/// What the inner network holds: 64 KiB on its way and what is being sent, and
/// as much at its end.
const INNER: usize = 4 * (64 << 10);

#[test]
fn a_sender_waits_when_the_link_is_full() {
    run(|context| async move {
        let conditions = megabits(delay(40), 100);
        let mut connection = connect(&context, conditions).await;
        // Nobody receives, and all that can be on its way is.
        let mut sent = 0;
        let sending = async {
            loop {
                connection.near.0.send(vec![1; 1_000]).await.unwrap();
                sent += 1_000;
            }
        };
        let waited = context.sleep(Duration::from_secs(5));
        futures::future::select(std::pin::pin!(sending), std::pin::pin!(waited)).await;
        assert!((HOLDS..=HOLDS + INNER).contains(&sent), "{sent}");
        // It went on as long as there was room.
        let received = receive(&mut connection.far.1, sent - 100_000).await;
        assert_eq!(received.len(), sent - 100_000);
    });
}

#[test]
fn nothing_is_read_when_the_link_is_full() {
    run(|context| async move {
        let conditions = megabits(delay(40), 100);
        let mut connection = connect(&context, conditions).await;
        let mut sent = 0;
        let sending = async {
            loop {
                connection.far.0.send(vec![1; 1_000]).await.unwrap();
                sent += 1_000;
            }
        };
        let waited = context.sleep(Duration::from_secs(5));
        futures::future::select(std::pin::pin!(sending), std::pin::pin!(waited)).await;
        assert!((HOLDS..=HOLDS + INNER).contains(&sent), "{sent}");
        let received = connection.near.1.recv(sent - 100_000).await.unwrap();
        assert_eq!(received.len(), sent - 100_000);
    });
}

#[test]
fn many_small_pieces_are_bounded_as_well() {
    run(|context| async move {
        // Of one byte each: far from full by their bytes.
        let mut connection = connect(&context, delay(200)).await;
        let mut sent = 0;
        let sending = async {
            loop {
                connection.near.0.send(vec![1]).await.unwrap();
                sent += 1;
            }
        };
        // Before the first arrives.
        let waited = context.sleep(ms(199));
        futures::future::select(std::pin::pin!(sending), std::pin::pin!(waited)).await;
        assert!((16_384..=16_386).contains(&sent), "{sent}");
    });
}
