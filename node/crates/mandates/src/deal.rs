// SPDX-License-Identifier: Apache-2.0
//! Dealing mandates to shards; the [crate] specifies every step.

use crate::{Committee, Mandates, Member};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng as _};
use std::collections::BTreeMap;

pub(crate) fn deal<V: Clone>(
    mandates: &Mandates<V>,
    epoch_seed: [u8; 32],
    height: u64,
) -> Vec<Committee<V>> {
    let mut rng = ChaCha20Rng::from_seed(epoch_seed);
    rng.set_stream(height);

    let shards = usize::from(mandates.shards());
    let mut whole_order: Vec<usize> = (0..shards).collect();
    shuffle(&mut whole_order, &mut rng);
    let mut partial_order: Vec<usize> = (0..shards).collect();
    shuffle(&mut partial_order, &mut rng);

    let holders = mandates.holders();
    let mut whole: Vec<usize> = holders
        .iter()
        .enumerate()
        .flat_map(|(index, holder)| (0..holder.whole).map(move |_| index))
        .collect();
    shuffle(&mut whole, &mut rng);
    let mut partial: Vec<usize> = holders
        .iter()
        .enumerate()
        .filter(|(_, holder)| holder.partial > 0)
        .map(|(index, _)| index)
        .collect();
    shuffle(&mut partial, &mut rng);

    let mut dealt: Vec<BTreeMap<usize, u64>> = vec![BTreeMap::new(); shards];
    for (place, index) in whole.into_iter().enumerate() {
        let shard = whole_order[place % shards];
        *dealt[shard].entry(index).or_default() += mandates.price();
    }
    for (place, index) in partial.into_iter().enumerate() {
        let shard = partial_order[place % shards];
        *dealt[shard].entry(index).or_default() += holders[index].partial;
    }

    dealt
        .into_iter()
        .map(|stakes| {
            let mut members: Vec<Member<V>> = stakes
                .into_iter()
                .map(|(index, stake)| Member {
                    validator: holders[index].validator.clone(),
                    stake,
                })
                .collect();
            shuffle(&mut members, &mut rng);
            Committee::new(members)
        })
        .collect()
}

/// Fisher and Yates's. A library's may draw differently in its next release;
/// committees must not change with it.
pub(crate) fn shuffle<T>(list: &mut [T], rng: &mut impl Rng) {
    for last in (1..list.len()).rev() {
        list.swap(last, draw(last + 1, rng));
    }
}

/// Uniform in [0, `bound`).
#[expect(
    clippy::cast_possible_truncation,
    reason = "the remainder is below a usize"
)]
fn draw(bound: usize, rng: &mut impl Rng) -> usize {
    let bound = bound as u64;
    // 2^64 mod bound: the numbers at the top that would favour low results.
    let excess = (u64::MAX % bound + 1) % bound;
    loop {
        let number = rng.next_u64();
        if number <= u64::MAX - excess {
            return (number % bound) as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives these numbers, and no others.
    struct Script(Vec<u64>);

    impl rand_core::TryRng for Script {
        type Error = rand_core::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            unreachable!("dealing draws 64 bits")
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            Ok(self.0.remove(0))
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
            unreachable!("dealing draws 64 bits")
        }
    }

    #[test]
    fn a_draw_passes_over_numbers_that_favour_low_results() {
        // 2^64 mod 10 is 6: the six highest numbers do not count.
        let mut rng = Script(vec![u64::MAX, u64::MAX - 5, u64::MAX - 6, 7]);
        assert_eq!(draw(10, &mut rng), 9);
        assert_eq!(draw(10, &mut rng), 7);
        // Of a power of two all do.
        let mut rng = Script(vec![u64::MAX]);
        assert_eq!(draw(8, &mut rng), 7);
    }

    #[test]
    fn a_shuffle_swaps_from_the_end() {
        let mut list = ["a", "b", "c", "d"];
        shuffle(&mut list, &mut Script(vec![1, 2, 0]));
        // d with b, then c with itself, then d, now second, with a.
        assert_eq!(list, ["d", "a", "c", "b"]);
    }
}
