// SPDX-License-Identifier: Apache-2.0
//! Which shard owns an account.

use crate::arbitrary;
use proptest::prelude::*;
use shardnode_primitives::{AccountId, ShardId, ShardLayout};

fn starting_with(prefix: u64, rest: u8) -> AccountId {
    let mut id = [rest; 32];
    id[..8].copy_from_slice(&prefix.to_be_bytes());
    AccountId(id)
}

#[test]
fn shards_begin_where_the_one_before_ends() {
    for shards in [1, 2, 3, 7, 64, 70, 1024] {
        let layout = ShardLayout::new(shards);
        let owner = |prefix, rest| layout.shard_of(&starting_with(prefix, rest));
        assert_eq!(owner(0, 0), ShardId(0));
        assert_eq!(owner(u64::MAX, 0xff), ShardId(shards - 1));
        for shard in 1..shards {
            // The least prefix x with x * shards >= shard * 2^64.
            let first = (u128::from(shard) << 64).div_ceil(u128::from(shards));
            let first = u64::try_from(first).unwrap();
            // What follows the first eight bytes does not matter.
            assert_eq!(owner(first, 0), ShardId(shard), "{shard} of {shards}");
            assert_eq!(
                owner(first - 1, 0xff),
                ShardId(shard - 1),
                "{shard} of {shards}"
            );
        }
    }
}

#[test]
fn a_layout_lists_its_shards() {
    let shards: Vec<ShardId> = ShardLayout::new(3).iter().collect();
    assert_eq!(shards, [ShardId(0), ShardId(1), ShardId(2)]);
}

proptest! {
    #[test]
    fn owners_follow_the_order_of_ids(
        shards in 1u16..=1024,
        one in arbitrary::account_id(),
        other in arbitrary::account_id(),
    ) {
        let layout = ShardLayout::new(shards);
        let (less, greater) = if one < other { (one, other) } else { (other, one) };
        prop_assert!(layout.shard_of(&less) <= layout.shard_of(&greater));
        prop_assert!(layout.shard_of(&greater).0 < shards);
    }
}
