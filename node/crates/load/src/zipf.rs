// SPDX-License-Identifier: Apache-2.0
//! The Zipf-Mandelbrot distribution: few accounts are in most transfers.
//!
//! Rank `k` of `n`, counted from 0, has the weight `1 / (k + 1 + q)^s` with
//! `q` = [`SHIFT`] and `s` = 1. The exponent is not a parameter: 1 keeps the
//! weights to additions and divisions, which give the same bits on every
//! machine.

use rand_core::Rng;

/// How flat the head of the distribution is.
pub const SHIFT: f64 = 2.7;

/// A Zipf-Mandelbrot distribution over the ranks 0 to n - 1.
#[derive(Clone, Debug)]
pub struct ZipfMandelbrot {
    /// The sum of the weights of all ranks up to this one.
    cumulative: Vec<f64>,
}

impl ZipfMandelbrot {
    /// The distribution over `ranks` ranks, or `None` for none.
    #[must_use]
    pub fn new(ranks: u32) -> Option<Self> {
        let cumulative: Vec<f64> = (0..ranks)
            .scan(0.0, |sum, rank| {
                *sum += 1.0 / (f64::from(rank) + 1.0 + SHIFT);
                Some(*sum)
            })
            .collect();
        (!cumulative.is_empty()).then_some(Self { cumulative })
    }

    fn total(&self) -> f64 {
        self.cumulative.last().copied().unwrap_or_default()
    }

    /// The probability of `rank`; 0 for a rank that does not exist.
    #[must_use]
    pub fn probability(&self, rank: usize) -> f64 {
        let up_to = |rank: usize| self.cumulative.get(rank).copied();
        let below = rank.checked_sub(1).and_then(up_to).unwrap_or_default();
        up_to(rank).map_or(0.0, |sum| (sum - below) / self.total())
    }

    /// Draws a rank.
    #[must_use]
    pub fn sample(&self, rng: &mut impl Rng) -> usize {
        let at = unit(rng) * self.total();
        let rank = self.cumulative.partition_point(|sum| *sum <= at);
        // The product can round up to the total itself.
        rank.min(self.cumulative.len() - 1)
    }
}

/// Uniform in [0, 1), with all 53 bits that an `f64` can tell apart.
#[expect(clippy::cast_precision_loss, reason = "2^53 is exact in an f64")]
fn unit(rng: &mut impl Rng) -> f64 {
    const BITS: u32 = 53;
    (rng.next_u64() >> (u64::BITS - BITS)) as f64 / (1u64 << BITS) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng as _;

    /// The share of draws that fall on the first `ranks` ranks.
    fn head(zipf: &ZipfMandelbrot, ranks: usize) -> f64 {
        (0..ranks).map(|rank| zipf.probability(rank)).sum()
    }

    fn assert_near(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 0.001, "{actual} != {expected}");
    }

    #[test]
    fn popularity_of_a_shard_and_of_a_network() {
        let shard = ZipfMandelbrot::new(14_286).unwrap();
        assert_near(head(&shard, 1), 0.0322);
        assert_near(head(&shard, 10), 0.168);
        assert_near(head(&shard, 100), 0.413);
        let network = ZipfMandelbrot::new(1_000_020).unwrap();
        assert_near(head(&network, 1), 0.0214);
        assert_near(head(&network, 1_000), 0.454);
    }

    /// Pearson's statistic over the first 99 ranks and the rest: with 99
    /// degrees of freedom it exceeds 149 once in a thousand seeds.
    #[test]
    fn draws_follow_the_weights() {
        const DRAWS: u32 = 200_000;
        const HEAD: usize = 99;
        let zipf = ZipfMandelbrot::new(14_286).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut observed = [0u32; HEAD + 1];
        for _ in 0..DRAWS {
            observed[zipf.sample(&mut rng).min(HEAD)] += 1;
        }
        let statistic: f64 = observed
            .iter()
            .enumerate()
            .map(|(bin, count)| {
                let probability = if bin < HEAD {
                    zipf.probability(bin)
                } else {
                    1.0 - head(&zipf, HEAD)
                };
                let expected = probability * f64::from(DRAWS);
                (f64::from(*count) - expected).powi(2) / expected
            })
            .sum();
        assert!(statistic < 149.0, "{statistic}");
    }

    #[test]
    fn no_ranks_no_distribution() {
        assert!(ZipfMandelbrot::new(0).is_none());
    }

    /// Always the same number.
    struct Fixed(u64);

    impl rand_core::TryRng for Fixed {
        type Error = rand_core::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            unreachable!("sampling draws 64 bits")
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            Ok(self.0)
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
            unreachable!("sampling draws 64 bits")
        }
    }

    proptest! {
        #[test]
        fn weights_fall_and_sum_to_one(ranks in 1u32..2_000) {
            let zipf = ZipfMandelbrot::new(ranks).unwrap();
            let ranks = ranks as usize;
            prop_assert!((head(&zipf, ranks) - 1.0).abs() < 1e-9);
            for rank in 1..ranks {
                prop_assert!(zipf.probability(rank) < zipf.probability(rank - 1));
            }
            prop_assert_eq!(zipf.probability(ranks), 0.0);
        }

        #[test]
        fn a_draw_is_the_rank_its_number_falls_into(ranks in 1u32..500, number: u64) {
            let zipf = ZipfMandelbrot::new(ranks).unwrap();
            let rank = zipf.sample(&mut Fixed(number));
            let at = unit(&mut Fixed(number));
            prop_assert!(head(&zipf, rank) <= at + 1e-9);
            prop_assert!(at <= head(&zipf, rank + 1) + 1e-9);
        }

        #[test]
        fn the_extremes_are_ranks(ranks in 1u32..500) {
            let zipf = ZipfMandelbrot::new(ranks).unwrap();
            prop_assert_eq!(zipf.sample(&mut Fixed(0)), 0);
            prop_assert_eq!(zipf.sample(&mut Fixed(u64::MAX)), ranks as usize - 1);
        }
    }
}
