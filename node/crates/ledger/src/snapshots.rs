// SPDX-License-Identifier: Apache-2.0
//! Snapshots of the own shard: frozen, made durable and served once a
//! finalised header states them, and installed when they were fetched. The
//! payload of a stored one is
//!
//! ```text
//! block that states it (u64) ‖ totals
//! ```

use crate::error::LedgerError;
use bytes::BufMut;
use commonware_codec::{
    Buf, Decode as _, Encode as _, Error, FixedSize, Read, ReadExt as _, Write,
};
use shardnode_mailboxes::snapshots::Served;
use shardnode_primitives::{ShardId, ShardTotals};
use shardnode_state::{Pages, StateTree};
use shardnode_storage::Snapshot;
use std::sync::Arc;

/// A state that no header states yet.
pub(crate) struct Frozen {
    pub(crate) totals: ShardTotals,
    pub(crate) pages: Pages,
}

/// What is stored with the accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The block whose header states the totals.
    pub block: u64,
    /// The state's height and root are in them.
    pub totals: ShardTotals,
}

impl Write for Origin {
    fn write(&self, buf: &mut impl BufMut) {
        self.block.write(buf);
        self.totals.write(buf);
    }
}

impl FixedSize for Origin {
    const SIZE: usize = 8 + ShardTotals::SIZE;
}

impl Read for Origin {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            block: u64::read(buf)?,
            totals: ShardTotals::read(buf)?,
        })
    }
}

impl Origin {
    /// Of a snapshot that was read back.
    pub fn of(shard: ShardId, snapshot: &Snapshot) -> Result<Self, LedgerError> {
        let height = snapshot.height;
        Self::decode_cfg(snapshot.payload.clone(), &()).map_err(|source| LedgerError::Record {
            shard,
            height,
            source,
        })
    }

    /// What is given away of the state.
    #[must_use]
    pub fn served(&self, pages: Pages) -> Served {
        Served {
            height: self.totals.height,
            block: self.block,
            root: self.totals.state_root,
            pages,
        }
    }

    /// What is kept of the state.
    #[must_use]
    pub fn snapshot(&self, pages: &Pages) -> Snapshot {
        Snapshot {
            height: self.totals.height,
            leaves: Arc::clone(pages.leaves()),
            payload: self.encode(),
        }
    }
}

/// The state of a snapshot that was read back, and where it is from.
pub fn restore(shard: ShardId, snapshot: Snapshot) -> Result<(Origin, StateTree), LedgerError> {
    let origin = Origin::of(shard, &snapshot)?;
    let height = snapshot.height;
    let leaves = Arc::unwrap_or_clone(snapshot.leaves);
    let state = StateTree::from_leaves(leaves).map_err(|source| LedgerError::State {
        shard,
        height,
        source,
    })?;
    Ok((origin, state))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use shardnode_primitives::{Digest, DuePosition};

    #[test]
    fn origins_are_stored_as_specified() {
        let origin = Origin {
            block: 1_002,
            totals: ShardTotals {
                height: 1_001,
                state_root: Digest([7; 32]),
                transfers: 1,
                cross_shard: 2,
                credits: 3,
                balance: 4,
                burnt: 5,
                sent: 6,
                received: 7,
                next_due: DuePosition {
                    block: 8,
                    source: ShardId(9),
                },
            },
        };
        let mut golden = vec![0, 0, 0, 0, 0, 0, 3, 0xea];
        golden.extend([0, 0, 0, 0, 0, 0, 3, 0xe9]);
        golden.extend([7; 32]);
        for number in 1..=5 {
            golden.extend(u64::to_be_bytes(number));
        }
        golden.extend(u128::to_be_bytes(6));
        golden.extend(u128::to_be_bytes(7));
        golden.extend(u64::to_be_bytes(8));
        golden.extend([0, 9]);
        assert_eq!(origin.encode(), golden);
        let snapshot = Snapshot {
            height: 1_001,
            leaves: Arc::default(),
            payload: golden.clone().into(),
        };
        assert_eq!(Origin::of(ShardId(0), &snapshot).unwrap(), origin);
        golden.pop();
        let snapshot = Snapshot {
            payload: golden.into(),
            ..snapshot
        };
        assert!(Origin::of(ShardId(0), &snapshot).is_err());
    }
}
