// SPDX-License-Identifier: Apache-2.0
//! What clients send to the HTTP API.

mod node;

use super::Target;
use crate::{Budget, Decoder};
use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    http::{
        Method, Request, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE},
    },
};
use futures::executor::block_on;
use node::EmptyNode;
use serde_json::Value;
use shardnode_rpc::{AdminToken, admin_router, router};
use tower::ServiceExt as _;

const TOKEN: &str = "secret-token";

/// The errors of JSON-RPC that say that a body is no JSON or no request.
const NO_REQUEST: [Option<i64>; 2] = [Some(-32_700), Some(-32_600)];

/// The target.
#[must_use]
#[allow(clippy::expect_used)]
pub fn target() -> Target {
    let token = AdminToken::new(TOKEN).expect("a token");
    let api = router(EmptyNode);
    let admin = admin_router(EmptyNode, token);
    let [links, disk, clock, process, profile, log] = [(); 6].map(|()| admin.clone());
    Target {
        name: "api",
        decoders: vec![
            Decoder::new("POST /rpc", move |bytes| {
                send(&api, Method::POST, "/rpc", bytes)
            }),
            Decoder::new("PUT /admin/load", move |bytes| {
                send(&admin, Method::PUT, "/admin/load", bytes)
            }),
            Decoder::new("PUT /admin/links", move |bytes| {
                send(&links, Method::PUT, "/admin/links", bytes)
            }),
            Decoder::new("PUT /admin/process", move |bytes| {
                send(&process, Method::PUT, "/admin/process", bytes)
            }),
            Decoder::new("PUT /admin/profile", move |bytes| {
                send(&profile, Method::PUT, "/admin/profile", bytes)
            }),
            Decoder::new("PUT /admin/log", move |bytes| {
                send(&log, Method::PUT, "/admin/log", bytes)
            }),
            Decoder::new("PUT /admin/disk", move |bytes| {
                send(&disk, Method::PUT, "/admin/disk", bytes)
            }),
            Decoder::new("PUT /admin/clock", move |bytes| {
                send(&clock, Method::PUT, "/admin/clock", bytes)
            }),
        ],
    }
}

/// Sends a body, and says whether it was of the right form.
#[allow(clippy::expect_used)]
fn send(api: &Router, method: Method, path: &'static str, bytes: &[u8]) -> bool {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(CONTENT_TYPE, "application/json")
        .header(AUTHORIZATION, format!("Bearer {TOKEN}"))
        .body(Body::from(Bytes::copy_from_slice(bytes)))
        .expect("a request");
    let service = api.clone();
    let (status, answer) = Budget::TEXT.within(path, bytes.len(), || {
        block_on(async {
            let answer = service.oneshot(request).await.expect("an answer");
            let status = answer.status();
            let body = to_bytes(answer.into_body(), usize::MAX).await;
            (status, body.expect("a whole answer"))
        })
    });
    assert!(
        !status.is_server_error(),
        "{path} answers with status {status}"
    );
    match status {
        StatusCode::OK => !NO_REQUEST.contains(&error_code(&answer)),
        status => status == StatusCode::NO_CONTENT,
    }
}

/// The code of an answer that is an error of JSON-RPC.
#[allow(clippy::expect_used)]
fn error_code(answer: &[u8]) -> Option<i64> {
    let answer: Value = serde_json::from_slice(answer).expect("JSON");
    answer.pointer("/error/code").and_then(Value::as_i64)
}
