// SPDX-License-Identifier: Apache-2.0
//! Loss: a retransmission each, and whatever is behind it waits.

use super::*;

/// A segment each: what one takes to arrive says whether it was lost.
async fn times(context: &Context, conditions: Conditions, pieces: u32) -> (Vec<Duration>, Here) {
    let Connection {
        here,
        mut near,
        mut far,
        _listener,
    } = connect(context, conditions).await;
    let mut times = Vec::new();
    for _ in 0..pieces {
        let start = context.current();
        near.0.send(vec![1; 1_000]).await.unwrap();
        drop(far.1.recv(1_000).await.unwrap());
        times.push(since(context, start));
    }
    (times, here)
}

#[test]
fn a_lost_segment_takes_a_retransmission_longer() {
    run(|context| async move {
        let conditions = Conditions {
            loss_basis_points: 100,
            ..delay(40)
        };
        const PIECES: u32 = 20_000;
        let (times, here) = times(&context, conditions, PIECES).await;
        // Five quarters of a round trip of 80 ms.
        let retransmission = ms(100);
        let mut lost = 0;
        for took in times {
            let times = u32::try_from((took - ms(40)).as_millis() / 100).unwrap();
            assert_takes(took, ms(40) + retransmission * times, LITTLE);
            lost += times;
        }
        // 202 are expected, and 14 a standard deviation.
        assert!((130..=275).contains(&lost), "{lost}");
        let measured = here.measured("link_retransmissions_total", "sent");
        assert_eq!(measured, f64::from(lost));
    });
}

#[test]
fn what_is_behind_a_lost_segment_arrives_with_it() {
    run(|context| async move {
        let conditions = Conditions {
            loss_basis_points: 100,
            ..delay(40)
        };
        let Connection {
            here,
            mut near,
            mut far,
            _listener,
        } = connect(&context, conditions).await;
        const PIECES: u32 = 2_000;
        let start = context.current();
        let sent = context.child("sender").spawn(move |context| async move {
            for turn in 0..PIECES {
                let now = context.current().duration_since(start).unwrap();
                context.sleep((ms(1) * turn).saturating_sub(now)).await;
                near.0.send(vec![1; 1_000]).await.unwrap();
            }
            near
        });
        let mut arrived = Vec::new();
        for _ in 0..PIECES {
            drop(far.1.recv(1_000).await.unwrap());
            arrived.push(since(&context, start));
        }
        drop(sent.await.unwrap());
        // Whatever comes late is followed by what was sent in that time, at once.
        let late = |turn: u32| arrived[turn as usize].saturating_sub(ms(1) * turn + ms(40));
        let mut held_up = 0;
        for turn in 1..PIECES {
            assert!(arrived[turn as usize] >= arrived[turn as usize - 1]);
            if late(turn) > ms(1) {
                held_up += 1;
            }
        }
        let lost = here.measured("link_retransmissions_total", "sent");
        assert!(lost >= 5.0, "{lost}");
        // Each holds up what is sent in a tenth of a second, unless another did.
        assert!(f64::from(held_up) > 40.0 * lost, "{held_up} {lost}");
    });
}

#[test]
fn a_seed_gives_the_same_losses() {
    let measure = |seed| {
        let conditions = Conditions {
            loss_basis_points: 1_000,
            ..delay(5)
        };
        let config = Config::new().with_seed(seed).with_cycle(CYCLE);
        Runner::new(config).start(|context| async move {
            let (times, _) = times(&context, conditions, 200).await;
            let millis = times.into_iter().map(|took| took.as_millis());
            millis.collect::<Vec<_>>()
        })
    };
    let first = measure(1);
    assert_eq!(first, measure(1));
    assert_ne!(first, measure(2));
}
