// SPDX-License-Identifier: Apache-2.0
//! The network under test: who is in it, and what its genesis says.

use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
use shardnode_primitives::{Genesis, GenesisDocument};

/// Accounts of each shard.
const ACCOUNTS_PER_SHARD: u32 = 24;
/// Balance of each.
const BALANCE: u64 = 1_000_000;
/// What a transfer costs.
const FEE: u64 = 2;
/// The least that an account has.
pub(crate) const LEAST_BALANCE: u64 = 5;
/// How long a leader waits for chunks, in milliseconds.
pub(crate) const CHUNK_WAIT_MS: u64 = 1_000;
/// Stake of one mandate. Every validator has as many whole mandates as it
/// takes, and no partial one, so that the odds of committees can be computed.
const MANDATE: u64 = 1_000;

/// How many validators of which kind a network has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Shards.
    pub shards: u16,
    /// Producers of each.
    pub producers: u16,
    /// Validators that track no shard.
    pub chunk_validators: u16,
    /// Mandates that each shard wants.
    pub mandates: u32,
    /// `executionLag`.
    pub lag: u8,
    /// `epochLength`.
    pub epoch_length: u64,
    /// `minBlockTimeMs`.
    pub min_block_time_ms: u64,
}

impl Shape {
    /// A network with an execution lag of 1, and short blocks and epochs.
    #[must_use]
    pub const fn new(shards: u16, producers: u16, chunk_validators: u16, mandates: u32) -> Self {
        Self {
            shards,
            producers,
            chunk_validators,
            mandates,
            lag: 1,
            epoch_length: 16,
            min_block_time_ms: 100,
        }
    }

    /// Everybody who votes.
    #[must_use]
    pub const fn voters(&self) -> usize {
        self.shards as usize * self.producers as usize
    }

    /// Everybody.
    #[must_use]
    pub const fn validators(&self) -> usize {
        self.voters() + self.chunk_validators as usize
    }

    /// How many voters can be byzantine without consensus being lost.
    #[must_use]
    pub const fn tolerated_voters(&self) -> usize {
        self.voters().saturating_sub(1) / 3
    }

    /// The place of the producer with this slot of a shard.
    #[must_use]
    pub const fn producer(&self, shard: u16, slot: u16) -> usize {
        shard as usize * self.producers as usize + slot as usize
    }

    /// The shard of the validator at this place, if it produces.
    #[must_use]
    pub fn shard_of(&self, index: usize) -> Option<u16> {
        (index < self.voters())
            .then(|| u16::try_from(index / usize::from(self.producers)).unwrap_or(u16::MAX))
    }

    /// The key of the validator at this place: producers come first, by shard
    /// and slot.
    #[must_use]
    pub fn key(index: usize) -> PrivateKey {
        PrivateKey::from_seed(index as u64)
    }

    /// The genesis of the network with this seed.
    ///
    /// # Panics
    ///
    /// If the shape is none that a network can have.
    #[must_use]
    #[expect(clippy::expect_used, reason = "scenarios are code, not input")]
    pub fn genesis(&self, seed: u64) -> Genesis {
        let wanted = u64::from(self.shards) * u64::from(self.mandates);
        let stake = wanted.div_ceil(self.validators() as u64) * MANDATE;
        let validators: Vec<_> = (0..self.validators())
            .map(|index| {
                let mut validator = serde_json::json!({
                    "name": format!("n{index}"),
                    "publicKey": Self::key(index).public_key().to_string(),
                    "role": "chunkValidator",
                    "stake": stake,
                });
                if let Some(shard) = self.shard_of(index) {
                    validator["role"] = "producer".into();
                    validator["shard"] = shard.into();
                    validator["slot"] = (index % usize::from(self.producers)).into();
                }
                validator
            })
            .collect();
        let document = serde_json::json!({
            "network": "simulated",
            "createdAtMs": 0,
            "seed": format!("{seed:064x}"),
            "shards": self.shards,
            "accounts": {"perShard": ACCOUNTS_PER_SHARD, "initialBalance": BALANCE},
            "protocol": {
                "executionLag": self.lag,
                "minBlockTimeMs": self.min_block_time_ms,
                "chunkWaitMs": CHUNK_WAIT_MS,
                "maxTransactionsPerChunk": 200,
                "mandatesPerShard": self.mandates,
                "epochLength": self.epoch_length,
                "congestionControl": "Enabled",
                "transferFee": FEE,
                "leastBalance": LEAST_BALANCE,
            },
            "validators": validators,
        });
        let document: GenesisDocument =
            serde_json::from_value(document).expect("a document has these fields");
        document.check().expect("a scenario's shape is a network's")
    }
}
