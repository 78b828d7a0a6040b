// SPDX-License-Identifier: Apache-2.0
//! What a pool holds of each signer, and whether the signer can pay for it.

use super::newest::Newest;
use shardnode_execution::planted::{Fault, has};
use shardnode_mailboxes::pool::{Changed, Funds, Offered};
use shardnode_primitives::{AccountId, Refusal, Transaction};
use shardnode_state::Account;
use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

/// What the pool holds of one signer.
#[derive(Default)]
struct Signer {
    /// What the transaction with each nonce costs.
    nonces: BTreeMap<u64, u128>,
    /// All of it.
    cost: u128,
    /// What it has, if a transaction is a client's; a balance of 0 once it is gone.
    funds: Option<Funds>,
}

impl Signer {
    /// What the transactions cost that come after one with this nonce.
    fn cost_after(&self, nonce: u64) -> u128 {
        let used = self.nonces.range(..=nonce);
        self.cost - used.map(|(_, cost)| cost).sum::<u128>()
    }
}

/// An account that cannot pay for all that it has in the pool.
pub(super) struct Short {
    account: Option<Account>,
    /// What those cost that stay.
    cost: u128,
}

impl Short {
    /// Why the next of its transactions, which costs so much, does not stay.
    pub(super) fn refuses(&mut self, nonce: u64, cost: u128) -> Option<Refusal> {
        let Some(account) = self.account else {
            return Some(Refusal::NoAccount);
        };
        if nonce <= account.nonce {
            return Some(Refusal::Nonce);
        }
        if self.cost + cost > u128::from(account.balance) {
            return Some(Refusal::Funds);
        }
        self.cost += cost;
        None
    }
}

/// The account that these are of, while nothing changes it.
const fn unchanged(funds: Funds) -> Account {
    Account {
        balance: funds.balance,
        nonce: funds.nonce,
    }
}

/// What its owner has after the chunk at `height`, which made this of the account.
fn changed_to(funds: Funds, account: Option<Account>, height: u64) -> Funds {
    Funds {
        balance: account.map_or(0, |account| account.balance),
        nonce: account.map_or(funds.nonce, |account| account.nonce),
        height,
    }
}

/// Of what a signer has been known to have and what it has, what the newer state says.
fn newer(known: Option<Funds>, funds: Funds) -> Funds {
    known
        .filter(|known| known.height > funds.height)
        .unwrap_or(funds)
}

/// All signers.
pub(super) struct Signers {
    /// The most transactions of one.
    share: usize,
    /// The fee of each transaction.
    fee: u64,
    signers: BTreeMap<AccountId, Signer>,
    /// How many transactions are clients'.
    clients: usize,
    /// What the newest executions made of accounts.
    newest: Newest,
}

impl Signers {
    /// Of an empty pool.
    pub(super) fn new(share: usize, fee: u64) -> Self {
        Self {
            share,
            fee,
            signers: BTreeMap::new(),
            clients: 0,
            newest: Newest::default(),
        }
    }

    /// What a transaction costs its signer.
    pub(super) fn cost(&self, transaction: &Transaction) -> u128 {
        let Transaction::Transfer(signed) = transaction;
        u128::from(signed.transfer.amount) + u128::from(self.fee)
    }

    /// What a client that signed this has, if it can pay for it and all that it has in the
    /// pool; `None` for what this node's generator signed, which may spend what it likes.
    pub(super) fn admit(&self, offered: &Offered) -> Result<Option<Funds>, Refusal> {
        let Offered { transaction, funds } = offered;
        let nonce = transaction.nonce();
        let pooled = self.signers.get(transaction.signer());
        if let Some(pooled) = pooled {
            if pooled.nonces.contains_key(&nonce) {
                return Err(Refusal::Duplicate);
            }
            let highest = pooled.nonces.last_key_value();
            let overtaken = highest.is_some_and(|(highest, _)| *highest > nonce);
            if funds.is_some() && overtaken && !has(Fault::KeptInPool) {
                return Err(Refusal::Overtaken);
            }
            if pooled.nonces.len() >= self.share {
                return Err(Refusal::Account);
            }
        }
        let Some(funds) = *funds else {
            return Ok(None);
        };
        let funds = newer(
            pooled.and_then(|pooled| pooled.funds),
            self.since(transaction, funds)?,
        );
        if nonce <= funds.nonce {
            return Err(Refusal::Nonce);
        }
        // Those with used nonces are on their way out.
        let before = pooled.map_or(0, |pooled| pooled.cost_after(funds.nonce));
        if before + self.cost(transaction) > u128::from(funds.balance) {
            return Err(Refusal::Funds);
        }
        Ok(Some(funds))
    }

    /// What a client's signer has, which was looked up before its signature was
    /// verified: chunks may have been executed since.
    fn since(&self, transaction: &Transaction, funds: Funds) -> Result<Funds, Refusal> {
        if !self.newest.reaches_back_to(funds.height) {
            return Err(Refusal::Shard);
        }
        let Account { balance, nonce } = match self.newest.of(transaction.signer(), funds.height) {
            None => unchanged(funds),
            Some(None) => return Err(Refusal::NoAccount),
            Some(Some(account)) => account,
        };
        let height = funds.height.max(self.newest.height());
        Ok(Funds {
            balance,
            nonce,
            height,
        })
    }

    /// Whether the pool has a transaction with this signer and nonce.
    pub(super) fn holds(&self, transaction: &Transaction) -> bool {
        let signer = self.signers.get(transaction.signer());
        signer.is_some_and(|signer| signer.nonces.contains_key(&transaction.nonce()))
    }

    /// What the signer of a client's transaction in the pool has.
    pub(super) fn funds(&self, transaction: &Transaction) -> Option<Funds> {
        let funds = self.signers.get(transaction.signer())?.funds?;
        let height = funds.height.max(self.newest.height());
        Some(Funds { height, ..funds })
    }

    /// Notes a transaction that comes in, with what its signer has if it is a client's,
    /// unless its signer has one with this nonce in the pool.
    pub(super) fn note(&mut self, transaction: &Transaction, funds: Option<Funds>) -> bool {
        let cost = self.cost(transaction);
        let signer = self.signers.entry(*transaction.signer()).or_default();
        let Entry::Vacant(place) = signer.nonces.entry(transaction.nonce()) else {
            return false;
        };
        place.insert(cost);
        signer.cost += cost;
        if let Some(funds) = funds {
            signer.funds = Some(newer(signer.funds, funds));
            self.clients += 1;
        }
        true
    }

    /// Forgets a transaction that is no longer in the pool.
    pub(super) fn forget(&mut self, transaction: &Transaction, own: bool) {
        if let Some(signer) = self.signers.get_mut(transaction.signer()) {
            let cost = signer.nonces.remove(&transaction.nonce());
            signer.cost -= cost.unwrap_or_default();
            if signer.nonces.is_empty() {
                self.signers.remove(transaction.signer());
            }
        }
        self.clients -= usize::from(!own);
    }

    /// The chunk at `height` was executed, and made this of accounts. Returns those that
    /// are short of what they have in the pool. Of those that were judged by a newer state
    /// it only says which nonces are used.
    pub(super) fn executed(&mut self, height: u64, changed: Changed) -> BTreeMap<AccountId, Short> {
        for (id, account) in changed.iter() {
            if let Some(signer) = self.signers.get_mut(id)
                && let Some(funds) = &mut signer.funds
                && funds.height <= height
            {
                *funds = changed_to(*funds, *account, height);
            }
        }
        let short = self.short(height, changed.iter().copied());
        self.newest.push(height, changed);
        short
    }

    /// The state is another one, that after the chunk at `height`.
    pub(super) fn installed(&mut self, height: u64) {
        self.newest.begin_at(height);
    }

    /// Whether a client's transaction in the pool is paid for by a state that is not older
    /// than that after the chunk at `height`.
    pub(super) fn is_judged_since(&self, transaction: &Transaction, height: u64) -> bool {
        let signer = self.signers.get(transaction.signer());
        let funds = signer.and_then(|signer| signer.funds);
        funds.is_some_and(|funds| funds.height >= height && funds.nonce < transaction.nonce())
    }

    /// Whether all executions are known that followed the chunk at `height`.
    pub(super) const fn know_since(&self, height: u64) -> bool {
        self.newest.reaches_back_to(height)
    }

    /// Transactions of these clients came back, and chunks may have been executed while they
    /// were away. Returns who of them is short of what it has in the pool.
    pub(super) fn came_back(
        &mut self,
        clients: &BTreeSet<AccountId>,
    ) -> BTreeMap<AccountId, Short> {
        let height = self.newest.height();
        let mut left = Vec::with_capacity(clients.len());
        for id in clients {
            let signer = self.signers.get_mut(id);
            let Some(funds) = signer.and_then(|signer| signer.funds.as_mut()) else {
                continue;
            };
            let changed = self.newest.of(id, funds.height);
            if let Some(account) = changed {
                *funds = changed_to(*funds, account, height);
            }
            left.push((*id, changed.unwrap_or_else(|| Some(unchanged(*funds)))));
        }
        self.short(height, left.into_iter())
    }

    /// Which of these accounts, as the chunk at `height` left them, have transactions in
    /// the pool that they cannot pay for, or could not use the nonce for.
    fn short(
        &self,
        height: u64,
        accounts: impl Iterator<Item = (AccountId, Option<Account>)>,
    ) -> BTreeMap<AccountId, Short> {
        if self.clients == 0 || has(Fault::KeptInPool) {
            return BTreeMap::new();
        }
        let pooled = accounts.filter_map(|(id, account)| {
            let signer = self.signers.get(&id)?;
            // A nonce that was used stays so, whatever became of the balance since.
            let later = signer.funds.filter(|funds| funds.height > height);
            let account = later.map_or(account, |funds| {
                let used = account.map_or(0, |account| account.nonce);
                let Account { balance, nonce } = unchanged(funds);
                Some(Account {
                    balance,
                    nonce: nonce.max(used),
                })
            });
            let pays = account.is_some_and(|account| {
                let first = signer.nonces.first_key_value();
                let unused = first.is_none_or(|(nonce, _)| *nonce > account.nonce);
                unused && signer.cost <= u128::from(account.balance)
            });
            let cost = 0;
            (!pays).then_some((id, Short { account, cost }))
        });
        pooled.collect()
    }
}
