// SPDX-License-Identifier: Apache-2.0
//! The own shard, from what this node holds.

use crate::{
    answers::{UNKNOWN, submit_code},
    signatures::Signatures,
};
use shardnode_execution::{Outcome, record::Executed};
use shardnode_mailboxes::{
    bodies, ledger,
    pool::{self, Offered, Rejections},
};
use shardnode_network::{
    Identity,
    client_messages::{Answer, Question},
};
use shardnode_primitives::{
    Digest, Refusal, SignedTransfer, Transaction, genesis::Protocol, highest_nonce, merkle::Proof,
};
use shardnode_state::{Account, NO_ACCOUNT};
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
    /// What verifies transactions that come together.
    pub signatures: Signatures,
}

/// Refuses what nobody could execute, whatever the state.
fn check_content(transaction: &Transaction, protocol: &Protocol) -> Result<(), Refusal> {
    let Transaction::Transfer(SignedTransfer { transfer, .. }) = transaction;
    if transfer.receiver == NO_ACCOUNT {
        return Err(Refusal::Receiver);
    }
    if transfer.amount < protocol.least_balance {
        return Err(Refusal::Amount);
    }
    Ok(())
}

/// Refuses what its signer could not pay for, or use its nonce for, in the state
/// at `height`; or else says what the signer has.
fn check_signer(
    transaction: &Transaction,
    protocol: &Protocol,
    height: u64,
    account: Option<Account>,
) -> Result<u64, Refusal> {
    let Transaction::Transfer(SignedTransfer { transfer, .. }) = transaction;
    let account = account.ok_or(Refusal::NoAccount)?;
    if transfer.nonce <= account.nonce {
        return Err(Refusal::Nonce);
    }
    if transfer.nonce > highest_nonce(height.saturating_add(1)) {
        return Err(Refusal::HighNonce);
    }
    let cost = u128::from(transfer.amount) + u128::from(protocol.transfer_fee);
    if cost > u128::from(account.balance) {
        return Err(Refusal::Balance);
    }
    Ok(account.balance)
}

/// The outcome of a transaction, with the proof in the list of all outcomes of the
/// execution.
fn prove(hash: &Digest, outcome: Outcome, executed: &Executed) -> Answer {
    let (height, outcomes) = (executed.result.height, &executed.outcomes);
    let place = outcomes
        .iter()
        .position(|(other, one)| other == hash && *one == outcome);
    let leaves: Vec<_> = outcomes.iter().map(|(hash, one)| one.leaf(hash)).collect();
    match place.and_then(|place| Proof::of(&leaves, place)) {
        Some(proof) => Answer::ProvenOutcome(height, outcome.code(), proof),
        None => Answer::Nothing,
    }
}

impl Local {
    pub(crate) async fn submit(&self, transaction: Transaction) -> Result<(), Refusal> {
        match self.admit(transaction).await {
            Ok((transaction, funds)) => {
                let Some(pool) = &self.pool else {
                    return self.refuse(Refusal::Shard);
                };
                let added = pool.submit(transaction, funds).await;
                // The pool counts its own.
                added.unwrap_or_else(|| self.refuse(Refusal::Shard))
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// Counts a refusal.
    pub(crate) fn refuse<T>(&self, refusal: Refusal) -> Result<T, Refusal> {
        self.rejections.rejected(refusal);
        Err(refusal)
    }

    /// Refuses what could not be executed on the state as it is, so that the
    /// pool holds only what its signer will pay for. What costs the least to
    /// find out comes first.
    async fn admit(&self, transaction: Transaction) -> Result<(Transaction, u64), Refusal> {
        if self.pool.is_none() {
            return Err(Refusal::Shard);
        }
        let protocol = &self.identity.genesis.protocol;
        check_content(&transaction, protocol)?;
        let account = self.ledger.account(*transaction.signer()).await;
        let (height, account) = account.ok_or(Refusal::Shard)?;
        let funds = check_signer(&transaction, protocol, height, account)?;
        if !transaction.verify(&self.identity.namespaces) {
            return Err(Refusal::Signature);
        }
        Ok((transaction, funds))
    }

    /// Puts transactions of the own shard into the pool, in their order: each is
    /// refused for what [`Self::submit`] would refuse it for.
    pub(crate) async fn submit_all(
        &self,
        transactions: Vec<Transaction>,
    ) -> Vec<Result<(), Refusal>> {
        let mut results = vec![Err(Refusal::Shard); transactions.len()];
        if self.admit_all(transactions, &mut results).await.is_none() {
            for _ in &results {
                self.rejections.rejected(Refusal::Shard);
            }
        }
        results
    }

    /// `None` if this node has no pool, or stops.
    async fn admit_all(
        &self,
        transactions: Vec<Transaction>,
        results: &mut [Result<(), Refusal>],
    ) -> Option<()> {
        let pool = self.pool.as_ref()?;
        let protocol = &self.identity.genesis.protocol;
        let signers = transactions.iter().map(|one| *one.signer()).collect();
        let (height, accounts) = self.ledger.accounts(signers).await?;
        let mut places = Vec::with_capacity(transactions.len());
        let mut payable = Vec::with_capacity(transactions.len());
        for (place, (transaction, account)) in transactions.into_iter().zip(accounts).enumerate() {
            let checked = check_content(&transaction, protocol)
                .and_then(|()| check_signer(&transaction, protocol, height, account));
            match checked {
                Ok(funds) => {
                    places.push((place, funds));
                    payable.push(transaction);
                }
                Err(refusal) => results[place] = self.refuse(refusal),
            }
        }
        let namespaces = &self.identity.namespaces;
        let verified = self.signatures.verify(payable, namespaces).await;
        let mut offered = Vec::with_capacity(verified.len());
        let mut offered_places = Vec::with_capacity(verified.len());
        for ((place, funds), (transaction, holds)) in places.into_iter().zip(verified) {
            if holds {
                let funds = Some(funds);
                offered.push(Offered { transaction, funds });
                offered_places.push(place);
            } else {
                results[place] = self.refuse(Refusal::Signature);
            }
        }
        let added = pool.submit_all(offered).await;
        for (index, place) in offered_places.into_iter().enumerate() {
            results[place] = match &added {
                // The pool counts its own.
                Some(added) => added.get(index).copied().unwrap_or(Err(Refusal::Shard)),
                None => self.refuse(Refusal::Shard),
            };
        }
        Some(())
    }

    pub(crate) async fn answer(&self, question: Question) -> Answer {
        match question {
            Question::Submit(transaction) => {
                Answer::Submitted(submit_code(self.submit(transaction).await))
            }
            Question::SubmitAll(transactions) => {
                let submitted = self.submit_all(transactions).await;
                Answer::SubmittedAll(submitted.into_iter().map(submit_code).collect())
            }
            Question::Outcomes(hashes) => match self.ledger.outcomes(hashes).await {
                Some(outcomes) => {
                    let code = |outcome: Option<(u64, Outcome)>| {
                        outcome.map_or((0, UNKNOWN), |(height, outcome)| (height, outcome.code()))
                    };
                    Answer::Outcomes(outcomes.into_iter().map(code).collect())
                }
                None => Answer::Nothing,
            },
            Question::Account(account) => match self.ledger.prove(account).await {
                Some((height, proof)) => Answer::Account(height, proof),
                None => Answer::Nothing,
            },
            Question::Outcome(hash) => match self.ledger.outcome(hash).await {
                Some(Some((height, outcome))) => Answer::Outcome(height, outcome.code()),
                Some(None) => Answer::Outcome(0, UNKNOWN),
                None => Answer::Nothing,
            },
            Question::ProveOutcome(hash) => match self.ledger.outcome_among(hash).await {
                Some(Some((outcome, executed))) => prove(&hash, outcome, &executed),
                _ => Answer::Nothing,
            },
            Question::Chunk(height, hash) => match self.bodies.serve(height, hash).await {
                Ok(body) => Answer::Chunk(body),
                Err(_) => Answer::Nothing,
            },
        }
    }
}
