// SPDX-License-Identifier: Apache-2.0
//! Checks proofs; see the [crate] for what they are.

use crate::{FinalizedBlock, Limits, ProvenAccount, ProvenOutcome, VerifyError};
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _};
use commonware_consensus::simplex::scheme::Namespace;
use commonware_cryptography::{
    Digestible as _, Verifier as _, certificate::Namespace as _, ed25519::PublicKey,
};
use commonware_utils::{
    N3f1,
    ordered::{Quorum as _, Set},
};
use shardnode_primitives::{
    AccountId, Block, ChunkHeader, Digest, Genesis, Namespaces, ShardId, ShardLayout, outcome,
};
use shardnode_state::{Account, ProofError};

/// Where something is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The height of the finalised block.
    pub block: u64,
    /// Its digest.
    pub digest: Digest,
    /// Its timestamp, by its leader's clock.
    pub timestamp_ms: u64,
    /// The shard.
    pub shard: ShardId,
    /// The height of the execution that it comes from.
    pub height: u64,
}

/// A proven account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountAt {
    /// Where.
    pub at: At,
    /// What it has; `None` if the shard's state has no such account.
    pub account: Option<Account>,
}

/// A proven outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeAt {
    /// Where.
    pub at: At,
    /// 0 if the transfer was executed, otherwise why not.
    pub outcome: u8,
}

/// What a genesis document is enough for.
#[derive(Clone, Debug)]
pub struct Verifier {
    layout: ShardLayout,
    limits: Limits,
    voters: Set<PublicKey>,
    /// What votes to finalise are signed under.
    namespace: Vec<u8>,
}

impl Verifier {
    /// A verifier of the network of `genesis`.
    #[must_use]
    pub fn new(genesis: &Genesis) -> Self {
        let producers = genesis.producers.iter();
        let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
        Self {
            layout: genesis.layout,
            limits: Limits::of(genesis),
            voters: Set::from_iter_dedup(producers.map(|producer| producer.key.clone())),
            namespace: Namespace::derive(&namespaces.consensus).finalize,
        }
    }

    /// The account that the bytes prove, in a block of at least this height.
    pub fn account(
        &self,
        id: &AccountId,
        proof: Bytes,
        least: u64,
    ) -> Result<AccountAt, VerifyError> {
        let proven = ProvenAccount::decode_cfg(proof, &self.limits)?;
        let block = self.block(&proven.finalized, least)?;
        let shard = self.layout.shard_of(id);
        let (at, header) = at(block, shard, proven.height)?;
        let root = state_root(header, proven.height).ok_or(VerifyError::Uncommitted {
            block: at.block,
            shard,
            height: proven.height,
        })?;
        let account = proven.proof.verify(id, &root).map_err(|error| {
            let ProofError::Root { got, .. } = error else {
                return VerifyError::Account(error);
            };
            let mut others = block.chunks.iter().filter(|other| {
                other.content.shard != shard && state_root(other, proven.height) == Some(got)
            });
            others
                .next()
                .map_or(VerifyError::Account(error), |other| VerifyError::Shard {
                    got: other.content.shard,
                    want: shard,
                })
        })?;
        Ok(AccountAt { at, account })
    }

    /// The outcome that the bytes prove of the signer's transfer with this hash.
    pub fn outcome(
        &self,
        signer: &AccountId,
        transfer: &Digest,
        proof: Bytes,
    ) -> Result<OutcomeAt, VerifyError> {
        let proven = ProvenOutcome::decode_cfg(proof, &self.limits)?;
        let block = self.block(&proven.finalized, 0)?;
        let (shard, height) = (self.layout.shard_of(signer), proven.height);
        let (at, header) = at(block, shard, height)?;
        let mut results = header.content.results.iter();
        let result =
            results
                .find(|result| result.height == height)
                .ok_or(VerifyError::Uncommitted {
                    block: at.block,
                    shard,
                    height,
                })?;
        let leaf = outcome::leaf(transfer, proven.outcome);
        if !proven.proof.verifies(leaf, &result.outcomes_root) {
            return Err(VerifyError::Outcome { shard, height });
        }
        let outcome = proven.outcome;
        Ok(OutcomeAt { at, outcome })
    }

    /// The block that is shown to be final.
    pub fn block<'a>(
        &self,
        finalized: &'a FinalizedBlock,
        least: u64,
    ) -> Result<&'a Block, VerifyError> {
        self.certificate(finalized)?;
        let mut want = finalized.finalization.proposal.payload;
        let mut last = None;
        for block in &finalized.blocks {
            let got = block.digest();
            if got != want {
                return Err(VerifyError::Block { got, want });
            }
            want = block.context.parent.1;
            last = Some(block);
        }
        let block = last.ok_or(commonware_codec::Error::EndOfBuffer)?;
        if block.height < least {
            let got = block.height;
            return Err(VerifyError::Old { got, least });
        }
        Ok(block)
    }

    /// Every vote by itself: nothing is drawn, and whose does not hold is known.
    fn certificate(&self, finalized: &FinalizedBlock) -> Result<(), VerifyError> {
        let certificate = &finalized.finalization.certificate;
        let (got, want) = (certificate.signers.len(), self.voters.len());
        if got != want {
            return Err(VerifyError::Voters { got, want });
        }
        let got = certificate.signers.count();
        let want = self.voters.quorum::<N3f1>() as usize;
        if got < want || got != certificate.signatures.len() {
            return Err(VerifyError::Quorum { got, want });
        }
        let message = finalized.finalization.proposal.encode();
        let votes = certificate.signers.iter().zip(&certificate.signatures);
        for (voter, signature) in votes {
            // No bit is beyond the last voter.
            let key = self
                .voters
                .key(voter)
                .ok_or(commonware_codec::Error::EndOfBuffer)?;
            let holds = signature
                .get()
                .is_some_and(|signature| key.verify(&self.namespace, &message, signature));
            if !holds {
                return Err(VerifyError::Vote(Box::new(key.clone())));
            }
        }
        Ok(())
    }
}

/// The place of a proof, and the header that it is against.
fn at(block: &Block, shard: ShardId, height: u64) -> Result<(At, &ChunkHeader), VerifyError> {
    let header = block.chunk(shard).ok_or(VerifyError::Uncommitted {
        block: block.height,
        shard,
        height,
    })?;
    let at = At {
        block: block.height,
        digest: block.digest(),
        timestamp_ms: block.timestamp_ms,
        shard,
        height,
    };
    Ok((at, header))
}

/// The root of the state after the chunk of this height, if the header commits to
/// it.
#[must_use]
pub fn state_root(header: &ChunkHeader, height: u64) -> Option<Digest> {
    let content = &header.content;
    if content.totals.height == height {
        return Some(content.totals.state_root);
    }
    let mut results = content.results.iter();
    results
        .find(|result| result.height == height)
        .map(|result| result.state_root)
}
