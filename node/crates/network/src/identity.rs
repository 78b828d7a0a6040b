// SPDX-License-Identifier: Apache-2.0
//! Who a node is in its network: its key and its place, who else is there and
//! what falls to whom at which height, and what bounds the decoding of
//! messages.

use commonware_cryptography::{
    Signer as _,
    ed25519::{PrivateKey, PublicKey},
};
use commonware_utils::ordered::Set;
use shardnode_coding::Code;
use shardnode_mandates::{Committee, Mandates, MandatesError};
use shardnode_primitives::{
    Block, BlockLimits, Genesis, Namespaces, ReceiptBucket, ShardId, Transaction,
    chunk::ChunkHeader, genesis::Producer, witness_size::MAX_WITNESS,
};
use shardnode_witness::{Limits, PartLimits};
use std::{num::NonZeroU16, sync::Arc};

/// Who this node is in which network.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The network.
    pub genesis: Genesis,
    /// Its signature namespaces.
    pub namespaces: Namespaces,
    /// This node's key.
    pub key: PrivateKey,
    /// Its place among the producers; `None` for a node that tracks no shard.
    pub producer: Option<Producer>,
    /// What every validator's stake came to.
    pub mandates: Arc<Mandates<PublicKey>>,
    /// The network's archives, in an order that all nodes have: none of them is
    /// a validator.
    archives: Vec<PublicKey>,
}

/// The committees of one height, by shard.
pub type Committees = Arc<Vec<Committee<PublicKey>>>;

impl Identity {
    /// The node with `key` in the network of `genesis`.
    pub fn new(genesis: Genesis, key: PrivateKey) -> Result<Self, MandatesError> {
        let producer = genesis.producer(&key.public_key()).cloned();
        let stakes = genesis.stakes().map(|(key, stake)| (key.clone(), stake));
        let mandates = Mandates::new(
            stakes,
            genesis.layout.shards(),
            genesis.protocol.mandates_per_shard,
        )?;
        Ok(Self {
            namespaces: Namespaces::new(&genesis.network, &genesis.hash()),
            mandates: Arc::new(mandates),
            archives: Vec::new(),
            producer,
            genesis,
            key,
        })
    }

    /// The same node in a network with these archives. Validators among them
    /// are none.
    #[must_use]
    pub fn with_archives(mut self, archives: Vec<PublicKey>) -> Self {
        let archives = archives.into_iter();
        self.archives = archives.filter(|key| !self.is_validator(key)).collect();
        self
    }

    /// Whether the node with this key keeps the states of all shards.
    #[must_use]
    pub fn is_archive(&self, key: &PublicKey) -> bool {
        self.archives.contains(key)
    }

    /// Whether anybody does.
    #[must_use]
    pub const fn has_archives(&self) -> bool {
        !self.archives.is_empty()
    }

    /// Those who keep states of `shard`, by slot: its producers in theirs, and
    /// the archives after them.
    pub fn keepers(&self, shard: ShardId) -> impl Iterator<Item = (u16, &PublicKey)> {
        let slots = self.genesis.producers_of(shard).count() as u16;
        self.genesis
            .producers_of(shard)
            .map(|producer| (producer.slot, &producer.key))
            .chain((slots..).zip(&self.archives))
    }

    /// The [keepers](Self::keepers) that this node can ask: all others, of whom an
    /// archive is connected to no other archive.
    pub fn other_keepers(&self, shard: ShardId) -> impl Iterator<Item = (u16, &PublicKey)> {
        let me = self.key.public_key();
        let archive = self.is_archive(&me);
        self.keepers(shard)
            .filter(move |(_, key)| **key != me && !(archive && self.is_archive(key)))
    }

    /// The shard whose state this node holds.
    #[must_use]
    pub fn tracked(&self) -> Option<ShardId> {
        self.producer.as_ref().map(|producer| producer.shard)
    }

    /// Everybody who votes.
    #[must_use]
    pub fn participants(&self) -> Set<PublicKey> {
        let producers = self.genesis.producers.iter();
        Set::from_iter_dedup(producers.map(|producer| producer.key.clone()))
    }

    /// Whether `key` is a producer's or a chunk validator's.
    #[must_use]
    pub fn is_validator(&self, key: &PublicKey) -> bool {
        self.genesis.producer(key).is_some() || self.genesis.chunk_validator(key).is_some()
    }

    /// The committees of a child of `parent`.
    #[must_use]
    pub fn committees_after(&self, parent: &Block) -> Committees {
        let height = parent.height + 1;
        let length = self.genesis.protocol.epoch_length;
        let seed = parent.randomness.seed_at(height, length);
        Arc::new(self.mandates.deal(seed.0, height))
    }

    /// The committees at `height`, above the finalised `block`; `None` if
    /// nobody knows them yet: those of the next epoch are known.
    #[must_use]
    pub fn committees_ahead(&self, block: &Block, height: u64) -> Option<Committees> {
        let length = self.genesis.protocol.epoch_length;
        let seed = block.randomness.seed_ahead(block.height, height, length)?;
        Some(Arc::new(self.mandates.deal(seed.0, height)))
    }

    /// The committees that endorsed the new headers of `block`.
    #[must_use]
    pub fn committees_of(&self, block: &Block) -> Committees {
        Arc::new(self.mandates.deal(block.randomness.seed.0, block.height))
    }

    /// The members of the committee of `shard` that need a witness, in the
    /// order of their places: those that do not track the shard.
    #[must_use]
    pub fn witness_owners(
        &self,
        shard: ShardId,
        committee: &Committee<PublicKey>,
    ) -> Vec<PublicKey> {
        let tracks = |key: &PublicKey| {
            let producer = self.genesis.producer(key);
            producer.is_some_and(|producer| producer.shard == shard)
        };
        let members = committee.members().iter();
        members
            .map(|member| member.validator.clone())
            .filter(|key| !tracks(key))
            .collect()
    }

    /// The producers of `shard` other than this node.
    #[must_use]
    pub fn other_producers(&self, shard: ShardId) -> Vec<PublicKey> {
        let me = self.key.public_key();
        self.genesis
            .producers_of(shard)
            .map(|producer| producer.key.clone())
            .filter(|key| *key != me)
            .collect()
    }

    /// This node's place among those who vote; `None` if it does not.
    #[must_use]
    pub fn place(&self) -> Option<u16> {
        let me = self.producer.as_ref()?;
        let mut producers = (0u16..).zip(&self.genesis.producers);
        producers.find_map(|(place, producer)| (producer == me).then_some(place))
    }

    /// Those who vote and do not track `shard`, other than this node, with
    /// their places: they hold parts of its bodies.
    #[must_use]
    pub fn part_owners(&self, shard: ShardId) -> Vec<(u16, PublicKey)> {
        let me = self.key.public_key();
        (0u16..)
            .zip(&self.genesis.producers)
            .filter(|(_, producer)| producer.shard != shard && producer.key != me)
            .map(|(place, producer)| (place, producer.key.clone()))
            .collect()
    }

    /// Everybody who votes, other than this node.
    #[must_use]
    pub fn other_participants(&self) -> Vec<PublicKey> {
        let me = self.key.public_key();
        let producers = self.genesis.producers.iter();
        producers
            .map(|producer| producer.key.clone())
            .filter(|key| *key != me)
            .collect()
    }

    /// Whether the chunk of `shard` at `height` is this node's to produce.
    #[must_use]
    pub fn produces(&self, shard: ShardId, height: u64) -> bool {
        let turn = self.genesis.producer_at(shard, height);
        turn.is_some() && turn == self.producer.as_ref()
    }

    /// Transfers executed in chunks that this node produced, of the executions
    /// that `block` is the first to commit to. Every execution of a chain is
    /// first committed to by one block, and every chunk has one producer: the
    /// nodes' sums over the same blocks add up to what was executed.
    #[must_use]
    pub fn produced_transfers(&self, block: &Block) -> u64 {
        block
            .new_chunks()
            .flat_map(|header| {
                let shard = header.content.shard;
                let results = header.content.results.iter();
                results.filter(move |result| self.produces(shard, result.height))
            })
            .map(|result| u64::from(result.transfers))
            .sum()
    }

    /// [`body_code`] of this network.
    #[must_use]
    pub const fn body_code(&self) -> Code {
        body_code(&self.genesis)
    }

    /// What bounds the decoding of blocks.
    #[must_use]
    pub const fn block_limits(&self) -> BlockLimits {
        let validators = self.genesis.producers.len() + self.genesis.chunk_validators.len();
        BlockLimits {
            shards: self.genesis.layout.shards(),
            lag: self.genesis.protocol.execution_lag,
            validators: validators as u16,
        }
    }

    /// What bounds the decoding of state witnesses.
    #[must_use]
    pub const fn witness_limits(&self) -> Limits {
        Limits {
            raw_bytes: MAX_WITNESS,
            transitions: self.genesis.protocol.execution_lag,
            receipts: self.genesis.protocol.max_transactions_per_chunk,
            code: self.body_code(),
        }
    }

    /// What bounds the decoding of parts of witnesses.
    #[must_use]
    pub const fn part_limits(&self) -> PartLimits {
        PartLimits {
            length: MAX_WITNESS as u32,
            owners: self.block_limits().validators,
        }
    }

    /// The largest message of this network, without p2p's own framing: a
    /// chunk with its header or a bucket of receipts, as many as a chunk can
    /// hold transactions, or a whole witness, where it has one owner.
    #[must_use]
    pub const fn max_chunk_message(&self) -> usize {
        use commonware_codec::FixedSize as _;
        const FRAMING: usize = 4_096;
        let most = self.genesis.protocol.max_transactions_per_chunk as usize;
        let body = most * Transaction::SIZE
            + ChunkHeader::max_encode_size(self.genesis.protocol.execution_lag);
        let bucket = most * shardnode_primitives::Receipt::SIZE;
        let chunk = if body > bucket { body } else { bucket };
        FRAMING
            + if chunk > MAX_WITNESS {
                chunk
            } else {
                MAX_WITNESS
            }
    }
}

/// How bodies are divided among those who vote, one part for each in the order
/// of genesis. As many parts are needed as voters can be byzantine, and one:
/// a certificate has the votes of at least as many honest ones.
#[must_use]
pub const fn body_code(genesis: &Genesis) -> Code {
    code_for(genesis.producers.len() as u16)
}

const fn code_for(voters: u16) -> Code {
    let byzantine = voters.saturating_sub(1) / 3;
    match (NonZeroU16::new(byzantine + 1), NonZeroU16::new(voters)) {
        (Some(needed), Some(voters)) => Code::any(needed, voters),
        _ => Code::copies(NonZeroU16::MIN),
    }
}

/// The bound under which this network's buckets are decoded.
#[must_use]
pub const fn bucket_limit(genesis: &Genesis) -> <ReceiptBucket as commonware_codec::Read>::Cfg {
    genesis.protocol.max_transactions_per_chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_part_more_is_needed_than_voters_can_be_byzantine() {
        for (voters, needed) in [(1, 1), (2, 1), (3, 1), (4, 2), (6, 2), (7, 3), (140, 47)] {
            let code = code_for(voters);
            assert_eq!(code.needed(), needed, "{voters} voters");
            assert_eq!(code.owners().get(), voters);
            // What consensus needs for a certificate, without the byzantine.
            let byzantine = (usize::from(voters) - 1) / 3;
            let honest = usize::from(voters) - 2 * byzantine;
            assert!(honest >= code.needed(), "{voters} voters");
        }
    }
}
