// SPDX-License-Identifier: Apache-2.0
//! The transactions of a pool, in the order in which they are taken.

use super::{
    Capacity,
    signers::{Short, Signers},
};
use commonware_codec::FixedSize as _;
use shardnode_mailboxes::pool::{Changed, Offered, Taken};
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

    /// The state is another one, that after the chunk at `height`. Returns clients'
    /// transactions, which are gone.
    pub(super) fn installed(&mut self, height: u64) -> Vec<(Digest, Refusal)> {
        self.signers.installed(height);
        let mut refused = Vec::new();
        for pooled in std::mem::take(&mut self.transactions) {
            if pooled.own {
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
        let balance = self.signers.admit(&offered)?;
        let Offered { transaction, funds } = offered;
        let own = funds.is_none();
        let pooled = Pooled { transaction, own };
        self.note(&pooled);
        self.signers.admitted(&pooled.transaction, balance);
        self.transactions.push_back(pooled);
        Ok(())
    }

    /// Notes a transaction that comes in, unless its signer has one with this
    /// nonce in the pool.
    fn note(&mut self, pooled: &Pooled) -> bool {
        let transaction = &pooled.transaction;
        if !self.signers.note(transaction, pooled.own) {
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
        let (mut taken, mut own) = (Vec::with_capacity(room), Vec::with_capacity(room));
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
                self.forget(&pooled);
                taken.push(pooled.transaction);
                own.push(pooled.own);
            }
        }
        let held_back = !passed.is_empty();
        for pooled in passed.into_iter().rev() {
            self.transactions.push_front(pooled);
        }
        Taken {
            transactions: taken,
            own,
            held_back,
            height: self.height,
        }
    }

    /// These were let in before: neither the capacity nor a signer's share
    /// turns them away. What nobody pays for any more, with them, goes as by
    /// [`Self::executed`], and what was judged by a state that is too old to tell, as by
    /// [`Self::installed`]; and what came in meanwhile with a lower nonce.
    pub(super) fn give_back(&mut self, taken: Taken) -> Vec<(Digest, Refusal)> {
        let mut clients = BTreeSet::new();
        let mut refused = Vec::new();
        let judged_at = taken.height.saturating_sub(1);
        let known = self.signers.know_since(judged_at);
        for (transaction, own) in taken.transactions.into_iter().zip(taken.own).rev() {
            let pooled = Pooled { transaction, own };
            if !own && !known {
                // It may have been handed in again.
                if !self.signers.holds(&pooled.transaction) {
                    refused.push((pooled.transaction.hash(), Refusal::Shard));
                }
            } else if !pooled.transaction.expired(self.height) && self.note(&pooled) {
                if !own {
                    clients.insert(*pooled.transaction.signer());
                }
                self.transactions.push_front(pooled);
            }
        }
        refused.extend(self.let_go_of_overtaken(&clients));
        // Some came in as if those that come back were executed.
        let short = self.signers.short_since(judged_at, &clients);
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
    use shardnode_mailboxes::pool::Funds;
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
            funds: Some(Funds { balance, height: 0 }),
        }
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
        let mut newer = client(transfer(2, 1, 0), 9);
        newer.funds = Some(Funds {
            balance: 9,
            height: 2,
        });
        assert_eq!(queue.add(newer), Ok(()));
        assert_eq!(queue.add(client(transfer(3, 1, 0), 9)), Ok(()));
    }

    #[test]
    fn what_a_missed_chunk_had_of_clients_is_theirs_again() {
        let mut queue = queue(100);
        queue.add(client(transfer(1, 1, 0), 9)).unwrap();
        queue.add(own(transfer(2, 1, 0))).unwrap();
        let taken = queue.take(10);
        assert_eq!(taken.own, [false, true]);
        // Nothing of clients is in the pool meanwhile.
        assert_eq!(queue.executed(1, changed(&[(3, None)])), []);
        assert_eq!(queue.give_back(taken), []);
        let gone = [(transfer(1, 1, 0).hash(), Refusal::NoAccount)];
        let changes = changed(&[(1, None), (2, None)]);
        assert_eq!(queue.executed(2, changes), gone);
        assert_eq!(names(&queue.take(10).transactions), [(2, 1)]);
    }

    #[test]
    fn what_was_judged_by_another_state_than_the_one_fetched_goes() {
        let mut queue = queue(100);
        queue.next(5, Congestion::default());
        queue.add(client(transfer(1, 1, 0), 9)).unwrap();
        let taken = queue.take(10);
        queue.add(client(transfer(1, 2, 0), 9)).unwrap();
        queue.add(own(transfer(2, 1, 0))).unwrap();
        let gone = |nonce| [(transfer(1, nonce, 0).hash(), Refusal::Shard)];
        assert_eq!(queue.installed(7), gone(2));
        assert_eq!(queue.give_back(taken), gone(1));
        assert_eq!(queue.add(client(transfer(1, 3, 0), 9)), Err(Refusal::Shard));
        let mut newer = client(transfer(1, 3, 0), 9);
        newer.funds = Some(Funds {
            balance: 9,
            height: 7,
        });
        assert_eq!(queue.add(newer), Ok(()));
        // The chunks after it were made by that state.
        queue.next(8, Congestion::default());
        let taken = queue.take(10);
        assert_eq!(queue.give_back(taken), []);
        assert_eq!(names(&queue.take(10).transactions), [(2, 1), (1, 3)]);
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
        // Less since long ago.
        for height in 1..2_000 {
            queue.next(height + 1, Congestion::default());
            queue.executed(height, changed(&[(1, Some((4, 0)))]));
        }
        let taken = Taken {
            height: 2_000,
            ..taken
        };
        let gone = [(transfer(1, 5, 0).hash(), Refusal::Funds)];
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

    proptest! {
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
