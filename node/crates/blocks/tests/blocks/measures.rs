// SPDX-License-Identifier: Apache-2.0
//! What is measured of blocks, as it is exported.

use crate::chain::{HEIGHT, Pair};
use commonware_consensus::types::{Epoch, Round, View};
use prometheus_client::{encoding::text::encode, registry::Registry};
use shardnode_blocks::{Metrics, Miss};
use shardnode_primitives::ShardId;

/// The samples of a metric.
fn samples(registry: &Registry, name: &str) -> Vec<String> {
    let mut text = String::new();
    encode(&mut text, registry).unwrap();
    let samples = text.lines().filter_map(|line| line.strip_prefix(name));
    samples.map(str::to_owned).collect()
}

#[test]
fn finalised_blocks_are_measured() {
    let pair = Pair::new();
    let mut registry = Registry::default();
    let metrics = Metrics::new(&mut registry);
    metrics.seen(HEIGHT + 3);
    metrics.seen(HEIGHT + 2);
    metrics.finalized(&pair.parent, &pair.block, 2, 5_400, None);
    metrics.finalized_endorsements(ShardId(1), 50, 70);
    metrics.produced_transfers(3);
    metrics.produced_transfers(2);
    assert_eq!(metrics.height(), HEIGHT + 3);
    for (name, want) in [
        ("height", &[" 13"][..]),
        ("finalized_height", &[" 10"]),
        ("block_time_seconds_sum", &[" 0.1"]),
        ("block_time_seconds_count", &[" 1"]),
        ("finality_lag_seconds_sum", &[" 0.3"]),
        ("produced_transfers_total", &[" 5"]),
        ("shard_endorsed_stake", &["{shard=\"1\"} 50"]),
        ("shard_mandated_stake", &["{shard=\"1\"} 70"]),
    ] {
        assert_eq!(samples(&registry, name), want, "{name}");
    }
    for (name, values) in [
        ("shard_transfers_total", [105, 100]),
        ("shard_credits_total", [94, 90]),
        ("shard_cross_shard_total", [43, 40]),
        ("shard_missed_chunks_total", [10 - 7, 10 - 6]),
        ("shard_blocks_behind", [1, 3]),
    ] {
        let mut found = samples(&registry, name);
        found.sort_unstable();
        let want = [0, 1].map(|shard| format!("{{shard=\"{shard}\"}} {}", values[shard]));
        assert_eq!(found, want, "{name}");
    }
}

#[test]
fn a_block_time_is_of_two_consecutive_blocks() {
    let pair = Pair::new();
    let observed = |before: u64, height: u64| {
        let (mut parent, mut block) = (pair.parent.clone(), pair.block.clone());
        (parent.height, block.height) = (before, height);
        let mut registry = Registry::default();
        Metrics::new(&mut registry).finalized(&parent, &block, 2, 5_400, None);
        samples(&registry, "block_time_seconds_count")
    };
    assert_eq!(observed(1, 2), [" 1"]);
    for (before, height) in [(0, 1), (1, 3), (2, 2)] {
        assert_eq!(observed(before, height), [" 0"], "{height} on {before}");
    }
}

#[test]
fn misses_count_once_their_block_is_final() {
    let pair = Pair::new();
    let finalized = |propose: &dyn Fn(&Metrics)| {
        let mut registry = Registry::default();
        let metrics = Metrics::new(&mut registry);
        propose(&metrics);
        metrics.finalized(&pair.parent, &pair.block, 2, 5_400, None);
        metrics.finalized(&pair.parent, &pair.block, 2, 5_400, None);
        let mut found = samples(&registry, "proposed_missed_chunks_total");
        assert_eq!(found.len(), 6, "a reason that never was is 0");
        found.retain(|sample| !sample.ends_with(" 0"));
        found.sort_unstable();
        found
    };
    let misses = vec![Miss::NotEndorsed, Miss::NoHeader, Miss::NotEndorsed];
    let mut other = pair.block.clone();
    other.context.round = Round::new(Epoch::new(0), View::new(99));
    assert_eq!(
        finalized(&|metrics| metrics.proposed(&pair.block, misses.clone())),
        [r#"{reason="no_header"} 1"#, r#"{reason="not_endorsed"} 2"#]
    );
    let nothing: [&str; 0] = [];
    assert_eq!(
        finalized(&|metrics| metrics.proposed(&other, misses.clone())),
        nothing,
        "another block became final at this height"
    );
    assert_eq!(finalized(&|_| {}), nothing, "somebody else's block");
}

/// A proposal is remembered until its height is final, or 64 others came after it.
#[test]
fn misses_of_proposals_are_kept_while_they_can_become_final() {
    let pair = Pair::new();
    let block = |height: u64, view: u64| {
        let mut block = pair.block.clone();
        block.height = height;
        block.context.round = Round::new(Epoch::new(0), View::new(view));
        block
    };
    // How many count when these become final, one after the other, of all that was proposed.
    let counted = |proposed: &[(u64, u64)], finalized: &[(u64, u64)]| {
        let mut registry = Registry::default();
        let metrics = Metrics::new(&mut registry);
        for (height, view) in proposed {
            metrics.proposed(&block(*height, *view), vec![Miss::NoHeader]);
        }
        for (height, view) in finalized {
            metrics.finalized(&pair.parent, &block(*height, *view), 2, 5_400, None);
        }
        let counted = samples(&registry, "proposed_missed_chunks_total");
        let no_header = counted
            .iter()
            .find_map(|sample| sample.strip_prefix(r#"{reason="no_header"} "#));
        no_header.unwrap().parse::<u64>().unwrap()
    };
    let many: Vec<_> = (1..=64).map(|height| (height, height)).collect();
    assert_eq!(counted(&many, &[(1, 1), (64, 64)]), 2);
    let one_more: Vec<_> = (1..=65).map(|height| (height, height)).collect();
    assert_eq!(counted(&one_more, &[(1, 1)]), 0);
    assert_eq!(counted(&one_more, &[(2, 2), (65, 65)]), 2);
    // The other view's block of height 5 cannot become final any more; that of 6 can.
    let views = [(5, 7), (5, 8), (6, 9)];
    assert_eq!(counted(&views, &[(5, 8), (5, 7), (6, 9)]), 2);
}
