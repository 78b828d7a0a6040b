// SPDX-License-Identifier: Apache-2.0
//! What a node is told.

use commonware_cryptography::{
    Signer as _,
    ed25519::{PrivateKey, PublicKey},
};
use commonware_utils::ordered::Set;
use shardnode_execution::signatures::BatchSize;
use shardnode_primitives::{
    Block, BlockLimits, Genesis, Namespaces, ReceiptBucket, ShardId, Transaction,
    chunk::ChunkHeader, genesis::Validator,
};
use std::{num::NonZeroUsize, time::Duration};

/// How long a leader waits for chunk headers, counted from the earliest time
/// its block may have. A shard without one by then has missed its chunk.
pub const CHUNK_WAIT: Duration = Duration::from_millis(1_000);

/// Settings of one node that other nodes need not share.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many signatures are verified together.
    pub signature_batch: BatchSize,
    /// Transactions the pool holds.
    pub mempool_capacity: usize,
    /// Executed chunks between two snapshots of the state.
    pub snapshot_interval: u64,
    /// Blocks for which chunk bodies and outgoing receipts stay available.
    pub retention: u64,
    /// Threads for CPU work.
    pub cpu_threads: NonZeroUsize,
}

/// Who this node is in which network.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The network.
    pub genesis: Genesis,
    /// Its signature namespaces.
    pub namespaces: Namespaces,
    /// This node's key.
    pub key: PrivateKey,
    /// What it validates; `None` for a node that only follows.
    pub validator: Option<Validator>,
}

impl Identity {
    /// The node with `key` in the network of `genesis`.
    #[must_use]
    pub fn new(genesis: Genesis, key: PrivateKey) -> Self {
        let validator = genesis.validator(&key.public_key()).cloned();
        Self {
            namespaces: Namespaces::new(&genesis.network, &genesis.hash()),
            validator,
            genesis,
            key,
        }
    }

    /// The shard whose state this node holds.
    #[must_use]
    pub fn tracked(&self) -> Option<ShardId> {
        self.validator.as_ref().map(|validator| validator.shard)
    }

    /// Everybody who votes.
    #[must_use]
    pub fn participants(&self) -> Set<PublicKey> {
        Set::from_iter_dedup(
            self.genesis
                .validators
                .iter()
                .map(|validator| validator.key.clone()),
        )
    }

    /// The producers of `shard` other than this node.
    #[must_use]
    pub fn other_producers(&self, shard: ShardId) -> Vec<PublicKey> {
        let me = self.key.public_key();
        self.genesis
            .producers(shard)
            .map(|validator| validator.key.clone())
            .filter(|key| *key != me)
            .collect()
    }

    /// Whether the chunk of `shard` at `height` is this node's to produce.
    #[must_use]
    pub fn produces(&self, shard: ShardId, height: u64) -> bool {
        let turn = self.genesis.producer_at(shard, height);
        turn.is_some() && turn == self.validator.as_ref()
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

    /// What bounds the decoding of blocks.
    #[must_use]
    pub const fn block_limits(&self) -> BlockLimits {
        BlockLimits {
            shards: self.genesis.layout.shards(),
            lag: self.genesis.protocol.execution_lag,
        }
    }

    /// Consensus waits this long for a leader's block: time for the earliest
    /// timestamp, for the chunks, and for the block to arrive and be checked.
    #[must_use]
    pub const fn leader_timeout(&self) -> Duration {
        Duration::from_millis(self.genesis.protocol.min_block_time_ms)
            .saturating_add(CHUNK_WAIT)
            .saturating_add(Duration::from_millis(1_000))
    }

    /// The largest message of this network, without p2p's own framing: a
    /// chunk with its header or a bucket of receipts, as many as a chunk can
    /// hold transactions.
    #[must_use]
    pub const fn max_chunk_message(&self) -> usize {
        use commonware_codec::FixedSize as _;
        const FRAMING: usize = 4_096;
        let most = self.genesis.protocol.max_transactions_per_chunk as usize;
        let body = most * Transaction::SIZE
            + ChunkHeader::max_encode_size(self.genesis.protocol.execution_lag);
        let bucket = most * shardnode_primitives::Receipt::SIZE;
        FRAMING + if body > bucket { body } else { bucket }
    }
}

/// The bound under which this network's buckets are decoded.
#[must_use]
pub const fn bucket_limit(genesis: &Genesis) -> <ReceiptBucket as commonware_codec::Read>::Cfg {
    genesis.protocol.max_transactions_per_chunk
}
