// SPDX-License-Identifier: Apache-2.0
//! A shard whose producers all lose their disks, with and without an archive.

use crate::harness::{Network, SNAPSHOT_INTERVAL, run_with_archives};
use commonware_consensus::types::Height;
use commonware_utils::NZU64;
use shardnode_blocks::kept::Kept;
use shardnode_primitives::ShardId;

/// Blocks for which bodies and receipts are kept.
const RETENTION: u64 = 60;
/// Where nobody keeps the first bodies any more: they go by 64 heights.
const PRUNED: u64 = RETENTION + 64 + 10;
/// The shard, and its producers of eight.
const LOST: ShardId = ShardId(1);
const PRODUCERS: [usize; 2] = [2, 3];
const ARCHIVE: usize = 8;

/// Runs until the chain is longer than what is kept of it, then takes all that
/// the producers of a shard have; the height of its last chunk.
async fn lose(network: &mut Network) -> u64 {
    network.save_parts = true;
    network.start_all().await;
    network.set_load(20);
    network.wait_for_height(PRUNED).await;
    for producer in PRODUCERS {
        network.kill(producer).await;
        network.wipe(producer);
    }
    // What they sent is final, or never will be.
    let at = network.view(0).height();
    network.wait_for_height(at + 10).await;
    last_chunk(network)
}

/// The height of the shard's last final chunk.
fn last_chunk(network: &Network) -> u64 {
    let view = network.view(0);
    view.block.chunk(LOST).unwrap().content.height
}

/// Waits for `blocks` more, and on as long as `go_on` says.
async fn wait_while(network: &Network, go_on: impl Fn(&Network) -> bool) {
    let begun = network.view(0).height();
    while go_on(network) {
        let height = network.view(0).height();
        assert!(
            height < begun + RETENTION,
            "what follows the state is kept no longer"
        );
        network.wait_for_height_of(0, height + 1).await;
    }
}

#[test]
fn a_shard_that_no_producer_has_comes_back_from_the_archive() {
    run_with_archives(25, (4, 2, 1), 1, RETENTION, |mut network| async move {
        let last = lose(&mut network).await;
        let of_lost = |network: &Network| network.node(ARCHIVE).archived.borrow()[LOST.index()];
        let standing = of_lost(&network);
        let archived = standing.archived.unwrap();
        // The four shards' states are fetched in turns.
        assert!(
            standing.usable && archived + RETENTION / 2 > last,
            "{standing:?} of {last}"
        );

        // What it serves is on its disk.
        network.kill(ARCHIVE).await;
        network.start(ARCHIVE).await;
        for producer in PRODUCERS {
            network.start(producer).await;
        }
        wait_while(&network, |network| last_chunk(network) < last + 20).await;
        assert!(of_lost(&network).archived >= Some(archived));
        for producer in PRODUCERS {
            let installed = network.measured(producer, "shardnode_snapshots_installed_total");
            assert!(installed >= 1, "{producer} went on from a state");
            let produced = network.measured(producer, "shardnode_chunks_produced_total");
            assert!(produced > 0, "{producer} produces");
        }
        let served = network.measured(ARCHIVE, "shardnode_state_pages_served_total");
        assert!(served >= 3, "{served} pages served");

        network.set_load(0);
        network.drain().await;
        assert!(network.view(PRODUCERS[0]).supply().conserved());
        network.check_agreement().await;
        // Whatever was executed again has the roots that were final before.
        for producer in PRODUCERS {
            let tracked = network.node(producer).tracked.borrow().unwrap();
            network.wait_for_height(tracked.height + 2).await;
            let root = network.view(0).root(LOST, tracked.height);
            assert!(
                tracked.height > last && root == Some(tracked.root),
                "{tracked:?}"
            );
        }
    });
}

#[test]
fn a_shard_comes_back_when_all_that_others_need_is_newer_than_its_archived_state() {
    // The lost shard stands still for longer than others go back.
    const RETENTION: u64 = 120;
    const OTHERS_GO_BACK: u64 = Kept::new(RETENTION, SNAPSHOT_INTERVAL).approach();
    run_with_archives(27, (4, 2, 1), 1, RETENTION, |mut network| async move {
        network.block_section = NZU64!(16);
        network.save_parts = true;
        network.start_all().await;
        network.set_load(20);
        network.wait_for_height(2 * RETENTION).await;
        for producer in PRODUCERS {
            network.kill(producer).await;
            network.wipe(producer);
        }
        network.wait_for_height(2 * RETENTION + 10).await;
        let last = last_chunk(&network);
        network.wait_for_height(last + OTHERS_GO_BACK + 5).await;
        let standing = network.node(ARCHIVE).archived.borrow()[LOST.index()];
        let archived = standing.archived.unwrap();
        assert!(
            standing.usable && archived < standing.stated,
            "{standing:?}"
        );

        for producer in PRODUCERS {
            network.start(producer).await;
        }
        wait_while(&network, |network| last_chunk(network) < last + 20).await;
        // They went on over a floor, and an archive lets go like everybody.
        for index in [PRODUCERS[0], PRODUCERS[1], ARCHIVE] {
            let block = network.node(index).marshal.get_block(Height::new(1));
            assert!(block.await.is_none(), "{index} has no first block");
        }
        network.set_load(0);
        network.drain().await;
        assert!(network.view(PRODUCERS[0]).supply().conserved());
        network.check_agreement().await;
    });
}

#[test]
fn a_shard_that_nobody_has_stays_away() {
    run_with_archives(26, (4, 2, 1), 0, RETENTION, |mut network| async move {
        let last = lose(&mut network).await;
        for producer in PRODUCERS {
            network.start(producer).await;
        }
        let at = network.view(0).height();
        network.wait_for_height_of(0, at + RETENTION).await;
        assert_eq!(last_chunk(&network), last);
        for producer in PRODUCERS {
            let syncing = network.node(producer).syncing.borrow().unwrap();
            assert_eq!((syncing.shard, syncing.snapshot), (LOST, None));
        }
        assert!(network.view(0).supply().conserved());
    });
}
