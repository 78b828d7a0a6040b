// SPDX-License-Identifier: Apache-2.0
//! The routes, and the endpoints that need no token.

use crate::{
    AdminToken, Node, admin,
    handler::Api,
    json::{Failure, MAX_BODY},
    jsonrpc,
};
use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;
use std::sync::Arc;

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The HTTP API of `node`. Without a token the admin endpoints are closed.
pub fn router<N: Node>(node: N, admin_token: Option<AdminToken>) -> Router {
    Router::new()
        .route("/healthz", get(healthz::<N>))
        .route("/readyz", get(readyz::<N>))
        .route("/status", get(status::<N>))
        .route("/metrics", get(metrics::<N>))
        .route(
            "/admin/load",
            get(admin::get_load::<N>).put(admin::put_load::<N>),
        )
        .route("/rpc", post(jsonrpc::serve::<N>))
        .fallback(|| async { Failure::new(StatusCode::NOT_FOUND, "no such endpoint") })
        .method_not_allowed_fallback(|| async {
            Failure::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "endpoint does not have this method",
            )
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(Api {
            node,
            admin_token: admin_token.map(Arc::new),
        })
}

async fn healthz<N: Node>(State(api): State<Api<N>>) -> Response {
    if api.node.healthy() {
        Json(json!({"healthy": true})).into_response()
    } else {
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "an actor has stopped").into_response()
    }
}

async fn readyz<N: Node>(State(api): State<Api<N>>) -> Response {
    let readiness = api.node.readiness();
    let status = if readiness.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(readiness)).into_response()
}

async fn status<N: Node>(State(api): State<Api<N>>) -> Response {
    Json(api.node.status()).into_response()
}

async fn metrics<N: Node>(State(api): State<Api<N>>) -> Response {
    ([(CONTENT_TYPE, OPENMETRICS)], api.node.metrics()).into_response()
}
