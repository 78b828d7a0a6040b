// SPDX-License-Identifier: Apache-2.0
//! When a node needs a snapshot, and which.

use super::messages::Offer;
use shardnode_primitives::ShardTotals;

/// Whether what executing `needed` takes is older than what nodes keep, when
/// the finalised tip is at `tip`.
#[must_use]
pub const fn is_behind(needed: u64, tip: u64, retention: u64) -> bool {
    needed.saturating_add(retention) < tip
}

/// A state to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The block that states it.
    pub(super) block: u64,
    /// What that block's header says; the state's height and root are in it.
    pub(super) totals: ShardTotals,
}

/// What a finalised block says about an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stated {
    /// The block is not here yet.
    Unknown,
    /// Its header is of another state.
    Otherwise,
    /// These are its totals.
    As(ShardTotals),
}

/// Why there is nothing to fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Missing {
    #[error("no other producer of the shard offers a snapshot")]
    NoOffer,
    #[error("the newest snapshot of the shard's other producers, at height {0}, is too old")]
    TooOld(u64),
    #[error("no finalised block at hand states the snapshot that is offered for height {0}")]
    NotStated(u64),
}

/// The newest state on offer that a finalised block states, and that makes
/// executing `needed` needless.
pub(super) fn choose(needed: u64, offers: &[(Offer, Stated)]) -> Result<Target, Missing> {
    let newest = offers.iter().map(|(offer, _)| offer.height).max();
    let newest = newest.ok_or(Missing::NoOffer)?;
    if newest < needed {
        return Err(Missing::TooOld(newest));
    }
    offers
        .iter()
        .filter(|(offer, _)| offer.height >= needed)
        .filter_map(|(offer, stated)| match stated {
            Stated::As(totals) => Some((offer, totals)),
            Stated::Unknown | Stated::Otherwise => None,
        })
        .max_by_key(|(offer, _)| offer.height)
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

    #[test]
    fn a_node_is_behind_what_peers_keep() {
        for (needed, tip, behind) in [
            (1, 0, false),
            (1, 101, false),
            (1, 102, true),
            (2, 102, false),
            (u64::MAX, 102, false),
        ] {
            assert_eq!(is_behind(needed, tip, 100), behind, "{needed} at {tip}");
        }
    }

    #[test]
    fn the_newest_stated_offer_is_chosen() {
        let offer = |height, stated| {
            (
                Offer {
                    height,
                    block: height + 1,
                },
                stated,
            )
        };
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
            let got = choose(10, &offers).map(|target| target.totals.height);
            assert_eq!(got, want, "{name}");
        }
    }
}
