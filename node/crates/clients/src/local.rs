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
use shardnode_primitives::{SignedTransfer, Transaction, highest_nonce};
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
        let reason = match result {
            Err(SubmitError::Signature) => Some("signature"),
            Err(SubmitError::Nonce) => Some("nonce"),
            Err(SubmitError::HighNonce) => Some("high_nonce"),
            Err(SubmitError::NoAccount) => Some("no_account"),
            Err(SubmitError::Balance) => Some("balance"),
            Err(SubmitError::Amount) => Some("amount"),
            Err(SubmitError::Receiver) => Some("receiver"),
            Err(SubmitError::Unavailable(_)) => Some("shard"),
            // The pool counts its own.
            Ok(()) | Err(SubmitError::Pool(_)) => None,
        };
        if let Some(reason) = reason {
            self.rejections.rejected(reason);
        }
        result
    }

    /// Refuses what could not be executed on the state as it is, so that the
    /// pool holds only what its signer will pay for. What costs the least to
    /// find out comes first.
    async fn admit(&self, transaction: Transaction) -> Result<(), SubmitError> {
        let signer = *transaction.signer();
        let shard = self.identity.genesis.layout.shard_of(&signer);
        let gone = SubmitError::Unavailable(shard);
        let Some(pool) = &self.pool else {
            return Err(gone);
        };
        let protocol = &self.identity.genesis.protocol;
        let Transaction::Transfer(SignedTransfer { transfer, .. }) = &transaction;
        if transfer.receiver == NO_ACCOUNT {
            return Err(SubmitError::Receiver);
        }
        if transfer.amount < protocol.least_balance {
            return Err(SubmitError::Amount);
        }
        let (height, account) = self.ledger.account(signer).await.ok_or(gone)?;
        let account = account.ok_or(SubmitError::NoAccount)?;
        if transfer.nonce <= account.nonce {
            return Err(SubmitError::Nonce);
        }
        if transfer.nonce > highest_nonce(height.saturating_add(1)) {
            return Err(SubmitError::HighNonce);
        }
        let cost = u128::from(transfer.amount) + u128::from(protocol.transfer_fee);
        if cost > u128::from(account.balance) {
            return Err(SubmitError::Balance);
        }
        if !transaction.verify(&self.identity.namespaces) {
            return Err(SubmitError::Signature);
        }
        let added = pool
            .submit(transaction, account.balance)
            .await
            .ok_or(gone)?;
        added.map_err(Into::into)
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
