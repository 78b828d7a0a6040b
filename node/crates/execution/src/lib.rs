// SPDX-License-Identifier: Apache-2.0
//! Executing chunks.
//!
//! [`execute`] is the only place where balances change. It is a pure function
//! of a [`StateView`] and a [`ChunkInput`]: no clock, no randomness, no
//! iteration over unordered maps. Whoever holds the accounts that a chunk
//! touches, all of them in a tree or a few in a proof, runs the same function
//! and gets the same [`Execution`].
//!
//! # Rules
//!
//! 1. Receipts are credited in the order in which they fell due: by block,
//!    then by source shard, then as their source emitted them; not always all
//!    of them ([`crediting`]). An account that does not exist is created, with
//!    the nonce [`highest_nonce`] of the chunk's height.
//! 2. Transfers are executed in the chunk's order. A transfer *fails* if
//!
//!    | | [`outcome`] | the signer |
//!    |---|---|---|
//!    | its signer belongs to another shard | `WrongShard` | |
//!    | it has expired at the chunk's height | `Expired` | |
//!    | its signer does not exist | `NoAccount` | |
//!    | its nonce is not above the signer's | `StaleNonce` | |
//!    | its nonce is above [`highest_nonce`] of the chunk's height | `HighNonce` | |
//!    | its receiver is the reserved id of all zeroes | `ReservedReceiver` | is charged |
//!    | its amount is below `leastBalance` | `LittleAmount` | is charged |
//!    | its amount and `transferFee` are above the signer's balance | `InsufficientBalance` | is charged |
//!    | its receiver's shard is another one and congested ([`shardnode_primitives::congestion`]) | `Congested` | |
//!
//!    of which the first that is so is its outcome. Otherwise it is *executed*:
//!    the signer is charged and debited the amount.
//! 3. A signer that is *charged* has used the nonce, and pays `transferFee` or,
//!    if it has less, all that it has. Nobody gets that: it is burnt.
//! 4. A signer that was charged and has less than `leastBalance` left is
//!    removed, and what it has left is burnt.
//! 5. A receiver of the same shard is credited at once, as rule 1 says; for any
//!    other shard a receipt is emitted. An executed transfer counts once, where
//!    it debits.
//!
//! So no account has less than `leastBalance`: no amount is less, and whoever
//! could not keep that much is removed. And none is made and removed by the same
//! chunk: it signs nothing before the next height.
//!
//! | module | does |
//! |---|---|
//! | [`body`], [`signatures`] | decide whether a chunk's body is valid |
//! | [`crediting`] | bounds the receipts that a chunk credits |
//! | [`mod@touched`] | names the accounts that an execution takes |
//! | [`view`] | holds them: a whole state, or the part in a witness |
//! | [`mod@apply`] | changes the state, and adds up what a header commits to |
//! | [`record`] | what a tracker keeps of an execution, and what shows that it is right |
//! | [`planted`] | makes it wrong on purpose, in tests of what checks nodes |

// Transactions are counted in 32 bits: a chunk has far fewer.
#![allow(clippy::cast_possible_truncation)]

pub mod apply;
pub mod body;
pub mod crediting;
pub mod outcome;
pub mod planted;
pub mod record;
pub mod signatures;
pub mod touched;
pub mod view;

pub use apply::{Applied, ApplyError, apply};
pub use crediting::{Crediting, Delivery};
pub use outcome::{Failure, Outcome};
pub use touched::touched;
pub use view::{State, StateView};

use planted::{Fault, burden, has};
use shardnode_primitives::{
    AccountId, Congestion, Digest, DuePosition, Receipt, ReceiptBucket, ShardId, ShardLayout,
    Transaction, Transfer,
    genesis::Protocol,
    highest_nonce, merkle,
    work::{self, Work},
};
use shardnode_state::{Account, Changes, NO_ACCOUNT, StateError};

/// What is executed.
#[derive(Clone, Copy, Debug)]
pub struct ChunkInput<'a> {
    /// The network's parameters.
    pub protocol: Protocol,
    /// How accounts are divided.
    pub layout: ShardLayout,
    /// The shard that executes.
    pub shard: ShardId,
    /// The chunk's height.
    pub height: u64,
    /// The chunk's transactions, their signatures verified.
    pub transactions: &'a [Transaction],
    /// Receipts that fell due, in that order: as many as [`Crediting`] wants,
    /// or all there are.
    pub incoming: &'a [Delivery],
    /// What the block before the chunk's says of the shards.
    pub congestion: &'a Congestion,
}

/// What an execution came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// What became of every account that changed.
    pub changes: Changes,
    /// The hash of every transaction and what became of it.
    pub outcomes: Vec<(Digest, Outcome)>,
    /// The list commitment over transaction hashes and outcomes.
    pub outcomes_root: Digest,
    /// Receipts for every shard in order, empty ones included.
    pub buckets: Vec<ReceiptBucket>,
    /// Transfers executed.
    pub transfers: u32,
    /// Those to other shards.
    pub cross_shard: u32,
    /// Credits applied, of receipts and of transfers within the shard.
    pub credits: u32,
    /// Value that left in receipts.
    pub sent: u64,
    /// Value that came in receipts.
    pub received: u64,
    /// Fees, and what accounts had left that were removed.
    pub burnt: u64,
    /// Where crediting goes on.
    pub next_due: DuePosition,
}

/// Why an execution is impossible. None of them can happen on a whole state
/// while every credited receipt was debited before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecutionError {
    /// More value than can exist.
    #[error("crediting {amount} to account {account} overflows its balance")]
    Overflow {
        /// The receiver.
        account: AccountId,
        /// What it was to receive.
        amount: u64,
    },
    /// More value than can exist in all receipts together.
    #[error("the value received or sent overflows")]
    Value,
    /// The state has no answer.
    #[error("an account cannot be read")]
    State(#[from] StateError),
    /// More receipts than the chunk credits.
    #[error("receipts of shard {source_shard} due at block {block} are more than a chunk credits")]
    TooMuch {
        /// Where they come from.
        source_shard: ShardId,
        /// When they fell due.
        block: u64,
    },
    /// A receipt that was sent to the wrong shard.
    #[error(
        "receipt of shard {source_shard} at height {height} is for account {account} of another shard"
    )]
    Misrouted {
        /// Where it comes from.
        source_shard: ShardId,
        /// The height of the execution that emitted it.
        height: u64,
        /// The receiver.
        account: AccountId,
    },
}

struct Ledger<'a, S> {
    view: &'a S,
    input: &'a ChunkInput<'a>,
    changes: Changes,
    burnt: u64,
}

impl<S: StateView> Ledger<'_, S> {
    fn get(&self, id: &AccountId) -> Result<Option<Account>, StateError> {
        match self.changes.get(id) {
            Some(account) => Ok(*account),
            None => self.view.account(id),
        }
    }

    fn credit(&mut self, id: &AccountId, amount: u64) -> Result<(), ExecutionError> {
        let height = if has(Fault::NonceAnew) {
            0
        } else {
            self.input.height
        };
        let mut account = self.get(id)?.unwrap_or(Account {
            balance: 0,
            nonce: highest_nonce(height),
        });
        account.balance = account
            .balance
            .checked_add(amount)
            .ok_or(ExecutionError::Overflow {
                account: *id,
                amount,
            })?;
        self.changes.insert(*id, Some(account));
        Ok(())
    }

    /// Debits the signer as far as it is debited at all.
    fn debit(&mut self, transfer: &Transfer) -> Result<Outcome, ExecutionError> {
        let (input, signer) = (self.input, &transfer.signer);
        if input.layout.shard_of(signer) != input.shard {
            return Ok(Outcome::Failed(Failure::WrongShard));
        }
        if transfer.expired(input.height) {
            return Ok(Outcome::Failed(Failure::Expired));
        }
        let Some(account) = self.get(signer)? else {
            return Ok(Outcome::Failed(Failure::NoAccount));
        };
        let outcome = self.judge(transfer, account);
        let fee = match outcome {
            Outcome::Failed(failure) if !failure.is_charged() => return Ok(outcome),
            Outcome::Failed(_) | Outcome::Executed => input.protocol.transfer_fee,
        };
        let fee = fee.min(account.balance);
        let amount = match outcome {
            Outcome::Executed => transfer.amount,
            Outcome::Failed(_) => 0,
        };
        // Who is charged more than it has was found to have too little.
        let balance = account.balance.saturating_sub(fee).saturating_sub(amount);
        let broke = outcome == Outcome::Failed(Failure::InsufficientBalance);
        let lost = balance.min(u64::from(broke && has(Fault::CostlyFailure)));
        let balance = balance.saturating_sub(lost);
        self.burnt = add(self.burnt, add(fee, lost)?)?;
        let left = if balance < input.protocol.least_balance && !has(Fault::KeptDust) {
            self.burnt = add(self.burnt, balance)?;
            None
        } else {
            let nonce = transfer.nonce;
            Some(Account { balance, nonce })
        };
        self.changes.insert(*signer, left);
        Ok(outcome)
    }

    /// What becomes of a transfer of a signer that has this account.
    fn judge(&self, transfer: &Transfer, account: Account) -> Outcome {
        let (input, protocol) = (self.input, &self.input.protocol);
        let again = has(Fault::NonceTwice) && transfer.nonce == account.nonce;
        let destination = input.layout.shard_of(&transfer.receiver);
        let failure = if transfer.nonce <= account.nonce && !again {
            Failure::StaleNonce
        } else if transfer.nonce > highest_nonce(input.height) {
            Failure::HighNonce
        } else if transfer.receiver == NO_ACCOUNT {
            Failure::ReservedReceiver
        } else if transfer.amount < protocol.least_balance {
            Failure::LittleAmount
        } else if u128::from(transfer.amount) + u128::from(protocol.transfer_fee)
            > u128::from(account.balance)
        {
            Failure::InsufficientBalance
        } else if destination != input.shard
            && input.congestion.contains(destination)
            && !has(Fault::CongestedExecuted)
        {
            Failure::Congested
        } else {
            return Outcome::Executed;
        };
        Outcome::Failed(failure)
    }
}

fn add(sum: u64, amount: u64) -> Result<u64, ExecutionError> {
    sum.checked_add(amount).ok_or(ExecutionError::Value)
}

/// Executes one chunk on `view`; see the [crate] for the rules.
pub fn execute(view: &impl StateView, input: ChunkInput<'_>) -> Result<Execution, ExecutionError> {
    work::count(Work::Transfer, input.transactions.len());
    let mut ledger = Ledger {
        view,
        input: &input,
        changes: Changes::new(),
        burnt: 0,
    };
    let (mut credits, mut received) = (0, 0);
    let mut crediting = Crediting::new(input.protocol, input.transactions.len(), view.leaf_count());
    for delivery in input.incoming {
        if !crediting.wants_more() {
            return Err(ExecutionError::TooMuch {
                source_shard: delivery.source,
                block: delivery.block,
            });
        }
        crediting.credit(delivery);
        for bucket in &delivery.buckets {
            work::count(Work::Transfer, bucket.receipts.len());
            for receipt in &bucket.receipts {
                if input.layout.shard_of(&receipt.receiver) != input.shard {
                    return Err(ExecutionError::Misrouted {
                        source_shard: bucket.source,
                        height: bucket.height,
                        account: receipt.receiver,
                    });
                }
                let first = bucket
                    .receipts
                    .first()
                    .filter(|_| has(Fault::WrongReceiptReceiver));
                let receiver = first.unwrap_or(receipt).receiver;
                ledger.credit(&receiver, receipt.amount)?;
                credits += 1;
                received = add(received, receipt.amount)?;
                if has(Fault::CreditedTwice) {
                    ledger.credit(&receiver, receipt.amount)?;
                    received = add(received, receipt.amount)?;
                }
            }
        }
    }

    let mut buckets: Vec<ReceiptBucket> = input
        .layout
        .iter()
        .map(|destination| ReceiptBucket {
            source: input.shard,
            height: input.height,
            destination,
            receipts: Vec::new(),
        })
        .collect();
    let (mut transfers, mut cross_shard, mut sent) = (0, 0, 0);
    let mut outcomes = Vec::with_capacity(input.transactions.len());
    for transaction in input.transactions {
        let Transaction::Transfer(signed) = transaction;
        let transfer = &signed.transfer;
        burden();
        let outcome = ledger.debit(transfer)?;
        let told = if has(Fault::FailedAsExecuted) {
            Outcome::Executed
        } else {
            outcome
        };
        outcomes.push((transaction.hash(), told));
        if outcome != Outcome::Executed {
            continue;
        }
        transfers += 1;
        let destination = input.layout.shard_of(&transfer.receiver);
        if destination == input.shard {
            let wrong = has(Fault::WrongReceiver);
            let receiver = if wrong {
                transfer.signer
            } else {
                transfer.receiver
            };
            ledger.credit(&receiver, transfer.amount)?;
            credits += 1;
        } else {
            cross_shard += 1;
            sent = add(sent, transfer.amount)?;
            if has(Fault::LostReceipt) && buckets[destination.index()].receipts.is_empty() {
                continue;
            }
            buckets[destination.index()].receipts.push(Receipt {
                sender: transfer.signer,
                nonce: transfer.nonce,
                receiver: transfer.receiver,
                amount: transfer.amount,
            });
        }
    }

    let leaves = outcomes
        .iter()
        .map(|(transaction, outcome)| outcome.leaf(transaction))
        .collect();
    let burnt = ledger.burnt;
    Ok(Execution {
        changes: ledger.changes,
        outcomes,
        outcomes_root: merkle::root(leaves),
        buckets,
        transfers,
        cross_shard,
        credits,
        sent,
        received,
        burnt,
        next_due: crediting.next_due(input.height),
    })
}
