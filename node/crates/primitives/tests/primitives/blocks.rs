// SPDX-License-Identifier: Apache-2.0
//! What a block says of its shards, and whose turn a height is.

use crate::{arbitrary, genesis::two_shards};
use proptest::prelude::*;
use shardnode_primitives::ShardId;

#[test]
fn producers_take_turns_by_height() {
    let genesis = two_shards().check().unwrap();
    let name = |shard, height| {
        let validator = genesis.producer_at(ShardId(shard), height).unwrap();
        validator.name.clone()
    };
    assert_eq!(
        [1, 2, 3, u64::MAX].map(|height| name(0, height)),
        ["s0-p1", "s0-p0", "s0-p1", "s0-p1"]
    );
    assert_eq!([1, 2].map(|height| name(1, height)), ["s1-p0", "s1-p0"]);
    assert_eq!(genesis.producer_at(ShardId(2), 1), None);
}

proptest! {
    #[test]
    fn new_and_missed_chunks_are_told_from_heights(mut block in arbitrary::block(), missed in any::<[u8; 3]>()) {
        block.height = 1_000;
        for (header, missed) in block.chunks.iter_mut().zip(missed) {
            // The shard's newest chunk is `missed` heights back, none missed before.
            header.content.height = 1_000 - u64::from(missed);
            header.content.sequence = header.content.height;
        }
        let new: Vec<ShardId> = block.new_chunks().map(|header| header.content.shard).collect();
        let expected: Vec<ShardId> = (0..3)
            .filter(|index| missed[usize::from(*index)] == 0)
            .map(ShardId)
            .collect();
        prop_assert_eq!(new, expected);
        prop_assert_eq!(block.missed_chunks(), missed.iter().copied().map(u64::from).sum::<u64>());
        prop_assert_eq!(block.chunk(ShardId(1)), block.chunks.get(1));
        prop_assert_eq!(block.chunk(ShardId(3)), None);
    }
}
