// SPDX-License-Identifier: Apache-2.0
//! The odds, by counting.
//!
//! `W` mandates, `K` of them byzantine, are dealt to committees of fixed
//! sizes, every order being as likely as every other. So the byzantine
//! mandates of one committee of size `n` are hypergeometric, and
//!
//! ```text
//! P[one given committee has b] = C(K, b) C(W - K, n - b) / C(W, n)
//! ```
//!
//! Committees are not independent of each other: what one has the others
//! lack. Jointly they are as if every mandate were byzantine on its own with
//! any probability `p`, given that `K` of all `W` are. With `p = K / W` that
//! makes "some committee is bad" a convolution of binomial distributions, taken
//! at `K`: `good` and `bad` below hold, for every number of byzantine mandates
//! dealt so far, the probability that no committee, or that some committee, was
//! bad. Only positive numbers are added and multiplied, so small probabilities
//! are as accurate as large ones, down to 1e-300.

use super::{EqualStakes, Odds, Security};
use crate::quorum;

/// The odds of a network.
#[must_use]
pub fn computed(network: &EqualStakes) -> Security<Odds> {
    let counts = Counts::of(network);
    Security {
        stalled: counts.odds(|size| size - least_quorum(size) + 1),
        corrupted: counts.odds(least_quorum),
    }
}

/// The least mandates that endorse for a committee of `size` equal ones.
fn least_quorum(size: u32) -> u32 {
    u32::try_from(quorum(u64::from(size))).unwrap_or(u32::MAX)
}

struct Counts {
    /// `W`.
    mandates: u32,
    /// `K`.
    byzantine: u32,
    /// The sizes of committees, and how many there are of each.
    committees: Vec<(u32, u32)>,
    /// ln(i!) for every i up to `W`.
    ln_factorials: Vec<f64>,
}

impl Counts {
    fn of(network: &EqualStakes) -> Self {
        let (mandates, shards) = (network.mandates(), u32::from(network.shards()));
        let larger = mandates % shards;
        let size = mandates / shards;
        let ln_factorials = std::iter::once(0.0)
            .chain((1..=mandates).scan(0.0, |sum, number| {
                *sum += f64::from(number).ln();
                Some(*sum)
            }))
            .collect();
        Self {
            mandates,
            byzantine: network.byzantine_mandates(),
            committees: [(size, shards - larger), (size + 1, larger)]
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .collect(),
            ln_factorials,
        }
    }

    /// The odds that a committee has at least as many byzantine mandates as
    /// `least` says for its size.
    fn odds(&self, least: impl Fn(u32) -> u32) -> Odds {
        let shards: u32 = self.committees.iter().map(|(_, count)| count).sum();
        let one_shard = self
            .committees
            .iter()
            .map(|(size, count)| f64::from(*count) * self.tail(*size, least(*size)))
            .sum::<f64>()
            / f64::from(shards);
        Odds {
            one_shard,
            any_shard: self.any(least),
        }
    }

    /// That a committee of `size` has at least `least` byzantine mandates.
    fn tail(&self, size: u32, least: u32) -> f64 {
        let honest = self.mandates - self.byzantine;
        let fewest = least.max(size.saturating_sub(honest));
        (fewest..=size.min(self.byzantine))
            .map(|count| {
                let ways = self.ln_choose(self.byzantine, count)
                    + self.ln_choose(honest, size - count)
                    - self.ln_choose(self.mandates, size);
                ways.exp()
            })
            // Not sum(), which is -0.0 of nothing.
            .fold(0.0, |sum: f64, probability| sum + probability)
            .min(1.0)
    }

    /// That any committee has at least the byzantine mandates that `least`
    /// says for its size.
    fn any(&self, least: impl Fn(u32) -> u32) -> f64 {
        // The distributions below need both kinds of mandates.
        if self.byzantine == 0 {
            return 0.0;
        }
        if self.byzantine == self.mandates {
            return 1.0;
        }
        let most = self.byzantine as usize;
        let mut good = vec![1.0];
        let mut bad = vec![0.0];
        for &(size, count) in &self.committees {
            let probabilities = self.binomial(size);
            let least = least(size) as usize;
            for _ in 0..count {
                let len = (good.len() + size as usize).min(most + 1);
                let mut next_good = vec![0.0; len];
                let mut next_bad = vec![0.0; len];
                for (before, (was_good, was_bad)) in good.iter().zip(&bad).enumerate() {
                    for (added, probability) in probabilities.iter().enumerate() {
                        let Some(bad) = next_bad.get_mut(before + added) else {
                            break;
                        };
                        *bad += was_bad * probability;
                        if added < least {
                            next_good[before + added] += was_good * probability;
                        } else {
                            *bad += was_good * probability;
                        }
                    }
                }
                (good, bad) = (next_good, next_bad);
            }
        }
        bad[most] / (good[most] + bad[most])
    }

    /// The probabilities of 0, …, `size` byzantine mandates in a committee, if
    /// every mandate were byzantine on its own.
    fn binomial(&self, size: u32) -> Vec<f64> {
        let share = f64::from(self.byzantine) / f64::from(self.mandates);
        let (yes, no) = (share.ln(), (-share).ln_1p());
        (0..=size)
            .map(|count| {
                let ways = self.ln_choose(size, count);
                (ways + f64::from(count) * yes + f64::from(size - count) * no).exp()
            })
            .collect()
    }

    fn ln_choose(&self, of: u32, chosen: u32) -> f64 {
        let ln_factorial = |number: u32| self.ln_factorials[number as usize];
        ln_factorial(of) - ln_factorial(chosen) - ln_factorial(of - chosen)
    }
}
