// SPDX-License-Identifier: Apache-2.0
//! Transfers that fail, for every reason that there is: what no honest producer
//! puts into a chunk, and what makes none invalid.

use crate::{network::clients::reserved, shape::LEAST_BALANCE};
use shardnode_network::Identity;
use shardnode_primitives::{
    AccountId, ShardId, Transaction, Transfer, genesis::GenesisAccount, highest_nonce,
};

/// The reserved id.
const NOBODY: AccountId = AccountId([0; 32]);
/// Accounts beyond those of genesis that are looked at for a stranger.
const LOOKED_AT: u32 = 256;
/// More than nonces for one height.
const NONCES: u64 = 1_000;

/// The accounts that these transfers are of.
pub(super) struct Accounts {
    /// By shard, an account that nobody else pays from.
    own: Vec<GenesisAccount>,
    /// An account of the producer's shard that does not exist.
    stranger: GenesisAccount,
    shard: ShardId,
}

impl Accounts {
    /// Those of a producer's network; `None` for others.
    pub(super) fn of(identity: &Identity) -> Option<Self> {
        let (genesis, shard) = (&identity.genesis, identity.tracked()?);
        let count = genesis.account_count();
        let all: Vec<_> = (0..count).map(|index| genesis.account(index)).collect();
        let own = reserved(genesis, &all).into_iter();
        let own = own.map(|shard| shard.last().copied().cloned());
        let mut others = (count..count + LOOKED_AT).rev();
        let stranger = others.find_map(|index| {
            let account = genesis.account(index);
            (genesis.layout.shard_of(&account.id) == shard).then_some(account)
        });
        Some(Self {
            own: own.collect::<Option<_>>()?,
            stranger: stranger?,
            shard,
        })
    }

    /// Transfers for the chunk at `height`.
    pub(super) fn transfers(&self, identity: &Identity, height: u64) -> Vec<Transaction> {
        let own = &self.own[self.shard.index()];
        let others = (0..).zip(&self.own);
        let others: Vec<_> = others
            .filter(|(shard, _)| *shard != self.shard.index())
            .map(|(_, account)| account)
            .collect();
        let nonce = height * NONCES;
        let until = |signer: &GenesisAccount, receiver, amount, nonce, expires_at| {
            let transfer = Transfer {
                signer: signer.id,
                receiver,
                amount,
                nonce,
                expires_at,
            };
            transfer.sign(&signer.key, &identity.namespaces)
        };
        let sign = |signer, receiver, amount, nonce| until(signer, receiver, amount, nonce, 0);
        let enough = LEAST_BALANCE;
        let mut transfers = vec![
            sign(&self.stranger, own.id, 0, nonce),
            sign(&self.stranger, NOBODY, 0, nonce),
            until(&self.stranger, own.id, enough, nonce, height),
            until(own, own.id, enough, nonce + 10, height),
            until(own, own.id, enough, nonce + 10, height + 1),
            sign(own, own.id, enough, nonce + 10),
            sign(own, own.id, enough, nonce + 9),
            sign(own, NOBODY, enough, nonce + 11),
            sign(own, NOBODY, enough, nonce + 10),
            sign(own, own.id, enough - 1, nonce + 12),
            sign(own, NOBODY, 0, nonce + 13),
            sign(own, own.id, u64::MAX, nonce + 14),
            sign(own, own.id, u64::MAX, nonce + 8),
            sign(own, own.id, enough, highest_nonce(height) + 1),
            sign(own, NOBODY, enough, u64::MAX),
        ];
        // These fail only if the receiver's shard is congested.
        for (place, other) in (0..).zip(&others) {
            transfers.push(sign(own, other.id, enough, nonce + 20 + place));
            transfers.push(sign(other, own.id, enough, u64::MAX));
            transfers.push(until(other, NOBODY, enough, u64::MAX, height));
        }
        // Not a second time, whatever became of the first.
        if let Some(other) = others.last() {
            transfers.push(sign(own, other.id, u64::MAX, nonce + 500));
        }
        transfers
    }
}
