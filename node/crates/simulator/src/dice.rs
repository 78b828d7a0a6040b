// SPDX-License-Identifier: Apache-2.0
//! Chance, from a seed.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use std::{collections::BTreeSet, time::Duration};

/// Draws the details of a plan.
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The same draws for the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.next_u64() % (high - low + 1)
    }

    /// An index of a list of this length.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.0.next_u64() % length.max(1) as u64).unwrap_or_default()
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.between(1, times) == 1
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    /// From `low` to `high` milliseconds.
    pub fn millis(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_millis(self.between(low, high))
    }

    /// `count` different indices below `length`, or all of them.
    pub fn some_of(&mut self, count: usize, length: usize) -> BTreeSet<usize> {
        let mut some = BTreeSet::new();
        while some.len() < count.min(length) {
            some.insert(self.index(length));
        }
        some
    }
}
