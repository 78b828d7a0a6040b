// SPDX-License-Identifier: Apache-2.0
//! The transactions of a pool, in the order in which they are taken.

use super::Capacity;
use commonware_codec::FixedSize as _;
use shardnode_mailboxes::pool::Taken;
use shardnode_primitives::{AccountId, Congestion, Refusal, ShardId, ShardLayout, Transaction};
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

/// What the pool holds of one signer.
#[derive(Default)]
struct Signer {
    nonces: BTreeSet<u64>,
    /// All amounts and fees.
    cost: u128,
}

pub(super) struct Queue {
    capacity: usize,
    layout: ShardLayout,
    shard: ShardId,
    fee: u64,
    transactions: VecDeque<Transaction>,
    signers: BTreeMap<AccountId, Signer>,
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
        Self {
            capacity,
            layout,
            shard,
            fee,
            transactions: VecDeque::new(),
            signers: BTreeMap::new(),
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
            self.waiting = waiting.filter(|one| self.must_wait(one)).count();
        }
        let first = self.expiring.first_key_value();
        if first.is_none_or(|(expires_at, _)| *expires_at > height) {
            return 0;
        }
        let all = std::mem::take(&mut self.transactions);
        let (expired, kept): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| one.expired(height));
        self.transactions = kept.into();
        for transaction in &expired {
            self.forget(transaction);
        }
        expired.len() as u64
    }

    /// The most transactions of one signer.
    fn share(&self) -> usize {
        self.capacity.div_ceil(ACCOUNT_SHARE).max(ACCOUNT_LEAST)
    }

    fn cost(&self, transaction: &Transaction) -> u128 {
        let Transaction::Transfer(signed) = transaction;
        u128::from(signed.transfer.amount) + u128::from(self.fee)
    }

    pub(super) fn add(
        &mut self,
        transaction: Transaction,
        funds: Option<u64>,
    ) -> Result<(), Refusal> {
        if self.len() >= self.capacity {
            return Err(self.full);
        }
        if transaction.expired(self.height) {
            return Err(Refusal::Expired);
        }
        if self.must_wait(&transaction) && self.waiting >= self.capacity.div_ceil(WAITING_SHARE) {
            return Err(Refusal::Congested);
        }
        let mut cost = self.cost(&transaction);
        if let Some(pooled) = self.signers.get(transaction.signer()) {
            if pooled.nonces.contains(&transaction.nonce()) {
                return Err(Refusal::Duplicate);
            }
            if pooled.nonces.len() >= self.share() {
                return Err(Refusal::Account);
            }
            cost += pooled.cost;
        }
        if funds.is_some_and(|funds| cost > u128::from(funds)) {
            return Err(Refusal::Funds);
        }
        self.note(&transaction);
        self.transactions.push_back(transaction);
        Ok(())
    }

    /// Notes a transaction that comes in, unless its signer has one with this
    /// nonce in the pool.
    fn note(&mut self, transaction: &Transaction) -> bool {
        let cost = self.cost(transaction);
        let signer = self.signers.entry(*transaction.signer()).or_default();
        if !signer.nonces.insert(transaction.nonce()) {
            return false;
        }
        signer.cost += cost;
        let Transaction::Transfer(signed) = transaction;
        if signed.transfer.expires_at > 0 {
            *self.expiring.entry(signed.transfer.expires_at).or_default() += 1;
        }
        self.waiting += usize::from(self.must_wait(transaction));
        true
    }

    /// Forgets a transaction that is no longer in the queue.
    fn forget(&mut self, transaction: &Transaction) {
        let cost = self.cost(transaction);
        if let Some(signer) = self.signers.get_mut(transaction.signer()) {
            signer.nonces.remove(&transaction.nonce());
            signer.cost = signer.cost.saturating_sub(cost);
            if signer.nonces.is_empty() {
                self.signers.remove(transaction.signer());
            }
        }
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
        let mut taken = Vec::with_capacity(most.min(self.len()));
        let (mut passed, mut signers) = (Vec::new(), BTreeSet::new());
        while taken.len() < most
            && passed.len() < LOOK_AHEAD
            && let Some(transaction) = self.transactions.pop_front()
        {
            let signer = *transaction.signer();
            if self.waiting > 0 && (signers.contains(&signer) || self.must_wait(&transaction)) {
                signers.insert(signer);
                passed.push(transaction);
            } else {
                self.forget(&transaction);
                taken.push(transaction);
            }
        }
        let held_back = !passed.is_empty();
        for transaction in passed.into_iter().rev() {
            self.transactions.push_front(transaction);
        }
        Taken {
            transactions: taken,
            held_back,
        }
    }

    /// These were let in before: neither the capacity nor a signer's share
    /// turns them away.
    pub(super) fn give_back(&mut self, transactions: Vec<Transaction>) {
        for transaction in transactions.into_iter().rev() {
            if !transaction.expired(self.height) && self.note(&transaction) {
                self.transactions.push_front(transaction);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_codec::DecodeExt as _;
    use commonware_cryptography::ed25519::Signature;
    use proptest::prelude::*;
    use shardnode_primitives::{SignedTransfer, Transfer};
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
        assert_eq!(by_count.add(transfer(1, 1, 0), None), Ok(()));
        assert_eq!(by_count.add(transfer(1, 2, 0), None), Err(Refusal::Full));
        let capacity = Capacity {
            transactions: 100,
            bytes: 2 * Transaction::SIZE + 1,
        };
        let mut by_bytes = Queue::new(capacity, LAYOUT, ShardId(0), FEE);
        assert_eq!(by_bytes.add(transfer(1, 1, 0), None), Ok(()));
        assert_eq!(
            by_bytes.add(transfer(1, 1, 0), None),
            Err(Refusal::Duplicate)
        );
        assert_eq!(by_bytes.add(transfer(1, 2, 0), None), Ok(()));
        assert_eq!(by_bytes.add(transfer(1, 3, 0), None), Err(Refusal::Bytes));
        assert_eq!(by_bytes.bytes(), 2 * Transaction::SIZE);
    }

    #[test]
    fn what_must_wait_waits_and_nothing_of_its_signer_overtakes_it() {
        let mut queue = queue(100);
        for one in [(1, 1, 0), (2, 1, 3), (2, 2, 1), (3, 1, 1), (1, 2, 3)] {
            queue.add(transfer(one.0, one.1, one.2), None).unwrap();
        }
        queue.next(1, Congestion::of([ShardId(3), ShardId(0)]));
        assert_eq!(queue.waiting(), 2);
        let taken = queue.take(10);
        assert!(taken.held_back);
        assert_eq!(names(&taken.transactions), [(1, 1), (3, 1)]);
        // A missed chunk's come back to the front.
        queue.give_back(taken.transactions);
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
        assert_eq!(queue.add(transfer(1, 1, 1), None), Ok(()));
        assert_eq!(queue.add(transfer(1, 2, 1), None), Ok(()));
        assert_eq!(queue.add(transfer(1, 3, 1), None), Err(Refusal::Congested));
        assert_eq!(queue.add(transfer(1, 4, 2), None), Ok(()));
        queue.next(1, Congestion::default());
        assert_eq!(queue.add(transfer(1, 5, 1), None), Ok(()));
    }

    #[test]
    fn an_account_has_its_share_and_pays_for_it() {
        let mut queue = queue(1_000);
        for nonce in 1..=125 {
            assert_eq!(queue.add(transfer(1, nonce, 0), None), Ok(()));
        }
        assert_eq!(queue.add(transfer(1, 126, 0), None), Err(Refusal::Account));
        assert_eq!(queue.add(transfer(2, 1, 0), Some(8)), Ok(()));
        assert_eq!(queue.add(transfer(2, 2, 0), Some(5)), Err(Refusal::Funds));
        assert_eq!(queue.add(transfer(2, 2, 0), Some(6)), Ok(()));
        // What a chunk took is no longer in the pool.
        let taken = queue.take(127).transactions;
        assert_eq!(taken.len(), 127);
        assert_eq!(queue.add(transfer(1, 126, 0), None), Ok(()));
        assert_eq!(queue.add(transfer(2, 3, 0), Some(3)), Ok(()));
        queue.give_back(taken);
        assert_eq!(queue.len(), 129);
        assert_eq!(queue.add(transfer(2, 4, 0), Some(11)), Err(Refusal::Funds));
    }

    #[test]
    fn what_has_expired_goes() {
        let mut queue = queue(100);
        assert_eq!(queue.next(5, Congestion::default()), 0);
        assert_eq!(queue.add(expiring(1, 5), None), Err(Refusal::Expired));
        for (nonce, expires_at) in [(2, 6), (3, 0), (4, 7), (5, 6)] {
            assert_eq!(queue.add(expiring(nonce, expires_at), None), Ok(()));
        }
        assert_eq!(queue.next(6, Congestion::default()), 2);
        let taken = queue.take(10).transactions;
        assert_eq!(names(&taken), [(1, 3), (1, 4)]);
        assert_eq!(queue.next(7, Congestion::default()), 0);
        // Of a missed chunk's, what has not expired comes back.
        queue.give_back(taken);
        assert_eq!(names(&queue.take(10).transactions), [(1, 3)]);
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
                queue.add(transfer(*signer, nonce, *to), None).unwrap();
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
