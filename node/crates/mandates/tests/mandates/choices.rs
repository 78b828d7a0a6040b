// SPDX-License-Identifier: Apache-2.0
//! From how many seeds byzantine producers can choose: what is counted are seeds
//! that leaders' reveals come to.

use shardnode_mandates::security::{choices, choices::over_orders};
use shardnode_primitives::{Digest, Randomness, genesis::private_key};
use std::collections::BTreeSet;

/// The turns of some leaders, of whom some are byzantine, over the last blocks of
/// an epoch. It plays by what blocks reveal, and keeps every seed in sight.
struct Turns {
    byzantine: Vec<bool>,
    vetoes: usize,
    /// The last height.
    end: u64,
}

/// Where byzantine producers are.
#[derive(Clone)]
struct At {
    parent: Randomness,
    height: u64,
    turn: usize,
    views: usize,
    vetoes: usize,
}

impl Turns {
    const EPOCH: u64 = 16;

    /// After the leader's block.
    fn block(&self, at: &At) -> At {
        let leader = private_key([u8::try_from(at.turn).unwrap() + 1; 32]);
        At {
            parent: at.parent.child(at.height, Self::EPOCH, &leader).unwrap(),
            height: at.height + 1,
            turn: at.turn + 1,
            vetoes: self.vetoes,
            ..at.clone()
        }
    }

    /// After the leader's view ended without one, if it can.
    fn in_vain(&self, at: &At) -> Option<At> {
        Some(At {
            turn: at.turn + 1,
            views: at.views.checked_sub(1)?,
            vetoes: at
                .vetoes
                .checked_sub(usize::from(!self.byzantine[at.turn]))?,
            ..at.clone()
        })
    }

    /// The seed, if the epoch is over: the epoch after the next has it.
    fn seed(&self, at: &At) -> Option<Digest> {
        (at.height > self.end).then_some(at.parent.mix)
    }

    /// All seeds without an honest leader's part.
    fn known(&self, at: &At) -> BTreeSet<Digest> {
        if let Some(seed) = self.seed(at) {
            return BTreeSet::from([seed]);
        }
        let in_vain = self.in_vain(at);
        let mut known = in_vain.map_or_else(BTreeSet::new, |at| self.known(&at));
        if self.byzantine[at.turn] {
            known.extend(self.known(&self.block(at)));
        }
        known
    }

    /// As many more as can be seen from here.
    fn seen(&self, at: &At) -> BTreeSet<Digest> {
        if self.seed(at).is_some() {
            return BTreeSet::new();
        }
        let block = self.block(at);
        let in_vain = self.in_vain(at);
        let ways = [
            self.seen(&block),
            in_vain.map_or_else(BTreeSet::new, |at| self.seen(&at)),
        ];
        let mut seen = ways.into_iter().max_by_key(BTreeSet::len).unwrap();
        if !self.byzantine[at.turn] {
            seen.extend(self.known(&block));
        }
        seen
    }
}

/// Seven leaders, two of them byzantine, wherever they are: as many seeds as are
/// counted, all of them different.
#[test]
fn what_is_counted_are_seeds() {
    let mut most = 0;
    for order in 0u32..1 << 7 {
        if order.count_ones() != 2 {
            continue;
        }
        let byzantine: Vec<bool> = (0..7).map(|place| order >> place & 1 == 1).collect();
        for (views, vetoes) in [(0, 0), (2, 0), (3, 0), (1, 1), (3, 1), (3, 2), (3, 3)] {
            let heights = 7 - views as u64;
            let turns = Turns {
                byzantine: byzantine.clone(),
                vetoes,
                end: Turns::EPOCH - 1,
            };
            let begin = At {
                parent: Randomness::genesis(Digest([7; 32])),
                height: Turns::EPOCH - heights,
                turn: 0,
                views,
                vetoes,
            };
            let mut seeds = turns.known(&begin);
            seeds.extend(turns.seen(&begin));
            let counted = choices(&byzantine, views, vetoes);
            let seen = f64::from(u32::try_from(seeds.len()).unwrap());
            assert!(
                (counted - seen).abs() < 1e-9,
                "{counted} are {seen}: {byzantine:?}, {views} views, {vetoes} vetoes"
            );
            most = most.max(seeds.len());
        }
    }
    assert!(most > 4, "at most {most}");
}

#[test]
fn nobody_chooses_without_byzantine_leaders_or_views() {
    let honest = [false; 7];
    for views in 0..7 {
        assert!((choices(&honest, views, 0) - 1.0).abs() < f64::EPSILON);
    }
    for place in 0..7 {
        let mut one = honest;
        one[place] = true;
        assert!((choices(&one, 0, 0) - 1.0).abs() < f64::EPSILON);
    }
    assert!((choices(&[], 3, 3) - 1.0).abs() < f64::EPSILON);
}

/// Whoever can have every view end in vain can have as many reveals as there are
/// leaders, and more with turns of its own.
#[test]
fn every_view_in_vain_is_another_choice() {
    let honest = [false; 9];
    for views in 0..9u8 {
        let counted = choices(&honest, views.into(), usize::MAX);
        assert!((counted - f64::from(views) - 1.0).abs() < 1e-9, "{views}");
    }
}

/// A leader has its turn once in a round, and the last of them has to fill a
/// height.
#[test]
fn no_more_views_end_in_vain_than_a_round_has_to_spare() {
    for byzantine in [[false; 9], [true; 9]] {
        let spare = choices(&byzantine, 8, usize::MAX);
        assert!((spare - 9.0).abs() < 1e-9, "{spare}");
        for views in [9, 10, usize::MAX] {
            let counted = choices(&byzantine, views, usize::MAX);
            assert!((counted - spare).abs() < 1e-9, "{views}: {counted}");
        }
    }
}

#[test]
fn choices_grow_with_views_and_vetoes() {
    let mean = |views, vetoes| over_orders((48, 15), views, vetoes, 50, 0).mean;
    for views in [1, 4, 16] {
        assert!(mean(views, 0) <= mean(views, 1));
        assert!(mean(views, 1) <= mean(views, 2));
        assert!(mean(views, 2) <= mean(views, usize::MAX));
        assert!(mean(views, 2) < mean(2 * views, 2));
    }
}

const DOCUMENT: &str = include_str!("../../../../../docs/protocol.md");

/// The rows of few views, which are counted fast.
#[test]
fn the_tables_of_the_document_are_what_is_counted() {
    let mut rows = 0;
    let (_, tables) = DOCUMENT.split_once("### Who chooses a seed").unwrap();
    for table in tables.split(" producers, ").collect::<Vec<_>>().windows(2) {
        let producers = table[0].rsplit('\n').next().unwrap().parse::<u32>();
        let byzantine = table[1].split(' ').next().unwrap().parse::<u32>();
        let (Ok(producers), Ok(byzantine)) = (producers, byzantine) else {
            continue;
        };
        for row in table[1].lines().filter(|line| line.starts_with("| ")) {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            let Ok(views) = cells.next().unwrap().parse::<usize>() else {
                continue;
            };
            if views > 4 {
                continue;
            }
            for (vetoes, shown) in [0, 2, usize::MAX].into_iter().zip(cells) {
                let counted = over_orders((producers, byzantine), views, vetoes, 1_000, 0);
                let counted = format!("{:.1}, at most {:.1}", counted.mean, counted.most);
                assert_eq!(shown, counted, "{producers}, {byzantine}: {row}");
                rows += 1;
            }
        }
    }
    assert_eq!(rows, 3 * (3 + 4 + 4));
}
