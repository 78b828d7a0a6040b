// SPDX-License-Identifier: Apache-2.0
//! Who pays whom.
//!
//! Drawing is cheap and ordered; signing costs tens of microseconds and is
//! not. So [`Generator::draw`] makes unsigned transfers, and a [`Signer`],
//! which any thread may hold, signs them.

use crate::{
    Accounts, ZipfMandelbrot,
    workload::{Reach, Receivers, Senders, Workload, WorkloadError},
};
use commonware_cryptography::ed25519::PrivateKey;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng as _};
use shardnode_primitives::{AccountId, Namespaces, ShardId, ShardLayout, Transaction, Transfer};
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

/// Accounts that receivers are drawn from, by their popularity.
struct Choice {
    accounts: Vec<AccountId>,
    rank: ZipfMandelbrot,
}

impl Choice {
    fn new(accounts: Vec<AccountId>) -> Option<Self> {
        let rank = ranks(accounts.len())?;
        Some(Self { accounts, rank })
    }

    fn draw(&self, receivers: Receivers, rng: &mut impl Rng) -> AccountId {
        let rank = match receivers {
            Receivers::Uniform => below(self.accounts.len() as u64, rng),
            _ => self.rank.sample(rng),
        };
        self.accounts[rank]
    }

    /// One other than the signer; of accounts that are not all the signer's.
    fn draw_other(
        &self,
        signer: &AccountId,
        receivers: Receivers,
        rng: &mut impl Rng,
    ) -> AccountId {
        loop {
            let receiver = self.draw(receivers, rng);
            if receiver != *signer {
                return receiver;
            }
        }
    }
}

/// The receivers within the own shard and outside of it, while a share of
/// transfers is to stay within.
struct Sides {
    percent: u8,
    within: Option<Choice>,
    outside: Option<Choice>,
}

/// Draws transfers from one producer's share of the accounts to all accounts.
pub struct Generator {
    senders: Vec<Sender>,
    sender_rank: ZipfMandelbrot,
    receivers: Choice,
    /// Whom each of the senders pays who pays one other.
    partners: Vec<AccountId>,
    /// Whom all pay if there is one whom all pay, and whom that one pays.
    hot: [AccountId; 2],
    shard: ShardId,
    layout: ShardLayout,
    reach: Reach,
    workload: Workload,
    sides: Option<Sides>,
    signer: Signer,
    /// What every transfer moves.
    amount: u64,
    rng: ChaCha8Rng,
}

fn ranks(len: usize) -> Option<ZipfMandelbrot> {
    u32::try_from(len).ok().and_then(ZipfMandelbrot::new)
}

/// Whom each of `own`, which are in id order, pays: the account that comes after
/// it in all.
fn partners(all: &[AccountId], own: &[AccountId]) -> Vec<AccountId> {
    let mut partners = own.to_vec();
    let after = all.iter().cycle().skip(1);
    for (account, next) in all.iter().zip(after) {
        if let Ok(rank) = own.binary_search(account) {
            partners[rank] = *next;
        }
    }
    partners
}

impl Generator {
    /// A generator whose nonces start at 1, and which draws the default
    /// [`Workload`]. `seed` decides the popularity of receivers and every draw.
    pub fn new(accounts: Accounts, seed: u64) -> Result<Self, LoadError> {
        let Accounts {
            all,
            own,
            within,
            shard,
            layout,
            least_balance,
        } = accounts;
        let sender_rank = ranks(own.len()).ok_or(LoadError::NoSender)?;
        let [first, second, ..] = all[..] else {
            return Err(LoadError::NoReceiver);
        };
        let reach = Reach {
            within,
            outside: all.len() - within,
        };
        let (ids, keys): (Vec<_>, Vec<_>) = own.into_iter().unzip();
        let partners = partners(&all, &ids);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut receivers = all;
        shuffle(&mut receivers, &mut rng);
        Ok(Self {
            senders: ids.into_iter().map(|id| Sender { id, nonce: 0 }).collect(),
            sender_rank,
            receivers: Choice::new(receivers).ok_or(LoadError::NoReceiver)?,
            partners,
            hot: [first, second],
            shard,
            layout,
            reach,
            workload: Workload::default(),
            sides: None,
            signer: Signer { keys: keys.into() },
            // Little, so that the balances of the most popular senders, who pay
            // far more often than they are paid, last.
            amount: least_balance.max(1),
            rng,
        })
    }

    /// Whom it can pay.
    #[must_use]
    pub const fn reach(&self) -> Reach {
        self.reach
    }

    /// Draws another workload from now on.
    pub fn set_workload(&mut self, workload: Workload) -> Result<(), WorkloadError> {
        self.reach.check(&workload)?;
        self.sides = workload.within_shard_percent.map(|percent| {
            let is_within = |id: &AccountId| self.layout.shard_of(id) == self.shard;
            let receivers = self.receivers.accounts.iter().copied();
            let (within, outside) = receivers.partition(is_within);
            Sides {
                percent,
                within: Choice::new(within),
                outside: Choice::new(outside),
            }
        });
        self.workload = workload;
        Ok(())
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

    /// Draws the next transfer of one of its own accounts, by its place among
    /// them; places beyond the last begin again at the first.
    pub fn draw_of(&mut self, place: usize) -> Unsigned {
        self.draw_from(place % self.senders.len())
    }

    /// Gives a transfer the next nonce of its signer, and its last height: as it
    /// was drawn it was never executed, or is no more.
    pub fn renew(&mut self, unsigned: &mut Unsigned, expires_at: u64) {
        let sender = &mut self.senders[unsigned.rank];
        sender.nonce = sender.nonce.saturating_add(1);
        unsigned.transfer.nonce = sender.nonce;
        unsigned.transfer.expires_at = expires_at;
    }

    fn draw_one(&mut self) -> Unsigned {
        let rank = match self.workload.senders {
            Senders::ZipfMandelbrot => self.sender_rank.sample(&mut self.rng),
            Senders::Uniform => below(self.senders.len() as u64, &mut self.rng),
        };
        self.draw_from(rank)
    }

    fn draw_from(&mut self, rank: usize) -> Unsigned {
        let sender = &mut self.senders[rank];
        // Whoever knows the genesis seed can use up an account's nonces: its
        // transfers are then refused, and the generator goes on.
        sender.nonce = sender.nonce.saturating_add(1);
        let (signer, nonce) = (sender.id, sender.nonce);
        let receiver = self.draw_receiver(rank, &signer);
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

    fn draw_receiver(&mut self, rank: usize, signer: &AccountId) -> AccountId {
        match self.workload.receivers {
            Receivers::OneToOne => self.partners[rank],
            Receivers::HotAccount => {
                let [hot, next] = self.hot;
                if hot == *signer { next } else { hot }
            }
            drawn @ (Receivers::ZipfMandelbrot | Receivers::Uniform) => {
                let choice = match &self.sides {
                    None => None,
                    Some(sides) if below(100, &mut self.rng) < usize::from(sides.percent) => {
                        sides.within.as_ref()
                    }
                    Some(sides) => sides.outside.as_ref(),
                };
                choice
                    .unwrap_or(&self.receivers)
                    .draw_other(signer, drawn, &mut self.rng)
            }
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
