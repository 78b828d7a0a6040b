// SPDX-License-Identifier: Apache-2.0
//! Execution on a whole state and on the part of it that a chunk touches.

#![allow(clippy::unwrap_used)]

mod bodies;
mod crediting;
mod outcomes;
mod parts;
mod records;
mod signatures;

use commonware_codec::DecodeExt as _;
use commonware_cryptography::ed25519::Signature;
use proptest::{collection::vec, prelude::*};
use shardnode_execution::{ChunkInput, Delivery};
use shardnode_primitives::{
    AccountId, Congestion, DuePosition, Receipt, ReceiptBucket, ShardId, ShardLayout, ShardTotals,
    SignedTransfer, Transaction, Transfer,
    genesis::{CongestionControl, Protocol},
};
use shardnode_state::{Account, StateTree};
use std::collections::BTreeMap;

const LAYOUT: ShardLayout = ShardLayout::new(3);

const PROTOCOL: Protocol = Protocol {
    execution_lag: 1,
    min_block_time_ms: 250,
    chunk_wait_ms: 1_000,
    max_transactions_per_chunk: 1_000,
    mandates_per_shard: 8,
    epoch_length: 1_000,
    congestion_control: CongestionControl::Enabled,
    transfer_fee: 2,
    least_balance: 3,
};

/// That of every chunk.
const HEIGHT: u64 = 9;

/// Accounts of every shard, few enough to recur; number 0 is the reserved id.
fn id(number: u8) -> AccountId {
    let mut id = [0; 32];
    if number > 0 {
        id[0] = number.wrapping_mul(41);
        id[31] = number;
    }
    AccountId(id)
}

/// Execution does not look at signatures.
fn transfer(signer: u8, receiver: u8, amount: u64, nonce: u64) -> Transaction {
    Transaction::Transfer(SignedTransfer {
        transfer: Transfer {
            signer: id(signer),
            receiver: id(receiver),
            amount,
            nonce,
            expires_at: 0,
        },
        signature: Signature::decode(vec![0; 64]).unwrap(),
    })
}

fn expiring(transaction: Transaction, expires_at: u64) -> Transaction {
    let Transaction::Transfer(mut signed) = transaction;
    signed.transfer.expires_at = expires_at;
    Transaction::Transfer(signed)
}

/// A shard and a chunk for it.
#[derive(Clone, Debug)]
struct Case {
    shard: ShardId,
    state: StateTree,
    transactions: Vec<Transaction>,
    incoming: Vec<Delivery>,
    congestion: Congestion,
    protocol: Protocol,
}

impl Case {
    fn input(&self) -> ChunkInput<'_> {
        ChunkInput {
            protocol: self.protocol,
            layout: LAYOUT,
            shard: self.shard,
            height: HEIGHT,
            transactions: &self.transactions,
            incoming: &self.incoming,
            congestion: &self.congestion,
        }
    }

    fn totals(&self) -> ShardTotals {
        ShardTotals {
            height: 8,
            state_root: self.state.root(),
            transfers: 10,
            cross_shard: 4,
            credits: 9,
            balance: self.state.balance(),
            burnt: 100,
            sent: 1_000_000,
            received: 1_000_000,
            next_due: DuePosition::at(1),
        }
    }
}

fn case() -> impl Strategy<Value = Case> {
    let number = 0u8..40;
    let accounts = vec((1u8..40, 3u64..100, 0u64..4), 0..30);
    let transfers = vec((number, 0u8..40, 0u64..60, 0u64..8, 8u64..11), 0..40);
    let receipts = vec(vec((1u8..40, 3u64..50), 0..8), 0..4);
    let congested = vec(0u16..3, 0..2);
    let drawn = (0u16..3, accounts, transfers, receipts, congested);
    drawn.prop_map(|(shard, accounts, transfers, receipts, congested)| {
        let shard = ShardId(shard);
        let own = |id: &AccountId| LAYOUT.shard_of(id) == shard;
        let accounts: BTreeMap<AccountId, Account> = accounts
            .into_iter()
            .map(|(number, balance, nonce)| (id(number), Account { balance, nonce }))
            .filter(|(id, _)| own(id))
            .collect();
        let transactions = transfers
            .into_iter()
            .map(|(signer, receiver, amount, nonce, expires_at)| {
                let expires_at = if amount % 4 == 0 { expires_at } else { 0 };
                expiring(transfer(signer, receiver, amount, nonce), expires_at)
            })
            .collect();
        let incoming = (1..)
            .zip(receipts)
            .map(|(height, receipts)| delivery(shard, height, &receipts))
            .collect();
        Case {
            shard,
            state: StateTree::genesis(accounts).unwrap(),
            transactions,
            incoming,
            congestion: Congestion::of(congested.into_iter().map(ShardId)),
            protocol: PROTOCOL,
        }
    })
}

/// Receipts of the execution at `height`, due at the next one.
fn delivery(destination: ShardId, height: u64, receipts: &[(u8, u64)]) -> Delivery {
    let bucket = bucket(destination, height, receipts);
    Delivery {
        block: height + 1,
        source: bucket.source,
        buckets: vec![bucket],
    }
}

/// Receipts for those of the receivers that are of the destination.
fn bucket(destination: ShardId, height: u64, receipts: &[(u8, u64)]) -> ReceiptBucket {
    ReceiptBucket {
        source: ShardId((destination.0 + 1) % LAYOUT.shards()),
        height,
        destination,
        receipts: receipts
            .iter()
            .map(|(receiver, amount)| Receipt {
                sender: id(1),
                nonce: 1,
                receiver: id(*receiver),
                amount: *amount,
            })
            .filter(|receipt| LAYOUT.shard_of(&receipt.receiver) == destination)
            .collect(),
    }
}
