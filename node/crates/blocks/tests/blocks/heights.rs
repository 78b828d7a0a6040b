// SPDX-License-Identifier: Apache-2.0
//! What is in flight, and what falls due, at which height.

use crate::chain::{HEIGHT, Pair, digest};
use shardnode_blocks::{
    due_receipts::{due_in, is_from, more_than_credited},
    in_flight::{HORIZON, in_flight},
};
use shardnode_primitives::{
    DuePosition, ShardId,
    genesis::{CongestionControl, Protocol},
    witness_size,
};
use shardnode_witness::Due;

#[test]
fn chunks_above_the_finalised_block_are_in_flight_up_to_the_horizon() {
    let heights: Vec<u64> = (0..100).filter(|height| in_flight(*height, 20)).collect();
    assert_eq!(heights, (21..=20 + HORIZON).collect::<Vec<_>>());
    assert!(in_flight(u64::MAX, u64::MAX - 1));
    assert!(!in_flight(u64::MAX, u64::MAX));
}

const DUE: Due = Due {
    block: HEIGHT,
    source: ShardId(0),
    height: 8,
    receipts_root: shardnode_primitives::Digest([10; 32]),
};

#[test]
fn receipts_of_new_headers_fall_due_for_others() {
    let pair = Pair::new();
    assert_eq!(DUE.receipts_root, digest(10));
    let due = |destination| due_in(&pair.block, ShardId(destination)).collect::<Vec<_>>();
    assert_eq!(due(1), [DUE]);
    assert!(due(0).is_empty());
}

#[test]
fn the_queue_is_in_the_order_of_blocks_and_shards() {
    for (place, from) in [
        (DuePosition::at(HEIGHT), true),
        (DuePosition::at(HEIGHT + 1), false),
        (DuePosition::after(HEIGHT, ShardId(0)), false),
        (DuePosition::after(HEIGHT - 1, ShardId(9)), true),
    ] {
        assert_eq!(is_from(place, &DUE), from, "{place}");
    }
}

#[test]
fn no_execution_credits_more_buckets_than_its_witness_holds() {
    let mut protocol: Protocol = Pair::new().following.identity.genesis.protocol;
    let lag = protocol.execution_lag;
    let most = usize::try_from(witness_size::most_buckets(lag)).unwrap() + usize::from(lag);
    assert!(!more_than_credited(&protocol, most));
    assert!(more_than_credited(&protocol, most + 1));
    protocol.congestion_control = CongestionControl::Disabled;
    assert!(!more_than_credited(&protocol, most + 1));
}
