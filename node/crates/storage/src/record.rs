// SPDX-License-Identifier: Apache-2.0
//! What is stored of executions and states. Payloads are the caller's.
//!
//! ```text
//! record = height (8) ‖ block ‖ state root ‖ varint ‖ change each ‖ varint ‖ payload
//! change = id ‖ 0x00                       the account was removed
//!        | id ‖ 0x01 ‖ account             its new content
//! piece  = 0x00 ‖ varint ‖ leaves          of a snapshot, by index
//!        | 0x01 ‖ varint ‖ payload         its end
//! ```

use bytes::{BufMut, Bytes};
use commonware_codec::{Buf, EncodeSize, Error, FixedSize, RangeCfg, Read, ReadExt as _, Write};
use shardnode_primitives::{AccountId, Digest, list::read_list};
use shardnode_state::{Account, Leaf};
use std::sync::Arc;

/// The execution of one chunk: what it changed, and the root afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionRecord {
    /// The chunk's height; heights of successive records increase.
    pub height: u64,
    /// The finalised block that the chunk is in.
    pub block: Digest,
    /// The state's root after the execution.
    pub state_root: Digest,
    /// What became of every account that changed, in id order: its new content,
    /// or nothing if it was removed.
    pub changes: Vec<(AccountId, Option<Account>)>,
    /// Whatever else the caller wants back.
    pub payload: Bytes,
}

/// The state after one execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The height of that execution.
    pub height: u64,
    /// All leaves by index.
    pub leaves: Arc<Vec<Leaf>>,
    /// Whatever else the caller wants back.
    pub payload: Bytes,
}

/// What an engine finds when it is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The newest snapshot that is whole.
    pub snapshot: Option<Snapshot>,
    /// All records after it, in order.
    pub records: Vec<ExecutionRecord>,
}

impl Write for ExecutionRecord {
    fn write(&self, buf: &mut impl BufMut) {
        self.height.write(buf);
        self.block.write(buf);
        self.state_root.write(buf);
        self.changes.write(buf);
        self.payload.write(buf);
    }
}

impl EncodeSize for ExecutionRecord {
    fn encode_size(&self) -> usize {
        8 + 2 * Digest::SIZE + self.changes.encode_size() + self.payload.encode_size()
    }
}

impl Read for ExecutionRecord {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            height: u64::read(buf)?,
            block: Digest::read(buf)?,
            state_root: Digest::read(buf)?,
            changes: read_list(buf, .., &((), ()), AccountId::SIZE + 1)?,
            payload: Bytes::read_cfg(buf, &RangeCfg::from(..))?,
        })
    }
}

/// A piece of a snapshot: leaves in index order, or the payload that ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotPiece {
    /// Some of them.
    Leaves(Vec<Leaf>),
    /// The payload.
    End(Bytes),
}

impl Write for SnapshotPiece {
    fn write(&self, buf: &mut impl BufMut) {
        match self {
            Self::Leaves(leaves) => {
                0u8.write(buf);
                leaves.write(buf);
            }
            Self::End(payload) => {
                1u8.write(buf);
                payload.write(buf);
            }
        }
    }
}

impl EncodeSize for SnapshotPiece {
    fn encode_size(&self) -> usize {
        1 + match self {
            Self::Leaves(leaves) => leaves.encode_size(),
            Self::End(payload) => payload.encode_size(),
        }
    }
}

impl Read for SnapshotPiece {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        match u8::read(buf)? {
            0 => Ok(Self::Leaves(read_list(buf, .., &(), Leaf::SIZE)?)),
            1 => Ok(Self::End(Bytes::read_cfg(buf, &RangeCfg::from(..))?)),
            kind => Err(Error::InvalidEnum(kind)),
        }
    }
}
