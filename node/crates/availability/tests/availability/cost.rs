// SPDX-License-Identifier: Apache-2.0
//! What a leader's messages cost it. `cargo test --release --locked --workspace
//! --test availability -- --ignored --nocapture` says how long that takes.

use crate::{fixture::run, peers::genesis};
use futures::FutureExt as _;
use shardnode_primitives::work::{self, Work};
use std::time::Instant;

/// The headers of all shards and the endorsements of all members, for one block: none of
/// these messages has the leader look at more than one committee, that of its own shard,
/// and up to a quorum endorsements are verified together.
#[test]
fn a_leader_looks_at_the_shard_of_a_message_and_at_no_other() {
    let (shards, producers, mandates) = (20, 2, 68);
    run(
        genesis(shards, producers, mandates),
        0,
        |mut fixture| async move {
            let committees = fixture.committees();
            let headers: Vec<_> = (0..shards).map(|shard| fixture.header(shard)).collect();
            let endorsed = |header| fixture.endorsed(header, &committees);
            let endorsements: Vec<_> = headers.iter().flat_map(endorsed).collect();
            let count = endorsements.len() as u64;
            fixture
                .chunks
                .send(headers.iter().map(|header| fixture.sent(header)));
            fixture.endorsements.send(endorsements);
            let _collected = fixture.lead(shards);
            let _ = work::take();
            fixture.start();
            fixture.settle().await;
            assert_eq!(fixture.endorsements.unread(), 0);
            let work = work::take();
            let (alone, together) = (work.of(Work::Signature), work.of(Work::BatchedSignature));
            assert!(together >= count * 2 / 3, "{together} of {count}");
            // Each header has its producer's signature.
            assert!(alone <= 2 * u64::from(shards), "{alone}");
            let members = committees.iter().map(|one| one.members().len() as u64);
            let (looks, most) = (work.of(Work::Member), members.max().unwrap_or_default());
            assert!(
                looks >= count && looks <= count * most,
                "{looks} of {count}"
            );
        },
    );
}

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
