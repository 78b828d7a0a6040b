// SPDX-License-Identifier: Apache-2.0
//! Why a request of `/rpc` has no result.

use crate::Unavailable;
use serde::Serialize;
use shardnode_primitives::Refusal;

/// The number of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "i32")]
pub(crate) enum ErrorCode {
    /// The body is not JSON.
    ParseError,
    /// The body is not a request.
    InvalidRequest,
    /// There is no such method.
    MethodNotFound,
    /// The method has other parameters.
    InvalidParams,
    /// The pool has no room for the transaction.
    PoolFull,
    /// The transaction could not be executed on the state as it is.
    Rejected,
    /// No node that could answer did, or it is past the retention.
    Unavailable,
    /// The transaction could only wait, and there is no room for that.
    Congested,
}

impl From<ErrorCode> for i32 {
    fn from(code: ErrorCode) -> Self {
        match code {
            ErrorCode::ParseError => -32_700,
            ErrorCode::InvalidRequest => -32_600,
            ErrorCode::MethodNotFound => -32_601,
            ErrorCode::InvalidParams => -32_602,
            ErrorCode::PoolFull => -32_001,
            ErrorCode::Rejected => -32_002,
            ErrorCode::Unavailable => -32_003,
            ErrorCode::Congested => -32_004,
        }
    }
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RpcError {
    /// The kind of error.
    pub code: ErrorCode,
    /// What exactly is wrong.
    pub message: String,
    /// Of a transaction that was not taken, why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Refused>,
}

/// Why a transaction was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Refused {
    /// What the refusal is called.
    pub refused: &'static str,
}

impl RpcError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }
}

impl From<Unavailable> for RpcError {
    fn from(Unavailable(reason): Unavailable) -> Self {
        Self::new(ErrorCode::Unavailable, reason)
    }
}

impl From<Refusal> for RpcError {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal {
            Refusal::Full | Refusal::Bytes | Refusal::Account => ErrorCode::PoolFull,
            Refusal::Congested => ErrorCode::Congested,
            Refusal::Shard => ErrorCode::Unavailable,
            Refusal::Duplicate
            | Refusal::Signature
            | Refusal::Nonce
            | Refusal::Overtaken
            | Refusal::Balance
            | Refusal::Receiver
            | Refusal::Funds
            | Refusal::Expired
            | Refusal::HighNonce
            | Refusal::NoAccount
            | Refusal::Amount => ErrorCode::Rejected,
        };
        Self {
            data: Some(Refused {
                refused: refusal.reason(),
            }),
            ..Self::new(code, refusal.to_string())
        }
    }
}
