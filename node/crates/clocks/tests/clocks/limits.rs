// SPDX-License-Identifier: Apache-2.0
//! Rate limits that are reckoned with a clock that jumps.

use crate::{Here, LONG, ms, off, run};
use commonware_runtime::{Clock as _, Quota, RateLimiter, Supervisor as _};
use std::num::NonZeroU32;

/// A limit sees a clock that was set back as one that stands still: this is what peers
/// that are set back are deaf for.
#[test]
fn a_limit_waits_for_a_clock_that_was_set_back() {
    run(|context| async move {
        let here = Here::new(&context);
        let quota = Quota::per_second(NonZeroU32::new(10).unwrap());
        let clock = here.clock.child("limit");
        let limit = RateLimiter::direct_with_clock(quota, clock);
        here.context.sleep(ms(5_000)).await;
        while limit.check().is_ok() {}
        here.context.sleep(ms(101)).await;
        limit.check().unwrap();

        here.begin(off(-2_000), LONG);
        here.context.sleep(ms(1_000)).await;
        assert!(limit.check().is_err());
        here.context.sleep(ms(1_101)).await;
        limit.check().unwrap();

        // Set forward, it has all that it may have at once, and no more.
        here.faults.end();
        let allowed = std::iter::from_fn(|| limit.check().ok()).count();
        assert_eq!(allowed, 10);
    });
}
