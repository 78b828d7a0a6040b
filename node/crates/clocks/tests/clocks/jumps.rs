// SPDX-License-Identifier: Apache-2.0
//! Timers and times when the clock jumps.

use crate::{Here, LONG, ms, off, run};
use commonware_runtime::{Clock as _, Error, Spawner as _, Supervisor as _};
use futures::join;
use std::time::Duration;

const OFFSETS: [i64; 4] = [60_000, 700, -700, -60_000];

#[test]
fn timers_run_as_fast_as_before() {
    run(|context| async move {
        let here = Here::new(&context);
        for millis in OFFSETS {
            here.begin(off(millis), LONG);
            here.takes(ms(40), here.clock.sleep(ms(40))).await;
            let deadline = here.clock.current() + ms(40);
            here.takes(ms(40), here.clock.sleep_until(deadline)).await;
            let past = here.clock.current() - ms(1);
            here.takes(ms(0), here.clock.sleep_until(past)).await;
            let timeout = here.clock.timeout(ms(40), std::future::pending::<()>());
            let answer = here.takes(ms(40), timeout).await;
            assert!(matches!(answer, Err(Error::Timeout)), "{answer:?}");
            here.faults.end();
        }
    });
}

#[test]
fn what_sleeps_already_is_not_woken_by_a_jump() {
    run(|context| async move {
        let here = Here::new(&context);
        for millis in OFFSETS {
            let deadline = here.clock.current() + ms(40);
            let jumps = async {
                here.context.sleep(ms(10)).await;
                here.begin(off(millis), ms(10));
            };
            let (sleep, until) = (here.clock.sleep(ms(40)), here.clock.sleep_until(deadline));
            here.takes(ms(40), async { join!(sleep, until, jumps) })
                .await;
        }
    });
}

/// As with a clock that somebody sets: it is so long until then.
#[test]
fn a_time_of_before_a_jump_is_as_far_away_as_the_clock_says() {
    run(|context| async move {
        let here = Here::new(&context);
        let deadline = here.clock.current() + ms(1_000);
        here.begin(off(700), LONG);
        let left = deadline.duration_since(here.clock.current()).unwrap();
        here.takes(left, here.clock.sleep_until(deadline)).await;
        assert!(left <= ms(300), "{left:?}");

        let deadline = here.clock.current() + ms(1_000);
        here.faults.end();
        let left = deadline.duration_since(here.clock.current()).unwrap();
        here.takes(left, here.clock.sleep_until(deadline)).await;
        assert!(left > ms(1_699), "{left:?}");
    });
}

#[test]
fn children_and_what_they_spawn_have_the_same_clock() {
    run(|context| async move {
        let here = Here::new(&context);
        let clock = here.clock.child("child").with_attribute("kind", "wrong");
        let (began, before) = (here.context.child("began"), clock.child("before"));
        here.begin(off(60_000), LONG);
        let minute = |now: std::time::SystemTime| {
            let ahead = now.duration_since(began.current()).unwrap();
            assert!(ahead > Duration::from_millis(59_999), "{ahead:?}");
        };
        minute(before.current());
        let spawned = clock
            .shared(true)
            .spawn(|clock| async move { clock.current() });
        minute(spawned.await.unwrap());
    });
}
