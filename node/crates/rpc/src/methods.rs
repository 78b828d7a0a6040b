// SPDX-License-Identifier: Apache-2.0
//! The methods of `/rpc`.

use crate::{
    AccountReport, Node, OutcomeReport, Submitted,
    error::{ErrorCode, RpcError},
    json::{account, digest, hex, read},
    ledger::{BlockReport, ChunkReport},
};
use commonware_codec::{DecodeExt as _, FixedSize as _};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;
use shardnode_primitives::{AccountId, Digest, ShardId, Transaction};

/// The result of a method.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    Submitted(Submitted),
    Outcome(OutcomeReport),
    Account(AccountReport),
    Block(BlockReport),
    Chunk(Box<ChunkReport>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransferSubmit {
    #[serde(deserialize_with = "transaction")]
    transaction: Transaction,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransferOutcome {
    #[serde(deserialize_with = "digest")]
    hash: Digest,
    #[serde(deserialize_with = "account")]
    signer: AccountId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccountGet {
    #[serde(deserialize_with = "account")]
    id: AccountId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockGet {
    height: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChunkGet {
    height: u64,
    shard: u16,
}

fn transaction<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Transaction, D::Error> {
    let bytes: [u8; Transaction::SIZE] = hex(deserializer)?;
    Transaction::decode(bytes.to_vec())
        .map_err(|error| de::Error::custom(format!("is not a transaction: {error}")))
}

/// Carries out one request.
pub(crate) async fn call<N: Node>(
    node: &N,
    method: &str,
    params: Value,
) -> Result<Answer, RpcError> {
    match method {
        "transfer_submit" => {
            let TransferSubmit { transaction } = parameters(params)?;
            Ok(Answer::Submitted(node.submit(transaction).await?))
        }
        "transfer_outcome" => {
            let TransferOutcome { hash, signer } = parameters(params)?;
            Ok(Answer::Outcome(node.outcome(signer, hash).await?))
        }
        "account_get" => {
            let AccountGet { id } = parameters(params)?;
            Ok(Answer::Account(node.account(id).await?))
        }
        "block_get" => {
            let BlockGet { height } = parameters(params)?;
            let block = node
                .block(height)
                .await
                .ok_or_else(|| unavailable(format!("block {height} is not finalised yet")))?;
            Ok(Answer::Block(BlockReport::from(&block)))
        }
        "chunk_get" => {
            let ChunkGet { height, shard } = parameters(params)?;
            let (header, body) = node.chunk(height, ShardId(shard)).await?.ok_or_else(|| {
                unavailable(format!("shard {shard} has no chunk at height {height}"))
            })?;
            let chunk = ChunkReport::new(&header, &body).map_err(|error| {
                unavailable(format!(
                    "chunk of shard {shard} at height {height} is unreadable: {error}"
                ))
            })?;
            Ok(Answer::Chunk(Box::new(chunk)))
        }
        _ => Err(RpcError::new(
            ErrorCode::MethodNotFound,
            format!("no such method: {method}"),
        )),
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
