// SPDX-License-Identifier: Apache-2.0
//! What a pool holds of each signer, and whether the signer can pay for it.

use super::newest::Newest;
use shardnode_execution::planted::{Fault, has};
use shardnode_mailboxes::pool::{Changed, Funds, Offered};
use shardnode_primitives::{AccountId, Refusal, Transaction};
use shardnode_state::Account;
use std::collections::{BTreeMap, BTreeSet};

/// What the pool holds of one signer.
#[derive(Default)]
struct Signer {
    nonces: BTreeSet<u64>,
    /// All amounts and fees.
    cost: u128,
    /// What it has, if it is a client's; 0 once it is gone.
    balance: Option<u64>,
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
    pub(super) fn admit(&self, offered: &Offered) -> Result<Option<u64>, Refusal> {
        let Offered { transaction, funds } = offered;
        let mut cost = self.cost(transaction);
        if let Some(pooled) = self.signers.get(transaction.signer()) {
            if pooled.nonces.contains(&transaction.nonce()) {
                return Err(Refusal::Duplicate);
            }
            let highest = pooled.nonces.last();
            let overtaken = highest.is_some_and(|highest| *highest > transaction.nonce());
            if funds.is_some() && overtaken && !has(Fault::KeptInPool) {
                return Err(Refusal::Overtaken);
            }
            if pooled.nonces.len() >= self.share {
                return Err(Refusal::Account);
            }
            cost += pooled.cost;
        }
        let balance = funds.map(|funds| self.balance(transaction, funds));
        let balance = balance.transpose()?;
        if balance.is_some_and(|balance| cost > u128::from(balance)) {
            return Err(Refusal::Funds);
        }
        Ok(balance)
    }

    /// What a client's signer has, which was looked up before its signature was
    /// verified: chunks may have been executed since.
    fn balance(&self, transaction: &Transaction, funds: Funds) -> Result<u64, Refusal> {
        if !self.newest.reaches_back_to(funds.height) {
            return Err(Refusal::Shard);
        }
        match self.newest.of(transaction.signer(), funds.height) {
            None => Ok(funds.balance),
            Some(None) => Err(Refusal::NoAccount),
            Some(Some(account)) if transaction.nonce() <= account.nonce => Err(Refusal::Nonce),
            Some(Some(account)) => Ok(account.balance),
        }
    }

    /// The signer of a transaction that came in has this balance.
    pub(super) fn admitted(&mut self, transaction: &Transaction, balance: Option<u64>) {
        if let Some(signer) = self.signers.get_mut(transaction.signer()) {
            signer.balance = balance.or(signer.balance);
        }
    }

    /// Whether the pool has a transaction with this signer and nonce.
    pub(super) fn holds(&self, transaction: &Transaction) -> bool {
        let signer = self.signers.get(transaction.signer());
        signer.is_some_and(|signer| signer.nonces.contains(&transaction.nonce()))
    }

    /// Notes a transaction that comes in, unless its signer has one with this
    /// nonce in the pool.
    pub(super) fn note(&mut self, transaction: &Transaction, own: bool) -> bool {
        let cost = self.cost(transaction);
        let signer = self.signers.entry(*transaction.signer()).or_default();
        if !signer.nonces.insert(transaction.nonce()) {
            return false;
        }
        signer.cost += cost;
        self.clients += usize::from(!own);
        true
    }

    /// Forgets a transaction that is no longer in the pool.
    pub(super) fn forget(&mut self, transaction: &Transaction, own: bool) {
        let cost = self.cost(transaction);
        if let Some(signer) = self.signers.get_mut(transaction.signer()) {
            signer.nonces.remove(&transaction.nonce());
            signer.cost = signer.cost.saturating_sub(cost);
            if signer.nonces.is_empty() {
                self.signers.remove(transaction.signer());
            }
        }
        self.clients -= usize::from(!own);
    }

    /// The chunk at `height` was executed, and made this of accounts. Returns those that
    /// are short of what they have in the pool.
    pub(super) fn executed(&mut self, height: u64, changed: Changed) -> BTreeMap<AccountId, Short> {
        for (id, account) in changed.iter() {
            if let Some(signer) = self.signers.get_mut(id)
                && let Some(balance) = &mut signer.balance
            {
                *balance = account.map_or(0, |account| account.balance);
            }
        }
        let short = self.short(changed.iter().copied());
        self.newest.push(height, changed);
        short
    }

    /// The state is another one, that after the chunk at `height`.
    pub(super) fn installed(&mut self, height: u64) {
        self.newest.begin_at(height);
    }

    /// Whether all executions are known that followed the chunk at `height`.
    pub(super) const fn know_since(&self, height: u64) -> bool {
        self.newest.reaches_back_to(height)
    }

    /// Which of these clients are short of what they have in the pool, as far as it tells
    /// what they have, or the executions after the chunk at `height` do.
    pub(super) fn short_since(
        &self,
        height: u64,
        clients: &BTreeSet<AccountId>,
    ) -> BTreeMap<AccountId, Short> {
        let clients = clients.iter();
        self.short(clients.filter_map(|id| Some((*id, self.left(id, height)?))))
    }

    /// What a client has, as far as its transactions in the pool tell, or what the
    /// executions after the chunk at `height` do.
    fn left(&self, id: &AccountId, height: u64) -> Option<Option<Account>> {
        let balance = self.signers.get(id).and_then(|signer| signer.balance);
        // No nonce is used, or the execution that used it is among the newest.
        let unchanged = |balance| Some(Account { balance, nonce: 0 });
        let changed = self.newest.of(id, height);
        changed.or_else(|| balance.map(unchanged))
    }

    /// Which of these accounts have transactions in the pool that they
    /// cannot pay for, or could not use the nonce for.
    fn short(
        &self,
        accounts: impl Iterator<Item = (AccountId, Option<Account>)>,
    ) -> BTreeMap<AccountId, Short> {
        if self.clients == 0 || has(Fault::KeptInPool) {
            return BTreeMap::new();
        }
        let pooled = accounts.filter_map(|(id, account)| {
            let signer = self.signers.get(&id)?;
            let pays = account.is_some_and(|account| {
                let unused = signer
                    .nonces
                    .first()
                    .is_none_or(|nonce| *nonce > account.nonce);
                unused && signer.cost <= u128::from(account.balance)
            });
            let cost = 0;
            (!pays).then_some((id, Short { account, cost }))
        });
        pooled.collect()
    }
}
