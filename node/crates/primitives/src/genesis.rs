// SPDX-License-Identifier: Apache-2.0
//! The genesis document: what every node of a network must agree on.
//!
//! The document holds a seed and counts, never the accounts: account `i` of
//! all `shards * perShard` has the ed25519 seed
//! `blake3(0x24 ‖ seed ‖ i as u32 big endian)`, and belongs to the shard that
//! owns its public key. The genesis hash is
//! blake3 over a canonical encoding of every field.

use crate::{AccountId, ShardId, ShardLayout, hash, witness_size};
use bytes::BufMut as _;
use commonware_codec::{DecodeExt as _, Encode as _};
use commonware_cryptography::{
    Signer as _,
    blake3::Digest,
    ed25519::{PrivateKey, PublicKey},
};
use commonware_formatting::from_hex;
use serde::Deserialize;
use std::{collections::BTreeSet, ops::RangeInclusive};

/// Why a genesis document cannot be used. Each names the field.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct GenesisError {
    /// The path of the field in the document.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

fn invalid(field: impl Into<String>, reason: impl Into<String>) -> GenesisError {
    GenesisError {
        field: field.into(),
        reason: reason.into(),
    }
}

/// The document as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GenesisDocument {
    /// The chain's name.
    pub network: String,
    /// Timestamp of block 0.
    pub created_at_ms: u64,
    /// 64 hex digits.
    pub seed: String,
    /// Number of shards.
    pub shards: u16,
    /// The accounts.
    pub accounts: Accounts,
    /// What validity depends on.
    pub protocol: Protocol,
    /// Who produces.
    pub validators: Vec<ValidatorDocument>,
}

/// The genesis accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Accounts {
    /// Accounts derived for each shard, on average.
    pub per_shard: u32,
    /// Balance of each at height 0.
    pub initial_balance: u64,
}

/// Parameters that validity depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Protocol {
    /// A header at height h commits the execution of height h - lag.
    pub execution_lag: u8,
    /// Least difference between the timestamps of a block and its parent.
    pub min_block_time_ms: u64,
    /// How long a leader waits for chunk headers, counted from the beginning of
    /// its turn or, if that is later, the earliest time that its block may have.
    pub chunk_wait_ms: u64,
    /// The most transactions a chunk can hold.
    pub max_transactions_per_chunk: u32,
    /// Whole mandates that every shard has at every height.
    pub mandates_per_shard: u32,
    /// Blocks of an epoch; see [`crate::randomness`].
    pub epoch_length: u64,
    /// Whether shards that are behind are sent nothing more, and chunks credit
    /// no more than can be shown.
    pub congestion_control: CongestionControl,
    /// What every transfer costs its signer beside the amount, in base units;
    /// nobody gets it.
    pub transfer_fee: u64,
    /// The least that an account can have, and that a transfer can move. With 0
    /// accounts are never removed.
    pub least_balance: u64,
}

impl Protocol {
    /// Whether executing a chunk can remove accounts.
    #[must_use]
    pub const fn removes_accounts(&self) -> bool {
        self.least_balance > 0
    }
}

/// Whether the limits of [`crate::congestion`] are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum CongestionControl {
    /// They are.
    Enabled,
    /// They are not: a shard that falls far behind may stand still for good.
    Disabled,
}

/// A validator as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ValidatorDocument {
    /// Its node's name.
    pub name: String,
    /// 64 hex digits.
    pub public_key: String,
    /// What it does.
    pub role: ValidatorRole,
    /// The shard that a producer produces for.
    pub shard: Option<u16>,
    /// A producer's turn among the producers of its shard.
    pub slot: Option<u16>,
    /// What its mandates come from.
    pub stake: u64,
}

/// What a validator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ValidatorRole {
    /// Tracks one shard, produces its chunks and votes in consensus.
    Producer,
    /// Tracks nothing and does not vote: endorses the chunks it is dealt.
    ChunkValidator,
}

/// A validator that tracks no shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkValidator {
    /// Its node's name.
    pub name: String,
    /// Its identity.
    pub key: PublicKey,
    /// What its mandates come from.
    pub stake: u64,
}

/// A validator that produces the chunks of a shard and votes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Producer {
    /// Its node's name.
    pub name: String,
    /// Its identity.
    pub key: PublicKey,
    /// The shard it produces for.
    pub shard: ShardId,
    /// Its turn among the producers of the shard.
    pub slot: u16,
    /// What its mandates come from.
    pub stake: u64,
}

/// A genesis document that was checked.
#[derive(Clone, Debug)]
pub struct Genesis {
    /// The chain's name.
    pub network: String,
    /// Timestamp of block 0.
    pub created_at_ms: u64,
    /// The accounts.
    pub accounts: Accounts,
    /// What validity depends on.
    pub protocol: Protocol,
    /// How accounts are divided.
    pub layout: ShardLayout,
    /// All producers, by shard and slot: those who vote.
    pub producers: Vec<Producer>,
    /// The validators that track no shard, by key.
    pub chunk_validators: Vec<ChunkValidator>,
    seed: [u8; 32],
    hash: Digest,
}

/// A genesis account and its secret key.
#[derive(Clone, Debug)]
pub struct GenesisAccount {
    /// The account.
    pub id: AccountId,
    /// Its key.
    pub key: PrivateKey,
}

const MAX_NAME: usize = 63;
const MAX_SHARDS: u16 = 1024;
const MAX_LAG: u8 = 4;
/// Less leaves no time for a chunk to arrive; a shard whose producer is down has
/// the chain wait for as long at every turn of that producer.
const CHUNK_WAITS_MS: RangeInclusive<u64> = 10..=60_000;
const MAX_MANDATES: u64 = 1_000_000;
const MAX_VALIDATORS: usize = 4_096;
/// A boundary of epochs must be finalised long before the seed that it fixes
/// is used.
const MIN_EPOCH_LENGTH: u64 = 16;

impl GenesisDocument {
    /// Checks the document.
    pub fn check(self) -> Result<Genesis, GenesisError> {
        if !(1..=MAX_NAME).contains(&self.network.chars().count()) {
            return Err(invalid("network", "must have 1 to 63 characters"));
        }
        let seed = key_bytes(&self.seed).map_err(|reason| invalid("seed", reason))?;
        if self.shards == 0 || self.shards > MAX_SHARDS {
            return Err(invalid("shards", format!("must be 1 to {MAX_SHARDS}")));
        }
        if self.accounts.per_shard == 0 {
            return Err(invalid("accounts.perShard", "must be at least 1"));
        }
        let count = u64::from(self.shards) * u64::from(self.accounts.per_shard);
        if u32::try_from(count).is_err() {
            return Err(invalid(
                "accounts.perShard",
                "shards * perShard must be below 2^32",
            ));
        }
        if count.checked_mul(self.accounts.initial_balance).is_none() {
            return Err(invalid(
                "accounts.initialBalance",
                "shards * perShard * initialBalance must be below 2^64",
            ));
        }
        let protocol = self.protocol;
        if self.accounts.initial_balance < protocol.least_balance {
            return Err(invalid(
                "accounts.initialBalance",
                format!(
                    "must be at least {}, the protocol's leastBalance",
                    protocol.least_balance
                ),
            ));
        }
        if protocol.execution_lag == 0 || protocol.execution_lag > MAX_LAG {
            return Err(invalid(
                "protocol.executionLag",
                format!("must be 1 to {MAX_LAG}"),
            ));
        }
        if protocol.min_block_time_ms < 10 {
            return Err(invalid("protocol.minBlockTimeMs", "must be at least 10"));
        }
        if !CHUNK_WAITS_MS.contains(&protocol.chunk_wait_ms) {
            return Err(invalid(
                "protocol.chunkWaitMs",
                format!(
                    "must be {} to {}",
                    CHUNK_WAITS_MS.start(),
                    CHUNK_WAITS_MS.end()
                ),
            ));
        }
        let most =
            witness_size::most_transactions(protocol.execution_lag, protocol.removes_accounts());
        if protocol.max_transactions_per_chunk == 0 || protocol.max_transactions_per_chunk > most {
            return Err(invalid(
                "protocol.maxTransactionsPerChunk",
                format!(
                    "must be 1 to {most} with an executionLag of {} and a leastBalance of {}: \
                     state witnesses of larger chunks could have more than {} bytes, and nobody \
                     could check them",
                    protocol.execution_lag,
                    protocol.least_balance,
                    witness_size::MAX_WITNESS
                ),
            ));
        }
        if protocol.mandates_per_shard == 0
            || u64::from(protocol.mandates_per_shard) * u64::from(self.shards) > MAX_MANDATES
        {
            return Err(invalid(
                "protocol.mandatesPerShard",
                format!("must be at least 1, and at most {MAX_MANDATES} over all shards"),
            ));
        }
        if protocol.epoch_length < MIN_EPOCH_LENGTH {
            return Err(invalid(
                "protocol.epochLength",
                format!("must be at least {MIN_EPOCH_LENGTH}"),
            ));
        }
        let (producers, chunk_validators) = check_validators(&self.validators, self.shards)?;
        let stakes = producers.iter().map(|producer| producer.stake);
        let mut stakes = stakes.chain(chunk_validators.iter().map(|validator| validator.stake));
        let wanted = u64::from(protocol.mandates_per_shard) * u64::from(self.shards);
        let enough = stakes
            .try_fold(0u64, u64::checked_add)
            .is_some_and(|total| total >= wanted);
        if !enough {
            return Err(invalid(
                "validators",
                format!(
                    "the sum of all stakes must be at least {wanted}, the number of mandates, and below 2^64"
                ),
            ));
        }
        let mut genesis = Genesis {
            network: self.network,
            created_at_ms: self.created_at_ms,
            accounts: self.accounts,
            protocol,
            layout: ShardLayout::new(self.shards),
            producers,
            chunk_validators,
            seed,
            hash: hash::ZERO,
        };
        genesis.hash = genesis.compute_hash();
        Ok(genesis)
    }
}

fn key_bytes(hex: &str) -> Result<[u8; 32], String> {
    // The decoder would also take white space and a prefix.
    let digits = hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits
        .then(|| from_hex(hex))
        .flatten()
        .and_then(|bytes| <[u8; 32]>::try_from(bytes).ok())
        .ok_or_else(|| "must be 64 hex digits".into())
}

fn check_validators(
    documents: &[ValidatorDocument],
    shards: u16,
) -> Result<(Vec<Producer>, Vec<ChunkValidator>), GenesisError> {
    if documents.len() > MAX_VALIDATORS {
        return Err(invalid(
            "validators",
            format!("must be at most {MAX_VALIDATORS}"),
        ));
    }
    let mut keys = BTreeSet::new();
    let (mut producers, mut chunk_validators) = (Vec::new(), Vec::new());
    for (index, document) in documents.iter().enumerate() {
        let field = |name: &str| format!("validators[{index}].{name}");
        let key = key_bytes(&document.public_key)
            .map_err(|reason| invalid(field("publicKey"), reason))
            .and_then(|bytes| {
                PublicKey::decode(bytes.to_vec())
                    .map_err(|_| invalid(field("publicKey"), "is not an ed25519 public key"))
            })?;
        if !keys.insert(key.clone()) {
            return Err(invalid(field("publicKey"), "is used twice"));
        }
        if document.stake == 0 {
            return Err(invalid(field("stake"), "must be at least 1"));
        }
        let (name, stake) = (document.name.clone(), document.stake);
        let place = (document.role, document.shard, document.slot);
        let (shard, slot) = match place {
            (ValidatorRole::Producer, Some(shard), Some(slot)) => (shard, slot),
            (ValidatorRole::Producer, None, _) => {
                return Err(invalid(field("shard"), "must be given for a producer"));
            }
            (ValidatorRole::Producer, _, None) => {
                return Err(invalid(field("slot"), "must be given for a producer"));
            }
            (ValidatorRole::ChunkValidator, None, None) => {
                chunk_validators.push(ChunkValidator { name, key, stake });
                continue;
            }
            (ValidatorRole::ChunkValidator, shard, _) => {
                let named = if shard.is_some() { "shard" } else { "slot" };
                return Err(invalid(
                    field(named),
                    "must not be given for a chunkValidator, which tracks no shard",
                ));
            }
        };
        if shard >= shards {
            return Err(invalid(
                field("shard"),
                format!("must be below {shards}, the number of shards"),
            ));
        }
        producers.push(Producer {
            name,
            key,
            shard: ShardId(shard),
            slot,
            stake,
        });
    }
    producers.sort_by_key(|producer| (producer.shard, producer.slot));
    chunk_validators.sort_by(|one, other| one.key.cmp(&other.key));
    for shard in (0..shards).map(ShardId) {
        let slots: Vec<u16> = producers
            .iter()
            .filter(|producer| producer.shard == shard)
            .map(|producer| producer.slot)
            .collect();
        let gapless = slots.iter().copied().eq(0..slots.len() as u16);
        if slots.is_empty() || !gapless {
            return Err(invalid(
                "validators",
                format!("the slots of shard {shard} must be 0, 1, 2, …; they are {slots:?}"),
            ));
        }
    }
    Ok((producers, chunk_validators))
}

impl Genesis {
    /// Identifies the network: different documents, different hashes.
    #[must_use]
    pub const fn hash(&self) -> Digest {
        self.hash
    }

    fn compute_hash(&self) -> Digest {
        let mut bytes = Vec::new();
        let text = |bytes: &mut Vec<u8>, value: &str| {
            bytes.put_u32(value.len() as u32);
            bytes.put_slice(value.as_bytes());
        };
        text(&mut bytes, &self.network);
        bytes.put_u64(self.created_at_ms);
        bytes.put_slice(&self.seed);
        bytes.put_u16(self.layout.shards());
        bytes.put_u32(self.accounts.per_shard);
        bytes.put_u64(self.accounts.initial_balance);
        bytes.put_u8(self.protocol.execution_lag);
        bytes.put_u64(self.protocol.min_block_time_ms);
        bytes.put_u64(self.protocol.chunk_wait_ms);
        bytes.put_u32(self.protocol.max_transactions_per_chunk);
        bytes.put_u32(self.protocol.mandates_per_shard);
        bytes.put_u64(self.protocol.epoch_length);
        bytes.put_u8(match self.protocol.congestion_control {
            CongestionControl::Disabled => 0,
            CongestionControl::Enabled => 1,
        });
        bytes.put_u64(self.protocol.transfer_fee);
        bytes.put_u64(self.protocol.least_balance);
        bytes.put_u32(self.producers.len() as u32);
        for producer in &self.producers {
            text(&mut bytes, &producer.name);
            bytes.put_slice(&producer.key.encode());
            bytes.put_u16(producer.shard.0);
            bytes.put_u16(producer.slot);
            bytes.put_u64(producer.stake);
        }
        bytes.put_u32(self.chunk_validators.len() as u32);
        for validator in &self.chunk_validators {
            text(&mut bytes, &validator.name);
            bytes.put_slice(&validator.key.encode());
            bytes.put_u64(validator.stake);
        }
        hash::hash(hash::Domain::Genesis, &[&bytes])
    }

    /// The number of genesis accounts, over all shards.
    #[must_use]
    pub const fn account_count(&self) -> u32 {
        self.layout.shards() as u32 * self.accounts.per_shard
    }

    /// The value in existence.
    #[must_use]
    pub const fn supply(&self) -> u64 {
        self.account_count() as u64 * self.accounts.initial_balance
    }

    /// The `index`-th genesis account.
    #[must_use]
    pub fn account(&self, index: u32) -> GenesisAccount {
        let seed = hash::hash(
            hash::Domain::AccountKey,
            &[&self.seed, &index.to_be_bytes()],
        );
        let key = private_key(seed.0);
        GenesisAccount {
            id: AccountId::of(&key.public_key()),
            key,
        }
    }

    /// The producers of `shard`, by slot.
    pub fn producers_of(&self, shard: ShardId) -> impl Iterator<Item = &Producer> {
        self.producers
            .iter()
            .filter(move |producer| producer.shard == shard)
    }

    /// The producer whose turn `height` is in `shard`.
    #[must_use]
    pub fn producer_at(&self, shard: ShardId, height: u64) -> Option<&Producer> {
        let count = self.producers_of(shard).count() as u64;
        let slot = height.checked_rem(count)?;
        self.producers_of(shard)
            .find(|producer| u64::from(producer.slot) == slot)
    }

    /// The producer with this key.
    #[must_use]
    pub fn producer(&self, key: &PublicKey) -> Option<&Producer> {
        self.producers.iter().find(|producer| producer.key == *key)
    }

    /// The validator with this key that tracks no shard.
    #[must_use]
    pub fn chunk_validator(&self, key: &PublicKey) -> Option<&ChunkValidator> {
        self.chunk_validators
            .iter()
            .find(|validator| validator.key == *key)
    }

    /// Every validator's identity and stake.
    pub fn stakes(&self) -> impl Iterator<Item = (&PublicKey, u64)> {
        let producers = self.producers.iter();
        let producers = producers.map(|producer| (&producer.key, producer.stake));
        let others = self.chunk_validators.iter();
        producers.chain(others.map(|validator| (&validator.key, validator.stake)))
    }

    /// What the first epochs' committees are dealt from.
    #[must_use]
    pub fn first_epoch_seed(&self) -> Digest {
        hash::hash(hash::Domain::Randomness, &[&self.hash.0])
    }
}

/// The ed25519 private key with this seed; every 32 bytes are one.
#[must_use]
pub fn private_key(seed: [u8; 32]) -> PrivateKey {
    #[expect(clippy::expect_used, reason = "every 32 bytes are a valid seed")]
    PrivateKey::decode(seed.to_vec()).expect("32 bytes are an ed25519 seed")
}
