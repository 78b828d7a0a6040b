// SPDX-License-Identifier: Apache-2.0
//! Which of the snapshots on offer is fetched.

use shardnode_network::state_requests::Offer;
use shardnode_primitives::ShardTotals;
use std::collections::{BTreeMap, BTreeSet};

/// A state to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The block that states it.
    pub(crate) block: u64,
    /// What that block's header says; the state's height and root are in it.
    pub(crate) totals: ShardTotals,
}

/// What a finalised block says about an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stated {
    /// The block is not here yet.
    Unknown,
    /// Its header is of another state.
    Otherwise,
    /// These are its totals.
    As(ShardTotals),
}

/// Why there is nothing to fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Missing {
    #[error("nobody offers a snapshot of the shard")]
    NoOffer,
    #[error("the newest snapshot of the shard on offer, at height {0}, is too old")]
    TooOld(u64),
    #[error("no finalised block at hand states the snapshot that is offered for height {0}")]
    NotStated(u64),
}

/// The slots that say they have the state at `height`: who has a newer one has
/// this one still.
pub(crate) fn holders(height: u64, offers: &BTreeMap<u16, Offer>) -> impl Iterator<Item = u16> {
    let holders = offers
        .iter()
        .filter(move |(_, offer)| offer.height >= height);
    holders.map(|(slot, _)| *slot)
}

/// The newest state on offer that a finalised block states, and that makes
/// executing `needed` needless. Offers are by slot. Those of slots that are
/// `silent` count only if there is nothing else to fetch; then none is silent
/// any more.
pub(crate) fn choose(
    needed: u64,
    offers: &[(u16, Offer, Stated)],
    silent: &mut BTreeSet<u16>,
) -> Result<Target, Missing> {
    let newest = offers.iter().map(|(_, offer, _)| offer.height).max();
    let newest = newest.ok_or(Missing::NoOffer)?;
    if newest < needed {
        return Err(Missing::TooOld(newest));
    }
    let stated = |passed_over: &BTreeSet<u16>| {
        offers
            .iter()
            .filter(|(slot, offer, _)| offer.height >= needed && !passed_over.contains(slot))
            .filter_map(|(_, offer, stated)| match stated {
                Stated::As(totals) => Some((offer, totals)),
                Stated::Unknown | Stated::Otherwise => None,
            })
            .max_by_key(|(offer, _)| offer.height)
    };
    let chosen = stated(silent).or_else(|| {
        silent.clear();
        stated(silent)
    });
    chosen
        .map(|(offer, totals)| Target {
            block: offer.block,
            totals: totals.clone(),
        })
        .ok_or(Missing::NotStated(newest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shardnode_primitives::Digest;

    /// What is tried, on offer, and chosen.
    type Case = (&'static str, Vec<(Offer, Stated)>, Result<u64, Missing>);

    fn stated(height: u64) -> Stated {
        Stated::As(ShardTotals {
            height,
            ..ShardTotals::genesis(Digest([1; 32]), 0)
        })
    }

    fn offer(height: u64, stated: Stated) -> (Offer, Stated) {
        let block = height + 1;
        (Offer { height, block }, stated)
    }

    /// The first of a list is from slot 0, and so on.
    fn by_slot(offers: Vec<(Offer, Stated)>) -> Vec<(u16, Offer, Stated)> {
        let by_slot = (0u16..).zip(offers);
        by_slot
            .map(|(slot, (offer, stated))| (slot, offer, stated))
            .collect()
    }

    #[test]
    fn the_newest_stated_offer_is_chosen() {
        let cases: [Case; 7] = [
            ("nothing", vec![], Err(Missing::NoOffer)),
            (
                "too old",
                vec![offer(9, stated(9)), offer(8, stated(8))],
                Err(Missing::TooOld(9)),
            ),
            ("just new enough", vec![offer(10, stated(10))], Ok(10)),
            (
                "newest",
                vec![offer(10, stated(10)), offer(20, stated(20))],
                Ok(20),
            ),
            (
                "newest is not known",
                vec![offer(10, stated(10)), offer(20, Stated::Unknown)],
                Ok(10),
            ),
            (
                "newest is a lie",
                vec![offer(20, Stated::Otherwise), offer(10, stated(10))],
                Ok(10),
            ),
            (
                "old, and a lie",
                vec![offer(9, stated(9)), offer(20, Stated::Otherwise)],
                Err(Missing::NotStated(20)),
            ),
        ];
        for (name, offers, want) in cases {
            let got = choose(10, &by_slot(offers), &mut BTreeSet::new());
            assert_eq!(got.map(|target| target.totals.height), want, "{name}");
        }
    }

    #[test]
    fn who_did_not_serve_an_offer_is_passed_over_for_somebody_else() {
        let offers = by_slot(vec![offer(20, stated(20)), offer(10, stated(10))]);
        let by_slot = offers.iter().map(|(slot, offer, _)| (*slot, *offer));
        let by_slot: BTreeMap<u16, Offer> = by_slot.collect();
        let mut silent = BTreeSet::new();
        let chosen = |silent: &mut BTreeSet<u16>| {
            let target = choose(10, &offers, silent);
            target.map(|target| target.totals.height)
        };
        assert_eq!(chosen(&mut silent), Ok(20));
        silent.extend(holders(20, &by_slot));
        assert_eq!(chosen(&mut silent), Ok(10));
        assert_eq!(silent, BTreeSet::from([0]));
        silent.extend(holders(10, &by_slot));
        assert_eq!(chosen(&mut silent), Ok(20), "nobody else is left");
        assert_eq!(silent, BTreeSet::new());
    }
}
