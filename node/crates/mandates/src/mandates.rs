// SPDX-License-Identifier: Apache-2.0
//! Stake, divided into mandates.

use crate::{Committee, MandatesError, deal::deal};

/// The most mandates that a network can want.
pub const MOST_MANDATES: u64 = 1_000_000;

/// The stakes of an epoch's validators, divided into mandates; see the
/// [crate] for how.
///
/// `V` identifies a validator. Its order is part of the protocol, and the
/// order in which stakes are given is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mandates<V> {
    shards: u16,
    price: u64,
    holders: Vec<Holder<V>>,
}

/// A validator and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder<V> {
    /// Who.
    pub validator: V,
    /// Whole mandates, each of the price's stake.
    pub whole: u64,
    /// The stake of its partial mandate; 0 if it has none.
    pub partial: u64,
}

impl<V: Ord + Clone> Mandates<V> {
    /// Divides `stakes` so that each of `shards` can have `per_shard` whole
    /// mandates. A validator without stake holds nothing.
    pub fn new(
        stakes: impl IntoIterator<Item = (V, u64)>,
        shards: u16,
        per_shard: u32,
    ) -> Result<Self, MandatesError> {
        let wanted = u64::from(shards) * u64::from(per_shard);
        if wanted == 0 {
            return Err(MandatesError::NoMandates);
        }
        if wanted > MOST_MANDATES {
            return Err(MandatesError::TooManyMandates {
                wanted,
                most: MOST_MANDATES,
            });
        }
        let mut stakes: Vec<(V, u64)> = stakes.into_iter().collect();
        stakes.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        if stakes.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(MandatesError::DuplicateValidator);
        }
        let total = stakes
            .iter()
            .try_fold(0u64, |sum, (_, stake)| sum.checked_add(*stake))
            .ok_or(MandatesError::StakeOverflow)?;
        if total < wanted {
            return Err(MandatesError::TooLittleStake { total, wanted });
        }
        let price = price(&stakes, total, wanted);
        let holders = stakes
            .into_iter()
            .map(|(validator, stake)| Holder {
                validator,
                whole: stake / price,
                partial: stake % price,
            })
            .collect();
        Ok(Self {
            shards,
            price,
            holders,
        })
    }

    /// The committees of `height`, by shard.
    #[must_use]
    pub fn deal(&self, epoch_seed: [u8; 32], height: u64) -> Vec<Committee<V>> {
        deal(self, epoch_seed, height)
    }
}

impl<V> Mandates<V> {
    /// The number of shards that mandates are dealt to.
    #[must_use]
    pub const fn shards(&self) -> u16 {
        self.shards
    }

    /// The stake of a whole mandate.
    #[must_use]
    pub const fn price(&self) -> u64 {
        self.price
    }

    /// Every validator, in validator order.
    #[must_use]
    pub fn holders(&self) -> &[Holder<V>] {
        &self.holders
    }
}

/// The largest price at which `stakes` buy `wanted` mandates; `total`, their
/// sum, must be at least that.
fn price<V>(stakes: &[(V, u64)], total: u64, wanted: u64) -> u64 {
    let bought = |price: u64| -> u64 { stakes.iter().map(|(_, stake)| stake / price).sum() };
    // At 1 the stakes buy enough; above total / wanted they cannot.
    let (mut low, mut high) = (1, total / wanted);
    while low < high {
        let middle = high - (high - low) / 2;
        if bought(middle) >= wanted {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}
