// SPDX-License-Identifier: Apache-2.0
//! Who pays whom.
//!
//! Drawing is cheap and ordered; signing costs tens of microseconds and is
//! not. So [`Generator::draw`] makes unsigned transfers, and a [`Signer`],
//! which any thread may hold, signs them.

use crate::{Accounts, ZipfMandelbrot};
use commonware_cryptography::ed25519::PrivateKey;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng as _};
use shardnode_primitives::{AccountId, Namespaces, Transaction, Transfer};
use std::sync::Arc;

/// Why there is nothing to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The shard has fewer genesis accounts than producers.
    #[error("no genesis account belongs to this producer")]
    NoSender,
    /// The network has a single account.
    #[error("no genesis account other than the sender's exists")]
    NoReceiver,
}

/// A transfer that was drawn and not signed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsigned {
    /// The signer's place in the share.
    rank: usize,
    /// What is to be signed.
    pub transfer: Transfer,
}

/// Signs what its generator drew.
#[derive(Clone, Debug)]
pub struct Signer {
    keys: Arc<[PrivateKey]>,
}

impl Signer {
    /// Signs transfers of the generator that this signer is of.
    #[must_use]
    pub fn sign(&self, drawn: &[Unsigned], namespaces: &Namespaces) -> Vec<Transaction> {
        drawn
            .iter()
            .map(|unsigned| {
                let key = &self.keys[unsigned.rank];
                unsigned.transfer.sign(key, namespaces)
            })
            .collect()
    }
}

struct Sender {
    id: AccountId,
    nonce: u64,
}

/// Draws transfers from one producer's share of the accounts to all accounts.
pub struct Generator {
    senders: Vec<Sender>,
    sender_rank: ZipfMandelbrot,
    receivers: Vec<AccountId>,
    receiver_rank: ZipfMandelbrot,
    signer: Signer,
    /// What every transfer moves.
    amount: u64,
    rng: ChaCha8Rng,
}

impl Generator {
    /// A generator whose nonces start at 1. `seed` decides the popularity of
    /// receivers and every draw.
    pub fn new(accounts: Accounts, seed: u64) -> Result<Self, LoadError> {
        let ranks = |len: usize| u32::try_from(len).ok().and_then(ZipfMandelbrot::new);
        let Accounts {
            all,
            own,
            least_balance,
        } = accounts;
        let sender_rank = ranks(own.len()).ok_or(LoadError::NoSender)?;
        if all.len() < 2 {
            return Err(LoadError::NoReceiver);
        }
        let receiver_rank = ranks(all.len()).ok_or(LoadError::NoReceiver)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut receivers = all;
        shuffle(&mut receivers, &mut rng);
        let (ids, keys): (Vec<_>, Vec<_>) = own.into_iter().unzip();
        Ok(Self {
            senders: ids.into_iter().map(|id| Sender { id, nonce: 0 }).collect(),
            sender_rank,
            receivers,
            receiver_rank,
            signer: Signer { keys: keys.into() },
            // Little, so that the balances of the most popular senders, who pay
            // far more often than they are paid, last.
            amount: least_balance.max(1),
            rng,
        })
    }

    /// The accounts it pays from, in id order.
    pub fn own_accounts(&self) -> impl ExactSizeIterator<Item = AccountId> {
        self.senders.iter().map(|sender| sender.id)
    }

    /// Continues after `nonce`, the last one that `account` used. Nonces only
    /// move up: a lower one than was already drawn changes nothing, and so
    /// does an account that is not its own.
    pub fn set_nonce(&mut self, account: &AccountId, nonce: u64) {
        if let Ok(rank) = self
            .senders
            .binary_search_by_key(account, |sender| sender.id)
        {
            let sender = &mut self.senders[rank];
            sender.nonce = sender.nonce.max(nonce);
        }
    }

    /// Draws the next `count` transfers.
    pub fn draw(&mut self, count: u32) -> Vec<Unsigned> {
        (0..count).map(|_| self.draw_one()).collect()
    }

    fn draw_one(&mut self) -> Unsigned {
        let rank = self.sender_rank.sample(&mut self.rng);
        let sender = &mut self.senders[rank];
        // Whoever knows the genesis seed can use up an account's nonces: its
        // transfers are then refused, and the generator goes on.
        sender.nonce = sender.nonce.saturating_add(1);
        let (signer, nonce) = (sender.id, sender.nonce);
        let receiver = loop {
            let rank = self.receiver_rank.sample(&mut self.rng);
            if self.receivers[rank] != signer {
                break self.receivers[rank];
            }
        };
        Unsigned {
            rank,
            transfer: Transfer {
                signer,
                receiver,
                amount: self.amount,
                nonce,
                expires_at: 0,
            },
        }
    }

    /// Draws and signs one transfer.
    pub fn next(&mut self, namespaces: &Namespaces) -> Transaction {
        let Unsigned { rank, transfer } = self.draw_one();
        transfer.sign(&self.signer.keys[rank], namespaces)
    }

    /// What signs its transfers.
    #[must_use]
    pub fn signer(&self) -> Signer {
        self.signer.clone()
    }
}

/// Fisher-Yates.
fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last as u64 + 1, rng));
    }
}

/// Uniform in 0..bound: the high half of a product, without the few numbers
/// that would favour some results.
fn below(bound: u64, rng: &mut impl Rng) -> usize {
    let unfair = bound.wrapping_neg() % bound;
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(bound);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let (high, low) = ((product >> 64) as usize, product as u64);
        if low >= unfair {
            return high;
        }
    }
}
