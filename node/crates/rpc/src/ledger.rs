// SPDX-License-Identifier: Apache-2.0
//! The JSON of blocks and chunks.

use crate::types::{shard, text};
use commonware_codec::Error;
use commonware_cryptography::{Digestible as _, ed25519::Signature};
use serde::Serialize;
use shardnode_primitives::{
    AccountId, Block, ChunkBody, ChunkHeader, Digest, ExecutionResult, ShardId, ShardTotals,
    Transaction,
};

/// The answer of `block_get`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockReport {
    /// One more than the parent's.
    pub height: u64,
    /// The block's digest.
    #[serde(serialize_with = "text")]
    pub hash: Digest,
    /// The parent's digest.
    #[serde(serialize_with = "text")]
    pub parent: Digest,
    /// Milliseconds since 1970.
    pub timestamp_ms: u64,
    /// The newest header of every shard, in shard order.
    pub chunks: Vec<HeaderReport>,
}

impl From<&Block> for BlockReport {
    fn from(block: &Block) -> Self {
        Self {
            height: block.height,
            hash: block.digest(),
            parent: block.context.parent.1,
            timestamp_ms: block.timestamp_ms,
            chunks: block.chunks.iter().map(HeaderReport::from).collect(),
        }
    }
}

/// A chunk header.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeaderReport {
    /// The shard.
    #[serde(serialize_with = "shard")]
    pub shard: ShardId,
    /// The height of the block the chunk is for.
    pub height: u64,
    /// How many chunks the shard has had, this one included.
    pub sequence: u64,
    /// The header's hash.
    #[serde(serialize_with = "text")]
    pub hash: Digest,
    /// The shard's previous header.
    #[serde(serialize_with = "text")]
    pub previous: Digest,
    /// The finalised block that the newest possible result was computed on.
    #[serde(serialize_with = "text")]
    pub anchor: Digest,
    /// The body.
    #[serde(serialize_with = "text")]
    pub body_hash: Digest,
    /// The body's parts.
    #[serde(serialize_with = "text")]
    pub parts_root: Digest,
    /// The body's length.
    pub body_bytes: u32,
    /// Transactions in the body.
    pub transactions: u32,
    /// Executions that this header is the first to commit to.
    pub results: Vec<ResultReport>,
    /// Heights of chunks whose execution no header commits to yet.
    pub uncommitted: Vec<u64>,
    /// Everything since genesis as of the newest result.
    pub totals: TotalsReport,
    /// The producer's signature.
    #[serde(serialize_with = "text")]
    pub signature: Signature,
}

impl From<&ChunkHeader> for HeaderReport {
    fn from(header: &ChunkHeader) -> Self {
        let content = &header.content;
        Self {
            shard: content.shard,
            height: content.height,
            sequence: content.sequence,
            hash: header.hash(),
            previous: content.previous,
            anchor: content.anchor,
            body_hash: content.body_hash,
            parts_root: content.parts_root,
            body_bytes: content.body_len,
            transactions: content.transactions,
            results: content.results.iter().map(ResultReport::from).collect(),
            uncommitted: content.uncommitted.clone(),
            totals: TotalsReport::from(&content.totals),
            signature: header.signature.clone(),
        }
    }
}

/// What executing one chunk came to.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultReport {
    /// The height of the executed chunk.
    pub height: u64,
    /// The shard's state afterwards.
    #[serde(serialize_with = "text")]
    pub state_root: Digest,
    /// The list of transaction outcomes.
    #[serde(serialize_with = "text")]
    pub outcomes_root: Digest,
    /// The receipts to all shards.
    #[serde(serialize_with = "text")]
    pub receipts_root: Digest,
    /// Transfers executed.
    pub transfers: u32,
    /// Credits applied.
    pub credits: u32,
}

impl From<&ExecutionResult> for ResultReport {
    fn from(result: &ExecutionResult) -> Self {
        Self {
            height: result.height,
            state_root: result.state_root,
            outcomes_root: result.outcomes_root,
            receipts_root: result.receipts_root,
            transfers: result.transfers,
            credits: result.credits,
        }
    }
}

/// Everything a shard did since genesis.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TotalsReport {
    /// The height of the newest committed execution.
    pub height: u64,
    /// The state after it.
    #[serde(serialize_with = "text")]
    pub state_root: Digest,
    /// Transfers executed.
    pub transfers: u64,
    /// Those of them to other shards.
    pub cross_shard: u64,
    /// Credits applied.
    pub credits: u64,
    /// Sum of all balances of the shard.
    pub balance: u64,
    /// Value that is no more: fees, and the rest of accounts that were removed.
    pub burnt: u64,
    /// Value that left for other shards.
    pub sent: u128,
    /// Value that came from other shards.
    pub received: u128,
}

impl From<&ShardTotals> for TotalsReport {
    fn from(totals: &ShardTotals) -> Self {
        Self {
            height: totals.height,
            state_root: totals.state_root,
            transfers: totals.transfers,
            cross_shard: totals.cross_shard,
            credits: totals.credits,
            balance: totals.balance,
            burnt: totals.burnt,
            sent: totals.sent,
            received: totals.received,
        }
    }
}

/// Transactions of an answer of `chunk_get`, at most.
const TRANSACTIONS: usize = 1_000;

/// The answer of `chunk_get`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChunkReport {
    /// The header.
    pub header: HeaderReport,
    /// The position in the body of the first of these transactions.
    pub from: u32,
    /// The body's transactions from there on, in order, at most 1,000.
    pub transactions: Vec<TransactionReport>,
}

impl ChunkReport {
    /// The report of a chunk, if its body is a list of transactions.
    pub fn new(header: &ChunkHeader, body: &ChunkBody, from: u32) -> Result<Self, Error> {
        Ok(Self {
            header: header.into(),
            from,
            transactions: body
                .transactions_from(from as usize, TRANSACTIONS)?
                .iter()
                .map(TransactionReport::from)
                .collect(),
        })
    }
}

/// A transaction.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionReport {
    /// The transaction's hash.
    #[serde(serialize_with = "text")]
    pub hash: Digest,
    /// What it does.
    pub kind: KindReport,
    /// The account that pays.
    #[serde(serialize_with = "text")]
    pub signer: AccountId,
    /// The account that is paid.
    #[serde(serialize_with = "text")]
    pub receiver: AccountId,
    /// Value in base units.
    pub amount: u64,
    /// The signer's nonce that it uses.
    pub nonce: u64,
    /// The first height at which it is not executed any more; 0 for none.
    pub expires_at: u64,
    /// The signer's signature.
    #[serde(serialize_with = "text")]
    pub signature: Signature,
}

/// What a transaction does.
#[derive(Clone, Copy, Debug, Serialize)]
pub enum KindReport {
    /// Moves native value.
    Transfer,
}

impl From<&Transaction> for TransactionReport {
    fn from(transaction: &Transaction) -> Self {
        let Transaction::Transfer(signed) = transaction;
        Self {
            hash: transaction.hash(),
            kind: KindReport::Transfer,
            signer: signed.transfer.signer,
            receiver: signed.transfer.receiver,
            amount: signed.transfer.amount,
            nonce: signed.transfer.nonce,
            expires_at: signed.transfer.expires_at,
            signature: signed.signature.clone(),
        }
    }
}
