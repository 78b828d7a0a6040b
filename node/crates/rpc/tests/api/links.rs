// SPDX-License-Identifier: Apache-2.0
//! `/admin/links`, behind the token as `/admin/load` is.

use crate::fixture::{Answer, Fixture, TOKEN, send, send_admin, with_token};
use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use serde_json::{Value, json};
use shardnode_rpc::Node as _;

fn ask(node: &Fixture, method: Method, body: impl Into<Body>) -> Answer {
    send_admin(node, with_token(method, "/admin/links", TOKEN, body))
}

fn cut() -> Value {
    json!({"peers": ["test-s0-p1"], "condition": "Cut", "durationMilliseconds": 15_000})
}

#[test]
fn a_fault_begins_and_ends() {
    let node = Fixture::default();
    let none = json!({"fault": null});
    assert_eq!(ask(&node, Method::GET, "").json(), none);
    for (body, delay, loss) in [
        (cut(), 0, 0),
        (
            json!({
                "peers": ["test-s0-p1", "test-s0-p1"], "condition": "Worse", "delayMilliseconds": 300,
                "durationMilliseconds": 3_600_000
            }),
            300,
            0,
        ),
        (
            json!({
                "peers": ["test-s0-p1"], "condition": "Worse", "delayMilliseconds": 1, "lossBasisPoints": 5_000,
                "durationMilliseconds": 1
            }),
            1,
            5_000,
        ),
    ] {
        let expected = json!({"fault": {
            "peers": ["test-s0-p1"],
            "condition": body["condition"],
            "delayMilliseconds": delay,
            "lossBasisPoints": loss,
            "remainingMilliseconds": body["durationMilliseconds"],
        }});
        let answer = ask(&node, Method::PUT, body.to_string());
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.json(), expected);
        assert_eq!(ask(&node, Method::GET, "").json(), expected);
    }
    for _ in 0..2 {
        let answer = ask(&node, Method::DELETE, "");
        assert_eq!(
            (answer.status, answer.json()),
            (StatusCode::OK, none.clone())
        );
        assert_eq!(node.link_fault(), None);
    }
}

#[test]
fn wrong_bodies_name_what_is_wrong_and_change_nothing() {
    let node = Fixture::default();
    ask(&node, Method::PUT, cut().to_string());
    let before = node.link_fault();
    for (change, expected) in [
        (json!({"peers": []}), "peers: must not be empty"),
        (
            json!({"peers": ["test-s0-p1", "b"]}),
            "peers: \"b\" is no peer of this node",
        ),
        (json!({"peers": [7]}), "peers[0]: invalid type"),
        (
            json!({"condition": "Slow"}),
            "condition: unknown variant `Slow`",
        ),
        (
            json!({"condition": "Worse"}),
            "condition: Worse must have a delay or a loss",
        ),
        (
            json!({"delayMilliseconds": 1}),
            "condition: Cut has neither delay nor loss",
        ),
        (
            json!({"lossBasisPoints": 1}),
            "condition: Cut has neither delay nor loss",
        ),
        (
            json!({"delayMilliseconds": 301}),
            "delayMilliseconds: must be 0 to 300",
        ),
        (
            json!({"lossBasisPoints": 5001}),
            "lossBasisPoints: must be 0 to 5000",
        ),
        (
            json!({"durationMilliseconds": 0}),
            "durationMilliseconds: must be 1 to 3600000",
        ),
        (
            json!({"durationMilliseconds": 3_600_001}),
            "durationMilliseconds: must be 1 to 3600000",
        ),
        (
            json!({"durationMilliseconds": null}),
            "durationMilliseconds: invalid type",
        ),
        (json!({"bandwidth": 1}), "bandwidth: unknown field"),
    ] {
        let mut body = cut();
        for (field, value) in change.as_object().unwrap() {
            body[field] = value.clone();
        }
        let answer = ask(&node, Method::PUT, body.to_string());
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        let error = answer.error();
        assert!(error.contains(expected), "{body}: {error}");
    }
    for missing in ["peers", "condition", "durationMilliseconds"] {
        let mut body = cut();
        body.as_object_mut().unwrap().remove(missing);
        let answer = ask(&node, Method::PUT, body.to_string());
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        let expected = format!("missing field `{missing}`");
        assert!(answer.error().contains(&expected), "{}", answer.error());
    }
    assert_eq!(node.link_fault(), before);
}

#[test]
fn nothing_is_told_or_changed_without_the_token_or_elsewhere() {
    let node = Fixture::default();
    ask(&node, Method::PUT, cut().to_string());
    let before = node.link_fault();
    assert!(before.is_some());
    let worse = json!({
        "peers": ["test-s0-p1"], "condition": "Worse", "delayMilliseconds": 3, "durationMilliseconds": 1
    });
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        let request = |token| with_token(method.clone(), "/admin/links", token, worse.to_string());
        let answer = send_admin(&node, request("wrong"));
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method}");
        let answer = send(&node, request(TOKEN));
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method}");
    }
    assert_eq!(node.link_fault(), before);
}
