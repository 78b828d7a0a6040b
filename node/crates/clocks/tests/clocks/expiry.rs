// SPDX-License-Identifier: Apache-2.0
//! Faults begin and end.

use crate::{Here, LONG, ms, off, run};
use commonware_runtime::{Clock as _, Spawner as _, Supervisor as _};
use shardnode_clocks::Ongoing;

#[test]
fn a_clock_is_right_without_a_fault() {
    run(|context| async move {
        let here = Here::new(&context);
        assert_eq!((here.ahead(), here.measured()), (0, 0.0));
        assert_eq!(here.faults.ongoing(here.context.current()), None);
        // There is none to end.
        here.faults.end();
        assert_eq!(here.ahead(), 0);
    });
}

#[test]
fn a_fault_ends_by_itself() {
    run(|context| async move {
        let here = Here::new(&context);
        for millis in [2_500, -2_500] {
            here.begin(off(millis), ms(100));
            assert_eq!(here.ahead(), i128::from(millis));
            assert_eq!(here.measured(), millis as f64 / 1_000.0);
            here.context.sleep(ms(30)).await;
            let Ongoing { fault, left } = here.faults.ongoing(here.context.current()).unwrap();
            assert_eq!(fault, off(millis));
            assert!(left <= ms(70) && left > ms(69), "{left:?}");
            here.context.sleep(ms(75)).await;
            assert_eq!(here.faults.ongoing(here.context.current()), None);
            assert_eq!((here.ahead(), here.measured()), (0, 0.0));
        }
    });
}

/// Whoever asked for it is no more. The fault is of the node that has the clock.
#[test]
fn a_fault_ends_though_nobody_is_left_to_end_it() {
    run(|context| async move {
        let here = Here::new(&context);
        let (faults, node) = (here.faults.clone(), here.context.child("fault"));
        let asked = here.context.child("asked").spawn(move |_| async move {
            faults.begin(node, off(40), ms(100));
        });
        asked.await.unwrap();
        assert_eq!(here.ahead(), 40);
        here.context.sleep(ms(101)).await;
        assert_eq!(here.ahead(), 0);
    });
}

#[test]
fn somebody_may_end_it_before() {
    run(|context| async move {
        let here = Here::new(&context);
        here.begin(off(-40), LONG);
        here.faults.end();
        assert_eq!((here.ahead(), here.measured()), (0, 0.0));
        assert_eq!(here.faults.ongoing(here.context.current()), None);
    });
}

#[test]
fn another_fault_takes_the_place_of_one() {
    run(|context| async move {
        let here = Here::new(&context);
        here.begin(off(1_000), ms(50));
        here.context.sleep(ms(10)).await;
        here.begin(off(-70), LONG);
        assert_eq!((here.ahead(), here.measured()), (-70, -0.07));
        // The time of the first does not end the second.
        here.context.sleep(ms(60)).await;
        assert_eq!(here.ahead(), -70);
    });
}
