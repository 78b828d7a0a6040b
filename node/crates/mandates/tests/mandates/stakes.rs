// SPDX-License-Identifier: Apache-2.0
//! How stake is divided.

use proptest::prelude::*;
use shardnode_mandates::{Mandates, MandatesError, mandates::MOST_MANDATES};

fn divide(stakes: &[u64], shards: u16, per_shard: u32) -> Result<Mandates<usize>, MandatesError> {
    Mandates::new(stakes.iter().copied().enumerate(), shards, per_shard)
}

/// The price, and what each validator holds.
fn divided(stakes: &[u64], shards: u16, per_shard: u32) -> (u64, Vec<(u64, u64)>) {
    let mandates = divide(stakes, shards, per_shard).unwrap();
    let holders = mandates.holders().iter();
    (
        mandates.price(),
        holders
            .map(|holder| (holder.whole, holder.partial))
            .collect(),
    )
}

#[test]
fn what_is_left_of_a_stake_is_a_partial_mandate() {
    assert_eq!(
        divided(&[100, 100, 100, 100], 4, 3),
        (33, vec![(3, 1), (3, 1), (3, 1), (3, 1)])
    );
    assert_eq!(
        divided(&[70, 20, 10, 4], 2, 4),
        (10, vec![(7, 0), (2, 0), (1, 0), (0, 4)])
    );
    assert_eq!(divided(&[0, 6], 1, 6), (1, vec![(0, 0), (6, 0)]));
    assert_eq!(divided(&[u64::MAX], 1, 1), (u64::MAX, vec![(1, 0)]));
}

#[test]
fn equal_stakes_can_make_more_mandates_than_wanted() {
    // Seven are wanted, and four validators hold the same number each.
    assert_eq!(divided(&[10; 4], 7, 1), (5, vec![(2, 0); 4]));
}

#[test]
fn a_price_of_one_is_found_beside_one_that_buys_too_little() {
    // At 2, each of the two would hold one, and three are wanted.
    assert_eq!(divided(&[3, 3], 1, 3), (1, vec![(3, 0), (3, 0)]));
}

#[test]
fn stake_that_cannot_be_divided_is_refused() {
    let refused = |stakes: &[u64], shards, per_shard| {
        divide(stakes, shards, per_shard).unwrap_err().to_string()
    };
    let nothing = "a network has at least one shard and one mandate for each";
    assert_eq!(refused(&[10], 0, 1), nothing);
    assert_eq!(refused(&[10], 1, 0), nothing);
    let little = "a total stake of 11 is too little for 12 mandates";
    assert_eq!(refused(&[5, 6], 4, 3), little);
    assert_eq!(
        refused(&[], 1, 1),
        "a total stake of 0 is too little for 1 mandates"
    );
    assert_eq!(
        refused(&[u64::MAX, 1], 1, 1),
        "the total stake exceeds 2^64 - 1"
    );
    assert_eq!(
        refused(&[u64::MAX], u16::MAX, u32::MAX),
        format!("281470681677825 mandates are more than {MOST_MANDATES}")
    );
    let most = u32::try_from(MOST_MANDATES).unwrap();
    assert!(divide(&[MOST_MANDATES], 1, most).is_ok());
    assert_eq!(
        refused(&[u64::MAX], 1, most + 1),
        "1000001 mandates are more than 1000000"
    );
    let twice = Mandates::new([("a", 1), ("b", 5), ("a", 4)], 1, 1);
    assert_eq!(twice, Err(MandatesError::DuplicateValidator));
}

proptest! {
    #[test]
    fn the_price_is_the_highest_that_buys_enough(
        stakes in prop::collection::vec(0u64..10_000, 1..30),
        shards in 1u16..10, per_shard in 1u32..20,
    ) {
        let wanted = u64::from(shards) * u64::from(per_shard);
        let total: u64 = stakes.iter().sum();
        prop_assume!(total >= wanted);
        let mandates = divide(&stakes, shards, per_shard).unwrap();
        let price = mandates.price();
        let bought = |price: u64| stakes.iter().map(|stake| stake / price).sum::<u64>();
        prop_assert!(bought(price) >= wanted);
        prop_assert!(bought(price + 1) < wanted);
        for (holder, stake) in mandates.holders().iter().zip(&stakes) {
            prop_assert_eq!(holder.whole * price + holder.partial, *stake);
            prop_assert!(holder.partial < price);
        }
    }
}
