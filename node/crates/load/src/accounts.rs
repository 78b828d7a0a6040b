// SPDX-License-Identifier: Apache-2.0
//! Which of the genesis accounts a generator pays from.
//!
//! The producers of a shard divide its accounts among them: account `j` of
//! the shard, in id order, belongs to slot `j mod slots`. So no two generators
//! ever use one account's nonces.
//!
//! An account costs an ed25519 key derivation. [`derive()`] makes a range of
//! them, so that a caller with threads can divide the work and join the parts
//! with [`Accounts::from_parts`].

use commonware_cryptography::ed25519::PrivateKey;
use shardnode_primitives::{AccountId, Genesis, ShardId, ShardLayout, genesis::GenesisAccount};
use std::ops::Range;

/// Which producer of which shard a generator belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The shard.
    pub shard: ShardId,
    /// The producer's slot in it.
    pub slot: u16,
    /// How many producers the shard has.
    pub slots: u16,
}

/// The genesis accounts with these indices, of all shards.
#[must_use]
pub fn derive(genesis: &Genesis, indices: Range<u32>) -> Vec<GenesisAccount> {
    indices.map(|index| genesis.account(index)).collect()
}

/// The accounts of a generator.
#[derive(Clone, Debug)]
pub struct Accounts {
    /// All accounts of the network, in the order of derivation.
    pub(crate) all: Vec<AccountId>,
    /// The share that it pays from, in id order.
    pub(crate) own: Vec<(AccountId, PrivateKey)>,
    /// How many of all belong to the shard that it pays from.
    pub(crate) within: usize,
    pub(crate) shard: ShardId,
    pub(crate) layout: ShardLayout,
    /// What a transfer has to move.
    pub(crate) least_balance: u64,
}

impl Accounts {
    /// Derives all accounts of the network on this thread.
    #[must_use]
    pub fn new(genesis: &Genesis, share: Share) -> Self {
        let derived = derive(genesis, 0..genesis.account_count());
        Self::from_parts(genesis, share, [derived])
    }

    /// Joins what [`derive()`] made of consecutive ranges, from the first index
    /// to the last. Keys outside of the share are dropped.
    #[must_use]
    pub fn from_parts(
        genesis: &Genesis,
        share: Share,
        parts: impl IntoIterator<Item = Vec<GenesisAccount>>,
    ) -> Self {
        let mut all = Vec::with_capacity(genesis.account_count() as usize);
        let mut shard = Vec::new();
        for account in parts.into_iter().flatten() {
            all.push(account.id);
            if genesis.layout.shard_of(&account.id) == share.shard {
                shard.push((account.id, account.key));
            }
        }
        let within = shard.len();
        shard.sort_unstable_by_key(|(id, _)| *id);
        let own = shard
            .into_iter()
            .skip(share.slot.into())
            .step_by(usize::from(share.slots).max(1))
            .collect();
        Self {
            all,
            own,
            within,
            shard: share.shard,
            layout: genesis.layout,
            least_balance: genesis.protocol.least_balance,
        }
    }
}
