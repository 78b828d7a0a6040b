// SPDX-License-Identifier: Apache-2.0
//! What is read back from disk.

use super::{MOST, Target};
use crate::Decoder;
use shardnode_execution::record::{Evidence, Executed, Proven};
use shardnode_ledger::Origin;
use shardnode_state::StateTree;
use shardnode_storage::{ExecutionRecord, SnapshotPiece, SnapshotPointer};

/// The target.
#[must_use]
pub fn target() -> Target {
    Target {
        name: "records",
        decoders: vec![
            Decoder::of::<ExecutionRecord>((), drop),
            Decoder::of::<SnapshotPointer>((), drop),
            Decoder::of::<Origin>((), drop),
            Decoder::of::<SnapshotPiece>((), |piece| {
                if let SnapshotPiece::Leaves(leaves) = piece {
                    let _ = StateTree::from_leaves(leaves);
                }
            }),
            Decoder::of::<Executed>((2, MOST), drop),
            Decoder::of::<Executed>((1_024, MOST), drop),
            Decoder::of::<Evidence>(MOST, drop),
            Decoder::of::<Proven>((2, MOST), drop),
        ],
    }
}
