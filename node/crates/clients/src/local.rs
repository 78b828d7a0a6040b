// SPDX-License-Identifier: Apache-2.0
//! The own shard, from what this node holds.

use crate::{
    answers::{fate_code, submit_code},
    signatures::Signatures,
    turns::Caller,
};
use shardnode_execution::{Outcome, record::Executed};
use shardnode_mailboxes::{
    bodies, ledger,
    pool::{self, Funds, Offered, Rejections},
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
    /// What computes for clients.
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
) -> Result<Funds, Refusal> {
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
    Ok(Funds {
        balance: account.balance,
        nonce: account.nonce,
        height,
    })
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
    pub(crate) async fn submit(
        &self,
        caller: Caller,
        transaction: Transaction,
    ) -> Result<(), Refusal> {
        match self.admit(caller, transaction).await {
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
    async fn admit(
        &self,
        caller: Caller,
        transaction: Transaction,
    ) -> Result<(Transaction, Funds), Refusal> {
        if self.pool.is_none() {
            return Err(Refusal::Shard);
        }
        let protocol = &self.identity.genesis.protocol;
        check_content(&transaction, protocol)?;
        let account = self.ledger.account(*transaction.signer()).await;
        let (height, account) = account.ok_or(Refusal::Shard)?;
        let funds = check_signer(&transaction, protocol, height, account)?;
        let transaction = self.verify(caller, transaction).await?;
        Ok((transaction, funds))
    }

    /// Refuses what its signer did not sign.
    pub(crate) async fn verify(
        &self,
        caller: Caller,
        transaction: Transaction,
    ) -> Result<Transaction, Refusal> {
        let namespaces = &self.identity.namespaces;
        let one = vec![transaction];
        let verified = self.signatures.verify(caller, one, namespaces).await;
        let held = verified.into_iter().find(|(_, holds)| *holds);
        held.map(|(one, _)| one).ok_or(Refusal::Signature)
    }

    /// Puts transactions of the own shard into the pool, in their order: each is
    /// refused for what [`Self::submit`] would refuse it for.
    pub(crate) async fn submit_all(
        &self,
        caller: Caller,
        transactions: Vec<Transaction>,
    ) -> Vec<Result<(), Refusal>> {
        let mut results = vec![Err(Refusal::Shard); transactions.len()];
        let admitted = self.admit_all(caller, transactions, &mut results).await;
        if admitted.is_none() {
            for _ in &results {
                self.rejections.rejected(Refusal::Shard);
            }
        }
        results
    }

    /// `None` if this node has no pool, or stops.
    async fn admit_all(
        &self,
        caller: Caller,
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
        let verified = self.signatures.verify(caller, payable, namespaces).await;
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

    /// The outcome of a transaction with its proof.
    async fn prove(&self, caller: Caller, hash: Digest) -> Answer {
        let _place = self.signatures.proof(caller.clone()).await;
        let Some(Some((outcome, executed))) = self.ledger.outcome_among(hash).await else {
            return Answer::Nothing;
        };
        let outcomes = executed.outcomes.len();
        let make = move || prove(&hash, outcome, &executed);
        self.signatures.prove(caller, outcomes, make).await
    }

    /// What became of transactions. The pool lets go of them once the ledger has executed
    /// a chunk, so it is asked first: one that the chunk has is in it, and not gone.
    async fn fates(&self, hashes: Vec<Digest>) -> Option<Vec<(u64, u8)>> {
        let let_go = match &self.pool {
            Some(pool) => pool.let_go(hashes.clone()).await?,
            None => vec![None; hashes.len()],
        };
        let outcomes = self.ledger.outcomes(hashes).await?;
        let both = outcomes.into_iter().zip(let_go);
        Some(both.map(|(outcome, why)| fate_code(outcome, why)).collect())
    }

    pub(crate) async fn answer(&self, caller: Caller, question: Question) -> Answer {
        match question {
            Question::Submit(transaction) => {
                Answer::Submitted(submit_code(self.submit(caller, transaction).await))
            }
            Question::SubmitAll(transactions) => {
                let submitted = self.submit_all(caller, transactions).await;
                Answer::SubmittedAll(submitted.into_iter().map(submit_code).collect())
            }
            Question::Outcomes(hashes) => match self.fates(hashes).await {
                Some(codes) => Answer::Outcomes(codes),
                None => Answer::Nothing,
            },
            Question::Account(account) => match self.ledger.prove(account).await {
                Some((height, proof)) => Answer::Account(height, proof),
                None => Answer::Nothing,
            },
            Question::Outcome(hash) => match self.fates(vec![hash]).await.as_deref() {
                Some([(height, code)]) => Answer::Outcome(*height, *code),
                _ => Answer::Nothing,
            },
            Question::ProveOutcome(hash) => self.prove(caller, hash).await,
            Question::Chunk(height, hash) => match self.bodies.serve(height, hash).await {
                Ok(body) => Answer::Chunk(body),
                Err(_) => Answer::Nothing,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use commonware_runtime::{
        Clock as _, Runner as _, Spawner as _, Strategizer as _, Supervisor as _,
        deterministic::{Context, Runner},
    };
    use commonware_utils::{NZUsize, channel::fallible::OneshotExt as _};
    use futures::future::{Either, select};
    use prometheus_client::registry::Registry;
    use shardnode_primitives::{ExecutionResult, GenesisDocument, ShardTotals, Transfer};
    use std::time::Duration;

    fn identity() -> Identity {
        let key = PrivateKey::from_seed(0);
        let document: GenesisDocument = serde_json::from_value(serde_json::json!({
            "network": "test", "createdAtMs": 0, "seed": "11".repeat(32), "shards": 1,
            "accounts": {"perShard": 10, "initialBalance": 1_000},
            "protocol": {
                "executionLag": 1, "minBlockTimeMs": 100, "chunkWaitMs": 1_000,
                "maxTransactionsPerChunk": 6_000, "mandatesPerShard": 68, "epochLength": 1000,
                "congestionControl": "Enabled", "transferFee": 1, "leastBalance": 1,
            },
            "validators": [{
                "name": "n0", "role": "producer", "stake": 1_000_000,
                "publicKey": key.public_key().to_string(), "shard": 0, "slot": 0,
            }],
        }))
        .unwrap();
        Identity::new(document.check().unwrap(), key).unwrap()
    }

    /// A transfer whose signer has enough, and which another key signed.
    fn forged(identity: &Identity) -> Transaction {
        let account = identity.genesis.account(0);
        let transfer = Transfer {
            signer: account.id,
            receiver: account.id,
            amount: 1,
            nonce: 1,
            expires_at: 0,
        };
        transfer.sign(&identity.key, &identity.namespaces)
    }

    /// The execution of a chunk with this transaction alone.
    fn executed(hash: Digest) -> Executed {
        Executed {
            result: ExecutionResult {
                height: 1,
                state_root: hash,
                outcomes_root: hash,
                receipts_root: hash,
                transfers: 1,
                credits: 0,
            },
            totals: ShardTotals::genesis(hash, 0),
            buckets: Vec::new(),
            outcomes: vec![(hash, Outcome::Executed)],
        }
    }

    /// A producer whose ledger says of everybody that they have enough, and of
    /// every transaction that it was executed.
    fn local(context: &Context) -> Local {
        let (ledger, mut inbox) = ledger::mailbox();
        context.child("accounts").spawn(|_| async move {
            while let Some(question) = inbox.questions.recv().await {
                match question {
                    ledger::Question::Account { reply, .. } => {
                        let (balance, nonce) = (1_000, 0);
                        reply.send_lossy((0, Some(Account { balance, nonce })));
                    }
                    other => panic!("{other:?}"),
                }
            }
        });
        context.child("outcomes").spawn(|_| async move {
            while let Some(asked) = inbox.proofs.recv().await {
                let executed = Arc::new(executed(asked.hash));
                asked.reply.send_lossy(Some((Outcome::Executed, executed)));
            }
        });
        let threads = NZUsize!(1);
        let strategy = context.strategy(threads);
        let (bodies, _) = bodies::mailbox();
        let (pool, _) = pool::mailbox();
        Local {
            identity: Arc::new(identity()),
            ledger,
            bodies,
            pool: Some(pool),
            rejections: Rejections::new(&mut Registry::default()),
            signatures: Signatures::new(strategy, threads, context.child("signatures")),
        }
    }

    /// The answer to a question of a peer, which is none before its turn has come.
    async fn at_its_turn(context: &Context, local: &Local, question: Question) -> Answer {
        let held = local.signatures.hold();
        assert!(!held.is_empty());
        let asked = local.clone();
        let caller = Caller::Peer(local.identity.key.public_key());
        let answer = Box::pin(asked.answer(caller, question));
        let later = Box::pin(context.sleep(Duration::from_secs(1)));
        let Either::Left(((), answer)) = select(later, answer).await else {
            panic!("answered before its turn");
        };
        drop(held);
        answer.await
    }

    #[test]
    fn what_is_computed_for_a_peer_waits_for_its_turn() {
        Runner::default().start(|context| async move {
            let local = local(&context);
            let hash = Digest([7; 32]);
            let proven = at_its_turn(&context, &local, Question::ProveOutcome(hash)).await;
            assert!(matches!(proven, Answer::ProvenOutcome(1, 0, _)));

            let forged = Question::Submit(forged(&local.identity));
            let refused = at_its_turn(&context, &local, forged).await;
            assert_eq!(refused, Answer::Submitted(Refusal::Signature.code()));
        });
    }
}
