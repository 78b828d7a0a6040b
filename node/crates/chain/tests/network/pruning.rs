// SPDX-License-Identifier: Apache-2.0
//! Nodes that come when the first blocks are no longer kept by anybody.

use crate::harness::{Network, SNAPSHOT_INTERVAL, run_with_chunk_validators};
use commonware_consensus::types::Height;
use commonware_utils::NZU64;
use shardnode_blocks::kept::{Kept, SLACK};

/// Less than what a node needs that goes on over a floor, so that this decides.
const RETENTION: u64 = 5;
/// How far below the tip a node may be and get all that it misses.
const REACH: u64 = Kept::new(RETENTION, SNAPSHOT_INTERVAL).reach();
const SECTION: u64 = 16;

/// Two shards of two producers, and a chunk validator.
const PRODUCER: usize = 3;
const CHUNK_VALIDATOR: usize = 4;

impl Network {
    async fn keeps(&self, index: usize, height: u64) -> bool {
        let block = self.node(index).marshal.get_block(Height::new(height));
        block.await.is_some()
    }

    /// Waits until no running node has the block at `height`.
    async fn wait_until_let_go(&self, height: u64) {
        let mut view = self.node(0).view.clone();
        loop {
            let mut kept = false;
            for index in 0..PRODUCER {
                kept |= self.keeps(index, height).await;
            }
            if !kept {
                return;
            }
            view.changed().await.unwrap();
        }
    }
}

#[test]
fn nodes_join_over_a_floor_when_the_first_blocks_are_gone() {
    run_with_chunk_validators(70, 2, 2, 1, |mut network| async move {
        network.retention = RETENTION;
        network.block_section = NZU64!(SECTION);
        network.start_all().await;
        network.set_load(20);
        network.wait_for_height(10).await;
        network.kill(PRODUCER).await;
        network.kill(CHUNK_VALIDATOR).await;
        let left_at = network.view(0).height();
        network.wait_for_height(left_at + REACH + SLACK).await;
        // The first blocks that they miss, however many they had when they were killed.
        network.wait_until_let_go(left_at + SECTION).await;

        // What is within reach is there.
        let tip = network.view(0).height();
        assert!(tip > left_at + REACH, "{tip}");
        for index in 0..PRODUCER {
            for height in tip - REACH..=tip - SLACK {
                assert!(network.keeps(index, height).await, "{height} at {tip}");
            }
        }

        // One that was away, and one with an empty disk.
        network.wipe(CHUNK_VALIDATOR);
        network.start(PRODUCER).await;
        network.start(CHUNK_VALIDATOR).await;
        for index in [PRODUCER, CHUNK_VALIDATOR] {
            let at = network.view(0).height();
            network.wait_for_height_of(index, at + 8).await;
            assert!(!network.keeps(index, left_at + 20).await, "a gap");
            assert!(network.endorsements(index, "endorsed") > 0);
        }
        let installed = network.measured(PRODUCER, "shardnode_snapshots_installed_total");
        assert_eq!(installed, 1);

        // Nodes start again from what they keep.
        for index in [PRODUCER, CHUNK_VALIDATOR, 0] {
            network.kill(index).await;
            network.start(index).await;
            let at = network.view(1).height();
            network.wait_for_height_of(index, at + 4).await;
        }
        network.set_load(0);
        network.drain().await;
        assert!(network.view(PRODUCER).supply().conserved());
        network.check_agreement().await;
    });
}
