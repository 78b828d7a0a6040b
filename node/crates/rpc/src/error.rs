// SPDX-License-Identifier: Apache-2.0
//! Why a request of `/rpc` has no result.

use crate::{SubmitError, Unavailable};
use serde::Serialize;

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
}

impl RpcError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

impl From<Unavailable> for RpcError {
    fn from(Unavailable(reason): Unavailable) -> Self {
        Self::new(ErrorCode::Unavailable, reason)
    }
}

impl From<SubmitError> for RpcError {
    fn from(error: SubmitError) -> Self {
        let code = match error {
            SubmitError::PoolFull => ErrorCode::PoolFull,
            SubmitError::Congested(_) => ErrorCode::Congested,
            SubmitError::Rejected(_) => ErrorCode::Rejected,
            SubmitError::Unavailable(_) => ErrorCode::Unavailable,
        };
        Self::new(code, error.to_string())
    }
}
