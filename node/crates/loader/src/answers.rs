// SPDX-License-Identifier: Apache-2.0
//! What nodes answer.

use serde::{Deserialize, de::DeserializeOwned};
use shardnode_primitives::Refusal;

/// The answer of `/status`, as far as it matters here.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Identifies the network.
    pub genesis_hash: String,
    /// The last finalised block.
    pub finalized_height: u64,
    /// Transfers executed since genesis, by finalised blocks.
    pub transfers: u64,
    /// The shard that the node tracks.
    pub tracked: Option<Tracked>,
}

/// The shard that a node tracks.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Tracked {
    /// Its number.
    pub shard: u16,
}

/// What came of one transfer of `transfers_submit`.
#[derive(Clone, Debug, Deserialize)]
struct Submitted {
    refused: Option<String>,
}

/// What became of one transfer of `transfers_outcome`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Outcome {
    /// What became of it.
    pub status: Fate,
    /// Why it failed, or what the node knows of it nevertheless.
    pub reason: String,
}

impl Outcome {
    /// Why a pool let go of it, which no block holds. That it has expired is none, as a block
    /// that is not executed yet may hold it, nor that the node fetched a state, which may
    /// have come after it.
    #[must_use]
    pub fn let_go(&self) -> Option<Refusal> {
        let refusal = Refusal::from_reason(&self.reason).filter(|_| self.status == Fate::Unknown);
        refusal.filter(|refusal| !matches!(refusal, Refusal::Expired | Refusal::Shard))
    }
}

/// What became of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Fate {
    /// A block executed it.
    Executed,
    /// A block holds it and did not execute it.
    Failed,
    /// No block that is remembered holds it.
    Unknown,
}

#[derive(Deserialize)]
struct Transfers<T> {
    transfers: Vec<T>,
}

/// The answer of `account_get`, as far as it matters here.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Account {
    /// The last nonce that it used.
    pub nonce: u64,
}

#[derive(Deserialize)]
struct Reply<T> {
    result: Option<T>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    code: i32,
    message: String,
}

/// Why an answer is none.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// Not the JSON that was expected.
    #[error("answer is unreadable: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The node says why it has none.
    #[error("{message} (code {code})")]
    Error {
        /// The kind of error.
        code: i32,
        /// What is wrong.
        message: String,
    },
    /// Neither a result nor an error, or not as many as were asked for.
    #[error("answer is incomplete")]
    Incomplete,
    /// A refusal that is not known here.
    #[error("refusal {0:?} is not known")]
    Refusal(String),
}

/// Reads the answer of `/status`.
pub fn status(body: &[u8]) -> Result<Status, AnswerError> {
    Ok(serde_json::from_slice(body)?)
}

fn result<T: DeserializeOwned>(body: &[u8]) -> Result<T, AnswerError> {
    match serde_json::from_slice(body)? {
        Reply {
            result: Some(result),
            ..
        } => Ok(result),
        Reply {
            error: Some(Failure { code, message }),
            ..
        } => Err(AnswerError::Error { code, message }),
        _ => Err(AnswerError::Incomplete),
    }
}

fn transfers<T: DeserializeOwned>(body: &[u8], asked: usize) -> Result<Vec<T>, AnswerError> {
    let Transfers { transfers } = result(body)?;
    match transfers.len() == asked {
        true => Ok(transfers),
        false => Err(AnswerError::Incomplete),
    }
}

/// Reads what came of each of so many transfers.
pub fn submitted(body: &[u8], asked: usize) -> Result<Vec<Option<Refusal>>, AnswerError> {
    let one = |submitted: Submitted| {
        let Some(reason) = submitted.refused else {
            return Ok(None);
        };
        let refusal = Refusal::from_reason(&reason);
        refusal.map(Some).ok_or(AnswerError::Refusal(reason))
    };
    transfers(body, asked)?.into_iter().map(one).collect()
}

/// Reads what became of each of so many transfers.
pub fn outcomes(body: &[u8], asked: usize) -> Result<Vec<Outcome>, AnswerError> {
    transfers(body, asked)
}

/// Reads an account.
pub fn account(body: &[u8]) -> Result<Account, AnswerError> {
    result(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pool_let_go_of_is_told_from_what_may_still_be_executed() {
        let body = br#"{"result":{"transfers":[
            {"status":"Unknown","height":0,"reason":""},
            {"status":"Unknown","height":0,"reason":"pending"},
            {"status":"Unknown","height":0,"reason":"expired"},
            {"status":"Unknown","height":0,"reason":"shard"},
            {"status":"Unknown","height":0,"reason":"no_account"},
            {"status":"Failed","height":7,"reason":"nonce"}]}}"#;
        let outcomes = outcomes(body, 6).unwrap();
        let let_go: Vec<_> = outcomes.iter().map(Outcome::let_go).collect();
        assert_eq!(
            let_go,
            [None, None, None, None, Some(Refusal::NoAccount), None]
        );
    }

    #[test]
    fn an_answer_is_whole_or_none() {
        let body = br#"{"jsonrpc":"2.0","id":1,"result":{"transfers":
            [{"hash":"00","shard":0},{"hash":"01","shard":0,"refused":"full"}]}}"#;
        assert_eq!(submitted(body, 2).unwrap(), [None, Some(Refusal::Full)]);
        assert!(matches!(submitted(body, 3), Err(AnswerError::Incomplete)));
        let unknown = br#"{"result":{"transfers":[{"refused":"whim"}]}}"#;
        let error = submitted(unknown, 1).unwrap_err();
        assert_eq!(error.to_string(), "refusal \"whim\" is not known");
        let error = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"not now"}}"#;
        let error = outcomes(error, 1).unwrap_err();
        assert_eq!(error.to_string(), "not now (code -32003)");
        assert!(matches!(account(b"{}"), Err(AnswerError::Incomplete)));
    }
}
