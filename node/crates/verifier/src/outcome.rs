// SPDX-License-Identifier: Apache-2.0
//! What became of a transfer, proven against a finalised block.

use crate::{FinalizedBlock, Limits, VERSION};
use bytes::BufMut;
use commonware_codec::{Buf, EncodeSize, Error, Read, ReadExt as _, Write};
use shardnode_primitives::merkle::Proof;

/// Proves what became of a transfer in the chunk of one height.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenOutcome {
    /// The block that commits to the outcomes.
    pub finalized: FinalizedBlock,
    /// The height of the chunk.
    pub height: u64,
    /// 0 if the transfer was executed, otherwise why not.
    pub outcome: u8,
    /// The transfer in the list of outcomes.
    pub proof: Proof,
}

impl Write for ProvenOutcome {
    fn write(&self, buf: &mut impl BufMut) {
        VERSION.write(buf);
        self.finalized.write(buf);
        self.height.write(buf);
        self.outcome.write(buf);
        self.proof.write(buf);
    }
}

impl EncodeSize for ProvenOutcome {
    fn encode_size(&self) -> usize {
        1 + self.finalized.encode_size() + 8 + 1 + self.proof.encode_size()
    }
}

impl Read for ProvenOutcome {
    type Cfg = Limits;
    fn read_cfg(buf: &mut impl Buf, limits: &Limits) -> Result<Self, Error> {
        let version = u8::read(buf)?;
        if version != VERSION {
            return Err(Error::InvalidEnum(version));
        }
        Ok(Self {
            finalized: FinalizedBlock::read_cfg(buf, limits)?,
            height: u64::read(buf)?,
            outcome: u8::read(buf)?,
            proof: Proof::read(buf)?,
        })
    }
}
