// SPDX-License-Identifier: Apache-2.0
//! JSON in and out: bodies, values with the path of what is wrong, errors.

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use commonware_formatting::from_hex;
use serde::{Deserialize, Deserializer, Serialize, de};
use shardnode_primitives::{AccountId, Digest};

/// The most bytes that a request's body may have.
pub const MAX_BODY: usize = 64 * 1024;

/// An error of a plain endpoint: `{"error": "…"}`.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    error: String,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self {
            status,
            error: error.into(),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        #[derive(Serialize)]
        struct Body {
            error: String,
        }
        let Self { status, error } = self;
        (status, Json(Body { error })).into_response()
    }
}

/// The body of a request that says it is JSON; not parsed yet.
pub(crate) struct JsonBytes(pub(crate) Bytes);

impl<S: Send + Sync> FromRequest<S> for JsonBytes {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        // A web page may send any other type to a node without its consent.
        if !is_json(request.headers()) {
            return Err(Failure::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "content type must be application/json",
            ));
        }
        Bytes::from_request(request, state)
            .await
            .map(Self)
            .map_err(|rejection| match rejection.status() {
                StatusCode::PAYLOAD_TOO_LARGE => Failure::new(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    format!("body must have at most {MAX_BODY} bytes"),
                ),
                status => Failure::new(status, rejection.body_text()),
            })
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Reads a value; the error starts with the path of what is wrong.
pub(crate) fn read<'de, T: Deserialize<'de>>(
    deserializer: impl Deserializer<'de, Error = serde_json::Error>,
) -> Result<T, String> {
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let path = error.path().to_string();
        let error = error.into_inner();
        if error.is_data() && path != "." {
            format!("{path}: {error}")
        } else {
            error.to_string()
        }
    })
}

/// Reads a text that is one object. Serde alone would also take an array, with
/// the fields in order.
pub(crate) fn read_object<'de, T: Deserialize<'de>>(text: &'de [u8]) -> Result<T, String> {
    if !text.trim_ascii_start().starts_with(b"{") {
        return Err("must be a JSON object".into());
    }
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = read(&mut deserializer)?;
    deserializer.end().map_err(|error| error.to_string())?;
    Ok(value)
}

/// Exactly `N` bytes, as hex digits and nothing else.
pub(crate) fn hex<'de, const N: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<[u8; N], D::Error> {
    let text = String::deserialize(deserializer)?;
    Some(text)
        .filter(|text| text.bytes().all(|digit| digit.is_ascii_hexdigit()))
        .and_then(|text| from_hex(&text))
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| de::Error::custom(format!("must be {} hex digits", 2 * N)))
}

pub(crate) fn account<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AccountId, D::Error> {
    hex(deserializer).map(AccountId)
}

pub(crate) fn digest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
    hex(deserializer).map(Digest)
}
