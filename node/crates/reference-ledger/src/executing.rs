// SPDX-License-Identifier: Apache-2.0
//! What one chunk does to its shard.

use crate::{
    accounts::Accounts,
    hashing::{domain, hash, list_root, plain_hash, varint},
    plain::{Account, Chunk, Hash, Id, NOBODY, Outcome, Receipt, Rules, Sums, Transfer},
    signatures,
};
use std::collections::{BTreeMap, BTreeSet};

/// What one chunk came to.
#[derive(Clone, Debug)]
pub struct Executed {
    /// The accounts afterwards.
    pub accounts: Accounts,
    /// What a header commits to.
    pub sums: Sums,
    /// The transfers, and what became of each.
    pub outcomes: Vec<(Transfer, Outcome)>,
    /// Receipts for every shard.
    pub receipts: Vec<Vec<Receipt>>,
    /// The receipts credited.
    pub credited: Vec<Receipt>,
    /// Executed transfers to other shards.
    pub cross_shard: u64,
    /// Value that left in receipts.
    pub sent: u64,
    /// Value that came in receipts.
    pub received: u64,
    /// Fees, and what accounts had left that were removed.
    pub burnt: u64,
}

/// The transfers that a chunk executes: all that its body holds or, if one of
/// them is not signed, none.
#[must_use]
pub fn valid<'a>(rules: &Rules, chunk: &'a Chunk) -> &'a [Transfer] {
    let signed = |transfer| signatures::holds(rules, transfer);
    if chunk.transfers.iter().all(signed) {
        &chunk.transfers
    } else {
        &[]
    }
}

/// The highest nonce at a height, which accounts have that are made there.
fn highest_nonce(height: u64) -> u64 {
    height * (1 << 20)
}

fn credit(accounts: &mut BTreeMap<Id, Account>, receiver: Id, amount: u64, height: u64) {
    let nonce = highest_nonce(height);
    let made = Account { balance: 0, nonce };
    accounts.entry(receiver).or_insert(made).balance += amount;
}

/// The first rule that the transfer breaks, in a chunk of `shard` at `height`.
fn judge(
    rules: &Rules,
    (shard, height): (u16, u64),
    accounts: &BTreeMap<Id, Account>,
    congested: &BTreeSet<u16>,
    transfer: &Transfer,
) -> Outcome {
    if rules.shard_of(&transfer.signer) != shard {
        return Outcome::WrongShard;
    }
    if transfer.expires_at > 0 && height >= transfer.expires_at {
        return Outcome::Expired;
    }
    let Some(signer) = accounts.get(&transfer.signer) else {
        return Outcome::NoAccount;
    };
    if transfer.nonce <= signer.nonce {
        return Outcome::StaleNonce;
    }
    if transfer.nonce > highest_nonce(height) {
        return Outcome::HighNonce;
    }
    if transfer.receiver == NOBODY {
        return Outcome::ReservedReceiver;
    }
    if transfer.amount < rules.least_balance {
        return Outcome::LittleAmount;
    }
    let enough = transfer.amount.checked_add(rules.fee);
    if enough.is_none_or(|cost| cost > signer.balance) {
        return Outcome::InsufficientBalance;
    }
    let destination = rules.shard_of(&transfer.receiver);
    if destination != shard && congested.contains(&destination) {
        return Outcome::Congested;
    }
    Outcome::Executed
}

/// What a transfer with this outcome takes from its signer: the value that is
/// burnt. Some outcomes leave the signer as it is.
fn charge(
    rules: &Rules,
    accounts: &mut BTreeMap<Id, Account>,
    transfer: &Transfer,
    outcome: Outcome,
) -> u64 {
    let amount = match outcome {
        Outcome::Executed => transfer.amount,
        Outcome::ReservedReceiver | Outcome::LittleAmount | Outcome::InsufficientBalance => 0,
        _ => return 0,
    };
    let signer = accounts.entry(transfer.signer).or_default();
    let fee = rules.fee.min(signer.balance);
    signer.nonce = transfer.nonce;
    signer.balance -= fee + amount;
    let left = signer.balance;
    if left < rules.least_balance {
        accounts.remove(&transfer.signer);
        return fee + left;
    }
    fee
}

/// Credits the receipts and executes the transfers of `shard`'s chunk at
/// `height`.
#[must_use]
pub fn execute(
    rules: &Rules,
    (shard, height): (u16, u64),
    before: &Accounts,
    credited: Vec<Receipt>,
    transfers: &[Transfer],
    congested: &BTreeSet<u16>,
) -> Executed {
    let mut accounts = before.by_id().clone();
    for receipt in &credited {
        credit(&mut accounts, receipt.receiver, receipt.amount, height);
    }
    let (mut within, mut burnt) = (0, 0);
    let mut receipts = vec![Vec::new(); usize::from(rules.shards)];
    let mut outcomes = Vec::new();
    for transfer in transfers {
        let outcome = judge(rules, (shard, height), &accounts, congested, transfer);
        outcomes.push((*transfer, outcome));
        burnt += charge(rules, &mut accounts, transfer, outcome);
        if outcome != Outcome::Executed {
            continue;
        }
        let Transfer {
            signer,
            receiver,
            amount,
            nonce,
            ..
        } = *transfer;
        let destination = rules.shard_of(&receiver);
        if destination == shard {
            credit(&mut accounts, receiver, amount, height);
            within += 1;
        } else {
            receipts[usize::from(destination)].push(Receipt {
                sender: signer,
                nonce,
                receiver,
                amount,
            });
        }
    }
    let value = |receipts: &[Receipt]| receipts.iter().map(|one| one.amount).sum();
    let cross_shard: usize = receipts.iter().map(Vec::len).sum();
    let accounts = before.after(accounts);
    Executed {
        sums: Sums {
            height,
            state_root: accounts.root(),
            outcomes_root: outcomes_root(&outcomes),
            receipts_root: receipts_root((shard, height), &receipts),
            transfers: (within + cross_shard) as u32,
            credits: (within + credited.len()) as u32,
        },
        accounts,
        outcomes,
        cross_shard: cross_shard as u64,
        sent: value(&receipts.concat()),
        received: value(&credited),
        burnt,
        receipts,
        credited,
    }
}

fn outcomes_root(outcomes: &[(Transfer, Outcome)]) -> Hash {
    let leaf = |(transfer, outcome): &(Transfer, Outcome)| {
        let transaction = transaction_hash(transfer);
        let outcome = [*outcome as u8];
        hash(domain::OUTCOME, &[&transaction[..], &outcome].concat())
    };
    list_root(&outcomes.iter().map(leaf).collect::<Vec<_>>())
}

/// The hash that clients know a transfer by.
#[must_use]
pub fn transaction_hash(transfer: &Transfer) -> Hash {
    plain_hash(&signatures::encoded(transfer))
}

fn receipts_root((shard, height): (u16, u64), receipts: &[Vec<Receipt>]) -> Hash {
    let bucket = |(destination, receipts): (u16, &Vec<Receipt>)| {
        let mut bytes = shard.to_be_bytes().to_vec();
        bytes.extend(height.to_be_bytes());
        bytes.extend(destination.to_be_bytes());
        bytes.extend(varint(receipts.len()));
        for receipt in receipts {
            bytes.extend(receipt.sender);
            bytes.extend(receipt.nonce.to_be_bytes());
            bytes.extend(receipt.receiver);
            bytes.extend(receipt.amount.to_be_bytes());
        }
        hash(domain::BUCKET, &bytes)
    };
    let buckets = (0..).zip(receipts).map(bucket);
    list_root(&buckets.collect::<Vec<_>>())
}
