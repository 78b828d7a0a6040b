// SPDX-License-Identifier: Apache-2.0
//! How likely a committee is one that byzantine validators can abuse.
//!
//! Two things can happen to a committee ([`crate::committee`] has the rule):
//! byzantine members with a third of its stake can *stall* it, so that its
//! shard misses the chunk; with more than two thirds they can *corrupt* it,
//! and endorse a false result. [`mod@computed`] and [`mod@simulated`] say how often,
//! the one by counting, the other by dealing.
//!
//! Both assume that byzantine validators are chosen before the epoch's seed is
//! known, and that nobody chooses the seed; [`mod@choices`] says how far
//! byzantine producers can. These are estimates for people: nothing in the
//! protocol depends on them.

pub mod choices;
mod computed;
mod simulated;

pub use choices::{Choices, choices};
pub use computed::computed;
pub use simulated::{Observed, Tally, simulated};

use crate::{Mandates, MandatesError};

/// The most mandates that odds are computed for: the work grows with their
/// square.
pub const MOST_MANDATES: u64 = 50_000;

/// Why there are no odds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecurityError {
    /// There are at most as many byzantine validators as validators.
    #[error("{byzantine} of {validators} validators cannot be byzantine")]
    Byzantine {
        /// As given.
        byzantine: u32,
        /// As given.
        validators: u32,
    },
    /// Somebody has to hold the mandates.
    #[error("a network has at least one validator")]
    NoValidators,
    /// More than can be counted in a reasonable time.
    #[error("{mandates} mandates are more than {MOST_MANDATES}")]
    TooManyMandates {
        /// What all validators would hold.
        mandates: u64,
    },
    /// The mandates of this network cannot be dealt.
    #[error(transparent)]
    Mandates(#[from] MandatesError),
}

/// A network whose validators all have the same stake, some of them byzantine.
///
/// Every validator holds the same number of whole mandates, the least with
/// which all shards have what they want, and no partial one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EqualStakes {
    validators: u32,
    byzantine: u32,
    shards: u16,
    each: u32,
    per_shard: u32,
}

impl EqualStakes {
    /// `byzantine` of `validators` validators, for `shards` shards with at
    /// least `per_shard` mandates each.
    pub fn new(
        validators: u32,
        byzantine: u32,
        shards: u16,
        per_shard: u32,
    ) -> Result<Self, SecurityError> {
        if validators == 0 {
            return Err(SecurityError::NoValidators);
        }
        if byzantine > validators {
            return Err(SecurityError::Byzantine {
                byzantine,
                validators,
            });
        }
        let wanted = u64::from(shards) * u64::from(per_shard);
        if wanted == 0 {
            return Err(MandatesError::NoMandates.into());
        }
        let each = wanted.div_ceil(u64::from(validators));
        let mandates = each * u64::from(validators);
        let too_many = SecurityError::TooManyMandates { mandates };
        if mandates > MOST_MANDATES {
            return Err(too_many);
        }
        Ok(Self {
            validators,
            byzantine,
            shards,
            each: u32::try_from(each).map_err(|_| too_many)?,
            per_shard,
        })
    }

    /// All validators.
    #[must_use]
    pub const fn validators(&self) -> u32 {
        self.validators
    }

    /// The byzantine ones.
    #[must_use]
    pub const fn byzantine(&self) -> u32 {
        self.byzantine
    }

    /// All shards.
    #[must_use]
    pub const fn shards(&self) -> u16 {
        self.shards
    }

    /// Mandates of all validators.
    #[must_use]
    pub const fn mandates(&self) -> u32 {
        self.each * self.validators
    }

    /// Mandates of the byzantine validators.
    #[must_use]
    pub const fn byzantine_mandates(&self) -> u32 {
        self.each * self.byzantine
    }

    /// The mandates of the smallest and of the largest committee.
    #[must_use]
    pub fn committee_sizes(&self) -> (u32, u32) {
        let shards = u32::from(self.shards);
        (self.mandates() / shards, self.mandates().div_ceil(shards))
    }

    /// What is dealt: validator 0, 1, …, the byzantine ones first.
    fn deck(&self) -> Result<Mandates<u32>, MandatesError> {
        let stake = u64::from(self.each);
        let stakes = (0..self.validators).map(|validator| (validator, stake));
        Mandates::new(stakes, self.shards, self.per_shard)
    }
}

/// What can happen to a committee.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Security<T> {
    /// Byzantine members have at least a third of the stake.
    pub stalled: T,
    /// Byzantine members have more than two thirds of the stake.
    pub corrupted: T,
}

/// The odds of an event at one height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Odds {
    /// That it happens to the committee of one given shard.
    pub one_shard: f64,
    /// That it happens to the committee of at least one shard.
    pub any_shard: f64,
}
