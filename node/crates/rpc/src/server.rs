// SPDX-License-Identifier: Apache-2.0
//! The routes, and the endpoints that need no token.

use crate::{
    AdminToken, Node, admin, clock, disk,
    handler::{AdminApi, Api},
    json::{Failure, MAX_BODY},
    jsonrpc,
    kept::Answer,
    links, log, process, profile,
};
use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post, put},
};
use serde_json::json;
use std::sync::Arc;

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The HTTP API of `node` for everybody who reaches it.
pub fn router<N: Node>(node: N) -> Router {
    let routes = Router::new()
        .route("/healthz", get(healthz::<N>))
        .route("/readyz", get(readyz::<N>))
        .route("/status", get(status::<N>))
        .route("/metrics", get(metrics::<N>))
        .route("/rpc", post(jsonrpc::serve::<N>));
    bounded(routes).with_state(Api::new(node))
}

/// The admin API of `node` for who has the token: it is served over TLS alone.
pub fn admin_router<N: Node>(node: N, token: AdminToken) -> Router {
    let routes = Router::new()
        .route(
            "/admin/load",
            get(admin::get_load::<N>).put(admin::put_load::<N>),
        )
        .route(
            "/admin/links",
            get(links::get_links::<N>)
                .put(links::put_links::<N>)
                .delete(links::delete_links::<N>),
        )
        .route(
            "/admin/disk",
            get(disk::get_disk::<N>)
                .put(disk::put_disk::<N>)
                .delete(disk::delete_disk::<N>),
        )
        .route(
            "/admin/clock",
            get(clock::get_clock::<N>)
                .put(clock::put_clock::<N>)
                .delete(clock::delete_clock::<N>),
        )
        .route("/admin/process", put(process::put_process::<N>))
        .route(
            "/admin/profile",
            get(profile::get_profile::<N>)
                .put(profile::put_profile::<N>)
                .delete(profile::delete_profile::<N>),
        )
        .route("/admin/profile/content", get(profile::get_content::<N>))
        .route("/admin/log", get(log::get_log::<N>).put(log::put_log::<N>));
    bounded(routes).with_state(AdminApi {
        node,
        token: Arc::new(token),
    })
}

/// What both APIs refuse alike.
fn bounded<S: Clone + Send + Sync + 'static>(routes: Router<S>) -> Router<S> {
    routes
        .fallback(|| async { Failure::new(StatusCode::NOT_FOUND, "no such endpoint") })
        .method_not_allowed_fallback(|| async {
            Failure::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "endpoint does not have this method",
            )
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
}

async fn healthz<N: Node>(State(api): State<Api<N>>) -> Response {
    match api.node.health() {
        Ok(()) => Json(json!({"healthy": true})).into_response(),
        Err(reason) => Failure::new(StatusCode::SERVICE_UNAVAILABLE, reason).into_response(),
    }
}

async fn readyz<N: Node>(State(api): State<Api<N>>) -> Answer {
    let node = &api.node;
    api.kept.readiness.get(node.now(), || {
        let readiness = node.readiness();
        let status = if readiness.ready {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        Answer::json(status, &readiness)
    })
}

async fn status<N: Node>(State(api): State<Api<N>>) -> Answer {
    let node = &api.node;
    api.kept
        .status
        .get(node.now(), || Answer::json(StatusCode::OK, &node.status()))
}

async fn metrics<N: Node>(State(api): State<Api<N>>) -> Answer {
    let node = &api.node;
    api.kept
        .metrics
        .get(node.now(), || Answer::text(OPENMETRICS, node.metrics()))
}
