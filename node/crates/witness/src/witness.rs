// SPDX-License-Identifier: Apache-2.0
//! The witness and its raw encoding.

use crate::limits::Limits;
use bytes::BufMut;
use commonware_codec::{
    Buf, EncodeSize, Error, FixedSize as _, RangeCfg, Read, ReadExt as _, Write,
};
use shardnode_execution::body::{Shown, ShownLimits};
use shardnode_primitives::{ProvenBucket, ShardId, list::read_list};
use shardnode_state::PartialState;

/// Shows the results that a chunk header commits to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateWitness {
    /// The header's shard.
    pub shard: ShardId,
    /// The header's height.
    pub height: u64,
    /// One for each of its results, in order.
    pub transitions: Vec<Transition>,
}

/// Shows what executing one chunk comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The height of the executed chunk.
    pub height: u64,
    /// Its body, or that it has no valid one.
    pub body: Shown,
    /// The receipts that were due for it, by source shard and then height.
    pub incoming: Vec<ProvenBucket>,
    /// What it touches of the state before
    /// ([`touched`](shardnode_execution::touched())).
    pub pre_state: PartialState,
}

impl Write for Transition {
    fn write(&self, buf: &mut impl BufMut) {
        self.height.write(buf);
        self.body.write(buf);
        self.incoming.write(buf);
        self.pre_state.write(buf);
    }
}

impl EncodeSize for Transition {
    fn encode_size(&self) -> usize {
        8 + self.body.encode_size() + self.incoming.encode_size() + self.pre_state.encode_size()
    }
}

impl Read for Transition {
    type Cfg = Limits;
    fn read_cfg(buf: &mut impl Buf, limits: &Limits) -> Result<Self, Error> {
        let height = u64::read(buf)?;
        let shown = ShownLimits {
            code: limits.code,
            transactions: limits.receipts,
        };
        let body = Shown::read_cfg(buf, &shown)?;
        let incoming = read_list(buf, .., &limits.receipts, ProvenBucket::MIN_SIZE)?;
        Ok(Self {
            height,
            body,
            incoming,
            pre_state: PartialState::read(buf)?,
        })
    }
}

impl Write for StateWitness {
    fn write(&self, buf: &mut impl BufMut) {
        self.shard.write(buf);
        self.height.write(buf);
        self.transitions.write(buf);
    }
}

impl EncodeSize for StateWitness {
    fn encode_size(&self) -> usize {
        ShardId::SIZE + 8 + self.transitions.encode_size()
    }
}

impl Read for StateWitness {
    type Cfg = Limits;
    fn read_cfg(buf: &mut impl Buf, limits: &Limits) -> Result<Self, Error> {
        let transitions = RangeCfg::from(0..=usize::from(limits.transitions));
        Ok(Self {
            shard: ShardId::read(buf)?,
            height: u64::read(buf)?,
            transitions: Vec::read_cfg(buf, &(transitions, *limits))?,
        })
    }
}
