// SPDX-License-Identifier: Apache-2.0
//! Who gets which mandates.

use proptest::prelude::*;
use shardnode_mandates::{Committee, Mandates};
use std::collections::{BTreeMap, BTreeSet};

const SEED: [u8; 32] = [0x5e; 32];

type Stakes = BTreeMap<u16, u64>;

fn mandates(stakes: &Stakes, shards: u16, per_shard: u32) -> Mandates<u16> {
    Mandates::new(stakes.clone(), shards, per_shard).unwrap()
}

/// Validators with any stakes that buy `shards * per_shard` mandates.
fn network() -> impl Strategy<Value = (Stakes, u16, u32)> {
    let stakes = prop::collection::btree_map(any::<u16>(), 0u64..5_000, 1..40);
    (stakes, 1u16..12, 1u32..12).prop_filter("enough stake", |(stakes, shards, per_shard)| {
        stakes.values().sum::<u64>() >= u64::from(*shards) * u64::from(*per_shard)
    })
}

/// Splits what a committee's members have into whole and partial mandates.
fn counted(mandates: &Mandates<u16>, committee: &Committee<u16>) -> (u64, u64) {
    let price = mandates.price();
    let (mut whole, mut partial) = (0, 0);
    for member in committee.members() {
        whole += member.stake / price;
        partial += u64::from(!member.stake.is_multiple_of(price));
    }
    (whole, partial)
}

fn even(counts: impl Iterator<Item = u64>) -> bool {
    let counts: BTreeSet<u64> = counts.collect();
    match (counts.first(), counts.last()) {
        (Some(least), Some(most)) => most - least <= 1,
        _ => true,
    }
}

proptest! {
    #[test]
    fn all_stake_is_dealt_exactly_once(
        (stakes, shards, per_shard) in network(), seed: [u8; 32], height: u64,
    ) {
        let mandates = mandates(&stakes, shards, per_shard);
        let mut dealt = Stakes::new();
        for committee in mandates.deal(seed, height) {
            let members = committee.members();
            let distinct: BTreeSet<u16> = members.iter().map(|member| member.validator).collect();
            prop_assert_eq!(distinct.len(), members.len());
            prop_assert_eq!(
                committee.stake(),
                members.iter().map(|member| member.stake).sum::<u64>()
            );
            for member in members {
                prop_assert!(member.stake > 0);
                *dealt.entry(member.validator).or_default() += member.stake;
            }
        }
        let held: Stakes = stakes.into_iter().filter(|(_, stake)| *stake > 0).collect();
        prop_assert_eq!(dealt, held);
    }

    #[test]
    fn mandates_are_dealt_whole_and_evenly(
        (stakes, shards, per_shard) in network(), seed: [u8; 32], height: u64,
    ) {
        let mandates = mandates(&stakes, shards, per_shard);
        let committees = mandates.deal(seed, height);
        prop_assert_eq!(committees.len(), usize::from(shards));
        let counts: Vec<(u64, u64)> = committees
            .iter()
            .map(|committee| counted(&mandates, committee))
            .collect();
        prop_assert!(even(counts.iter().map(|(whole, _)| *whole)));
        prop_assert!(even(counts.iter().map(|(_, partial)| *partial)));
        for (whole, _) in &counts {
            prop_assert!(*whole >= u64::from(per_shard));
        }
        // A validator's partial mandate is with one shard, all of it.
        for holder in mandates.holders() {
            let partial: Vec<u64> = committees
                .iter()
                .flat_map(Committee::members)
                .filter(|member| member.validator == holder.validator)
                .map(|member| member.stake % mandates.price())
                .filter(|partial| *partial > 0)
                .collect();
            let expected = Some(holder.partial).filter(|partial| *partial > 0);
            prop_assert_eq!(partial, expected.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn committees_do_not_depend_on_the_order_of_the_stakes(
        ((stakes, shards, per_shard), order) in network().prop_flat_map(|network| {
            let order: Vec<(u16, u64)> = network.0.clone().into_iter().collect();
            (Just(network), Just(order).prop_shuffle())
        }),
        seed: [u8; 32], height: u64,
    ) {
        let other = Mandates::new(order, shards, per_shard).unwrap();
        let mandates = mandates(&stakes, shards, per_shard);
        prop_assert_eq!(&mandates, &other);
        prop_assert_eq!(mandates.deal(seed, height), other.deal(seed, height));
    }
}

/// 24 validators with some partial mandates, for 4 shards.
fn uneven() -> Mandates<u16> {
    let stakes = (0..24).map(|validator| (validator, 100 + u64::from(validator)));
    mandates(&stakes.collect(), 4, 6)
}

#[test]
fn heights_and_epochs_have_their_own_committees() {
    let mandates = uneven();
    let dealt: Vec<_> = (0..50)
        .flat_map(|height| {
            let mut other = SEED;
            other[31] ^= 1;
            [mandates.deal(SEED, height), mandates.deal(other, height)]
        })
        .collect();
    for (index, one) in dealt.iter().enumerate() {
        assert!(!dealt[..index].contains(one), "deal {index} is not new");
    }
}

/// Over many heights every validator meets every shard, every place in the
/// order of a committee, and every shard the larger committees, equally often:
/// within five standard deviations of what chance allows.
#[test]
fn nobody_is_favoured() {
    const HEIGHTS: u32 = 20_000;
    const SHARDS: u16 = 4;
    // One whole mandate each, so two shards get 3 and two get 2.
    let stakes = (0..10).map(|validator| (validator, 1)).collect();
    let mandates = mandates(&stakes, SHARDS, 2);
    assert_eq!(mandates.price(), 1);
    let mut meetings = BTreeMap::<(u16, usize), u32>::new();
    let mut larger = [0u32; SHARDS as usize];
    let mut first = BTreeMap::<u16, u32>::new();
    for height in 0..u64::from(HEIGHTS) {
        for (shard, committee) in mandates.deal(SEED, height).iter().enumerate() {
            larger[shard] += u32::from(committee.members().len() == 3);
            *first.entry(committee.members()[0].validator).or_default() += 1;
            for member in committee.members() {
                *meetings.entry((member.validator, shard)).or_default() += 1;
            }
        }
    }
    let assert_share = |count: u32, share: f64, what: String| {
        let heights = f64::from(HEIGHTS);
        let bound = 5.0 * (heights * share * (1.0 - share)).sqrt();
        let off = (f64::from(count) - heights * share).abs();
        assert!(off < bound, "{what}: {count} of {HEIGHTS}");
    };
    assert_eq!(meetings.len(), 40);
    for ((validator, shard), count) in meetings {
        assert_share(
            count,
            0.25,
            format!("validator {validator} in shard {shard}"),
        );
    }
    for (shard, count) in larger.into_iter().enumerate() {
        assert_share(count, 0.5, format!("the larger committee in shard {shard}"));
    }
    // At most one committee is anybody's, and four of ten validators are first.
    assert_eq!(first.len(), 10);
    for (validator, count) in first {
        assert_share(count, 0.4, format!("validator {validator} first"));
    }
}
