// SPDX-License-Identifier: Apache-2.0
//! `/admin/disk`, behind the token as `/admin/load` is.

use crate::fixture::{Answer, Fixture, TOKEN, send, send_admin, with_token};
use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use serde_json::{Value, json};
use shardnode_rpc::Node as _;

fn ask(node: &Fixture, method: Method, body: impl Into<Body>) -> Answer {
    send_admin(node, with_token(method, "/admin/disk", TOKEN, body))
}

fn slow() -> Value {
    json!({"condition": "Slow", "delayMilliseconds": 40, "durationMilliseconds": 15_000})
}

#[test]
fn a_fault_begins_and_ends() {
    let node = Fixture::default();
    let none = json!({"fault": null});
    assert_eq!(ask(&node, Method::GET, "").json(), none);
    for (delay, duration) in [(40, 15_000), (1, 1), (1_000, 3_600_000)] {
        let body = json!({
            "condition": "Slow", "delayMilliseconds": delay, "durationMilliseconds": duration
        });
        let expected = json!({"fault": {
            "condition": "Slow", "delayMilliseconds": delay, "remainingMilliseconds": duration,
        }});
        let answer = ask(&node, Method::PUT, body.to_string());
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.json(), expected);
        assert_eq!(ask(&node, Method::GET, "").json(), expected);
    }
    let full = json!({"condition": "Full", "durationMilliseconds": 7});
    let expected = json!({"fault": {
        "condition": "Full", "delayMilliseconds": 0, "remainingMilliseconds": 7,
    }});
    assert_eq!(ask(&node, Method::PUT, full.to_string()).json(), expected);
    for _ in 0..2 {
        let answer = ask(&node, Method::DELETE, "");
        assert_eq!(
            (answer.status, answer.json()),
            (StatusCode::OK, none.clone())
        );
        assert_eq!(node.disk_fault(), None);
    }
}

#[test]
fn wrong_bodies_name_what_is_wrong_and_change_nothing() {
    let node = Fixture::default();
    ask(&node, Method::PUT, slow().to_string());
    let before = node.disk_fault();
    for (change, expected) in [
        (
            json!({"condition": "Cut"}),
            "condition: unknown variant `Cut`",
        ),
        (
            json!({"delayMilliseconds": 0}),
            "delayMilliseconds: must be 1 to 1000",
        ),
        (
            json!({"delayMilliseconds": 1_001}),
            "delayMilliseconds: must be 1 to 1000",
        ),
        (
            json!({"durationMilliseconds": 0}),
            "durationMilliseconds: must be 1 to 3600000",
        ),
        (
            json!({"durationMilliseconds": 3_600_001}),
            "durationMilliseconds: must be 1 to 3600000",
        ),
        (json!({"condition": "Full"}), "condition: Full has no delay"),
        (json!({"peers": []}), "peers: unknown field"),
    ] {
        let mut body = slow();
        for (field, value) in change.as_object().unwrap() {
            body[field] = value.clone();
        }
        let answer = ask(&node, Method::PUT, body.to_string());
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        let error = answer.error();
        assert!(error.contains(expected), "{body}: {error}");
    }
    for (missing, expected) in [
        ("condition", "missing field `condition`"),
        ("delayMilliseconds", "delayMilliseconds: must be 1 to 1000"),
        (
            "durationMilliseconds",
            "missing field `durationMilliseconds`",
        ),
    ] {
        let mut body = slow();
        body.as_object_mut().unwrap().remove(missing);
        let answer = ask(&node, Method::PUT, body.to_string());
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        assert!(answer.error().contains(expected), "{}", answer.error());
    }
    assert_eq!(node.disk_fault(), before);
}

#[test]
fn a_fault_that_cannot_be_kept_does_not_begin() {
    let node = Fixture {
        connected: false,
        ..Fixture::default()
    };
    let answer = ask(&node, Method::PUT, slow().to_string());
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.error(), "no node of shard 1 answered");
    assert_eq!(node.disk_fault(), None);
}

#[test]
fn nothing_is_told_or_changed_without_the_token_or_elsewhere() {
    let node = Fixture::default();
    ask(&node, Method::PUT, slow().to_string());
    let before = node.disk_fault();
    assert!(before.is_some());
    let slower = json!({"condition": "Slow", "delayMilliseconds": 3, "durationMilliseconds": 1});
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        let request = |token| with_token(method.clone(), "/admin/disk", token, slower.to_string());
        let answer = send_admin(&node, request("wrong"));
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method}");
        let answer = send(&node, request(TOKEN));
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method}");
    }
    assert_eq!(node.disk_fault(), before);
}
