// SPDX-License-Identifier: Apache-2.0
//! What finalised blocks come to.

use crate::chain::{HEIGHT, Pair, digest, identity};
use commonware_cryptography::Digestible as _;
use shardnode_blocks::{
    ChainView, GenesisState,
    finalized::{EndorsedStake, Supply},
    throughput::Rates,
};
use shardnode_primitives::{Digest, ExecutionResult, ShardId, ShardTotals, hash::ZERO};
use std::time::Duration;

/// The view of a node that has seen the first block of two.
fn view(pair: &Pair) -> ChainView {
    let genesis = &pair.following.identity.genesis;
    ChainView::new(genesis, pair.parent.clone(), pair.parent.digest())
}

#[test]
fn a_view_is_of_the_newest_block() {
    let pair = Pair::new();
    let mut view = view(&pair);
    assert_eq!((view.height(), view.transfers()), (HEIGHT - 1, 200));
    assert_eq!((view.cross_shard(), view.window()), (80, 1));
    assert_eq!(view.endorsed, [None, None]);
    assert_eq!(view.started(), 0);

    view.advance(pair.block.clone(), pair.block.digest(), &pair.committees);
    assert_eq!((view.height(), view.transfers()), (HEIGHT, 205));
    assert_eq!(view.started(), HEIGHT);
    assert_eq!((view.cross_shard(), view.window()), (83, 2));
    assert_eq!(view.digest, pair.block.digest());
    let stake = pair.committees[0].stake();
    let endorsed = EndorsedStake {
        endorsed: stake,
        mandated: stake,
    };
    assert_eq!(view.endorsed, [Some(endorsed), None]);
    let rates = Rates {
        block_time_ms: 100.0,
        tps: 50.0,
    };
    assert_eq!(view.rates(Duration::ZERO), rates);
    assert_eq!(view.rates(Duration::from_millis(900)).tps, 5.0);
    let supply = Supply {
        expected: 20_000,
        balances: 2_003,
        in_flight: 1_020 - 830,
        burnt: 107,
    };
    assert_eq!(view.supply(), supply);
}

#[test]
fn what_is_had_on_its_way_and_burnt_is_what_genesis_made() {
    let supply = Supply {
        expected: 100,
        balances: 70,
        in_flight: 20,
        burnt: 10,
    };
    assert!(supply.conserved());
    for (balances, in_flight, burnt) in [(71, 20, 10), (70, 19, 10), (70, 20, 0)] {
        let other = Supply {
            balances,
            in_flight,
            burnt,
            ..supply
        };
        assert!(!other.conserved(), "{other:?}");
    }
    // Sums that do not fit into 64 bits are not what they come to modulo 2^64.
    let wrapped = Supply {
        expected: 9,
        balances: u64::MAX,
        in_flight: 10,
        burnt: 0,
    };
    assert!(!wrapped.conserved());
}

#[test]
fn the_newest_roots_are_known() {
    let pair = Pair::new();
    let mut view = view(&pair);
    view.advance(pair.block.clone(), pair.block.digest(), &pair.committees);
    let roots = |view: &ChainView, heights: std::ops::Range<u64>| -> Vec<Option<Digest>> {
        heights
            .map(|height| view.root(ShardId(0), height))
            .collect()
    };
    assert_eq!(
        roots(&view, 6..10),
        [None, Some(digest(7)), Some(digest(8)), None]
    );
    assert_eq!(view.root(ShardId(2), 8), None);

    // A result of each height, two at a time.
    let mut block = pair.block.clone();
    for height in (HEIGHT + 1..HEIGHT + 101).step_by(2) {
        block.height = height;
        let content = &mut block.chunks[0].content;
        let result = |height| ExecutionResult {
            height,
            state_root: Digest([height as u8; 32]),
            ..content.results[0].clone()
        };
        content.results = vec![result(height), result(height + 1)];
        content.totals.height = height + 1;
        content.totals.state_root = Digest([(height + 1) as u8; 32]);
        view.advance(block.clone(), block.digest(), &pair.committees);
    }
    let kept: Vec<u64> = (0..200)
        .filter(|height| view.root(ShardId(0), *height).is_some())
        .collect();
    assert_eq!(kept, (HEIGHT + 101 - 64..HEIGHT + 101).collect::<Vec<_>>());
    assert_eq!(view.root(ShardId(0), 100), Some(Digest([100; 32])));
}

#[test]
fn genesis_is_of_the_accounts() {
    let identity = identity();
    let genesis = &identity.genesis;
    let nobody = GenesisState::new(genesis, []).unwrap();
    assert_eq!(nobody.block.digest(), nobody.digest);
    assert_eq!(nobody.block.timestamp_ms, 7);
    // The time of the document is of no run.
    let view = ChainView::new(genesis, nobody.block.clone(), nobody.digest);
    assert_eq!((view.window(), view.height()), (0, 0));
    for shard in [ShardId(0), ShardId(1)] {
        let state = nobody.state(shard);
        assert_eq!(state.accounts(), 0);
        let totals = ShardTotals::genesis(state.root(), 0);
        assert_ne!(totals.state_root, ZERO);
        assert_eq!(nobody.totals(shard), totals);
        assert_eq!(nobody.block.chunks[shard.index()].content.totals, totals);
    }
    let accounts: Vec<_> = (0..genesis.account_count())
        .map(|index| genesis.account(index))
        .collect();
    let all = GenesisState::new(genesis, &accounts).unwrap();
    for shard in [ShardId(0), ShardId(1)] {
        let (state, totals) = (all.state(shard), all.totals(shard));
        assert!(state.accounts() > 0);
        assert_eq!(
            (state.root(), state.balance()),
            (totals.state_root, totals.balance)
        );
    }
}
