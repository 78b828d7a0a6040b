// SPDX-License-Identifier: Apache-2.0
//! The odds: computed ones against exact arithmetic, against counting every
//! case, and against dealing.

use proptest::prelude::*;
use shardnode_mandates::{
    quorum,
    security::{EqualStakes, Odds, SecurityError, computed, simulated},
};

fn network(validators: u32, byzantine: u32, shards: u16, per_shard: u32) -> EqualStakes {
    EqualStakes::new(validators, byzantine, shards, per_shard).unwrap()
}

fn assert_close(actual: f64, expected: f64) {
    assert!(
        (actual - expected).abs() <= 1e-11 * expected,
        "{actual:e} is not {expected:e}"
    );
}

/// `of` over `chosen`, exactly.
fn choose(of: u128, chosen: u128) -> u128 {
    if chosen > of {
        return 0;
    }
    (0..chosen).fold(1, |ways, step| ways * (of - step) / (step + 1))
}

/// P[a hypergeometric count is at least `least`], from whole numbers.
#[expect(clippy::cast_precision_loss, reason = "rounded to an f64 once")]
fn tail(mandates: u32, byzantine: u32, size: u32, least: u32) -> f64 {
    let [all, bad, size, least] = [mandates, byzantine, size, least].map(u128::from);
    let ways: u128 = (least..=size)
        .map(|count| choose(bad, count) * choose(all - bad, size - count))
        .sum();
    ways as f64 / choose(all, size) as f64
}

#[test]
fn one_dead_validator_of_four_stalls_half_the_chunks_at_six_mandates() {
    let stalled = computed(&network(4, 1, 2, 6)).stalled;
    assert_close(stalled.one_shard, 0.5);
    // Of its three mandates one shard gets two or three, always.
    assert_close(stalled.any_shard, 1.0);
}

#[test]
fn odds_of_one_shard_are_those_of_whole_numbers() {
    for (validators, byzantine, shards, per_shard) in [
        (20, 6, 4, 25),
        (20, 6, 1, 100),
        (30, 10, 3, 40),
        (12, 4, 12, 10),
        (40, 1, 4, 30),
        (10, 9, 2, 50),
    ] {
        let network = network(validators, byzantine, shards, per_shard);
        assert_eq!(network.committee_sizes(), (per_shard, per_shard));
        let all = network.mandates();
        let bad = network.byzantine_mandates();
        let endorses = u32::try_from(quorum(u64::from(per_shard))).unwrap();
        let security = computed(&network);
        assert_close(
            security.corrupted.one_shard,
            tail(all, bad, per_shard, endorses),
        );
        assert_close(
            security.stalled.one_shard,
            tail(all, bad, per_shard, per_shard - endorses + 1),
        );
    }
}

/// Deals every choice of byzantine mandates to committees of these sizes, and
/// returns the odds of an event.
fn enumerated(sizes: &[u32], byzantine: u32, event: impl Fn(u32, u32) -> bool) -> Odds {
    let mandates: u32 = sizes.iter().sum();
    let (mut all, mut any, mut hits) = (0u32, 0u32, 0u32);
    for choice in 0u32..1 << mandates {
        if choice.count_ones() != byzantine {
            continue;
        }
        let mut rest = choice;
        let mut here = 0;
        for size in sizes {
            let bad = (rest & ((1 << size) - 1)).count_ones();
            here += u32::from(event(*size, bad));
            rest >>= size;
        }
        all += 1;
        hits += here;
        any += u32::from(here > 0);
    }
    let shards = u32::try_from(sizes.len()).unwrap();
    Odds {
        one_shard: f64::from(hits) / f64::from(all * shards),
        any_shard: f64::from(any) / f64::from(all),
    }
}

#[test]
fn odds_are_those_of_all_cases() {
    for (validators, byzantine, shards, per_shard, sizes) in [
        (4, 1, 2, 6, &[6, 6][..]),
        (5, 2, 3, 5, &[5, 5, 5]),
        (8, 3, 3, 5, &[5, 5, 6]),
        (9, 3, 5, 3, &[3, 3, 4, 4, 4]),
        (18, 12, 4, 4, &[4, 4, 5, 5]),
        (7, 3, 1, 7, &[7]),
        (16, 5, 16, 1, &[1; 16]),
    ] {
        let network = network(validators, byzantine, shards, per_shard);
        assert_eq!(network.mandates(), sizes.iter().sum::<u32>());
        let security = computed(&network);
        let byzantine = network.byzantine_mandates();
        let corrupted = enumerated(sizes, byzantine, |size, bad| 3 * bad > 2 * size);
        let stalled = enumerated(sizes, byzantine, |size, bad| 3 * bad >= size);
        for (odds, expected) in [(security.corrupted, corrupted), (security.stalled, stalled)] {
            assert_close(odds.one_shard, expected.one_shard);
            assert_close(odds.any_shard, expected.any_shard);
        }
    }
}

/// Where bad committees are so rare that hardly ever two meet, the odds of any
/// are the sum of the odds of each.
#[test]
fn small_odds_keep_their_digits() {
    let network = network(210, 70, 70, 105);
    let odds = computed(&network).corrupted;
    assert!((1e-13..1e-11).contains(&odds.one_shard), "{odds:?}");
    let sum = 70.0 * odds.one_shard;
    assert!((odds.any_shard / sum - 1.0).abs() < 1e-9, "{odds:?}");
}

/// Neither many mandates nor few honest ones leave the range of an f64. Where a
/// third of the validators are byzantine nobody is likely to corrupt a committee,
/// and where nearly all are every committee is stalled and corrupted.
#[test]
fn large_networks_have_odds_with_any_share_of_byzantine_validators() {
    let mut before = 0.0;
    for byzantine in [1, 50, 166, 250, 333, 450, 499] {
        let odds = computed(&network(500, byzantine, 30, 100));
        let corrupted = odds.corrupted.any_shard;
        assert!(
            (before..=1.0).contains(&corrupted),
            "{byzantine}: {corrupted:e}"
        );
        before = corrupted;
        if byzantine <= 166 {
            assert!(corrupted < 1e-8, "{byzantine}: {corrupted:e}");
        }
        if byzantine >= 450 {
            let Odds {
                one_shard,
                any_shard,
            } = odds.corrupted;
            let surest = [one_shard, any_shard, odds.stalled.any_shard];
            assert!(surest.iter().all(|odds| 1.0 - odds < 1e-8), "{odds:?}");
        }
    }
}

#[test]
fn nobody_and_everybody() {
    let none = computed(&network(140, 0, 70, 6));
    let all = computed(&network(140, 140, 70, 6));
    for odds in [none.stalled, none.corrupted] {
        assert_eq!((odds.one_shard, odds.any_shard), (0.0, 0.0));
    }
    for odds in [all.stalled, all.corrupted] {
        assert_close(odds.one_shard, 1.0);
        assert_close(odds.any_shard, 1.0);
    }
}

#[test]
fn too_few_byzantine_mandates_for_a_quorum_never_corrupt() {
    // 24 mandates a committee need 17, and four validators hold 16.
    let odds = computed(&network(30, 4, 5, 24));
    assert_eq!(odds.corrupted, Odds::default());
    assert!(odds.corrupted.one_shard.is_sign_positive());
    assert!(odds.stalled.any_shard > 0.0);
}

#[test]
fn networks_that_cannot_be_are_refused() {
    let refused = |validators, byzantine, shards, per_shard| {
        EqualStakes::new(validators, byzantine, shards, per_shard)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(refused(0, 0, 1, 1), "a network has at least one validator");
    assert_eq!(refused(4, 5, 1, 1), "5 of 4 validators cannot be byzantine");
    let nothing = "a network has at least one shard and one mandate for each";
    assert_eq!(refused(4, 1, 0, 1), nothing);
    assert_eq!(refused(4, 1, 1, 0), nothing);
    assert!(EqualStakes::new(4, 1, 1, 50_000).is_ok());
    // 49,999 wanted, the same number for each of three.
    assert!(EqualStakes::new(3, 1, 1, 49_998).is_ok());
    assert_eq!(
        EqualStakes::new(3, 1, 1, 49_999),
        Err(SecurityError::TooManyMandates { mandates: 50_001 })
    );
    assert!(EqualStakes::new(u32::MAX, 1, u16::MAX, u32::MAX).is_err());
}

#[test]
fn a_network_says_what_it_is_made_of() {
    // 15 wanted, so two for each of eight.
    let network = network(8, 3, 3, 5);
    assert_eq!(
        (network.validators(), network.byzantine(), network.shards()),
        (8, 3, 3)
    );
    assert_eq!((network.mandates(), network.byzantine_mandates()), (16, 6));
    assert_eq!(network.committee_sizes(), (5, 6));
}

/// Within five standard deviations. Committees of one height are negatively
/// associated, so that counts over committees vary less than if they were
/// independent.
fn assert_follows(hits: u64, trials: u64, probability: f64) {
    let [hits, trials] = [hits, trials].map(|count| f64::from(u32::try_from(count).unwrap()));
    let bound = 5.0 * (trials * probability * (1.0 - probability)).sqrt();
    let off = (hits - trials * probability).abs();
    assert!(off <= bound, "{hits} of {trials}, expected {probability:e}");
}

#[test]
fn dealing_shows_the_odds() {
    const HEIGHTS: u64 = 20_000;
    for (validators, byzantine, shards, per_shard) in [
        (4, 1, 2, 6),
        (8, 2, 4, 3),
        (20, 6, 10, 6),
        (48, 15, 16, 12),
        (25, 12, 7, 9),
    ] {
        let network = network(validators, byzantine, shards, per_shard);
        let odds = computed(&network);
        let observed = simulated(&network, HEIGHTS, [7; 32]).unwrap();
        assert_eq!(observed.heights, HEIGHTS);
        assert_eq!(observed.committees, HEIGHTS * u64::from(shards));
        for (tally, odds) in [
            (observed.tallies.stalled, odds.stalled),
            (observed.tallies.corrupted, odds.corrupted),
        ] {
            assert_follows(tally.committees, observed.committees, odds.one_shard);
            assert_follows(tally.heights, observed.heights, odds.any_shard);
        }
    }
}

proptest! {
    #[test]
    fn odds_are_probabilities_and_grow_with_the_byzantine(
        validators in 2u32..60, byzantine in 0u32..60, shards in 1u16..12, per_shard in 1u32..40,
    ) {
        prop_assume!(byzantine < validators);
        let fewer = computed(&network(validators, byzantine, shards, per_shard));
        let more = computed(&network(validators, byzantine + 1, shards, per_shard));
        for (fewer, more) in [(fewer.stalled, more.stalled), (fewer.corrupted, more.corrupted)] {
            for odds in [fewer, more] {
                prop_assert!((0.0..=1.0).contains(&odds.one_shard));
                prop_assert!((0.0..=1.0).contains(&odds.any_shard));
                prop_assert!(odds.one_shard <= odds.any_shard * (1.0 + 1e-9));
                prop_assert!(
                    odds.any_shard <= odds.one_shard * f64::from(shards) * (1.0 + 1e-9)
                );
            }
            prop_assert!(fewer.one_shard <= more.one_shard * (1.0 + 1e-9));
            prop_assert!(fewer.any_shard <= more.any_shard * (1.0 + 1e-9));
        }
        prop_assert!(fewer.corrupted.any_shard <= fewer.stalled.any_shard * (1.0 + 1e-9));
    }
}
