// SPDX-License-Identifier: Apache-2.0
//! The methods of `/rpc`.

use crate::{
    AccountReport, Node, OutcomeReport, ProofReport, Submitted,
    error::{ErrorCode, RpcError},
    json::{account, digest, hex, read},
    ledger::{BlockReport, ChunkReport},
};
use commonware_codec::{DecodeExt as _, FixedSize as _};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;
use shardnode_primitives::{AccountId, Digest, Refusal, ShardId, Transaction};

/// The result of a method.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    Submitted(Submitted),
    SubmittedAll(SubmittedAll),
    Outcomes(Outcomes),
    Outcome(OutcomeReport),
    Account(AccountReport),
    ProvenAccount(Box<ProofReport<AccountReport>>),
    ProvenOutcome(Box<ProofReport<OutcomeReport>>),
    Block(BlockReport),
    Chunk(Box<ChunkReport>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransferSubmit {
    #[serde(deserialize_with = "transaction")]
    transaction: Transaction,
}

/// The most transactions of a call of `transfers_submit` or `transfers_outcome`.
pub const MOST_TOGETHER: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransfersSubmit {
    #[serde(deserialize_with = "together")]
    transactions: Vec<Hex>,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct Hex(#[serde(deserialize_with = "transaction")] Transaction);

/// What came of each, in the order of the call.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SubmittedAll {
    transfers: Vec<SubmittedOne>,
}

#[derive(Clone, Debug, Serialize)]
struct SubmittedOne {
    #[serde(flatten)]
    submitted: Submitted,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'static str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransfersOutcome {
    #[serde(deserialize_with = "together")]
    transfers: Vec<TransferOutcome>,
}

/// What became of each, in the order of the call.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcomes {
    transfers: Vec<OutcomeReport>,
}

/// 1 to [`MOST_TOGETHER`] elements.
fn together<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let list = Vec::deserialize(deserializer)?;
    if (1..=MOST_TOGETHER).contains(&list.len()) {
        return Ok(list);
    }
    Err(de::Error::custom(format!(
        "must have 1 to {MOST_TOGETHER} elements"
    )))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransferOutcome {
    #[serde(deserialize_with = "digest")]
    hash: Digest,
    #[serde(deserialize_with = "account")]
    signer: AccountId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountGet {
    #[serde(deserialize_with = "account")]
    id: AccountId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BlockGet {
    height: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChunkGet {
    height: u64,
    shard: u16,
    #[serde(default)]
    from: u32,
}

fn transaction<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Transaction, D::Error> {
    let bytes: [u8; Transaction::SIZE] = hex(deserializer)?;
    Transaction::decode(bytes.to_vec())
        .map_err(|error| de::Error::custom(format!("is not a transaction: {error}")))
}

/// A method with its parameters.
pub(crate) enum Call {
    TransferSubmit(TransferSubmit),
    TransfersSubmit(TransfersSubmit),
    TransferOutcome(TransferOutcome),
    TransfersOutcome(TransfersOutcome),
    AccountGet(AccountGet),
    AccountProve(AccountGet),
    TransferProve(TransferOutcome),
    BlockGet(BlockGet),
    ChunkGet(ChunkGet),
}

impl Call {
    /// Whether the result can be large.
    pub(crate) const fn is_large(&self) -> bool {
        // A proof has a whole block.
        matches!(
            self,
            Self::AccountProve(_) | Self::TransferProve(_) | Self::BlockGet(_) | Self::ChunkGet(_)
        )
    }
}

/// Reads what is asked for.
pub(crate) fn read_call(method: &str, params: Value) -> Result<Call, RpcError> {
    match method {
        "transfer_submit" => parameters(params).map(Call::TransferSubmit),
        "transfers_submit" => parameters(params).map(Call::TransfersSubmit),
        "transfers_outcome" => parameters(params).map(Call::TransfersOutcome),
        "transfer_outcome" => parameters(params).map(Call::TransferOutcome),
        "account_get" => parameters(params).map(Call::AccountGet),
        "account_prove" => parameters(params).map(Call::AccountProve),
        "transfer_prove" => parameters(params).map(Call::TransferProve),
        "block_get" => parameters(params).map(Call::BlockGet),
        "chunk_get" => parameters(params).map(Call::ChunkGet),
        _ => Err(RpcError::new(
            ErrorCode::MethodNotFound,
            format!("no such method: {method}"),
        )),
    }
}

/// Carries out one request.
pub(crate) async fn carry_out<N: Node>(node: &N, call: Call) -> Result<Answer, RpcError> {
    match call {
        Call::TransferSubmit(TransferSubmit { transaction }) => {
            Ok(Answer::Submitted(node.submit(transaction).await?))
        }
        Call::TransfersSubmit(TransfersSubmit { transactions }) => {
            let transactions = transactions.into_iter().map(|Hex(one)| one).collect();
            let submitted = node.submit_all(transactions).await;
            Ok(Answer::SubmittedAll(SubmittedAll {
                transfers: submitted
                    .into_iter()
                    .map(|(submitted, refusal)| SubmittedOne {
                        submitted,
                        refused: refusal.map(Refusal::reason),
                    })
                    .collect(),
            }))
        }
        Call::TransfersOutcome(TransfersOutcome { transfers }) => {
            let asked = transfers.into_iter().map(|one| (one.signer, one.hash));
            let transfers = node.outcomes(asked.collect()).await?;
            Ok(Answer::Outcomes(Outcomes { transfers }))
        }
        Call::TransferOutcome(TransferOutcome { hash, signer }) => {
            Ok(Answer::Outcome(node.outcome(signer, hash).await?))
        }
        Call::AccountGet(AccountGet { id }) => Ok(Answer::Account(node.account(id).await?)),
        Call::AccountProve(AccountGet { id }) => {
            let proof = node.prove_account(id).await?;
            Ok(Answer::ProvenAccount(Box::new(proof)))
        }
        Call::TransferProve(TransferOutcome { hash, signer }) => {
            let proof = node.prove_outcome(signer, hash).await?;
            Ok(Answer::ProvenOutcome(Box::new(proof)))
        }
        Call::BlockGet(BlockGet { height }) => {
            let block = node.block(height).await?;
            Ok(Answer::Block(BlockReport::from(&block)))
        }
        Call::ChunkGet(ChunkGet {
            height,
            shard,
            from,
        }) => {
            let (header, body) = node.chunk(height, ShardId(shard)).await?.ok_or_else(|| {
                unavailable(format!("shard {shard} has no chunk at height {height}"))
            })?;
            let chunk = ChunkReport::new(&header, &body, from).map_err(|error| {
                unavailable(format!(
                    "chunk of shard {shard} at height {height} is unreadable: {error}"
                ))
            })?;
            Ok(Answer::Chunk(Box::new(chunk)))
        }
    }
}

/// All parameters have names. Leaving `params` out is giving none.
fn parameters<T: for<'de> Deserialize<'de>>(params: Value) -> Result<T, RpcError> {
    let params = match params {
        Value::Object(_) => params,
        Value::Null => Value::Object(serde_json::Map::new()),
        _ => {
            return Err(RpcError::new(
                ErrorCode::InvalidParams,
                "params: must be an object",
            ));
        }
    };
    read(params).map_err(|reason| RpcError::new(ErrorCode::InvalidParams, reason))
}

fn unavailable(message: String) -> RpcError {
    RpcError::new(ErrorCode::Unavailable, message)
}
