// SPDX-License-Identifier: Apache-2.0
//! What the finalised blocks must say, by a model of the ledger that shares no
//! code with the nodes ([`shardnode_reference_ledger`]).
//!
//! Every new header of every finalised block is compared with the model's, and
//! the first thing in which one differs is reported: after it everything
//! would. What is the node's own here is the codec, and whether a body has the
//! hash and the coding that its header names. Signatures are the model's.
//!
//! A header names roots and sums. To say which account or transfer it is about,
//! the nodes that track the shard are asked for theirs.

use crate::{
    checks::{Promise, Violation},
    network::Network,
    planted::Planted,
};
use commonware_codec::Encode as _;
use commonware_parallel::Sequential;
use shardnode_clients::Fate;
use shardnode_execution::body::{self, Shown};
use shardnode_network::identity::body_code;
use shardnode_primitives::{
    AccountId, Block, ChunkBody, ChunkHeader, Digest, Genesis, ShardId, Transaction,
    genesis::CongestionControl,
};
use shardnode_reference_ledger::{
    Account, Chunk, Header, Id, Model, Outcome, Place, Rules, Sums, Totals, Transfer, difference,
    executing::transaction_hash,
};
use std::collections::{BTreeMap, BTreeSet};

/// Accounts that are named at most.
const NAMED: usize = 3;

/// The model, and how a run compares with it.
pub struct Oracle {
    genesis: Genesis,
    model: Model,
    /// Whose transfers must all be executed in the end.
    counted: BTreeSet<AccountId>,
    transfers: u64,
    counted_transfers: u64,
    differs: bool,
    /// The execution that a header says something else of.
    suspect: Option<(ShardId, u64)>,
    planted: Option<Planted>,
}

impl Oracle {
    /// Of a network that has not started. All transfers that accounts in
    /// `counted` sign are to be executed in the end.
    #[must_use]
    pub fn new(
        genesis: &Genesis,
        accounts: impl IntoIterator<Item = AccountId>,
        counted: BTreeSet<AccountId>,
        planted: Option<Planted>,
    ) -> Self {
        let rules = Rules {
            network: genesis.network.clone(),
            genesis: genesis.hash().0,
            shards: genesis.layout.shards(),
            lag: genesis.protocol.execution_lag,
            most_transactions: genesis.protocol.max_transactions_per_chunk,
            congestion_control: genesis.protocol.congestion_control == CongestionControl::Enabled,
            fee: genesis.protocol.transfer_fee,
            least_balance: genesis.protocol.least_balance,
        };
        let balance = genesis.accounts.initial_balance;
        let account = Account { balance, nonce: 0 };
        let mut accounts: BTreeMap<Id, Account> =
            accounts.into_iter().map(|id| (id.0, account)).collect();
        if planted == Some(Planted::LostValue) {
            accounts.pop_first();
        }
        Self {
            genesis: genesis.clone(),
            model: Model::new(rules, &accounts),
            counted,
            transfers: 0,
            counted_transfers: 0,
            differs: false,
            suspect: None,
            planted,
        }
    }

    /// Transfers executed.
    #[must_use]
    pub const fn transfers(&self) -> u64 {
        self.transfers
    }

    /// Those of them that accounts signed whose transfers are counted.
    #[must_use]
    pub const fn counted(&self) -> u64 {
        self.counted_transfers
    }

    /// The first thing in which the headers of `block` differ from the model's,
    /// if none before did. To be called for each block in order, before
    /// [`execute`](Self::execute).
    pub fn compare(&mut self, block: &Block) -> Option<Violation> {
        if self.differs {
            return None;
        }
        let (shard, at, what) = block.new_chunks().find_map(|header| {
            let shard = header.content.shard;
            let own = self.model.next_header(shard.0);
            let (at, what) = difference(&stated(header), &own)?;
            Some((shard, at, what))
        })?;
        self.differs = true;
        self.suspect = at.map(|at| (shard, at));
        let of = at.map_or_else(String::new, |at| format!(", of the chunk at height {at}"));
        Some(Violation::new(
            Promise::ValidRoots,
            format!(
                "header of shard {shard} at height {}{of}: {what}",
                block.height
            ),
        ))
    }

    /// Tells the model of the new chunks of `block`, whose bodies are `bodies`.
    pub fn execute(
        &mut self,
        network: &Network,
        block: &Block,
        bodies: &BTreeMap<ShardId, ChunkBody>,
    ) -> Option<Violation> {
        let chunks = block.new_chunks().map(|header| {
            let shard = header.content.shard;
            let body = bodies.get(&shard);
            let body = body.and_then(|body| self.transfers_of(header, body));
            Chunk {
                shard: shard.0,
                transfers: body.unwrap_or_default(),
            }
        });
        let mut chunks: Vec<Chunk> = chunks.collect();
        self.make_planted_mistake(&mut chunks);
        self.model.next_block(&chunks);
        for chunk in &chunks {
            for (transfer, outcome) in self.model.outcomes(chunk.shard, block.height) {
                if *outcome != Outcome::Executed {
                    network.shared.count(kind(*outcome));
                    continue;
                }
                self.transfers += 1;
                let counted = self.counted.contains(&AccountId(transfer.signer));
                self.counted_transfers += u64::from(counted);
            }
        }
        let value = self.model.value();
        let supply = self.genesis.supply();
        (value.sum() != supply).then(|| {
            Violation::new(
                Promise::Supply,
                format!(
                    "at height {}: {} in accounts, {} on the way and {} burnt, genesis made \
                     {supply}",
                    block.height, value.balances, value.in_flight, value.burnt
                ),
            )
        })
    }

    /// A client's transfer in the newest chunk of a shard, executed at `height`, that
    /// failed and cost it nothing, but for congestion, which may come after it.
    #[must_use]
    pub fn free_failure(&self, shard: ShardId, height: u64) -> Option<String> {
        let mut outcomes = self.model.outcomes(shard.0, height).iter();
        let (transfer, outcome) = outcomes.find(|(transfer, outcome)| {
            let free = match outcome {
                Outcome::StaleNonce
                | Outcome::WrongShard
                | Outcome::NoAccount
                | Outcome::Expired
                | Outcome::HighNonce => true,
                Outcome::Executed
                | Outcome::InsufficientBalance
                | Outcome::ReservedReceiver
                | Outcome::Congested
                | Outcome::LittleAmount => false,
            };
            free && !self.counted.contains(&AccountId(transfer.signer))
        })?;
        Some(format!("{}, which {outcome}", described(transfer)))
    }

    /// What a body holds, if it is what the header says but for signatures.
    fn transfers_of(&self, header: &ChunkHeader, body: &ChunkBody) -> Option<Vec<Transfer>> {
        let (shown, code) = (Shown::Body(body.clone()), body_code(&self.genesis));
        let unsigned = |_: &[Transaction]| true;
        let judged = body::check(shown, &header.content, &code, &Sequential, unsigned).ok()?;
        judged.transactions?.iter().map(transfer).collect()
    }

    fn make_planted_mistake(&mut self, chunks: &mut [Chunk]) {
        let full = chunks.iter_mut().find(|chunk| !chunk.transfers.is_empty());
        let Some(Chunk { transfers, .. }) = full else {
            return;
        };
        match self.planted {
            Some(Planted::DroppedTransfer) => {
                let counted = |one: &Transfer| self.counted.contains(&AccountId(one.signer));
                let Some(place) = transfers.iter().position(counted) else {
                    return;
                };
                transfers.remove(place);
            }
            Some(Planted::DoubledTransfer) => transfers.extend_from_within(..1),
            _ => return,
        }
        self.planted = None;
    }

    /// What the nodes that track the shard of the execution in question say of
    /// its transfers and accounts, if it is known by now and not what the model
    /// says.
    pub async fn look_into(&mut self, network: &Network) -> Option<Violation> {
        let (shard, height) = self.suspect?;
        let mut asked = false;
        for (index, node) in network.running() {
            if node.identity.tracked() != Some(shard) {
                continue;
            }
            for (transfer, own) in self.model.outcomes(shard.0, height) {
                let hash = Digest(transaction_hash(transfer));
                let fate = node.client.outcome(AccountId(transfer.signer), hash);
                let Some(Ok(Fate::Known(at, outcome))) = network.ask(fate).await else {
                    continue;
                };
                if at == height && outcome.code() != *own as u8 {
                    self.suspect = None;
                    return Some(about(
                        shard,
                        height,
                        &described(transfer),
                        index,
                        &told(outcome),
                        own,
                    ));
                }
            }
            let mut different = Vec::new();
            // Also those that the nodes alone have.
            let involved = self.model.outcomes(shard.0, height).iter();
            let involved = involved.flat_map(|(transfer, _)| [transfer.signer, transfer.receiver]);
            let known = self.model.accounts(shard.0, u64::MAX).keys().copied();
            let ids: BTreeSet<Id> = involved.chain(known).collect();
            let own = |id: &Id| self.genesis.layout.shard_of(&AccountId(*id)) == shard;
            for id in ids.into_iter().filter(own) {
                let account = node.client.account(AccountId(id));
                let Some(Ok((_, at, account))) = network.ask(account).await else {
                    continue;
                };
                asked = true;
                if at > self.model.height() {
                    // The model comes there later.
                    return None;
                }
                let chain = account.map(|account| Account {
                    balance: account.balance,
                    nonce: account.nonce,
                });
                let own = self.model.accounts(shard.0, at).get(&id).copied();
                if chain != own && different.len() < NAMED {
                    let (chain, own) = (contents(chain), contents(own));
                    let what = format!("account {}", AccountId(id));
                    different.push(about(shard, at, &what, index, &chain, &own));
                }
            }
            if !different.is_empty() {
                self.suspect = None;
                let whats: Vec<_> = different.into_iter().map(|one| one.what).collect();
                return Some(Violation::new(Promise::ValidRoots, whats.join("; ")));
            }
        }
        if asked {
            // It is of nothing that they can be asked for.
            self.suspect = None;
        }
        None
    }

    /// The highest nonce that an account of a shard has used.
    #[must_use]
    pub fn nonce(&self, shard: ShardId, id: &AccountId) -> u64 {
        let accounts = self.model.accounts(shard.0, u64::MAX);
        accounts.get(&id.0).map_or(0, |account| account.nonce)
    }

    /// Receipts that were sent and not credited.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.model.in_flight()
    }
}

/// What a transfer with this outcome counts as.
const fn kind(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Executed => "executed transfers",
        Outcome::StaleNonce => "stale nonces",
        Outcome::InsufficientBalance => "overdrafts",
        Outcome::WrongShard => "signers of other shards",
        Outcome::NoAccount => "signers that do not exist",
        Outcome::ReservedReceiver => "reserved receivers",
        Outcome::Congested => "congested receivers",
        Outcome::LittleAmount => "amounts below the least",
        Outcome::Expired => "expired transfers",
        Outcome::HighNonce => "high nonces",
    }
}

fn about(
    shard: ShardId,
    height: u64,
    what: &str,
    node: usize,
    chain: &impl std::fmt::Display,
    model: &impl std::fmt::Display,
) -> Violation {
    Violation::new(
        Promise::ValidRoots,
        format!(
            "shard {shard} at height {height}, {what}: n{node} says {chain}, the model {model}"
        ),
    )
}

fn told(outcome: shardnode_execution::Outcome) -> String {
    match outcome {
        shardnode_execution::Outcome::Executed => "executed".to_owned(),
        shardnode_execution::Outcome::Failed(failure) => format!("failed: {failure}"),
    }
}

fn described(transfer: &Transfer) -> String {
    format!(
        "transfer {} of account {}, of {} to {}",
        transfer.nonce,
        AccountId(transfer.signer),
        transfer.amount,
        AccountId(transfer.receiver)
    )
}

fn contents(account: Option<Account>) -> String {
    account.map_or_else(
        || "there is none".to_owned(),
        |Account { balance, nonce }| format!("balance {balance} and nonce {nonce}"),
    )
}

fn transfer(transaction: &Transaction) -> Option<Transfer> {
    let Transaction::Transfer(signed) = transaction;
    let shardnode_primitives::Transfer {
        signer,
        receiver,
        amount,
        nonce,
        expires_at,
    } = signed.transfer;
    Some(Transfer {
        signer: signer.0,
        receiver: receiver.0,
        amount,
        nonce,
        expires_at,
        signature: signed.signature.encode().as_ref().try_into().ok()?,
    })
}

/// What a header says of executions.
fn stated(header: &ChunkHeader) -> Header {
    let content = &header.content;
    let totals = &content.totals;
    Header {
        sequence: content.sequence,
        results: content
            .results
            .iter()
            .map(|result| Sums {
                height: result.height,
                state_root: result.state_root.0,
                outcomes_root: result.outcomes_root.0,
                receipts_root: result.receipts_root.0,
                transfers: result.transfers,
                credits: result.credits,
            })
            .collect(),
        uncommitted: content.uncommitted.clone(),
        totals: Totals {
            height: totals.height,
            state_root: totals.state_root.0,
            transfers: totals.transfers,
            cross_shard: totals.cross_shard,
            credits: totals.credits,
            balance: totals.balance,
            burnt: totals.burnt,
            sent: totals.sent,
            received: totals.received,
            next_due: Place {
                block: totals.next_due.block,
                source: totals.next_due.source.0,
            },
        },
    }
}
