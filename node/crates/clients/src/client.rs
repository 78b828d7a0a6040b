// SPDX-License-Identifier: Apache-2.0
//! The handle that clients are served through.

use crate::{
    answers::{Fate, Unavailable, fate, submit_result},
    budget::{LISTED, QUESTIONS},
    forwarded::LISTS,
    local::Local,
    proofs::COMMITTED_WITHIN,
    turns::Caller,
};
use bytes::Bytes;
use commonware_utils::channel::{mpsc, oneshot, watch};
use futures::future::join_all;
use shardnode_blocks::{ChainView, Marshal};
use shardnode_network::client_messages::{Answer, MOST_TOGETHER, Question};
use shardnode_primitives::{
    AccountId, ChunkBody, ChunkHeader, Digest, Refusal, ShardId, Transaction,
};
use shardnode_state::Account;
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::Semaphore;
use tracing::debug;

/// What the actor is asked for.
pub(crate) enum Call {
    /// To ask a producer of another shard.
    Ask(Outgoing),
    /// What this node itself knows of transactions that it passed on.
    Fates(Vec<Digest>, oneshot::Sender<Vec<Fate>>),
}

/// A question for another shard.
pub(crate) struct Outgoing {
    pub(crate) shard: ShardId,
    pub(crate) question: Question,
    pub(crate) reply: oneshot::Sender<Answer>,
}

/// Serves clients.
#[derive(Clone)]
pub struct Client {
    pub(crate) local: Local,
    pub(crate) view: watch::Receiver<Arc<ChainView>>,
    /// Finalised blocks and their certificates.
    pub(crate) marshal: Marshal,
    calls: mpsc::Sender<Call>,
    /// Room for transactions in lists that other nodes are asked about.
    listed: Arc<Semaphore>,
}

impl Client {
    /// A handle that asks other shards through `calls`.
    pub(crate) fn new(
        local: Local,
        view: watch::Receiver<Arc<ChainView>>,
        marshal: Marshal,
        calls: mpsc::Sender<Call>,
    ) -> Self {
        Self {
            local,
            view,
            marshal,
            calls,
            // The rest is for what was passed on before, and for transactions by
            // themselves, which wait for no list.
            listed: Arc::new(Semaphore::new(LISTED - LISTS * MOST_TOGETHER - QUESTIONS)),
        }
    }

    pub(crate) fn shard_of(&self, account: &AccountId) -> ShardId {
        self.local.identity.genesis.layout.shard_of(account)
    }

    pub(crate) fn tracks(&self, shard: ShardId) -> bool {
        self.local.identity.tracked() == Some(shard)
    }

    pub(crate) async fn ask(&self, shard: ShardId, question: Question) -> Option<Answer> {
        let (reply, response) = oneshot::channel();
        let outgoing = Outgoing {
            shard,
            question,
            reply,
        };
        self.calls.send(Call::Ask(outgoing)).await.ok()?;
        response.await.ok()
    }

    /// Puts a transaction into a pool of its signer's shard. Other nodes are handed
    /// it only if its signature holds: they may be handed it in a list later, and
    /// nobody sends lists with others.
    pub async fn submit(&self, transaction: Transaction) -> Result<ShardId, Refusal> {
        let shard = self
            .local
            .identity
            .genesis
            .layout
            .shard_of(transaction.signer());
        let result = if self.tracks(shard) {
            self.local.submit(Caller::Clients, transaction).await
        } else {
            let verified = self.local.verify(Caller::Clients, transaction).await;
            let transaction = verified.or_else(|refusal| self.local.refuse(refusal))?;
            match self.ask(shard, Question::Submit(transaction)).await {
                Some(Answer::Submitted(code)) => submit_result(code),
                _ => Err(Refusal::Shard),
            }
        };
        result.map(|()| shard)
    }

    /// Puts transactions into pools of their signers' shards; those of one signer
    /// in their order.
    ///
    /// Beyond [`MOST_TOGETHER`] they are refused.
    pub async fn submit_all(
        &self,
        transactions: Vec<Transaction>,
    ) -> Vec<Result<ShardId, Refusal>> {
        let layout = self.local.identity.genesis.layout;
        let shards: Vec<_> = transactions
            .iter()
            .map(|one| layout.shard_of(one.signer()))
            .collect();
        let mut lists = BTreeMap::new();
        for (place, transaction) in transactions.into_iter().enumerate().take(MOST_TOGETHER) {
            let shard = shards[place];
            let (places, list): &mut (Vec<_>, Vec<_>) = lists
                .entry((shard, self.route(shard, &transaction)))
                .or_default();
            places.push(place);
            list.push(transaction);
        }
        let submitted = lists
            .into_iter()
            .map(|((shard, _), (places, list))| async move {
                let results = if self.tracks(shard) {
                    self.local.submit_all(Caller::Clients, list).await
                } else {
                    self.forward(shard, list).await
                };
                (places, results)
            });
        let mut results = vec![Err(Refusal::Shard); shards.len()];
        for (places, submitted) in join_all(submitted).await {
            for (place, result) in places.into_iter().zip(submitted) {
                results[place] = result.map(|()| shards[place]);
            }
        }
        results
    }

    /// Which of the other producers of a shard takes in a transaction: that of its
    /// signer, as with those that come by themselves.
    fn route(&self, shard: ShardId, transaction: &Transaction) -> usize {
        if self.tracks(shard) {
            return 0;
        }
        let producers = self.local.identity.other_producers(shard).len();
        usize::from(transaction.signer().0[31])
            .checked_rem(producers)
            .unwrap_or_default()
    }

    /// Hands transactions of another shard, all of one route, to a producer of it,
    /// without those whose signatures do not hold.
    async fn forward(
        &self,
        shard: ShardId,
        transactions: Vec<Transaction>,
    ) -> Vec<Result<(), Refusal>> {
        let namespaces = &self.local.identity.namespaces;
        let signatures = &self.local.signatures;
        let verified = signatures
            .verify(Caller::Clients, transactions, namespaces)
            .await;
        let (mut places, mut held) = (Vec::new(), Vec::new());
        let mut results = vec![Err(Refusal::Shard); verified.len()];
        for (place, (transaction, holds)) in verified.into_iter().enumerate() {
            if holds {
                places.push(place);
                held.push(transaction);
            } else {
                results[place] = self.local.refuse(Refusal::Signature);
            }
        }
        if held.is_empty() {
            return results;
        }
        let _room = self.list_room(held.len()).await;
        if let Some(Answer::SubmittedAll(codes)) = self.ask(shard, Question::SubmitAll(held)).await
        {
            for (place, code) in places.into_iter().zip(codes) {
                results[place] = submit_result(code);
            }
        }
        results
    }

    /// Waits until other nodes can be asked about so many transactions more.
    pub(crate) async fn list_room(
        &self,
        transactions: usize,
    ) -> Option<tokio::sync::SemaphorePermit<'_>> {
        let permits = u32::try_from(transactions).unwrap_or(u32::MAX);
        // Nobody closes it.
        self.listed.acquire_many(permits).await.ok()
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
        if self.is_far_ahead(height) {
            return Err(gone);
        }
        // The state is ahead of the headers by the executions that no header
        // commits to yet, so its root is finalised a block or two later.
        let mut view = self.view.clone();
        let committed = view
            .wait_for(|view| {
                view.root(shard, height).is_some()
                    || view.height() > height.saturating_add(COMMITTED_WITHIN)
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

    /// Whether the execution at this height is of a block that is not waited for: so
    /// far above the last one that this node has heard of, there is none.
    pub(crate) fn is_far_ahead(&self, height: u64) -> bool {
        let tip = self.local.ledger.tip();
        // One that has just started has heard of none yet.
        tip > 0 && height > tip.saturating_add(COMMITTED_WITHIN)
    }

    /// What this node itself knows of transactions of which a producer says that no
    /// chunk has them.
    async fn own_fates(&self, hashes: Vec<Digest>) -> Vec<Fate> {
        let (reply, response) = oneshot::channel();
        // A node that stops knows nothing.
        let _ = self.calls.send(Call::Fates(hashes, reply)).await;
        response.await.unwrap_or_default()
    }

    /// What became of a transaction of `signer`.
    pub async fn outcome(&self, signer: AccountId, hash: Digest) -> Result<Fate, Unavailable> {
        let shard = self.local.identity.genesis.layout.shard_of(&signer);
        let answer = if self.tracks(shard) {
            Some(
                self.local
                    .answer(Caller::Clients, Question::Outcome(hash))
                    .await,
            )
        } else {
            self.ask(shard, Question::Outcome(hash)).await
        };
        let Some(Answer::Outcome(height, code)) = answer else {
            return Err(Unavailable(shard));
        };
        let fate = fate(height, code).ok_or(Unavailable(shard))?;
        if let Fate::Known(..) = fate {
            return Ok(fate);
        }
        let own = self.own_fates(vec![hash]).await;
        Ok(own.first().map_or(fate, |own| own.or(fate)))
    }

    /// What became of transactions, each of a signer. Beyond [`MOST_TOGETHER`] it
    /// is not looked for.
    pub async fn outcomes(
        &self,
        asked: Vec<(AccountId, Digest)>,
    ) -> Result<Vec<Fate>, Unavailable> {
        let layout = self.local.identity.genesis.layout;
        let mut fates = vec![Fate::Unknown; asked.len()];
        let mut lists: BTreeMap<ShardId, (Vec<usize>, Vec<Digest>)> = BTreeMap::new();
        for (place, (signer, hash)) in asked.iter().enumerate().take(MOST_TOGETHER) {
            let (places, hashes) = lists.entry(layout.shard_of(signer)).or_default();
            places.push(place);
            hashes.push(*hash);
        }
        for (shard, (places, hashes)) in lists {
            let question = Question::Outcomes(hashes);
            let answer = if self.tracks(shard) {
                Some(self.local.answer(Caller::Clients, question).await)
            } else {
                let _room = self.list_room(places.len()).await;
                self.ask(shard, question).await
            };
            let Some(Answer::Outcomes(outcomes)) = answer else {
                return Err(Unavailable(shard));
            };
            if outcomes.len() != places.len() {
                return Err(Unavailable(shard));
            }
            for (place, (height, code)) in places.into_iter().zip(outcomes) {
                fates[place] = fate(height, code).ok_or(Unavailable(shard))?;
            }
        }
        let unknown: Vec<_> = (0..asked.len().min(MOST_TOGETHER))
            .filter(|place| !matches!(fates[*place], Fate::Known(..)))
            .collect();
        if !unknown.is_empty() {
            let hashes = unknown.iter().map(|place| asked[*place].1).collect();
            let own = self.own_fates(hashes).await;
            for (place, own) in unknown.into_iter().zip(own) {
                fates[place] = own.or(fates[place]);
            }
        }
        Ok(fates)
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
            Some(self.local.answer(Caller::Clients, question).await)
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
