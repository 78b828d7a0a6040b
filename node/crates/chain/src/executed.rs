// SPDX-License-Identifier: Apache-2.0
//! What a tracker keeps of an execution: everything that headers, peers and
//! clients will ask of it. It is the payload of the storage record of the
//! execution, so it survives restarts:
//!
//! ```text
//! result ‖ totals ‖ buckets with proofs, one per shard ‖ (transaction hash ‖ outcome) per transaction
//! ```

use bytes::BufMut;
use commonware_codec::{Buf, EncodeSize, Error, FixedSize, RangeCfg, Read, ReadExt as _, Write};
use shardnode_execution::Outcome;
use shardnode_primitives::{Digest, ExecutionResult, ProvenBucket, ShardTotals};

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
        let buckets = Vec::read_cfg(buf, &(RangeCfg::from(shards..=shards), *most))?;
        let count = u32::read(buf)?;
        if count > *most {
            return Err(Error::InvalidLength(count as usize));
        }
        let outcomes = (0..count)
            .map(|_| {
                let hash = Digest::read(buf)?;
                let code = u8::read(buf)?;
                Ok((hash, outcome(code)?))
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

pub(crate) fn outcome(code: u8) -> Result<Outcome, Error> {
    Outcome::ALL
        .into_iter()
        .find(|outcome| outcome.code() == code)
        .ok_or(Error::InvalidEnum(code))
}
