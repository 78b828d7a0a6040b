// SPDX-License-Identifier: Apache-2.0
//! An account, proven against a finalised block.

use crate::{FinalizedBlock, Limits, VERSION};
use bytes::BufMut;
use commonware_codec::{Buf, EncodeSize, Error, Read, ReadExt as _, Write};
use shardnode_state::AccountProof;

/// Proves what an account has, or that there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenAccount {
    /// The block that commits to the state.
    pub finalized: FinalizedBlock,
    /// The height of the execution that the state is after.
    pub height: u64,
    /// The account in that state.
    pub proof: AccountProof,
}

impl Write for ProvenAccount {
    fn write(&self, buf: &mut impl BufMut) {
        VERSION.write(buf);
        self.finalized.write(buf);
        self.height.write(buf);
        self.proof.write(buf);
    }
}

impl EncodeSize for ProvenAccount {
    fn encode_size(&self) -> usize {
        1 + self.finalized.encode_size() + 8 + self.proof.encode_size()
    }
}

impl Read for ProvenAccount {
    type Cfg = Limits;
    fn read_cfg(buf: &mut impl Buf, limits: &Limits) -> Result<Self, Error> {
        let version = u8::read(buf)?;
        if version != VERSION {
            return Err(Error::InvalidEnum(version));
        }
        Ok(Self {
            finalized: FinalizedBlock::read_cfg(buf, limits)?,
            height: u64::read(buf)?,
            proof: AccountProof::read(buf)?,
        })
    }
}
