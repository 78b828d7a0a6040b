// SPDX-License-Identifier: Apache-2.0
//! What clients need not believe: answers with what
//! [`shardnode_verifier`] checks them by.

use crate::{
    Client, Unavailable,
    answers::{Fate, fate},
    turns::Caller,
};
use commonware_consensus::types::Height;
use shardnode_blocks::ChainView;
use shardnode_network::client_messages::{Answer, Question};
use shardnode_primitives::{AccountId, Block, ChunkHeader, Digest, ShardId, outcome};
use shardnode_state::{Account, AccountProof};
use shardnode_verifier::{FinalizedBlock, MOST_BLOCKS, ProvenAccount, ProvenOutcome, state_root};
use std::sync::Arc;
use tracing::debug;

/// How many blocks after an execution a header of its shard commits to it, unless
/// the shard stands still.
pub(crate) const COMMITTED_WITHIN: u64 = 64;

/// Why there is no proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProof {
    /// Nobody has what was to be proven.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// No block says yet what the shard came to.
    #[error("no finalised block commits to what shard {shard} came to at height {height}")]
    Uncommitted {
        /// The shard.
        shard: ShardId,
        /// The height of the execution.
        height: u64,
    },
    /// The node has no certificate that makes a block final, of the block itself
    /// or of one shortly after it.
    #[error("no certificate of block {0} is at hand")]
    Uncertified(u64),
}

impl Client {
    /// An account of any shard, or its absence, and what proves it to whoever has
    /// the genesis document.
    pub async fn prove_account(
        &self,
        id: AccountId,
    ) -> Result<(Option<Account>, ProvenAccount), NoProof> {
        let shard = self.shard_of(&id);
        let (height, proof) = self.account_proof(shard, id).await?;
        let uncommitted = NoProof::Uncommitted { shard, height };
        let commits = |header: &ChunkHeader| state_root(header, height);
        let (block, root) = self
            .committing(shard, height, commits)
            .await
            .ok_or(uncommitted)?;
        let account = proof.verify(&id, &root).map_err(|error| {
            debug!(%shard, %error, "account proof refused");
            Unavailable(shard)
        })?;
        let finalized = self.finalized(block).await?;
        let proven = ProvenAccount {
            finalized,
            height,
            proof,
        };
        Ok((account, proven))
    }

    async fn account_proof(
        &self,
        shard: ShardId,
        id: AccountId,
    ) -> Result<(u64, AccountProof), Unavailable> {
        if self.tracks(shard) {
            let proven = self.local.ledger.prove(id).await;
            return proven.ok_or(Unavailable(shard));
        }
        match self.ask(shard, Question::Account(id)).await {
            Some(Answer::Account(height, proof)) => Ok((height, proof)),
            _ => Err(Unavailable(shard)),
        }
    }

    /// What became of a transfer of `signer`, and what proves it to whoever has the
    /// genesis document; `None` if it is not known.
    pub async fn prove_outcome(
        &self,
        signer: AccountId,
        hash: Digest,
    ) -> Result<Option<(Fate, ProvenOutcome)>, NoProof> {
        let shard = self.shard_of(&signer);
        let gone = Unavailable(shard);
        let question = Question::ProveOutcome(hash);
        let answer = if self.tracks(shard) {
            self.local.answer(Caller::Clients, question).await
        } else {
            let _room = self.list_room(question.listed()).await;
            self.ask(shard, question).await.ok_or(gone)?
        };
        let (height, code, proof) = match answer {
            Answer::ProvenOutcome(height, code, proof) => (height, code, proof),
            Answer::Nothing => return Ok(None),
            _ => return Err(gone.into()),
        };
        let commits = |header: &ChunkHeader| {
            let mut results = header.content.results.iter();
            let result = results.find(|result| result.height == height);
            result.map(|result| result.outcomes_root)
        };
        let (block, root) = self
            .committing(shard, height, commits)
            .await
            .ok_or(NoProof::Uncommitted { shard, height })?;
        let fate = fate(height, code).ok_or(gone)?;
        if !proof.verifies(outcome::leaf(&hash, code), &root) {
            debug!(%shard, %height, "proof of an outcome refused");
            return Err(gone.into());
        }
        let proven = ProvenOutcome {
            finalized: self.finalized(block).await?,
            height,
            outcome: code,
            proof,
        };
        Ok(Some((fate, proven)))
    }

    /// A finalised block whose header of the shard commits to something, with what
    /// that is: the newest one, or else the first after the execution at `height`.
    async fn committing<T>(
        &self,
        shard: ShardId,
        height: u64,
        commits: impl Fn(&ChunkHeader) -> Option<T>,
    ) -> Option<(Block, T)> {
        if self.is_far_ahead(height) {
            return None;
        }
        let found = |block: &Block| block.chunk(shard).and_then(&commits);
        let last = height.saturating_add(COMMITTED_WITHIN);
        let mut view = self.view.clone();
        let known =
            |view: &Arc<ChainView>| view.root(shard, height).is_some() || view.height() > last;
        let newest = view.wait_for(known).await.ok()?.block.clone();
        if let Some(what) = found(&newest) {
            return Some((newest, what));
        }
        // The chain has gone on since.
        for at in height.saturating_add(1)..newest.height.min(last) {
            let block = self.stored(at).await?;
            if let Some(what) = found(&block) {
                return Some((block, what));
            }
        }
        None
    }

    /// The block with a certificate: its own, or that of one after it.
    async fn finalized(&self, block: Block) -> Result<FinalizedBlock, NoProof> {
        let shown = block.height;
        let missing = NoProof::Uncertified(shown);
        let mut blocks = vec![block];
        let mut view = self.view.clone();
        loop {
            let certified = shown + blocks.len() as u64 - 1;
            if let Some(finalization) = self.marshal.get_finalization(Height::new(certified)).await
            {
                return Ok(FinalizedBlock {
                    finalization,
                    blocks,
                });
            }
            if blocks.len() == MOST_BLOCKS {
                return Err(missing);
            }
            let next = certified + 1;
            view.wait_for(|view| view.height() >= next)
                .await
                .map_err(|_| missing)?;
            let next = self.stored(next).await.ok_or(missing)?;
            blocks.insert(0, next);
        }
    }

    async fn stored(&self, height: u64) -> Option<Block> {
        let block = self.marshal.get_block(Height::new(height)).await?;
        Some(block.inner().clone())
    }
}
