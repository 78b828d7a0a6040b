// SPDX-License-Identifier: Apache-2.0
//! `/admin/log`, behind the token: what the node logs from now on.

use crate::{
    LogLevel, Node,
    admin::Authorized,
    handler::AdminApi,
    json::{Failure, JsonBytes, read_object},
};
use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};

/// What is logged: of requests and of answers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Log {
    level: LogLevel,
}

fn answer<N: Node>(node: &N) -> Json<Log> {
    Json(Log {
        level: node.log_level(),
    })
}

pub(crate) async fn get_log<N: Node>(_: Authorized, State(api): State<AdminApi<N>>) -> Json<Log> {
    answer(&api.node)
}

pub(crate) async fn put_log<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
    JsonBytes(body): JsonBytes,
) -> Result<Json<Log>, Failure> {
    let Log { level } =
        read_object(&body).map_err(|reason| Failure::new(StatusCode::BAD_REQUEST, reason))?;
    api.node.set_log_level(level).map_err(|unavailable| {
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, unavailable.to_string())
    })?;
    Ok(answer(&api.node))
}
