// SPDX-License-Identifier: Apache-2.0
//! Disks that hold something else than was written to them.

use super::Network;
use commonware_runtime::{Blob as _, ReadOptions, Storage as _, WriteOptions};

/// What happens to the newest file of a store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Damage {
    /// One bit is another, so many bytes before the end.
    Flipped(u64),
    /// So many bytes are gone from its end.
    Truncated(u64),
    /// All files of the store are gone.
    Removed,
}

impl Network {
    /// The prefix of what a node stores.
    pub(super) fn partition(&self, index: usize) -> String {
        format!("node-{index}-{}", self.members[index].disk)
    }

    /// Damages a store of a killed node; false where there is nothing to damage.
    pub(crate) async fn damage(&self, index: usize, store: &str, damage: Damage) -> bool {
        assert!(self.members[index].running.is_none(), "node {index} runs");
        let partition = format!("{}-{store}", self.partition(index));
        let Ok(mut names) = self.context.scan(&partition).await else {
            return false;
        };
        names.sort();
        let Some(newest) = names.last() else {
            return false;
        };
        if let Damage::Removed = damage {
            self.context.remove(&partition, None).await.unwrap();
            return true;
        }
        let (blob, length) = self.context.open(&partition, newest).await.unwrap();
        match damage {
            Damage::Flipped(before) if before <= length => {
                let at = length - before;
                let read = blob.read_at(at, 1, ReadOptions::default()).await;
                let byte = read.unwrap().coalesce().as_ref()[0] ^ 0x10;
                blob.write_at(at, vec![byte], WriteOptions::SYNC)
                    .await
                    .unwrap();
            }
            Damage::Truncated(bytes) if bytes <= length => {
                blob.resize(length - bytes).await.unwrap();
                blob.sync().await.unwrap();
            }
            _ => return false,
        }
        true
    }
}
