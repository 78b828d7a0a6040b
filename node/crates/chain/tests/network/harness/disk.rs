// SPDX-License-Identifier: Apache-2.0
//! Disks that hold something else than was written to them.

use super::Network;
use commonware_runtime::{Blob as _, ReadOptions, Storage as _, WriteOptions};

/// Not what a node's last words begin with.
const DISK: &str = "the disk of a node that does not run";

/// What happens to a store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Damage {
    /// One bit of its newest file is another, so many bytes before the end.
    Flipped(u64),
    /// One bit is another, in the middle of the range of a file that has this place
    /// among so many equal ones; files count from the oldest.
    FlippedWithin {
        file: usize,
        range: u64,
        ranges: u64,
    },
    /// So many bytes are gone from the end of its newest file.
    Truncated(u64),
    /// All files of the store are gone.
    Removed,
    /// One of several files is gone, at this place from the oldest.
    FileRemoved(usize),
    /// All its files are those that another node, which does not run either, has in
    /// their place.
    Swapped(usize),
}

impl Network {
    /// The prefix of what a node stores.
    pub(super) fn partition(&self, index: usize) -> String {
        format!("node-{index}-{}", self.members[index].disk)
    }

    /// The files of a partition, the oldest first.
    async fn files(&self, partition: &str) -> Vec<Vec<u8>> {
        let mut names = self.context.scan(partition).await.unwrap_or_default();
        names.sort();
        names
    }

    /// Damages a store of a killed node; false where there is nothing to damage.
    pub(crate) async fn damage(&self, index: usize, store: &str, damage: Damage) -> bool {
        assert!(self.members[index].running.is_none(), "node {index} runs");
        let partition = format!("{}-{store}", self.partition(index));
        let names = self.files(&partition).await;
        let Some(newest) = names.last() else {
            return false;
        };
        match damage {
            Damage::Flipped(before) => {
                let at = |length: u64| length.checked_sub(before);
                self.flip(&partition, newest, at).await
            }
            Damage::FlippedWithin {
                file,
                range,
                ranges,
            } => {
                let Some(name) = names.get(file) else {
                    return false;
                };
                let at = |length: u64| Some(length * (2 * range + 1) / (2 * ranges));
                self.flip(&partition, name, at).await
            }
            Damage::Truncated(bytes) => {
                let (blob, length) = self.context.open(&partition, newest).await.expect(DISK);
                let Some(left) = length.checked_sub(bytes) else {
                    return false;
                };
                blob.resize(left).await.expect(DISK);
                blob.sync().await.expect(DISK);
                true
            }
            Damage::Removed => {
                self.context.remove(&partition, None).await.expect(DISK);
                true
            }
            Damage::FileRemoved(file) => {
                let Some(name) = names.get(file).filter(|_| names.len() > 1) else {
                    return false;
                };
                let removed = self.context.remove(&partition, Some(name)).await;
                removed.expect(DISK);
                true
            }
            Damage::Swapped(other) => {
                let from = format!("{}-{store}", self.partition(other));
                let theirs = self.files(&from).await;
                if theirs.is_empty() {
                    return false;
                }
                self.context.remove(&partition, None).await.expect(DISK);
                for name in theirs {
                    self.copy(&from, &partition, &name).await;
                }
                true
            }
        }
    }

    /// Flips a bit at what `at` makes of the file's length; false if nothing is there.
    async fn flip(
        &self,
        partition: &str,
        name: &[u8],
        at: impl FnOnce(u64) -> Option<u64>,
    ) -> bool {
        let (blob, length) = self.context.open(partition, name).await.expect(DISK);
        let Some(at) = at(length).filter(|at| *at < length) else {
            return false;
        };
        let read = blob.read_at(at, 1, ReadOptions::default()).await;
        let byte = read.expect(DISK).coalesce().as_ref()[0] ^ 0x10;
        blob.write_at(at, vec![byte], WriteOptions::SYNC)
            .await
            .expect(DISK);
        true
    }

    async fn copy(&self, from: &str, to: &str, name: &[u8]) {
        let (theirs, length) = self.context.open(from, name).await.expect(DISK);
        let (ours, _) = self.context.open(to, name).await.expect(DISK);
        let bytes = usize::try_from(length).expect("a file that fits memory");
        let read = theirs.read_at(0, bytes, ReadOptions::default()).await;
        let content = read.expect(DISK).coalesce().as_ref().to_vec();
        ours.write_at(0, content, WriteOptions::SYNC)
            .await
            .expect(DISK);
    }
}
