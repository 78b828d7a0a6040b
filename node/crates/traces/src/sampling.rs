// SPDX-License-Identifier: Apache-2.0
//! Which heights are traced.

use crate::ids::draw;
use shardnode_primitives::Digest;

/// How many of 10,000 heights are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasisPoints(u16);

impl BasisPoints {
    /// Every height.
    pub const ALL: Self = Self(10_000);

    /// `None` unless it is 1 to 10,000.
    #[must_use]
    pub const fn new(basis_points: u16) -> Option<Self> {
        match basis_points {
            1..=10_000 => Some(Self(basis_points)),
            _ => None,
        }
    }
}

/// Chooses the heights that are traced. All nodes of a network with the same
/// rate choose the same, and those with a lower one some of these: a height is
/// traced if what is drawn for it from genesis, modulo 10,000, is below the
/// rate.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    genesis: Digest,
    rate: BasisPoints,
}

impl Sampling {
    /// The choice of the nodes with this rate.
    #[must_use]
    pub const fn new(genesis: Digest, rate: BasisPoints) -> Self {
        Self { genesis, rate }
    }

    /// The genesis that the choice follows from.
    pub(crate) const fn genesis(&self) -> &Digest {
        &self.genesis
    }

    /// Whether a height is traced.
    #[must_use]
    pub fn traces(&self, height: u64) -> bool {
        self.rate == BasisPoints::ALL
            || draw(&self.genesis, height) % 10_000 < u64::from(self.rate.0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn as_many_heights_are_traced_as_asked_for_and_more_with_a_higher_rate() {
        let of = |basis_points| {
            let rate = BasisPoints::new(basis_points).unwrap();
            let sampling = Sampling::new(Digest([3; 32]), rate);
            (0..100_000).filter(move |height| sampling.traces(*height))
        };
        assert!(
            (900..1_100).contains(&of(100).count()),
            "{}",
            of(100).count()
        );
        assert_eq!(of(10_000).count(), 100_000);
        let more: std::collections::BTreeSet<u64> = of(200).collect();
        assert!(of(100).all(|height| more.contains(&height)));
        assert!(BasisPoints::new(0).is_none() && BasisPoints::new(10_001).is_none());
    }
}
