// SPDX-License-Identifier: Apache-2.0
//! The state at height 0, derived from the genesis document: every shard's
//! accounts, their tree, and the genesis block that commits to all of them.

use commonware_consensus::{
    simplex::types::Context,
    types::{Epoch, Round, View},
};
use commonware_cryptography::Digestible as _;
use shardnode_primitives::{
    AccountId, Block, ChunkHeader, Digest, Endorsements, Genesis, Randomness, ShardId, ShardTotals,
    genesis::GenesisAccount, hash::ZERO,
};
use shardnode_state::{Account, StateError, StateTree};

/// The state of all shards at height 0.
#[derive(Debug)]
pub struct GenesisState {
    /// Block 0.
    pub block: Block,
    /// Its digest.
    pub digest: Digest,
    trees: Vec<StateTree>,
}

/// Why there is no genesis state.
#[derive(Debug, thiserror::Error)]
pub enum GenesisStateError {
    /// Two accounts derived to one id, or one to the reserved id.
    #[error("accounts of shard {shard} are not distinct")]
    Accounts {
        /// The shard.
        shard: ShardId,
        /// What the tree says.
        #[source]
        source: StateError,
    },
    /// The document has no validators.
    #[error("the genesis document has no validators")]
    NoValidators,
    /// The header of height 0 cannot be formed.
    #[error("genesis header of shard {shard} cannot be formed")]
    Header {
        /// The shard.
        shard: ShardId,
        /// Why.
        #[source]
        source: commonware_codec::Error,
    },
}

impl GenesisState {
    /// The state with these accounts, which must be all of the document's.
    pub fn new<'a>(
        genesis: &Genesis,
        accounts: impl IntoIterator<Item = &'a GenesisAccount>,
    ) -> Result<Self, GenesisStateError> {
        let mut by_shard: Vec<Vec<(AccountId, Account)>> =
            vec![Vec::new(); usize::from(genesis.layout.shards())];
        for account in accounts {
            let shard = genesis.layout.shard_of(&account.id);
            let balance = genesis.accounts.initial_balance;
            by_shard[shard.index()].push((account.id, Account { balance, nonce: 0 }));
        }
        let mut trees = Vec::with_capacity(by_shard.len());
        let mut chunks = Vec::with_capacity(by_shard.len());
        for (shard, accounts) in genesis.layout.iter().zip(by_shard) {
            let tree = StateTree::genesis(accounts)
                .map_err(|source| GenesisStateError::Accounts { shard, source })?;
            let header =
                ChunkHeader::genesis(shard, ShardTotals::genesis(tree.root(), tree.balance()))
                    .map_err(|source| GenesisStateError::Header { shard, source })?;
            trees.push(tree);
            chunks.push(header);
        }
        let leader = genesis
            .producers
            .first()
            .ok_or(GenesisStateError::NoValidators)?
            .key
            .clone();
        let block = Block {
            context: Context {
                round: Round::new(Epoch::new(0), View::new(0)),
                leader,
                parent: (View::new(0), ZERO),
            },
            height: 0,
            timestamp_ms: genesis.created_at_ms,
            randomness: Randomness::genesis(genesis.first_epoch_seed()),
            endorsements: vec![Endorsements::default(); chunks.len()],
            chunks,
        };
        Ok(Self {
            digest: block.digest(),
            block,
            trees,
        })
    }

    /// The state of one shard.
    #[must_use]
    pub fn state(&self, shard: ShardId) -> StateTree {
        self.trees[shard.index()].clone()
    }

    /// What the genesis header of one shard says.
    #[must_use]
    pub fn totals(&self, shard: ShardId) -> ShardTotals {
        let tree = &self.trees[shard.index()];
        ShardTotals::genesis(tree.root(), tree.balance())
    }
}
