// SPDX-License-Identifier: Apache-2.0
//! Which chunks were missed, and which of them nobody is to blame for.

use super::{Checks, Promise, Violation};
use crate::{
    network::Network,
    planted::Planted,
    promises::{Blamed, Cost},
};
use shardnode_primitives::ShardId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// For how many heights after its own a turn can cost others a chunk: whoever makes one of
/// the next chunks, of any shard, may lack something of it until others were asked.
const WITHIN: u64 = 4;

/// Why chunks were missed before all was calm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misses {
    /// It was the turn of a producer who is dead, cut off or lies, or whoever led the block,
    /// or the one before, is listened to no more.
    pub turns: u64,
    /// The committee had too little stake without such members.
    pub committees: u64,
    /// A lie cost others their chunks.
    pub others: u64,
}

impl Misses {
    /// Adds another run's.
    pub const fn add(&mut self, other: &Self) {
        self.turns += other.turns;
        self.committees += other.committees;
        self.others += other.others;
    }
}

/// A turn that can cost others chunks.
struct Turn {
    height: u64,
    shard: ShardId,
    cost: Cost,
}

impl Turn {
    fn costs(&self, shard: ShardId) -> bool {
        match self.cost {
            Cost::OneChunk => self.shard == shard,
            Cost::OneOfEachShard => true,
        }
    }
}

/// Which of these chunks, each missed at a height and by a shard, none of these turns cost:
/// each costs a shard one chunk at the most, the first that is left. Both are in the order of
/// heights.
fn unpaid(missed: &[(u64, ShardId)], turns: &[Turn]) -> BTreeSet<usize> {
    let mut left: BTreeMap<ShardId, VecDeque<u64>> = BTreeMap::new();
    let mut paid = |height: u64, shard: ShardId| {
        let left = left.entry(shard).or_insert_with(|| {
            let turns = turns.iter().filter(|turn| turn.costs(shard));
            turns.map(|turn| turn.height).collect()
        });
        while left.front().is_some_and(|turn| turn + WITHIN < height) {
            left.pop_front();
        }
        left.pop_front_if(|turn| *turn <= height).is_some()
    };
    let missed = missed.iter().enumerate();
    let unpaid = missed.filter(|(_, (height, shard))| !paid(*height, *shard));
    unpaid.map(|(index, _)| index).collect()
}

impl Checks {
    /// Counts the chunks missed in the blocks after `from` and up to `to`. One
    /// that no producer who is to blame explains, nor a committee that waits for such
    /// members, nor a turn of such a producer before it, which can cost others their
    /// chunks, is a violation.
    pub fn check_misses(
        &mut self,
        network: &Network,
        blamed: &Blamed,
        from: u64,
        to: u64,
    ) -> Misses {
        let nobody = self.planted == Some(Planted::NobodyDead);
        let among = |members: &BTreeSet<usize>, key: &_| {
            let mut members = members.iter().filter(|_| !nobody);
            members.any(|index| network.members[*index].wire.is(key))
        };
        let to_blame = |key: &_| among(&blamed.members, key);
        let cost = |key: &_| {
            let mut costs = blamed.costs.iter();
            let of = costs.find(|(index, _)| network.members[**index].wire.is(key));
            of.map(|(_, cost)| *cost)
        };
        let mut misses = Misses::default();
        let (mut turns, mut missed) = (Vec::new(), Vec::new());
        let mut violations = Vec::new();
        let mut before = false;
        for block in &self.chain {
            let block = block.inner();
            if block.height > to {
                break;
            }
            // Who cuts a leader off hears of its block late, and makes the next chunk late.
            let led_before = before;
            before = among(&blamed.leaders, &block.context.leader);
            let led = before || led_before;
            for (shard, committee) in network.genesis.layout.iter().zip(self.committees.of(block)) {
                let producer = network.genesis.producer_at(shard, block.height);
                let turn = producer.is_some_and(|producer| to_blame(&producer.key));
                if let Some(cost) = producer.and_then(|producer| cost(&producer.key)) {
                    turns.push(Turn {
                        height: block.height,
                        shard,
                        cost,
                    });
                }
                let new = block
                    .chunk(shard)
                    .is_none_or(|header| header.content.height == block.height);
                if new || block.height <= from {
                    continue;
                }
                if turn || led {
                    misses.turns += 1;
                } else if committee.is_stalled_by(to_blame) {
                    misses.committees += 1;
                } else {
                    let leader = network.named(&block.context.leader);
                    let producer = producer.map_or_else(String::new, |one| network.named(&one.key));
                    let what = format!(
                        "shard {shard} at height {} without a reason: the chunk of {producer} in the block of {leader}",
                        block.height
                    );
                    missed.push((block.height, shard));
                    violations.push(Violation::new(Promise::MissedChunks, what));
                }
            }
        }
        let unpaid = unpaid(&missed, &turns);
        misses.others += (missed.len() - unpaid.len()) as u64;
        let violations = violations.into_iter().enumerate();
        let violations = violations.filter(|(index, _)| unpaid.contains(index));
        self.violations
            .extend(violations.map(|(_, violation)| violation));
        misses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of chunks missed at these heights by these shards, those that no turn at these
    /// heights in these shards cost.
    fn unpaid(cost: Cost, missed: &[(u64, u16)], turns: &[(u64, u16)]) -> Vec<usize> {
        let missed = missed.iter();
        let missed: Vec<_> = missed
            .map(|(height, shard)| (*height, ShardId(*shard)))
            .collect();
        let turn = |(height, shard): &(u64, u16)| Turn {
            height: *height,
            shard: ShardId(*shard),
            cost,
        };
        let turns: Vec<_> = turns.iter().map(turn).collect();
        super::unpaid(&missed, &turns).into_iter().collect()
    }

    #[test]
    fn a_turn_costs_what_does_not_come_before_it_once() {
        let missed = [(3, 0), (4, 0), (4, 1), (5, 1), (20, 1)];
        let own = |turns: &[_]| unpaid(Cost::OneChunk, &missed, turns);
        assert_eq!(own(&[]), [0, 1, 2, 3, 4]);
        assert_eq!(own(&[(2, 0), (3, 0)]), [2, 3, 4]);
        assert_eq!(own(&[(4, 0), (5, 1)]), [0, 2, 4]);
        let each = |turns: &[_]| unpaid(Cost::OneOfEachShard, &missed, turns);
        assert_eq!(each(&[(2, 0)]), [1, 3, 4]);
        assert_eq!(each(&[(2, 0), (3, 1)]), [4]);
        let oldest = 20 - WITHIN;
        assert!(each(&[(2, 0), (3, 1), (oldest, 0)]).is_empty());
        assert_eq!(each(&[(2, 0), (3, 1), (oldest - 1, 0)]), [4]);
    }
}
