// SPDX-License-Identifier: Apache-2.0
//! A block, and what shows that it is final.

use crate::Limits;
use bytes::BufMut;
use commonware_codec::{Buf, EncodeSize, Error, Read, Write};
use commonware_consensus::simplex::{scheme::ed25519::Scheme, types::Finalization};
use shardnode_primitives::{Block, Digest, list::read_list};

/// The most blocks of a [`FinalizedBlock`].
pub const MOST_BLOCKS: usize = 8;

/// Less than any block has.
const SMALLEST_BLOCK: usize = 64;

/// A block with a certificate of its own or of a later one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalizedBlock {
    /// The certificate.
    pub finalization: Finalization<Scheme, Digest>,
    /// From the one that the certificate is of back to the one that is shown; each
    /// is the parent of the one before.
    pub blocks: Vec<Block>,
}

impl Write for FinalizedBlock {
    fn write(&self, buf: &mut impl BufMut) {
        self.finalization.write(buf);
        self.blocks.write(buf);
    }
}

impl EncodeSize for FinalizedBlock {
    fn encode_size(&self) -> usize {
        self.finalization.encode_size() + self.blocks.encode_size()
    }
}

impl Read for FinalizedBlock {
    type Cfg = Limits;
    fn read_cfg(buf: &mut impl Buf, limits: &Limits) -> Result<Self, Error> {
        Ok(Self {
            finalization: Finalization::read_cfg(buf, &limits.voters)?,
            blocks: read_list(buf, 1..=MOST_BLOCKS, &limits.block, SMALLEST_BLOCK)?,
        })
    }
}
