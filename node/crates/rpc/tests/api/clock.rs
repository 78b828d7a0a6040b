// SPDX-License-Identifier: Apache-2.0
//! `/admin/clock`, behind the token as `/admin/load` is.

use crate::fixture::{Answer, Fixture, TOKEN, send, send_admin, with_token};
use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use serde_json::{Value, json};
use shardnode_rpc::Node as _;

fn ask(node: &Fixture, method: Method, body: impl Into<Body>) -> Answer {
    send_admin(node, with_token(method, "/admin/clock", TOKEN, body))
}

fn behind() -> Value {
    json!({"offsetMilliseconds": -2_500, "durationMilliseconds": 15_000})
}

#[test]
fn a_fault_begins_and_ends() {
    let node = Fixture::default();
    let none = json!({"fault": null});
    assert_eq!(ask(&node, Method::GET, "").json(), none);
    for (offset, duration) in [(-2_500, 15_000), (1, 1), (-60_000, 7), (60_000, 3_600_000)] {
        let body = json!({"offsetMilliseconds": offset, "durationMilliseconds": duration});
        let expected = json!({"fault": {
            "offsetMilliseconds": offset, "remainingMilliseconds": duration,
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
        assert_eq!(node.clock_fault(), None);
    }
}

#[test]
fn wrong_bodies_name_what_is_wrong_and_change_nothing() {
    let node = Fixture::default();
    ask(&node, Method::PUT, behind().to_string());
    let before = node.clock_fault();
    for (change, expected) in [
        (
            json!({"offsetMilliseconds": 0}),
            "offsetMilliseconds: must not be 0",
        ),
        (
            json!({"offsetMilliseconds": 60_001}),
            "offsetMilliseconds: must be -60000 to 60000",
        ),
        (
            json!({"offsetMilliseconds": -60_001}),
            "offsetMilliseconds: must be -60000 to 60000",
        ),
        (
            json!({"offsetMilliseconds": 1.5}),
            "offsetMilliseconds: invalid type",
        ),
        (
            json!({"durationMilliseconds": 0}),
            "durationMilliseconds: must be 1 to 3600000",
        ),
        (
            json!({"durationMilliseconds": 3_600_001}),
            "durationMilliseconds: must be 1 to 3600000",
        ),
        (json!({"peers": []}), "peers: unknown field"),
    ] {
        let mut body = behind();
        for (field, value) in change.as_object().unwrap() {
            body[field] = value.clone();
        }
        let answer = ask(&node, Method::PUT, body.to_string());
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        let error = answer.error();
        assert!(error.contains(expected), "{body}: {error}");
    }
    for missing in ["offsetMilliseconds", "durationMilliseconds"] {
        let mut body = behind();
        body.as_object_mut().unwrap().remove(missing);
        let answer = ask(&node, Method::PUT, body.to_string());
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        let expected = format!("missing field `{missing}`");
        assert!(answer.error().contains(&expected), "{}", answer.error());
    }
    assert_eq!(node.clock_fault(), before);
}

#[test]
fn nothing_is_told_or_changed_without_the_token_or_elsewhere() {
    let node = Fixture::default();
    ask(&node, Method::PUT, behind().to_string());
    let before = node.clock_fault();
    assert!(before.is_some());
    let other = json!({"offsetMilliseconds": 3, "durationMilliseconds": 1});
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        let request = |token| with_token(method.clone(), "/admin/clock", token, other.to_string());
        let answer = send_admin(&node, request("wrong"));
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method}");
        let answer = send(&node, request(TOKEN));
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method}");
    }
    assert_eq!(node.clock_fault(), before);
}
