// SPDX-License-Identifier: Apache-2.0
//! The transactions of a pool, in the order in which they are taken.

use super::Capacity;
use commonware_codec::FixedSize as _;
use shardnode_mailboxes::pool::{PoolError, Taken};
use shardnode_primitives::{AccountId, Congestion, ShardId, ShardLayout, Transaction};
use std::collections::{BTreeSet, VecDeque};

/// What can only wait may fill one part in so many of the pool.
const WAITING_SHARE: usize = 4;

/// Transactions that are looked at to fill one chunk while a shard is
/// congested.
const LOOK_AHEAD: usize = 200_000;

pub(super) struct Queue {
    capacity: usize,
    layout: ShardLayout,
    shard: ShardId,
    transactions: VecDeque<Transaction>,
    known: BTreeSet<(AccountId, u64)>,
    congestion: Congestion,
    /// Transfers to congested shards among the transactions.
    waiting: usize,
    /// Why there is no room beyond the capacity.
    full: PoolError,
}

impl Queue {
    pub(super) fn new(capacity: Capacity, layout: ShardLayout, shard: ShardId) -> Self {
        // All transactions have one size, so one of the two limits binds.
        let by_bytes = capacity.bytes / Transaction::SIZE;
        let (capacity, full) = if by_bytes < capacity.transactions {
            (by_bytes, PoolError::Bytes)
        } else {
            (capacity.transactions, PoolError::Full)
        };
        Self {
            capacity,
            layout,
            shard,
            transactions: VecDeque::new(),
            known: BTreeSet::new(),
            congestion: Congestion::default(),
            waiting: 0,
            full,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.transactions.len()
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

    pub(super) fn congested(&mut self, congestion: Congestion) {
        if congestion == self.congestion {
            return;
        }
        self.congestion = congestion;
        let waiting = self.transactions.iter();
        self.waiting = waiting.filter(|one| self.must_wait(one)).count();
    }

    pub(super) fn add(&mut self, transaction: Transaction) -> Result<(), PoolError> {
        if self.len() >= self.capacity {
            return Err(self.full);
        }
        let must_wait = self.must_wait(&transaction);
        if must_wait && self.waiting >= self.capacity.div_ceil(WAITING_SHARE) {
            return Err(PoolError::Congested);
        }
        let name = (*transaction.signer(), transaction.nonce());
        if !self.known.insert(name) {
            return Err(PoolError::Duplicate);
        }
        self.waiting += usize::from(must_wait);
        self.transactions.push_back(transaction);
        Ok(())
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
                self.known.remove(&(signer, transaction.nonce()));
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

    /// These were let in before: the capacity does not turn them away.
    pub(super) fn give_back(&mut self, transactions: Vec<Transaction>) {
        for transaction in transactions.into_iter().rev() {
            let name = (*transaction.signer(), transaction.nonce());
            if self.known.insert(name) {
                self.waiting += usize::from(self.must_wait(&transaction));
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
            },
            signature: Signature::decode(vec![0; 64]).unwrap(),
        })
    }

    fn queue(transactions: usize) -> Queue {
        let bytes = usize::MAX;
        let capacity = Capacity {
            transactions,
            bytes,
        };
        Queue::new(capacity, LAYOUT, ShardId(0))
    }

    fn names(transactions: &[Transaction]) -> Vec<(u8, u64)> {
        let name = |one: &Transaction| (one.signer().0[31], one.nonce());
        transactions.iter().map(name).collect()
    }

    #[test]
    fn what_is_full_says_by_which_limit() {
        let mut by_count = queue(1);
        assert_eq!(by_count.add(transfer(1, 1, 0)), Ok(()));
        assert_eq!(by_count.add(transfer(1, 2, 0)), Err(PoolError::Full));
        let capacity = Capacity {
            transactions: 100,
            bytes: 2 * Transaction::SIZE + 1,
        };
        let mut by_bytes = Queue::new(capacity, LAYOUT, ShardId(0));
        assert_eq!(by_bytes.add(transfer(1, 1, 0)), Ok(()));
        assert_eq!(by_bytes.add(transfer(1, 1, 0)), Err(PoolError::Duplicate));
        assert_eq!(by_bytes.add(transfer(1, 2, 0)), Ok(()));
        assert_eq!(by_bytes.add(transfer(1, 3, 0)), Err(PoolError::Bytes));
        assert_eq!(by_bytes.bytes(), 290);
    }

    #[test]
    fn what_must_wait_waits_and_nothing_of_its_signer_overtakes_it() {
        let mut queue = queue(100);
        for one in [(1, 1, 0), (2, 1, 3), (2, 2, 1), (3, 1, 1), (1, 2, 3)] {
            queue.add(transfer(one.0, one.1, one.2)).unwrap();
        }
        queue.congested(Congestion::of([ShardId(3), ShardId(0)]));
        assert_eq!(queue.waiting(), 2);
        let taken = queue.take(10);
        assert!(taken.held_back);
        assert_eq!(names(&taken.transactions), [(1, 1), (3, 1)]);
        // A missed chunk's come back to the front.
        queue.give_back(taken.transactions);
        queue.congested(Congestion::default());
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
        queue.congested(Congestion::of([ShardId(1)]));
        assert_eq!(queue.add(transfer(1, 1, 1)), Ok(()));
        assert_eq!(queue.add(transfer(1, 2, 1)), Ok(()));
        assert_eq!(queue.add(transfer(1, 3, 1)), Err(PoolError::Congested));
        assert_eq!(queue.add(transfer(1, 4, 2)), Ok(()));
        queue.congested(Congestion::default());
        assert_eq!(queue.add(transfer(1, 5, 1)), Ok(()));
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
                queue.add(transfer(*signer, nonce, *to)).unwrap();
            }
            let mut out = Vec::new();
            let last = (Vec::new(), 1_000);
            for (congested, most) in steps.into_iter().chain([last]) {
                let congestion = Congestion::of(congested.into_iter().map(ShardId));
                queue.congested(congestion.clone());
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
