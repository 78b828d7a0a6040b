// SPDX-License-Identifier: Apache-2.0
//! What a leader's messages cost it: `cargo test --release --locked --workspace
//! --test availability -- --ignored --nocapture`.

use crate::{fixture::run, peers::genesis};
use futures::FutureExt as _;
use std::time::Instant;

/// The headers of all shards and the endorsements of all members, for one block
/// of a network of that size, with all signatures verified.
#[test]
#[ignore = "measures"]
#[allow(clippy::disallowed_methods, clippy::print_stdout)]
fn a_leaders_messages() {
    for (shards, producers, mandates) in [(4, 2, 68), (20, 2, 68), (70, 2, 106)] {
        run(
            genesis(shards, producers, mandates),
            0,
            |mut fixture| async move {
                let committees = fixture.committees();
                let headers: Vec<_> = (0..shards).map(|shard| fixture.header(shard)).collect();
                let endorsed = |header| fixture.endorsed(header, &committees);
                let endorsements: Vec<_> = headers.iter().flat_map(endorsed).collect();
                let count = endorsements.len();
                fixture
                    .chunks
                    .send(headers.iter().map(|header| fixture.sent(header)));
                fixture.endorsements.send(endorsements);
                let collected = fixture.lead(shards);
                let started = Instant::now();
                fixture.start();
                fixture.settle().await;
                let elapsed = started.elapsed();
                assert_eq!(fixture.endorsements.unread(), 0);
                // The own shard's chunk is never ready.
                assert!(collected.now_or_never().is_none());
                println!(
                    "{shards} shards, {} validators, {count} endorsements: {:.1} ms",
                    shards * producers,
                    elapsed.as_secs_f64() * 1_000.0
                );
            },
        );
    }
}
