// SPDX-License-Identifier: Apache-2.0
//! `/admin/load` and its token.

use crate::fixture::{Answer, Fixture, TOKEN, request, send, send_admin};
use axum::{
    body::Body,
    http::{
        Method, Request, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE},
    },
};
use serde_json::json;
use shardnode_rpc::{AdminToken, Node as _, Role};

fn get(node: &Fixture, authorization: &str) -> Answer {
    let mut request = request(Method::GET, "/admin/load");
    request
        .headers_mut()
        .insert(AUTHORIZATION, authorization.parse().unwrap());
    send_admin(node, request)
}

fn put(node: &Fixture, content_type: &str, body: impl Into<Body>) -> Answer {
    let request = Request::put("/admin/load")
        .header(AUTHORIZATION, format!("Bearer {TOKEN}"))
        .header(CONTENT_TYPE, content_type)
        .body(body.into())
        .unwrap();
    send_admin(node, request)
}

#[test]
fn the_token_opens() {
    let node = Fixture::default();
    for authorization in [format!("Bearer {TOKEN}"), format!("bearer  {TOKEN}")] {
        let answer = get(&node, &authorization);
        assert_eq!(answer.status, StatusCode::OK, "{authorization}");
        assert_eq!(
            answer.json(),
            json!({
                "transfersPerSecond": 0,
                "workload": {"senders": "ZipfMandelbrot", "receivers": "ZipfMandelbrot"},
                "signing": "Live", "signed": 50, "rejected": 2, "heldBack": 3, "overdue": 4,
                "exhausted": 5, "stock": null
            })
        );
    }
}

#[test]
fn anything_else_does_not() {
    let node = Fixture::default();
    for authorization in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer 0123456789abcde",
        "Bearer 0123456789abcdef0",
        "Bearer 0123456789ABCDEF",
        "Basic 0123456789abcdef",
        "0123456789abcdef",
    ] {
        let answer = get(&node, authorization);
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{authorization}");
        assert_eq!(answer.headers[WWW_AUTHENTICATE], "Bearer");
        assert!(!answer.error().contains(TOKEN));
    }
    let without = send_admin(&node, request(Method::GET, "/admin/load"));
    assert_eq!(without.status, StatusCode::UNAUTHORIZED);
}

#[test]
fn an_unauthorized_put_changes_nothing() {
    let node = Fixture::default();
    let request = Request::put("/admin/load")
        .header(AUTHORIZATION, "Bearer wrong")
        .header(CONTENT_TYPE, "application/json")
        .body(Body::from(r#"{"transfersPerSecond": 5}"#))
        .unwrap();
    let answer = send_admin(&node, request);
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert_eq!(node.load().unwrap().transfers_per_second, 0);
}

/// The token opens nothing there, and nothing else is served here.
#[test]
fn each_api_has_its_own_paths() {
    let node = Fixture::default();
    for method in [Method::GET, Method::PUT] {
        let mut request = request(method, "/admin/load");
        request
            .headers_mut()
            .insert(AUTHORIZATION, format!("Bearer {TOKEN}").parse().unwrap());
        let answer = send(&node, request);
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        assert_eq!(answer.error(), "no such endpoint");
    }
    for path in ["/healthz", "/status", "/metrics", "/rpc"] {
        let answer = send_admin(&node, request(Method::GET, path));
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
    let answer = send_admin(&node, request(Method::DELETE, "/admin/load"));
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(answer.error(), "endpoint does not have this method");
}

#[test]
fn put_sets_the_rate() {
    let node = Fixture::default();
    for rate in [1_000, 1_000_000, 0] {
        let body = json!({"transfersPerSecond": rate}).to_string();
        let answer = put(&node, "application/json; charset=utf-8", body);
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.json()["transfersPerSecond"], rate);
        assert_eq!(node.load().unwrap().transfers_per_second, rate);
    }
}

/// Without a workload it is the default one, whatever it was before.
#[test]
fn put_sets_the_workload() {
    let node = Fixture::default();
    let default = json!({"senders": "ZipfMandelbrot", "receivers": "ZipfMandelbrot"});
    for (workload, expected) in [
        (
            json!({"senders": "Uniform", "receivers": "OneToOne"}),
            json!({"senders": "Uniform", "receivers": "OneToOne"}),
        ),
        (
            json!({"withinShardPercent": 90}),
            json!({"senders": "ZipfMandelbrot", "receivers": "ZipfMandelbrot", "withinShardPercent": 90}),
        ),
        (json!({}), default.clone()),
    ] {
        let body = json!({"transfersPerSecond": 1, "workload": workload});
        let answer = put(&node, "application/json", body.to_string());
        assert_eq!(answer.json()["workload"], expected);
    }
    put(
        &node,
        "application/json",
        r#"{"transfersPerSecond": 1, "workload": {"senders": "Uniform"}}"#,
    );
    let answer = put(&node, "application/json", r#"{"transfersPerSecond": 1}"#);
    assert_eq!(answer.json()["workload"], default);
}

/// Without signing it is live, whatever it was before.
#[test]
fn put_orders_a_stock() {
    let node = Fixture::default();
    let answer = put(
        &node,
        "application/json",
        r#"{"transfersPerSecond": 0, "workload": {"senders": "Uniform"}, "signing": "Before", "stock": 20}"#,
    );
    assert_eq!(answer.json()["signing"], "Before");
    assert_eq!(
        answer.json()["stock"],
        json!({
            "transfers": 20, "workload": {"senders": "Uniform", "receivers": "ZipfMandelbrot"},
            "signed": 9, "left": 8, "failure": null
        })
    );
    let answer = put(&node, "application/json", r#"{"transfersPerSecond": 1}"#);
    assert_eq!(answer.json()["signing"], "Live");
    assert_eq!(answer.json()["stock"], json!(null));
}

#[test]
fn wrong_bodies_name_what_is_wrong_and_change_nothing() {
    let node = Fixture::default();
    put(&node, "application/json", r#"{"transfersPerSecond": 7}"#);
    for (body, expected) in [
        ("", "must be a JSON object"),
        ("[7]", "must be a JSON object"),
        ("{", "EOF"),
        ("{}", "missing field `transfersPerSecond`"),
        (
            r#"{"transfersPerSecond": 1, "burst": 2}"#,
            "burst: unknown field `burst`",
        ),
        (
            r#"{"transfersPerSecond": 1, "workload": {"receivers": "Nobody"}}"#,
            "workload.receivers: unknown variant `Nobody`",
        ),
        (
            r#"{"transfersPerSecond": 1, "workload": {"withinShardPercent": 101}}"#,
            "workload.withinShardPercent: must be at most 100",
        ),
        (
            r#"{"transfersPerSecond": 1, "signing": "Later"}"#,
            "signing: unknown variant `Later`",
        ),
        (
            r#"{"transfersPerSecond": 1, "signing": "Before", "stock": 0}"#,
            "stock: must be from 1 to 100000000",
        ),
        (
            r#"{"transfersPerSecond": -1}"#,
            "transfersPerSecond: invalid value: integer `-1`",
        ),
        (
            r#"{"transfersPerSecond": "9"}"#,
            r#"transfersPerSecond: invalid type: string "9""#,
        ),
        (
            r#"{"transfersPerSecond": 1000001}"#,
            "transfersPerSecond: must be at most 1000000",
        ),
        (
            r#"{"transfersPerSecond": 1, "transfersPerSecond": 2}"#,
            "duplicate field `transfersPerSecond`",
        ),
        (r#"{"transfersPerSecond": 1} 2"#, "trailing characters"),
    ] {
        let answer = put(&node, "application/json", body);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        let error = answer.error();
        assert!(error.contains(expected), "{body}: {error}");
    }
    assert_eq!(node.load().unwrap().transfers_per_second, 7);
}

#[test]
fn bodies_must_be_json_and_small() {
    let node = Fixture::default();
    let answer = put(&node, "text/plain", r#"{"transfersPerSecond": 7}"#);
    assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(answer.error(), "content type must be application/json");
    let answer = put(&node, "application/json", vec![b' '; 64 * 1024 + 1]);
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(answer.error(), "body must have at most 65536 bytes");
    assert_eq!(node.load().unwrap().transfers_per_second, 0);
}

#[test]
fn an_rpc_node_has_no_load() {
    let node = Fixture {
        role: Role::Rpc,
        ..Fixture::default()
    };
    for answer in [
        get(&node, &format!("Bearer {TOKEN}")),
        put(&node, "application/json", r#"{"transfersPerSecond": 7}"#),
    ] {
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        assert!(answer.error().contains("no load generator"));
    }
}

#[test]
fn tokens_are_visible_characters_and_never_shown() {
    for wrong in ["", " ", "a b", "a\n", "é"] {
        assert!(AdminToken::new(wrong).is_err(), "{wrong:?}");
    }
    let token = AdminToken::new(TOKEN).unwrap();
    assert!(token.matches(TOKEN.as_bytes()));
    assert_eq!(format!("{token:?}"), "AdminToken(..)");
}
