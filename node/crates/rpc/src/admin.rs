// SPDX-License-Identifier: Apache-2.0
//! `/admin/load`, behind the token.

use crate::{
    LoadStatus, Node,
    handler::AdminApi,
    json::{Failure, JsonBytes, read_object},
};
use axum::{
    Json,
    extract::{FromRequestParts, State},
    http::{
        HeaderValue, StatusCode,
        header::{AUTHORIZATION, WWW_AUTHENTICATE},
        request::Parts,
    },
    response::{IntoResponse, Response},
};
use shardnode_load::Target;

/// The highest rate that a generator can be set to.
const MAX_TRANSFERS_PER_SECOND: u32 = 1_000_000;

/// A request that presented the token.
pub(crate) struct Authorized;

/// No token was presented, or not this node's.
pub(crate) struct Unauthorized;

impl IntoResponse for Unauthorized {
    fn into_response(self) -> Response {
        (
            [(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))],
            Failure::new(
                StatusCode::UNAUTHORIZED,
                "authorization must be the bearer token of this node",
            ),
        )
            .into_response()
    }
}

impl<N: Node> FromRequestParts<AdminApi<N>> for Authorized {
    type Rejection = Unauthorized;

    async fn from_request_parts(
        parts: &mut Parts,
        api: &AdminApi<N>,
    ) -> Result<Self, Unauthorized> {
        parts
            .headers
            .get(AUTHORIZATION)
            .and_then(|value| bearer(value.as_bytes()))
            .filter(|presented| api.token.matches(presented))
            .map(|_| Self)
            .ok_or(Unauthorized)
    }
}

fn bearer(value: &[u8]) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"Bearer ";
    let (scheme, token) = value.split_at_checked(SCHEME.len())?;
    scheme
        .eq_ignore_ascii_case(SCHEME)
        .then_some(token.trim_ascii())
}

pub(crate) async fn get_load<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
) -> Result<Json<LoadStatus>, Failure> {
    answer(api.node.load())
}

pub(crate) async fn put_load<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
    JsonBytes(body): JsonBytes,
) -> Result<Json<LoadStatus>, Failure> {
    let wrong = |reason: String| Failure::new(StatusCode::BAD_REQUEST, reason);
    let target: Target = read_object(&body).map_err(wrong)?;
    if target.transfers_per_second > MAX_TRANSFERS_PER_SECOND {
        return Err(wrong(format!(
            "transfersPerSecond: must be at most {MAX_TRANSFERS_PER_SECOND}"
        )));
    }
    let set = api.node.set_load(target);
    answer(set.transpose().map_err(|error| wrong(error.to_string()))?)
}

fn answer(load: Option<LoadStatus>) -> Result<Json<LoadStatus>, Failure> {
    load.map(Json).ok_or_else(|| {
        Failure::new(
            StatusCode::NOT_FOUND,
            "this node has no load generator: it tracks no shard",
        )
    })
}
