// SPDX-License-Identifier: Apache-2.0
//! The transactions of a pool, in the order in which they are taken.

use super::{
    Capacity,
    signers::{Short, Signers},
};
use commonware_codec::FixedSize as _;
use shardnode_mailboxes::pool::{Changed, Funds, Offered, Taken};
use shardnode_primitives::{
    AccountId, Congestion, Digest, Refusal, ShardId, ShardLayout, Transaction,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What can only wait may fill one part in so many of the pool.
const WAITING_SHARE: usize = 4;

/// Transactions that are looked at to fill one chunk while a shard is
/// congested.
const LOOK_AHEAD: usize = 200_000;

/// One account may have one part in so many of the pool, but at least so many
/// transactions.
const ACCOUNT_SHARE: usize = 8;
const ACCOUNT_LEAST: usize = 64;

/// A transaction in the pool.
struct Pooled {
    transaction: Transaction,
    /// This node's generator signed it, and may spend what it likes.
    own: bool,
}

pub(super) struct Queue {
    capacity: usize,
    layout: ShardLayout,
    shard: ShardId,
    transactions: VecDeque<Pooled>,
    /// Who signed them.
    signers: Signers,
    /// How many transactions expire at which height.
    expiring: BTreeMap<u64, usize>,
    /// That of the next chunk.
    height: u64,
    congestion: Congestion,
    /// Transfers to congested shards among the transactions.
    waiting: usize,
    /// Why there is no room beyond the capacity.
    full: Refusal,
}

impl Queue {
    pub(super) fn new(capacity: Capacity, layout: ShardLayout, shard: ShardId, fee: u64) -> Self {
        // All transactions have one size, so one of the two limits binds.
        let by_bytes = capacity.bytes / Transaction::SIZE;
        let (capacity, full) = if by_bytes < capacity.transactions {
            (by_bytes, Refusal::Bytes)
        } else {
            (capacity.transactions, Refusal::Full)
        };
        let share = capacity.div_ceil(ACCOUNT_SHARE).max(ACCOUNT_LEAST);
        Self {
            capacity,
            layout,
            shard,
            transactions: VecDeque::new(),
            signers: Signers::new(share, fee),
            expiring: BTreeMap::new(),
            height: 0,
            congestion: Congestion::default(),
            waiting: 0,
            full,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.transactions.len()
    }

    /// Of those in the pool that chunks gave back some can be beyond its capacity.
    pub(super) fn room(&self) -> usize {
        self.capacity.saturating_sub(self.len())
    }

    pub(super) fn bytes(&self) -> usize {
        self.len() * Transaction::SIZE
    }

    /// Transfers to congested shards.
    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    fn must_wait(&self, transaction: &Transaction) -> bool {
        let Transaction::Transfer(signed) = transaction;
        let destination = self.layout.shard_of(&signed.transfer.receiver);
        destination != self.shard && self.congestion.contains(destination)
    }

    /// The next chunk is for `height`, at which these shards are congested.
    /// Returns how many transactions have expired there, and are gone.
    pub(super) fn next(&mut self, height: u64, congestion: Congestion) -> u64 {
        self.height = height;
        if congestion != self.congestion {
            self.congestion = congestion;
            let waiting = self.transactions.iter();
            self.waiting = waiting
                .filter(|one| self.must_wait(&one.transaction))
                .count();
        }
        let first = self.expiring.first_key_value();
        if first.is_none_or(|(expires_at, _)| *expires_at > height) {
            return 0;
        }
        let all = std::mem::take(&mut self.transactions);
        let (expired, kept): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|one| one.transaction.expired(height));
        self.transactions = kept.into();
        for pooled in &expired {
            self.forget(pooled);
        }
        expired.len() as u64
    }

    /// The chunk at `height` was executed, and made this of accounts. Returns which of
    /// clients' transactions are gone that nobody pays for any more, and why.
    pub(super) fn executed(&mut self, height: u64, changed: Changed) -> Vec<(Digest, Refusal)> {
        let short = self.signers.executed(height, changed);
        self.let_go(short)
    }

    /// The state is another one, that after the chunk at `height`. Returns which of clients'
    /// transactions are gone: those that were judged by an older one.
    pub(super) fn installed(&mut self, height: u64) -> Vec<(Digest, Refusal)> {
        self.signers.installed(height);
        let mut refused = Vec::new();
        for pooled in std::mem::take(&mut self.transactions) {
            let stays = pooled.own || self.signers.is_judged_since(&pooled.transaction, height);
            if stays {
                self.transactions.push_back(pooled);
            } else {
                self.forget(&pooled);
                refused.push((pooled.transaction.hash(), Refusal::Shard));
            }
        }
        refused
    }

    /// Lets go of what these accounts are short of.
    fn let_go(&mut self, mut short: BTreeMap<AccountId, Short>) -> Vec<(Digest, Refusal)> {
        if short.is_empty() {
            return Vec::new();
        }
        let mut refused = Vec::new();
        for pooled in std::mem::take(&mut self.transactions) {
            let transaction = &pooled.transaction;
            let (nonce, cost) = (transaction.nonce(), self.signers.cost(transaction));
            let signer = short.get_mut(transaction.signer());
            let refusal = signer
                .filter(|_| !pooled.own)
                .and_then(|signer| signer.refuses(nonce, cost));
            match refusal {
                Some(refusal) => {
                    self.forget(&pooled);
                    refused.push((pooled.transaction.hash(), refusal));
                }
                None => self.transactions.push_back(pooled),
            }
        }
        refused
    }

    /// Lets go of what of these signers comes after a higher nonce.
    fn let_go_of_overtaken(&mut self, signers: &BTreeSet<AccountId>) -> Vec<(Digest, Refusal)> {
        if signers.is_empty() {
            return Vec::new();
        }
        let mut highest = BTreeMap::new();
        let mut refused = Vec::new();
        for pooled in std::mem::take(&mut self.transactions) {
            let signer = *pooled.transaction.signer();
            if !pooled.own && signers.contains(&signer) {
                let nonce = pooled.transaction.nonce();
                let before = highest.entry(signer).or_insert(nonce);
                if nonce < *before {
                    self.forget(&pooled);
                    refused.push((pooled.transaction.hash(), Refusal::Overtaken));
                    continue;
                }
                *before = nonce;
            }
            self.transactions.push_back(pooled);
        }
        refused
    }

    pub(super) fn add(&mut self, offered: Offered) -> Result<(), Refusal> {
        let transaction = &offered.transaction;
        if self.len() >= self.capacity {
            return Err(self.full);
        }
        if transaction.expired(self.height) {
            return Err(Refusal::Expired);
        }
        if self.must_wait(transaction) && self.waiting >= self.capacity.div_ceil(WAITING_SHARE) {
            return Err(Refusal::Congested);
        }
        let funds = self.signers.admit(&offered)?;
        let own = offered.funds.is_none();
        let transaction = offered.transaction;
        let pooled = Pooled { transaction, own };
        self.note(&pooled, funds);
        self.transactions.push_back(pooled);
        Ok(())
    }

    /// Notes a transaction that comes in, unless its signer has one with this
    /// nonce in the pool.
    fn note(&mut self, pooled: &Pooled, funds: Option<Funds>) -> bool {
        let transaction = &pooled.transaction;
        if !self.signers.note(transaction, funds) {
            return false;
        }
        let Transaction::Transfer(signed) = transaction;
        if signed.transfer.expires_at > 0 {
            *self.expiring.entry(signed.transfer.expires_at).or_default() += 1;
        }
        self.waiting += usize::from(self.must_wait(transaction));
        true
    }

    /// Forgets a transaction that is no longer in the queue.
    fn forget(&mut self, pooled: &Pooled) {
        let transaction = &pooled.transaction;
        self.signers.forget(transaction, pooled.own);
        let Transaction::Transfer(signed) = transaction;
        if let Some(count) = self.expiring.get_mut(&signed.transfer.expires_at) {
            *count -= 1;
            if *count == 0 {
                self.expiring.remove(&signed.transfer.expires_at);
            }
        }
        self.waiting -= usize::from(self.must_wait(transaction));
    }

    pub(super) fn take(&mut self, most: usize) -> Taken {
        let room = most.min(self.len());
        let (mut taken, mut funds) = (Vec::with_capacity(room), Vec::with_capacity(room));
        let (mut passed, mut signers) = (Vec::new(), BTreeSet::new());
        while taken.len() < most
            && passed.len() < LOOK_AHEAD
            && let Some(pooled) = self.transactions.pop_front()
        {
            let transaction = &pooled.transaction;
            let signer = *transaction.signer();
            if self.waiting > 0 && (signers.contains(&signer) || self.must_wait(transaction)) {
                signers.insert(signer);
                passed.push(pooled);
            } else {
                let client = (!pooled.own).then(|| self.signers.funds(transaction));
                self.forget(&pooled);
                taken.push(pooled.transaction);
                funds.push(client.flatten());
            }
        }
        let held_back = !passed.is_empty();
        for pooled in passed.into_iter().rev() {
            self.transactions.push_front(pooled);
        }
        Taken {
            transactions: taken,
            funds,
            held_back,
        }
    }

    /// These were let in before: neither the capacity nor a signer's share
    /// turns them away. What nobody pays for any more, with them, goes as by
    /// [`Self::executed`], and what was judged by a state that is too old to tell, as by
    /// [`Self::installed`]; and what came in meanwhile with a lower nonce.
    pub(super) fn give_back(&mut self, taken: Taken) -> Vec<(Digest, Refusal)> {
        let mut clients = BTreeSet::new();
        let mut refused = Vec::new();
        for (transaction, funds) in taken.transactions.into_iter().zip(taken.funds).rev() {
            let own = funds.is_none();
            let pooled = Pooled { transaction, own };
            if funds.is_some_and(|funds| !self.signers.know_since(funds.height)) {
                // It may have been handed in again.
                if !self.signers.holds(&pooled.transaction) {
                    refused.push((pooled.transaction.hash(), Refusal::Shard));
                }
            } else if !pooled.transaction.expired(self.height) && self.note(&pooled, funds) {
                if !own {
                    clients.insert(*pooled.transaction.signer());
                }
                self.transactions.push_front(pooled);
            }
        }
        refused.extend(self.let_go_of_overtaken(&clients));
        // Some came in as if those that come back were executed.
        let short = self.signers.came_back(&clients);
        refused.extend(self.let_go(short));
        refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_codec::DecodeExt as _;
    use commonware_cryptography::ed25519::Signature;
    use proptest::prelude::*;
    use shardnode_primitives::{SignedTransfer, Transfer};
    use shardnode_state::Account;
    use std::collections::BTreeMap;

    const LAYOUT: ShardLayout = ShardLayout::new(4);
    const FEE: u64 = 2;

    fn id(shard: u8, number: u8) -> AccountId {
        let mut id = [0; 32];
        (id[0], id[31]) = (shard * 64, number);
        AccountId(id)
    }

    fn transfer(signer: u8, nonce: u64, to: u8) -> Transaction {
        Transaction::Transfer(SignedTransfer {
            transfer: Transfer {
                signer: id(0, signer),
                receiver: id(to, 1),
                amount: 1,
                nonce,
                expires_at: 0,
            },
            signature: Signature::decode(vec![0; 64]).unwrap(),
        })
    }

    fn expiring(nonce: u64, expires_at: u64) -> Transaction {
        let Transaction::Transfer(mut signed) = transfer(1, nonce, 0);
        signed.transfer.expires_at = expires_at;
        Transaction::Transfer(signed)
    }

    fn own(transaction: Transaction) -> Offered {
        Offered {
            transaction,
            funds: None,
        }
    }

    /// Of a client who had so much after the genesis block.
    fn client(transaction: Transaction, balance: u64) -> Offered {
        Offered {
            transaction,
            funds: Some(Funds {
                balance,
                nonce: 0,
                height: 0,
            }),
        }
    }

    /// Of a client who had so much after the chunk at `height`.
    fn client_at(height: u64, transaction: Transaction, balance: u64) -> Offered {
        let mut offered = client(transaction, balance);
        if let Some(funds) = &mut offered.funds {
            funds.height = height;
        }
        offered
    }

    /// An execution that left these accounts of shard 0 with these balances and nonces.
    fn changed(accounts: &[(u8, Option<(u64, u64)>)]) -> Changed {
        let account = |(balance, nonce)| Account { balance, nonce };
        let accounts = accounts.iter();
        accounts
            .map(|(number, left)| (id(0, *number), left.map(account)))
            .collect()
    }

    fn queue(transactions: usize) -> Queue {
        let bytes = usize::MAX;
        let capacity = Capacity {
            transactions,
            bytes,
        };
        Queue::new(capacity, LAYOUT, ShardId(0), FEE)
    }

    fn names(transactions: &[Transaction]) -> Vec<(u8, u64)> {
        let name = |one: &Transaction| (one.signer().0[31], one.nonce());
        transactions.iter().map(name).collect()
    }

    #[test]
    fn what_is_full_says_by_which_limit() {
        let mut by_count = queue(1);
        assert_eq!(by_count.add(own(transfer(1, 1, 0))), Ok(()));
        assert_eq!(by_count.add(own(transfer(1, 2, 0))), Err(Refusal::Full));
        let capacity = Capacity {
            transactions: 100,
            bytes: 2 * Transaction::SIZE + 1,
        };
        let mut by_bytes = Queue::new(capacity, LAYOUT, ShardId(0), FEE);
        assert_eq!(by_bytes.add(own(transfer(1, 1, 0))), Ok(()));
        assert_eq!(
            by_bytes.add(own(transfer(1, 1, 0))),
            Err(Refusal::Duplicate)
        );
        assert_eq!(by_bytes.add(own(transfer(1, 2, 0))), Ok(()));
        assert_eq!(by_bytes.add(own(transfer(1, 3, 0))), Err(Refusal::Bytes));
        assert_eq!(by_bytes.bytes(), 2 * Transaction::SIZE);
    }

    #[test]
    fn what_must_wait_waits_and_nothing_of_its_signer_overtakes_it() {
        let mut queue = queue(100);
        for one in [(1, 1, 0), (2, 1, 3), (2, 2, 1), (3, 1, 1), (1, 2, 3)] {
            queue.add(own(transfer(one.0, one.1, one.2))).unwrap();
        }
        queue.next(1, Congestion::of([ShardId(3), ShardId(0)]));
        assert_eq!(queue.waiting(), 2);
        let taken = queue.take(10);
        assert!(taken.held_back);
        assert_eq!(names(&taken.transactions), [(1, 1), (3, 1)]);
        // A missed chunk's come back to the front.
        queue.give_back(taken);
        queue.next(1, Congestion::default());
        let taken = queue.take(10);
        assert!(!taken.held_back);
        assert_eq!(
            names(&taken.transactions),
            [(1, 1), (3, 1), (2, 1), (2, 2), (1, 2)]
        );
        assert_eq!((queue.len(), queue.waiting()), (0, 0));
    }

    #[test]
    fn what_can_only_wait_fills_a_quarter() {
        let mut queue = queue(8);
        queue.next(1, Congestion::of([ShardId(1)]));
        assert_eq!(queue.add(own(transfer(1, 1, 1))), Ok(()));
        assert_eq!(queue.add(own(transfer(1, 2, 1))), Ok(()));
        assert_eq!(queue.add(own(transfer(1, 3, 1))), Err(Refusal::Congested));
        assert_eq!(queue.add(own(transfer(1, 4, 2))), Ok(()));
        queue.next(1, Congestion::default());
        assert_eq!(queue.add(own(transfer(1, 5, 1))), Ok(()));
    }

    #[test]
    fn what_comes_after_a_higher_nonce_is_refused() {
        let mut queue = queue(100);
        for nonce in [5, 7] {
            assert_eq!(queue.add(client(transfer(1, nonce, 0), 9)), Ok(()));
        }
        let between = || client(transfer(1, 6, 0), 9);
        assert_eq!(queue.add(between()), Err(Refusal::Overtaken));
        assert_eq!(queue.add(client(transfer(2, 6, 0), 9)), Ok(()));
        // Until the higher one is in a chunk.
        assert_eq!(queue.take(3).transactions.len(), 3);
        assert_eq!(queue.add(between()), Ok(()));
    }

    #[test]
    fn an_account_has_its_share_and_pays_for_it() {
        let mut queue = queue(1_000);
        for nonce in 1..=125 {
            assert_eq!(queue.add(own(transfer(1, nonce, 0))), Ok(()));
        }
        assert_eq!(queue.add(own(transfer(1, 126, 0))), Err(Refusal::Account));
        assert_eq!(queue.add(client(transfer(2, 1, 0), 8)), Ok(()));
        assert_eq!(queue.add(client(transfer(2, 2, 0), 5)), Err(Refusal::Funds));
        assert_eq!(queue.add(client(transfer(2, 2, 0), 6)), Ok(()));
        // What a chunk took is no longer in the pool.
        let taken = queue.take(127);
        assert_eq!(taken.transactions.len(), 127);
        assert_eq!(queue.add(own(transfer(1, 126, 0))), Ok(()));
        assert_eq!(queue.add(client(transfer(2, 3, 0), 8)), Ok(()));
        let gone = [(transfer(2, 3, 0).hash(), Refusal::Funds)];
        assert_eq!(queue.give_back(taken), gone);
        assert_eq!(queue.len(), 128);
        assert_eq!(queue.add(client(transfer(2, 4, 0), 8)), Err(Refusal::Funds));
    }

    #[test]
    fn what_has_expired_goes() {
        let mut queue = queue(100);
        assert_eq!(queue.next(5, Congestion::default()), 0);
        assert_eq!(queue.add(own(expiring(1, 5))), Err(Refusal::Expired));
        for (nonce, expires_at) in [(2, 6), (3, 0), (4, 7), (5, 6)] {
            assert_eq!(queue.add(own(expiring(nonce, expires_at))), Ok(()));
        }
        assert_eq!(queue.next(6, Congestion::default()), 2);
        let taken = queue.take(10);
        assert_eq!(names(&taken.transactions), [(1, 3), (1, 4)]);
        assert_eq!(queue.next(7, Congestion::default()), 0);
        // Of a missed chunk's, what has not expired comes back.
        queue.give_back(taken);
        assert_eq!(names(&queue.take(10).transactions), [(1, 3)]);
    }

    #[test]
    fn what_nobody_pays_for_any_more_goes() {
        let mut queue = queue(100);
        for (signer, nonce, balance) in [(1, 5, 9), (1, 6, 9), (1, 7, 9), (2, 1, 3), (3, 1, 6)] {
            let offered = client(transfer(signer, nonce, 0), balance);
            assert_eq!(queue.add(offered), Ok(()));
        }
        // The generator knows what it does.
        assert_eq!(queue.add(own(transfer(4, 1, 0))), Ok(()));
        // Who has enough keeps all, and whoever did not change as well.
        let rich = changed(&[(1, Some((9, 4))), (4, Some((0, 9)))]);
        assert_eq!(queue.executed(1, rich), []);
        // One is gone, one has used a nonce and has enough for one of two others.
        let poor = changed(&[(1, Some((5, 5))), (2, None), (4, None)]);
        let gone = [
            (transfer(1, 5, 0).hash(), Refusal::Nonce),
            (transfer(1, 7, 0).hash(), Refusal::Funds),
            (transfer(2, 1, 0).hash(), Refusal::NoAccount),
        ];
        assert_eq!(queue.executed(2, poor), gone);
        assert_eq!(queue.len(), 3);
        // What it has left counts, and no more.
        assert_eq!(queue.add(client(transfer(1, 8, 0), 9)), Err(Refusal::Funds));
        assert_eq!(
            names(&queue.take(10).transactions),
            [(1, 6), (3, 1), (4, 1)]
        );
        assert_eq!(queue.executed(3, changed(&[(1, None), (3, None)])), []);
    }

    #[test]
    fn what_was_judged_by_an_older_state_is_judged_anew() {
        let mut queue = queue(100);
        queue.executed(1, changed(&[(1, Some((9, 9)))]));
        queue.executed(2, changed(&[(1, Some((3, 2))), (2, None)]));
        assert_eq!(
            queue.add(client(transfer(2, 1, 0), 9)),
            Err(Refusal::NoAccount)
        );
        assert_eq!(queue.add(client(transfer(1, 2, 0), 9)), Err(Refusal::Nonce));
        assert_eq!(queue.add(client(transfer(1, 3, 0), 9)), Ok(()));
        assert_eq!(queue.add(client(transfer(1, 4, 0), 9)), Err(Refusal::Funds));
        assert_eq!(queue.add(client_at(2, transfer(2, 1, 0), 9)), Ok(()));
        assert_eq!(queue.add(client(transfer(3, 1, 0), 9)), Ok(()));
    }

    /// The executions that made that state may still be on their way here.
    #[test]
    fn what_was_judged_by_a_newer_state_stays() {
        let judged_at = |height, nonce, balance, used| {
            let mut offered = client(transfer(1, nonce, 0), 0);
            offered.funds = Some(Funds {
                balance,
                nonce: used,
                height,
            });
            offered
        };
        let mut queue = queue(100);
        assert_eq!(queue.add(judged_at(1, 1, 9, 0)), Ok(()));
        // By then the first nonce was used, and what it cost is gone.
        assert_eq!(queue.add(judged_at(5, 2, 3, 1)), Ok(()));
        assert_eq!(queue.add(judged_at(5, 3, 3, 1)), Err(Refusal::Funds));
        // Its signer had nothing, and was not there at all.
        let gone = [(transfer(1, 1, 0).hash(), Refusal::Nonce)];
        assert_eq!(queue.executed(2, changed(&[(1, Some((0, 0)))])), gone);
        assert_eq!(queue.executed(3, changed(&[(1, None)])), []);
        // What the newest state that was looked up says counts, whoever looked before.
        assert_eq!(queue.add(judged_at(4, 3, 99, 0)), Err(Refusal::Funds));
        let taken = queue.take(10);
        assert_eq!(queue.executed(4, changed(&[(1, Some((2, 1)))])), []);
        assert_eq!(queue.give_back(taken), []);
        // What comes after that state counts again.
        let gone = [(transfer(1, 2, 0).hash(), Refusal::Funds)];
        assert_eq!(queue.executed(6, changed(&[(1, Some((2, 1)))])), gone);
    }

    #[test]
    fn what_comes_back_with_a_used_nonce_costs_nothing() {
        let mut queue = queue(100);
        queue.add(client(transfer(1, 1, 0), 6)).unwrap();
        let taken = queue.take(10);
        let mut next = client_at(2, transfer(1, 2, 0), 3);
        if let Some(funds) = &mut next.funds {
            funds.nonce = 1;
        }
        assert_eq!(queue.add(next), Ok(()));
        let gone = [(transfer(1, 1, 0).hash(), Refusal::Nonce)];
        assert_eq!(queue.give_back(taken), gone);
        assert_eq!(names(&queue.take(10).transactions), [(1, 2)]);
    }

    #[test]
    fn what_a_missed_chunk_had_of_clients_is_theirs_again() {
        let mut queue = queue(100);
        queue.add(client(transfer(1, 1, 0), 9)).unwrap();
        queue.add(own(transfer(2, 1, 0))).unwrap();
        let taken = queue.take(10);
        let of_clients: Vec<_> = taken.funds.iter().map(Option::is_some).collect();
        assert_eq!(of_clients, [true, false]);
        // Nothing of clients is in the pool meanwhile.
        assert_eq!(queue.executed(1, changed(&[(3, None)])), []);
        assert_eq!(queue.give_back(taken), []);
        let gone = [(transfer(1, 1, 0).hash(), Refusal::NoAccount)];
        let changes = changed(&[(1, None), (2, None)]);
        assert_eq!(queue.executed(2, changes), gone);
        assert_eq!(names(&queue.take(10).transactions), [(2, 1)]);
    }

    #[test]
    fn what_was_judged_by_an_older_state_than_the_one_fetched_goes() {
        let mut queue = queue(100);
        queue.next(5, Congestion::default());
        queue.add(client(transfer(1, 1, 0), 9)).unwrap();
        let taken = queue.take(10);
        queue.add(client(transfer(1, 2, 0), 9)).unwrap();
        queue.add(own(transfer(2, 1, 0))).unwrap();
        queue.add(client_at(7, transfer(3, 1, 0), 9)).unwrap();
        let gone = |nonce| [(transfer(1, nonce, 0).hash(), Refusal::Shard)];
        assert_eq!(queue.installed(7), gone(2));
        assert_eq!(queue.give_back(taken), gone(1));
        assert_eq!(queue.add(client(transfer(1, 3, 0), 9)), Err(Refusal::Shard));
        assert_eq!(queue.add(client_at(7, transfer(1, 3, 0), 9)), Ok(()));
        // The chunks after it were made by that state.
        queue.next(8, Congestion::default());
        let taken = queue.take(10);
        assert_eq!(queue.give_back(taken), []);
        assert_eq!(
            names(&queue.take(10).transactions),
            [(2, 1), (3, 1), (1, 3)]
        );
    }

    /// Its signer still has what these pay, and spends it again.
    #[test]
    fn what_came_in_while_a_chunk_was_under_way_is_not_paid_for_twice() {
        let mut queue = queue(100);
        queue.add(client(transfer(1, 1, 0), 6)).unwrap();
        let taken = queue.take(10);
        for nonce in [2, 3] {
            queue.add(client(transfer(1, nonce, 0), 6)).unwrap();
        }
        let gone = [(transfer(1, 3, 0).hash(), Refusal::Funds)];
        assert_eq!(queue.give_back(taken), gone);
        assert_eq!(names(&queue.take(10).transactions), [(1, 1), (1, 2)]);

        queue.add(client(transfer(1, 4, 0), 6)).unwrap();
        let taken = queue.take(10);
        queue.add(client(transfer(1, 5, 0), 6)).unwrap();
        // Less since the first of many.
        for height in 1..1_000 {
            queue.executed(height, changed(&[(u8::from(height == 1), Some((4, 0)))]));
        }
        let gone = [(transfer(1, 5, 0).hash(), Refusal::Funds)];
        assert_eq!(queue.give_back(taken), gone);
        // It is known then for the next time.
        let taken = queue.take(10);
        queue.add(client(transfer(1, 6, 0), 6)).unwrap();
        let gone = [(transfer(1, 6, 0).hash(), Refusal::Funds)];
        assert_eq!(queue.give_back(taken), gone);
    }

    #[test]
    fn what_came_in_below_what_a_missed_chunk_had_goes() {
        let mut queue = queue(100);
        for (signer, nonce) in [(1, 5), (1, 7), (2, 5)] {
            queue.add(client(transfer(signer, nonce, 0), 99)).unwrap();
        }
        let taken = queue.take(10);
        for (signer, nonce) in [(1, 6), (1, 8), (2, 6), (3, 1)] {
            queue.add(client(transfer(signer, nonce, 0), 99)).unwrap();
        }
        let gone = [(transfer(1, 6, 0).hash(), Refusal::Overtaken)];
        assert_eq!(queue.give_back(taken), gone);
        let left = [(1, 5), (1, 7), (2, 5), (1, 8), (2, 6), (3, 1)];
        assert_eq!(names(&queue.take(10).transactions), left);
    }

    #[test]
    fn what_a_missed_chunk_had_is_looked_at_when_it_comes_back() {
        let mut queue = queue(100);
        for (signer, nonce) in [(1, 1), (1, 2), (2, 1)] {
            queue.add(client(transfer(signer, nonce, 0), 9)).unwrap();
        }
        let taken = queue.take(10);
        queue.executed(1, changed(&[(1, Some((3, 0)))]));
        let gone = [(transfer(1, 2, 0).hash(), Refusal::Funds)];
        assert_eq!(queue.give_back(taken), gone);
        assert_eq!(names(&queue.take(10).transactions), [(1, 1), (2, 1)]);
    }

    /// A client's account over time, of whose executions the pool hears late.
    struct Lagging {
        queue: Queue,
        /// By the height after whose execution it has this balance and has used this nonce.
        states: Vec<Option<(u64, u64)>>,
        heard: usize,
        /// By the nonce of what was taken in, the height of the state that it was judged by,
        /// the first if it was taken in again.
        judged: BTreeMap<u64, usize>,
        away: VecDeque<Taken>,
    }

    impl Lagging {
        fn execute(&mut self, gone: bool, balance: u64, nonces: u64) {
            let used = self.states.iter().flatten().map(|(_, used)| *used).max();
            let used = used.unwrap_or_default() + nonces;
            self.states.push((!gone).then_some((balance, used)));
        }

        fn hear(&mut self) -> Vec<(Digest, Refusal)> {
            if self.heard + 1 == self.states.len() {
                return Vec::new();
            }
            self.heard += 1;
            let height = self.heard as u64;
            self.queue
                .executed(height, changed(&[(1, self.states[self.heard])]))
        }

        /// Its owner looks it up and signs the next nonce but so many.
        fn submit(&mut self, before: usize, skipped: u64) {
            let height = (self.states.len() - 1).saturating_sub(before);
            let Some((balance, used)) = self.states[height] else {
                return;
            };
            let nonce = used + 1 + skipped;
            let mut offered = client_at(height as u64, transfer(1, nonce, 0), balance);
            offered.funds.as_mut().unwrap().nonce = used;
            if self.queue.add(offered).is_ok() {
                let first = self.judged.entry(nonce).or_insert(height);
                *first = height.min(*first);
            }
        }

        fn give_back(&mut self) -> Vec<(Digest, Refusal)> {
            let taken = self.away.pop_front();
            taken.map_or_else(Vec::new, |taken| self.queue.give_back(taken))
        }

        /// Whether there was a reason to let go of this since it was judged.
        fn has_reason(&self, hash: Digest, refusal: Refusal) -> bool {
            let mut judged = self.judged.iter();
            let (nonce, height) = judged
                .find(|(nonce, _)| transfer(1, **nonce, 0).hash() == hash)
                .unwrap();
            let up_to_it = |used| self.judged.range(used + 1..=*nonce).count() as u64;
            self.states[*height..].iter().any(|state| match *state {
                None => refusal == Refusal::NoAccount,
                Some((_, used)) if used >= *nonce => refusal == Refusal::Nonce,
                Some((balance, used)) => match refusal {
                    Refusal::Funds => up_to_it(used) * (1 + FEE) > balance,
                    other => other == Refusal::Overtaken,
                },
            })
        }
    }

    proptest! {
        /// Whenever the pool hears of which execution: what it lets go of has a reason since
        /// it was judged, and what is left when it has heard of all is paid for.
        #[test]
        fn what_lags_is_no_reason_to_let_go(
            steps in proptest::collection::vec((0u8..8, 0u64..12, 0u64..3), 1..60),
        ) {
            let mut one = Lagging {
                queue: queue(1_000),
                states: vec![Some((9, 0))],
                heard: 0,
                judged: BTreeMap::new(),
                away: VecDeque::new(),
            };
            let settle = [(2, 0, 0); 60].into_iter().chain([(7, 0, 0); 60]);
            for (step, first, second) in steps.into_iter().chain(settle) {
                let refused = match step {
                    0 | 1 => {
                        one.execute(step == 0 && first == 0, first, second);
                        Vec::new()
                    }
                    2 | 3 => one.hear(),
                    4 | 5 => {
                        one.submit(first as usize / 3, second);
                        Vec::new()
                    }
                    6 => {
                        let taken = one.queue.take(first as usize);
                        one.away.push_back(taken);
                        Vec::new()
                    }
                    _ => one.give_back(),
                };
                for (hash, refusal) in refused {
                    prop_assert!(one.has_reason(hash, refusal), "{refusal:?}");
                }
            }
            let left = names(&one.queue.take(1_000).transactions);
            match one.states.last().copied().flatten() {
                None => prop_assert!(left.is_empty(), "{left:?}"),
                Some((balance, used)) => {
                    prop_assert!(left.iter().all(|(_, nonce)| *nonce > used), "{left:?}");
                    prop_assert!(left.len() as u64 * (1 + FEE) <= balance, "{left:?}");
                }
            }
        }

        /// Whatever is congested when: each account's transactions come out in
        /// the order in which they went in, none is lost, and none goes to a
        /// congested shard.
        #[test]
        fn order_is_kept(
            added in proptest::collection::vec((1u8..6, 0u8..4), 1..80),
            steps in proptest::collection::vec((proptest::collection::vec(0u16..4, 0..3), 1usize..20), 1..12),
        ) {
            let mut queue = queue(1_000);
            for (nonce, (signer, to)) in (1..).zip(&added) {
                queue.add(own(transfer(*signer, nonce, *to))).unwrap();
            }
            let mut out = Vec::new();
            let last = (Vec::new(), 1_000);
            for (congested, most) in steps.into_iter().chain([last]) {
                let congestion = Congestion::of(congested.into_iter().map(ShardId));
                queue.next(1, congestion.clone());
                let taken = queue.take(most).transactions;
                for one in &taken {
                    let Transaction::Transfer(signed) = one;
                    let to = LAYOUT.shard_of(&signed.transfer.receiver);
                    prop_assert!(to == ShardId(0) || !congestion.contains(to));
                }
                out.extend(taken);
            }
            prop_assert_eq!(out.len(), added.len());
            prop_assert_eq!((queue.len(), queue.waiting()), (0, 0));
            let mut nonces = BTreeMap::new();
            for one in &out {
                let last = nonces.insert(*one.signer(), one.nonce());
                prop_assert!(last.is_none_or(|last| last < one.nonce()));
            }
        }
    }
}
