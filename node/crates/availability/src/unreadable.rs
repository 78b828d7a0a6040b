// SPDX-License-Identifier: Apache-2.0
//! What others ask for that is on disk and cannot be read: it is told once, not
//! read again, and given to nobody. Only what this node needs itself ends it.

use bytes::Bytes;
use shardnode_mailboxes::Runtime;
use shardnode_primitives::{Digest, hash::ZERO};
use shardnode_storage::BodyStore;
use std::collections::BTreeSet;
use tracing::warn;

/// Unreadable values that are remembered. What is beyond is read again in vain,
/// and not told.
const MOST: usize = 1_024;

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Unreadable(BTreeSet<(u64, Digest)>);

impl Unreadable {
    /// What is in `store` of a chunk at `height` under `hash`, for somebody else.
    pub(crate) async fn read<E: Runtime>(
        &mut self,
        store: &BodyStore<E>,
        height: u64,
        hash: Digest,
    ) -> Option<Bytes> {
        if self.0.contains(&(height, hash)) {
            return None;
        }
        match store.get(height, &hash).await {
            Ok(value) => value,
            Err(error) => {
                if self.0.len() < MOST {
                    warn!(height, %hash, %error, "stored value cannot be read: not served");
                    self.0.insert((height, hash));
                }
                None
            }
        }
    }

    /// Forgets what is below `height`.
    pub(crate) fn forget_below(&mut self, height: u64) {
        self.0 = self.0.split_off(&(height, ZERO));
    }
}
