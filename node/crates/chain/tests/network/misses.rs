// SPDX-License-Identifier: Apache-2.0
//! Chunks that blocks lack, and what their leaders say of it.

use super::harness::run;

const NODES: [usize; 3] = [0, 1, 2];

/// One of four validators is gone: where it was its turn no header comes, others lack its
/// endorsement, and each leader counts what its own blocks lack.
#[test]
fn leaders_count_what_their_blocks_lack() {
    run(90, 2, 2, |mut network| async move {
        network.start_all().await;
        network.wait_for_height(5).await;
        network.kill(3).await;
        network.wait_for_height(40).await;
        let missed = network.measured(0, "shardnode_shard_missed_chunks_total");
        let counted = |reason| NODES.map(|node| network.misses(node, reason)).iter().sum();
        let (no_header, not_endorsed): (u64, u64) = (counted("no_header"), counted("not_endorsed"));
        assert!(no_header > 10, "{no_header} of {missed}");
        assert!(not_endorsed > 10, "{not_endorsed} of {missed}");
        // Nodes need not be at the same block.
        let apart = missed.abs_diff(no_header + not_endorsed);
        assert!(apart <= 2, "{no_header} and {not_endorsed} of {missed}");
    });
}
