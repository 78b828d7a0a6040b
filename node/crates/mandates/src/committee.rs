// SPDX-License-Identifier: Apache-2.0
//! The validators that check one shard at one height.
//!
//! With the stake `T` the [`quorum`] is `q = floor(2T / 3) + 1`, the least
//! whole number above two thirds. Members with the stake `b`
//!
//! - can endorse whatever they like if `b >= q`, that is `3b > 2T`;
//! - can keep the others from a quorum if `T - b < q`, that is `3b >= T`.

/// The least endorsed stake of a committee with the stake `total`.
#[must_use]
pub const fn quorum(total: u64) -> u64 {
    // floor(2 * total / 3) + 1 without doubling the total, which can overflow.
    2 * (total / 3) + 2 * (total % 3) / 3 + 1
}

/// A validator's part in a committee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<V> {
    /// Who.
    pub validator: V,
    /// The stake of its mandates of this shard at this height.
    pub stake: u64,
}

/// The validators that check one shard at one height.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committee<V> {
    members: Vec<Member<V>>,
    stake: u64,
}

impl<V> Committee<V> {
    pub(crate) fn new(members: Vec<Member<V>>) -> Self {
        Self {
            stake: members.iter().map(|member| member.stake).sum(),
            members,
        }
    }

    /// Everybody in it, each at its place.
    #[must_use]
    pub fn members(&self) -> &[Member<V>] {
        &self.members
    }

    /// The stake of all members.
    #[must_use]
    pub const fn stake(&self) -> u64 {
        self.stake
    }

    /// The least stake whose endorsements stand for the committee.
    #[must_use]
    pub const fn quorum(&self) -> u64 {
        quorum(self.stake)
    }

    /// The stake of the members that `selects` chooses.
    pub fn stake_of(&self, selects: impl Fn(&V) -> bool) -> u64 {
        self.members
            .iter()
            .filter(|member| selects(&member.validator))
            .map(|member| member.stake)
            .sum()
    }

    /// Whether the members that `selects` chooses are enough to endorse.
    pub fn is_endorsed_by(&self, selects: impl Fn(&V) -> bool) -> bool {
        self.stake_of(selects) >= self.quorum()
    }

    /// Whether the others cannot endorse without the members that `selects`
    /// chooses.
    pub fn is_stalled_by(&self, selects: impl Fn(&V) -> bool) -> bool {
        self.stake - self.stake_of(selects) < self.quorum()
    }
}
