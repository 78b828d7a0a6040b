// SPDX-License-Identifier: Apache-2.0
//! The own shard, from what this node holds.

use crate::answers::{SubmitError, UNKNOWN, submit_code};
use shardnode_mailboxes::{
    bodies, ledger,
    pool::{self, Rejections},
};
use shardnode_network::{
    Identity,
    client_messages::{Answer, Question},
};
use shardnode_primitives::Transaction;
use shardnode_state::NO_ACCOUNT;
use std::sync::Arc;

/// What the own shard can answer from.
#[derive(Clone)]
pub struct Local {
    /// Who this node is.
    pub identity: Arc<Identity>,
    /// State and executions.
    pub ledger: ledger::Mailbox,
    /// Stored bodies.
    pub bodies: bodies::Mailbox,
    /// Where accepted transactions go; only a producer has one.
    pub pool: Option<pool::Mailbox>,
    /// Where it is counted what is refused.
    pub rejections: Rejections,
}

impl Local {
    pub(crate) async fn submit(&self, transaction: Transaction) -> Result<(), SubmitError> {
        let result = self.admit(transaction).await;
        match result {
            Err(SubmitError::Signature) => self.rejections.rejected("signature"),
            Err(SubmitError::Nonce) => self.rejections.rejected("nonce"),
            Err(SubmitError::Balance) => self.rejections.rejected("balance"),
            Err(SubmitError::Receiver) => self.rejections.rejected("receiver"),
            Err(SubmitError::Unavailable(_)) => self.rejections.rejected("shard"),
            Ok(()) | Err(SubmitError::Pool(_)) => {}
        }
        result
    }

    async fn admit(&self, transaction: Transaction) -> Result<(), SubmitError> {
        let signer = *transaction.signer();
        let shard = self.identity.genesis.layout.shard_of(&signer);
        let gone = SubmitError::Unavailable(shard);
        let Some(pool) = &self.pool else {
            return Err(gone);
        };
        if !transaction.verify(&self.identity.namespaces) {
            return Err(SubmitError::Signature);
        }
        let Transaction::Transfer(signed) = &transaction;
        if signed.transfer.receiver == NO_ACCOUNT {
            return Err(SubmitError::Receiver);
        }
        let (_, account) = self.ledger.account(signer).await.ok_or(gone)?;
        let account = account.unwrap_or_default();
        if transaction.nonce() <= account.nonce {
            return Err(SubmitError::Nonce);
        }
        if signed.transfer.amount > account.balance {
            return Err(SubmitError::Balance);
        }
        let added = pool.add(vec![transaction]).await.ok_or(gone)?;
        added
            .into_iter()
            .next()
            .unwrap_or(Ok(()))
            .map_err(Into::into)
    }

    pub(crate) async fn answer(&self, question: Question) -> Answer {
        match question {
            Question::Submit(transaction) => {
                Answer::Submitted(submit_code(self.submit(transaction).await))
            }
            Question::Account(account) => match self.ledger.prove(account).await {
                Some((height, proof)) => Answer::Account(height, proof),
                None => Answer::Nothing,
            },
            Question::Outcome(hash) => match self.ledger.outcome(hash).await {
                Some(Some((height, outcome))) => Answer::Outcome(height, outcome.code()),
                Some(None) => Answer::Outcome(0, UNKNOWN),
                None => Answer::Nothing,
            },
            Question::Chunk(height, hash) => match self.bodies.serve(height, hash).await {
                Ok(body) => Answer::Chunk(body),
                Err(_) => Answer::Nothing,
            },
        }
    }
}
