// SPDX-License-Identifier: Apache-2.0
//! From how many seeds byzantine producers can choose.
//!
//! The seed of an epoch is the last of a chain of reveals, one by the leader of
//! each block, of which nobody can foresee those of others. Leaders take turns
//! by view. Byzantine producers decide whether their own turns come to a block;
//! and of an honest leader's, once they have seen what it reveals, as long as
//! they can have its views end *in vain*: by keeping back the parts of a chunk
//! that it proposed. So they
//!
//! - *know* every seed that no honest leader has a part in from here on: they
//!   fill all heights that are left, in the turns of their own that they like,
//!   and have the honest turns between these end in vain;
//! - *see* what an honest leader reveals, and with it all seeds that they know
//!   from there on, before they have to decide whether it counts.
//!
//! Let `K(t, h, v)` be how many seeds are known at turn `t` with `h` heights and
//! `v` views in vain left, and `S(t, h, v)` how many are still going to be seen.
//!
//! ```text
//! K(t, 0, v) = 1
//! K(t, h, v) = K(t+1, h-1, v) + K(t+1, h, v-1)                    byzantine leader
//!            = K(t+1, h, v-1)                                     honest leader
//! S(t, 0, v) = 0
//! S(t, h, v) = max(S(t+1, h-1, v), S(t+1, h, v-1))                byzantine leader
//!            = K(t+1, h-1, v) + max(S(t+1, h-1, v), S(t+1, h, v-1))    honest leader
//! ```
//!
//! Terms without views left are 0, and so are those in which an honest leader's
//! view ends in vain more often at a height than byzantine producers can have
//! it. The *choices* are `K + S` at the beginning: so many seeds are looked at,
//! each of which can be taken when it is. If one seed has some property with a
//! small probability, byzantine producers get a seed that has it with at most so
//! many times that.
//!
//! A leader that has its turn again over the same block reveals the same again,
//! so all of this is within one round of turns.

use crate::deal::shuffle;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

/// Heights at the end of an epoch that are looked at, at most. Over so many,
/// hardly ever does no honest leader have a part.
const HEIGHTS: usize = 64;

/// What there is to choose from, over many orders of the leaders.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Choices {
    /// In the mean: what a property's probability is multiplied by.
    pub mean: f64,
    /// In the order that suits byzantine producers best.
    pub most: f64,
}

/// The choices with leaders in this order, of whom some are byzantine, the first
/// at whose turn byzantine producers begin. No more than `in_vain` views may end
/// without a block, and those of `vetoes` honest leaders at one height.
#[must_use]
pub fn choices(byzantine: &[bool], in_vain: usize, vetoes: usize) -> f64 {
    if byzantine.is_empty() {
        return 1.0;
    }
    // No more than all turns of a round.
    let views = in_vain.min(byzantine.len() - 1);
    let heights = (byzantine.len() - views).min(HEIGHTS);
    let vetoes = vetoes.min(views);
    let begin = Left {
        heights,
        views,
        vetoes,
    };
    let mut table = Table {
        begin,
        counts: Vec::new(),
    };
    for heights in 0..=heights {
        for views in 0..=views {
            for vetoes in 0..=vetoes {
                let left = Left {
                    heights,
                    views,
                    vetoes,
                };
                let turn = begin.heights - heights + begin.views - views;
                let count = table.count(left, byzantine.get(turn) == Some(&true));
                table.counts.push(count);
            }
        }
    }
    let all = table.at(begin);
    all.known + all.seen
}

/// The choices over so many orders of the leaders, drawn from a seed.
#[must_use]
pub fn over_orders(
    (producers, byzantine): (u32, u32),
    in_vain: usize,
    vetoes: usize,
    orders: u32,
    seed: u64,
) -> Choices {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut leaders: Vec<bool> = (0..producers).map(|place| place < byzantine).collect();
    let mut all = Choices::default();
    for _ in 0..orders {
        shuffle(&mut leaders, &mut rng);
        let one = choices(&leaders, in_vain, vetoes);
        all.mean += one / f64::from(orders);
        all.most = all.most.max(one);
    }
    all
}

/// What is left at a turn.
#[derive(Clone, Copy)]
struct Left {
    heights: usize,
    /// That may end in vain.
    views: usize,
    /// Of honest leaders, at this height.
    vetoes: usize,
}

#[derive(Clone, Copy, Default)]
struct Count {
    known: f64,
    seen: f64,
}

/// The counts of everything that can be left.
struct Table {
    begin: Left,
    counts: Vec<Count>,
}

impl Table {
    fn at(&self, left: Left) -> Count {
        let views = left.heights * (self.begin.views + 1) + left.views;
        let place = views * (self.begin.vetoes + 1) + left.vetoes;
        self.counts.get(place).copied().unwrap_or_default()
    }

    /// The counts at a turn, by those at the next.
    fn count(&self, left: Left, byzantine: bool) -> Count {
        let Some(heights) = left.heights.checked_sub(1) else {
            return Count {
                known: 1.0,
                seen: 0.0,
            };
        };
        let block = self.at(Left {
            heights,
            vetoes: self.begin.vetoes,
            ..left
        });
        let vetoes = left.vetoes.checked_sub(usize::from(!byzantine));
        let in_vain = left.views.checked_sub(1).zip(vetoes);
        let in_vain = in_vain.map(|(views, vetoes)| {
            self.at(Left {
                views,
                vetoes,
                ..left
            })
        });
        let in_vain = in_vain.unwrap_or_default();
        let seen = block.seen.max(in_vain.seen);
        if byzantine {
            return Count {
                known: block.known + in_vain.known,
                seen,
            };
        }
        Count {
            known: in_vain.known,
            seen: block.known + seen,
        }
    }
}
