// SPDX-License-Identifier: Apache-2.0
//! What bounds the decoding of proofs.

use shardnode_primitives::{BlockLimits, Genesis};

/// What bounds the decoding of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Those who vote.
    pub voters: usize,
    /// Of each block.
    pub block: BlockLimits,
}

impl Limits {
    /// Those of the network of `genesis`.
    #[must_use]
    pub fn of(genesis: &Genesis) -> Self {
        let validators = genesis.producers.len() + genesis.chunk_validators.len();
        Self {
            voters: genesis.producers.len(),
            block: BlockLimits {
                shards: genesis.layout.shards(),
                lag: genesis.protocol.execution_lag,
                // Genesis has at most 4,096.
                validators: u16::try_from(validators).unwrap_or(u16::MAX),
            },
        }
    }
}
