// SPDX-License-Identifier: Apache-2.0
//! Requests to nodes.

use crate::answers::{self, Account, AnswerError, Outcome, Status};
use commonware_codec::Encode as _;
use commonware_formatting::hex;
use reqwest::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderValue},
    redirect,
};
use serde_json::json;
use shardnode_primitives::{AccountId, Digest, Refusal, Transaction};
use std::time::Duration;

/// The most transfers of one request, which the node contract sets.
pub const MOST_TOGETHER: usize = 200;
/// The most bytes of an answer: the longest is the status of a network with the
/// most shards.
const MOST_BYTES: usize = 4 << 20;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// None came, or not in time.
    #[error("no answer from {node}")]
    Http {
        /// The node's address.
        node: String,
        /// Why not.
        #[source]
        source: reqwest::Error,
    },
    /// An answer of HTTP alone.
    #[error("{node} answers with status {status}")]
    Status {
        /// The node's address.
        node: String,
        /// The status.
        status: StatusCode,
    },
    /// More than any answer has.
    #[error("{node} answers with more than {MOST_BYTES} bytes")]
    Long {
        /// The node's address.
        node: String,
    },
    /// An answer to something else.
    #[error("{node}")]
    Answer {
        /// The node's address.
        node: String,
        /// What is wrong.
        #[source]
        source: AnswerError,
    },
}

impl RequestError {
    /// What it is counted as.
    #[must_use]
    pub fn instead(&self) -> &'static str {
        match self {
            Self::Http { source, .. } if source.is_timeout() => "timeout",
            Self::Http { source, .. } if source.is_connect() => "connect",
            Self::Http { .. } => "connection",
            Self::Status { .. } => "status",
            Self::Long { .. } | Self::Answer { .. } => "error",
        }
    }
}

/// Asks nodes. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Client(reqwest::Client);

impl Client {
    /// A client that waits so long for an answer.
    pub fn new(patience: Duration) -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder()
            .timeout(patience)
            .tcp_nodelay(true)
            .no_proxy()
            .redirect(redirect::Policy::none())
            .build()?;
        Ok(Self(client))
    }

    async fn send(
        &self,
        node: &str,
        request: reqwest::RequestBuilder,
    ) -> Result<Vec<u8>, RequestError> {
        let failed = |source| RequestError::Http {
            node: node.into(),
            source,
        };
        let mut response = request.send().await.map_err(failed)?;
        let status = response.status();
        if status != StatusCode::OK {
            return Err(RequestError::Status {
                node: node.into(),
                status,
            });
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > MOST_BYTES {
                return Err(RequestError::Long { node: node.into() });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    async fn call(&self, node: &str, body: String) -> Result<Vec<u8>, RequestError> {
        let json = HeaderValue::from_static("application/json");
        let url = format!("{node}/rpc");
        let request = self.0.post(url).header(CONTENT_TYPE, json).body(body);
        self.send(node, request).await
    }

    /// What a node knows of the chain.
    pub async fn status(&self, node: &str) -> Result<Status, RequestError> {
        let body = self
            .send(node, self.0.get(format!("{node}/status")))
            .await?;
        read(node, answers::status(&body))
    }

    /// Hands in transfers, at most [`MOST_TOGETHER`], and says of each why it was
    /// refused, if it was.
    pub async fn submit(
        &self,
        node: &str,
        transfers: &[Transaction],
    ) -> Result<Vec<Option<Refusal>>, RequestError> {
        let list: Vec<_> = transfers.iter().map(|one| hex(&one.encode())).collect();
        let body = request("transfers_submit", &json!({"transactions": list}));
        let answer = self.call(node, body).await?;
        read(node, answers::submitted(&answer, transfers.len()))
    }

    /// What became of transfers, at most [`MOST_TOGETHER`].
    pub async fn outcomes(
        &self,
        node: &str,
        transfers: &[(AccountId, Digest)],
    ) -> Result<Vec<Outcome>, RequestError> {
        let list: Vec<_> = transfers
            .iter()
            .map(|(signer, hash)| json!({"signer": signer.to_string(), "hash": hash.to_string()}))
            .collect();
        let body = request("transfers_outcome", &json!({"transfers": list}));
        let answer = self.call(node, body).await?;
        read(node, answers::outcomes(&answer, transfers.len()))
    }

    /// An account.
    pub async fn account(&self, node: &str, id: &AccountId) -> Result<Account, RequestError> {
        let body = request("account_get", &json!({"id": id.to_string()}));
        let answer = self.call(node, body).await?;
        read(node, answers::account(&answer))
    }
}

fn request(method: &str, params: &serde_json::Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

fn read<T>(node: &str, answer: Result<T, AnswerError>) -> Result<T, RequestError> {
    answer.map_err(|source| RequestError::Answer {
        node: node.into(),
        source,
    })
}
