// SPDX-License-Identifier: Apache-2.0
//! What coding the body of a chunk costs, for the chunks of the reference
//! workload and networks of its size and smaller, on one thread:
//!
//! ```sh
//! cargo test --release --locked --workspace --test coding -- --ignored --nocapture
//! ```
//!
//! The producer divides the body; so does whoever has the body and compares
//! the root. A participant checks its share. A tracker without the body
//! rebuilds it from shares none of which is a piece of it, if it can be.

#![allow(clippy::print_stdout)]

use crate::{any_of, check, content, parts};
use commonware_codec::EncodeSize as _;
use commonware_parallel::Sequential;
use std::time::{Duration, Instant};

const TRANSFERS: usize = 6_000;
const TRANSFER_BYTES: usize = 153;
const RUNS: usize = 9;

/// The shortest of several runs, and what the last one gave.
fn time<T>(mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut run = || {
        #[allow(clippy::disallowed_methods)]
        let started = Instant::now();
        let result = work();
        (started.elapsed(), result)
    };
    let (mut shortest, mut result) = run();
    for _ in 1..RUNS {
        let (elapsed, again) = run();
        shortest = shortest.min(elapsed);
        result = again;
    }
    (shortest, result)
}

#[test]
#[ignore = "measures; see the printed lines"]
fn cost_of_a_body() {
    let body = content(TRANSFERS * TRANSFER_BYTES);
    println!("a body of {TRANSFERS} transfers has {} bytes", body.len());
    for participants in [4u16, 12, 48, 140] {
        let needed = (participants - 1) / 3 + 1;
        let code = any_of(needed, participants);
        let (divide, _) = time(|| code.divide(&body, &Sequential).unwrap());
        let (root, parts) = parts(code, &body);
        let (one, _) = time(|| check(code, &root, &parts[0]).unwrap());
        let last = || parts.iter().rev().take(code.needed());
        let collect = || {
            let shares: Vec<_> = last()
                .map(|part| check(code, &root, part).unwrap())
                .collect();
            code.rebuild(&root, shares.iter(), &Sequential).unwrap()
        };
        let (rebuild, rebuilt) = time(collect);
        assert_eq!(rebuilt, body);
        println!(
            "  {participants} participants, {needed} needed: divide {divide:.1?}, check one {one:.1?}, \
             rebuild {rebuild:.1?}; a part has {} bytes",
            parts[0].encode_size()
        );
    }
}
