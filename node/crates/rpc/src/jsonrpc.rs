// SPDX-License-Identifier: Apache-2.0
//! The JSON-RPC 2.0 envelope.
//!
//! Single requests only. A request without an id is carried out and not
//! answered, as the standard has it.

use crate::{
    Node,
    error::{ErrorCode, RpcError},
    handler::Api,
    json::{JsonBytes, read},
    large::ClientAddress,
    methods::{self, Answer},
};
use axum::{
    Extension, Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    #[serde(rename = "jsonrpc")]
    _version: Version,
    #[serde(default, deserialize_with = "present")]
    id: Option<Id>,
    method: String,
    #[serde(default)]
    params: Value,
}

#[derive(Deserialize)]
enum Version {
    #[serde(rename = "2.0")]
    Two,
}

/// What a response repeats of its request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
struct Id(Value);

impl Id {
    const NULL: Self = Self(Value::Null);

    fn of(value: Value) -> Option<Self> {
        let valid = match &value {
            Value::Null | Value::String(_) => true,
            Value::Number(number) => !number.is_f64(),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
        };
        valid.then_some(Self(value))
    }
}

/// An id that is there, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Id>, D::Error> {
    Id::of(Value::deserialize(deserializer)?)
        .map(Some)
        .ok_or_else(|| de::Error::custom("must be a string, an integer or null"))
}

#[derive(Serialize)]
struct Reply {
    jsonrpc: &'static str,
    #[serde(flatten)]
    outcome: Outcome,
    id: Id,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Result(Answer),
    Error(RpcError),
}

impl Reply {
    fn new(id: Id, outcome: Result<Answer, RpcError>) -> Self {
        Self {
            jsonrpc: "2.0",
            outcome: match outcome {
                Ok(answer) => Outcome::Result(answer),
                Err(error) => Outcome::Error(error),
            },
            id,
        }
    }
}

pub(crate) async fn serve<N: Node>(
    State(api): State<Api<N>>,
    address: Option<Extension<ClientAddress>>,
    JsonBytes(body): JsonBytes,
) -> Response {
    let Request {
        id, method, params, ..
    } = match parse(&body) {
        Ok(request) => request,
        Err((id, error)) => return Json(Reply::new(id, Err(error))).into_response(),
    };
    let (outcome, place) = match methods::read_call(&method, params) {
        Ok(call) => {
            // Its place comes first: what an answer is made of takes as much.
            let place = match call.is_large() {
                true => Some(api.large.place(address.map(|address| address.0)).await),
                false => None,
            };
            (methods::carry_out(&api.node, call).await, place)
        }
        Err(error) => (Err(error), None),
    };
    let Some(id) = id else {
        return StatusCode::NO_CONTENT.into_response();
    };
    let reply = Reply::new(id, outcome);
    match place {
        Some(place) => place.json(&reply),
        None => Json(reply).into_response(),
    }
}

/// The request, or the error and the id to answer it with.
fn parse(body: &[u8]) -> Result<Request, (Id, RpcError)> {
    let value: Value = serde_json::from_slice(body).map_err(|error| {
        let error = RpcError::new(ErrorCode::ParseError, error.to_string());
        (Id::NULL, error)
    })?;
    let invalid = |message: &str| RpcError::new(ErrorCode::InvalidRequest, message);
    let Value::Object(object) = &value else {
        let message = if value.is_array() {
            "batches are not served: send single requests"
        } else {
            "a request must be an object"
        };
        return Err((Id::NULL, invalid(message)));
    };
    let id = object.get("id").cloned().and_then(Id::of);
    read(value).map_err(|reason| (id.unwrap_or(Id::NULL), invalid(&reason)))
}
