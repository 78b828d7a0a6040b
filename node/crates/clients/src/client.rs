// SPDX-License-Identifier: Apache-2.0
//! The handle that clients are served through.

use crate::{
    answers::{Fate, SubmitError, UNKNOWN, Unavailable, submit_result},
    local::Local,
};
use bytes::Bytes;
use commonware_utils::channel::{mpsc, oneshot, watch};
use shardnode_blocks::ChainView;
use shardnode_execution::Outcome;
use shardnode_network::client_messages::{Answer, Question};
use shardnode_primitives::{AccountId, ChunkBody, ChunkHeader, Digest, ShardId, Transaction};
use shardnode_state::Account;
use std::sync::Arc;
use tracing::debug;

/// A question for another shard.
pub(crate) struct Outgoing {
    pub(crate) shard: ShardId,
    pub(crate) question: Question,
    pub(crate) reply: oneshot::Sender<Answer>,
}

/// Serves clients.
#[derive(Clone)]
pub struct Client {
    local: Local,
    view: watch::Receiver<Arc<ChainView>>,
    outgoing: mpsc::Sender<Outgoing>,
}

impl Client {
    /// A handle that asks other shards through `outgoing`.
    pub(crate) const fn new(
        local: Local,
        view: watch::Receiver<Arc<ChainView>>,
        outgoing: mpsc::Sender<Outgoing>,
    ) -> Self {
        Self {
            local,
            view,
            outgoing,
        }
    }

    fn tracks(&self, shard: ShardId) -> bool {
        self.local.identity.tracked() == Some(shard)
    }

    async fn ask(&self, shard: ShardId, question: Question) -> Option<Answer> {
        let (reply, response) = oneshot::channel();
        let outgoing = Outgoing {
            shard,
            question,
            reply,
        };
        self.outgoing.send(outgoing).await.ok()?;
        response.await.ok()
    }

    /// Puts a transaction into a pool of its signer's shard.
    pub async fn submit(&self, transaction: Transaction) -> Result<ShardId, SubmitError> {
        let shard = self
            .local
            .identity
            .genesis
            .layout
            .shard_of(transaction.signer());
        let result = if self.tracks(shard) {
            self.local.submit(transaction).await
        } else {
            match self.ask(shard, Question::Submit(transaction)).await {
                Some(Answer::Submitted(code)) => submit_result(code, shard),
                _ => Err(SubmitError::Unavailable(shard)),
            }
        };
        result.map(|()| shard)
    }

    /// An account and the height of the state it is from. Of another shard,
    /// proven against a finalised header.
    pub async fn account(
        &self,
        id: AccountId,
    ) -> Result<(ShardId, u64, Option<Account>), Unavailable> {
        let shard = self.local.identity.genesis.layout.shard_of(&id);
        let gone = Unavailable(shard);
        if self.tracks(shard) {
            let (height, account) = self.local.ledger.account(id).await.ok_or(gone)?;
            return Ok((shard, height, account));
        }
        let Some(Answer::Account(height, proof)) = self.ask(shard, Question::Account(id)).await
        else {
            return Err(gone);
        };
        // The state is ahead of the headers by the executions that no header
        // commits to yet, so its root is finalised a block or two later.
        let mut view = self.view.clone();
        let committed = view
            .wait_for(|view| {
                view.root(shard, height).is_some() || view.height() > height.saturating_add(64)
            })
            .await
            .map_err(|_| gone)?
            .root(shard, height)
            .ok_or(gone)?;
        let account = proof.verify(&id, &committed).map_err(|error| {
            debug!(%shard, %error, "account proof refused");
            gone
        })?;
        Ok((shard, height, account))
    }

    /// What became of a transaction of `signer`.
    pub async fn outcome(&self, signer: AccountId, hash: Digest) -> Result<Fate, Unavailable> {
        let shard = self.local.identity.genesis.layout.shard_of(&signer);
        let answer = if self.tracks(shard) {
            Some(self.local.answer(Question::Outcome(hash)).await)
        } else {
            self.ask(shard, Question::Outcome(hash)).await
        };
        match answer {
            Some(Answer::Outcome(_, UNKNOWN)) => Ok(Fate::Unknown),
            Some(Answer::Outcome(height, code)) => Outcome::from_code(code)
                .map(|outcome| Fate::Known(height, outcome))
                .ok_or(Unavailable(shard)),
            _ => Err(Unavailable(shard)),
        }
    }

    /// The body of the chunk with this finalised header.
    pub async fn body(&self, header: &ChunkHeader) -> Result<ChunkBody, Unavailable> {
        let content = &header.content;
        let gone = Unavailable(content.shard);
        if content.body_len == 0 {
            return Ok(ChunkBody(Bytes::new()));
        }
        let question = Question::Chunk(content.height, content.body_hash);
        let answer = if self.tracks(content.shard) {
            Some(self.local.answer(question).await)
        } else {
            self.ask(content.shard, question).await
        };
        let Some(Answer::Chunk(body)) = answer else {
            return Err(gone);
        };
        let body = ChunkBody(body);
        (body.hash() == content.body_hash)
            .then_some(body)
            .ok_or(gone)
    }
}
