// SPDX-License-Identifier: Apache-2.0
//! Who can endorse, and who can keep others from it.

use proptest::prelude::*;
use shardnode_mandates::{Mandates, quorum};

#[test]
fn a_quorum_is_the_least_number_above_two_thirds() {
    let quorums: Vec<u64> = (0..=9).map(quorum).collect();
    assert_eq!(quorums, [1, 1, 2, 3, 3, 4, 5, 5, 6, 7]);
    assert_eq!(quorum(u64::MAX), u64::MAX / 3 * 2 + 1);
}

/// One shard, so that its committee is everybody with all their stake.
fn everybody(stakes: &[u64]) -> shardnode_mandates::Committee<usize> {
    let stakes = stakes.iter().copied().enumerate();
    Mandates::new(stakes, 1, 1)
        .unwrap()
        .deal([0; 32], 1)
        .remove(0)
}

#[test]
fn exactly_a_third_stalls_and_exactly_two_thirds_do_not_endorse() {
    let committee = everybody(&[10, 10, 10]);
    assert!(committee.is_stalled_by(|validator| *validator == 0));
    assert!(!committee.is_endorsed_by(|validator| *validator != 0));
    let committee = everybody(&[9, 10, 10]);
    assert!(!committee.is_stalled_by(|validator| *validator == 0));
    assert!(committee.is_endorsed_by(|validator| *validator != 0));
    assert!(committee.is_stalled_by(|validator| *validator == 1));
    assert!(!committee.is_endorsed_by(|validator| *validator != 1));
}

proptest! {
    #[test]
    fn endorsing_is_what_the_others_cannot_stall(
        stakes in prop::collection::vec(1u64..1_000, 1..20), chosen: u32,
    ) {
        let committee = everybody(&stakes);
        let selects = |validator: &usize| chosen >> *validator & 1 == 1;
        let (some, all) = (committee.stake_of(selects), committee.stake());
        prop_assert_eq!(all, stakes.iter().sum::<u64>());
        prop_assert_eq!(committee.is_endorsed_by(selects), 3 * some > 2 * all);
        prop_assert_eq!(committee.is_stalled_by(selects), 3 * some >= all);
        prop_assert_eq!(
            committee.is_endorsed_by(selects),
            !committee.is_stalled_by(|validator| !selects(validator))
        );
    }
}
