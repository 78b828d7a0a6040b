// SPDX-License-Identifier: Apache-2.0
//! Why a proof proves nothing.

use commonware_cryptography::ed25519::PublicKey;
use shardnode_primitives::{Digest, ShardId};
use shardnode_state::ProofError;

/// Why a proof proves nothing.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The bytes are no proof.
    #[error("not a proof: {0}")]
    Malformed(#[from] commonware_codec::Error),
    /// The certificate is of as many voters as another chain has.
    #[error("certificate of a chain with {got} voters, this one has {want}")]
    Voters {
        /// Those of the certificate.
        got: usize,
        /// Those of genesis.
        want: usize,
    },
    /// Too few voted.
    #[error("certificate with {got} votes, a final block has at least {want}")]
    Quorum {
        /// Its votes.
        got: usize,
        /// Those that it takes.
        want: usize,
    },
    /// A vote is not of the voter that it is said to be of, for this block and
    /// this chain.
    #[error("vote of {0} does not hold: of another chain, another block, or forged")]
    Vote(Box<PublicKey>),
    /// The block is not the one that the certificate is of, or not the parent of
    /// the one before it.
    #[error("block {got} instead of {want}, which is final")]
    Block {
        /// The block's digest.
        got: Digest,
        /// The one that was finalised.
        want: Digest,
    },
    /// The block is older than the caller would believe.
    #[error("block {got} is too old: the chain has finalised block {least}")]
    Old {
        /// The block's height.
        got: u64,
        /// The least that was to be believed.
        least: u64,
    },
    /// The header of the shard commits to nothing of that height.
    #[error("block {block} does not commit to what shard {shard} came to at height {height}")]
    Uncommitted {
        /// The block's height.
        block: u64,
        /// The shard.
        shard: ShardId,
        /// The height that the proof claims.
        height: u64,
    },
    /// The proof is of a state that the block commits to for another shard.
    #[error("proof from the state of shard {got}, the account belongs to shard {want}")]
    Shard {
        /// Whose state it is.
        got: ShardId,
        /// The account's.
        want: ShardId,
    },
    /// The proof is not of this account in the state that was committed to.
    #[error(transparent)]
    Account(#[from] ProofError),
    /// The transfer does not have this outcome in the list that was committed to.
    #[error("outcomes of shard {shard} at height {height} do not have this one of the transfer")]
    Outcome {
        /// The shard.
        shard: ShardId,
        /// The height.
        height: u64,
    },
}
