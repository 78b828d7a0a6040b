// SPDX-License-Identifier: Apache-2.0
//! What a tracker keeps of an execution: everything that headers, peers and
//! clients will ask of it, and the evidence for a state witness. Both are the
//! payload of the storage record of the execution, so they survive restarts:
//!
//! ```text
//! payload  = executed ‖ evidence
//! executed = result ‖ totals ‖ varint ‖ buckets with proofs, one per shard
//!            ‖ number of transactions (4) ‖ (transaction hash ‖ outcome) per transaction
//! evidence = body hash ‖ parts root ‖ varint ‖ incoming buckets with proofs ‖ partial state before
//! ```

use crate::Outcome;
use bytes::BufMut;
use commonware_codec::{Buf, EncodeSize, Error, FixedSize, Read, ReadExt as _, Write};
use shardnode_primitives::{Digest, ExecutionResult, ProvenBucket, ShardTotals, list::read_list};
use shardnode_state::PartialState;
use std::sync::Arc;

/// An execution of the own shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// What a header will commit to.
    pub result: ExecutionResult,
    /// Everything since genesis, this execution included.
    pub totals: ShardTotals,
    /// The receipts to every shard.
    pub buckets: Vec<ProvenBucket>,
    /// What became of each transaction.
    pub outcomes: Vec<(Digest, Outcome)>,
}

/// What shows to a node without state that an execution is right; what shows
/// the chunk's body is in the store of bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The chunk's body.
    pub body_hash: Digest,
    /// The parts of it.
    pub parts_root: Digest,
    /// The receipts that were credited, in order.
    pub incoming: Vec<ProvenBucket>,
    /// What the execution touched of the state before it.
    pub pre_state: PartialState,
}

impl Write for Evidence {
    fn write(&self, buf: &mut impl BufMut) {
        self.body_hash.write(buf);
        self.parts_root.write(buf);
        self.incoming.write(buf);
        self.pre_state.write(buf);
    }
}

impl EncodeSize for Evidence {
    fn encode_size(&self) -> usize {
        2 * Digest::SIZE + self.incoming.encode_size() + self.pre_state.encode_size()
    }
}

impl Read for Evidence {
    /// The most transactions of a chunk.
    type Cfg = u32;
    fn read_cfg(buf: &mut impl Buf, most: &u32) -> Result<Self, Error> {
        Ok(Self {
            body_hash: Digest::read(buf)?,
            parts_root: Digest::read(buf)?,
            incoming: read_list(buf, .., most, ProvenBucket::MIN_SIZE)?,
            pre_state: PartialState::read(buf)?,
        })
    }
}

/// An execution and its evidence, as stored.
#[derive(Clone, Debug)]
pub struct Proven {
    /// What it came to.
    pub executed: Arc<Executed>,
    /// Why that is right.
    pub evidence: Arc<Evidence>,
}

impl Write for Proven {
    fn write(&self, buf: &mut impl BufMut) {
        self.executed.write(buf);
        self.evidence.write(buf);
    }
}

impl EncodeSize for Proven {
    fn encode_size(&self) -> usize {
        self.executed.encode_size() + self.evidence.encode_size()
    }
}

impl Read for Proven {
    /// Shards, and the most transactions of a chunk.
    type Cfg = (u16, u32);
    fn read_cfg(buf: &mut impl Buf, limits: &(u16, u32)) -> Result<Self, Error> {
        Ok(Self {
            executed: Arc::new(Executed::read_cfg(buf, limits)?),
            evidence: Arc::new(Evidence::read_cfg(buf, &limits.1)?),
        })
    }
}

impl Write for Executed {
    fn write(&self, buf: &mut impl BufMut) {
        self.result.write(buf);
        self.totals.write(buf);
        self.buckets.write(buf);
        (self.outcomes.len() as u32).write(buf);
        for (hash, outcome) in &self.outcomes {
            hash.write(buf);
            outcome.code().write(buf);
        }
    }
}

impl EncodeSize for Executed {
    fn encode_size(&self) -> usize {
        ExecutionResult::SIZE
            + ShardTotals::SIZE
            + self.buckets.encode_size()
            + 4
            + self.outcomes.len() * (Digest::SIZE + 1)
    }
}

impl Read for Executed {
    /// Shards, and the most transactions of a chunk.
    type Cfg = (u16, u32);
    fn read_cfg(buf: &mut impl Buf, (shards, most): &(u16, u32)) -> Result<Self, Error> {
        let shards = usize::from(*shards);
        let result = ExecutionResult::read(buf)?;
        let totals = ShardTotals::read(buf)?;
        let buckets = read_list(buf, shards..=shards, most, ProvenBucket::MIN_SIZE)?;
        let count = u32::read(buf)?;
        if count > *most {
            return Err(Error::InvalidLength(count as usize));
        }
        let outcomes = (0..count)
            .map(|_| {
                let hash = Digest::read(buf)?;
                let code = u8::read(buf)?;
                let outcome = Outcome::from_code(code).ok_or(Error::InvalidEnum(code))?;
                Ok((hash, outcome))
            })
            .collect::<Result<_, Error>>()?;
        Ok(Self {
            result,
            totals,
            buckets,
            outcomes,
        })
    }
}
