// SPDX-License-Identifier: Apache-2.0
//! `/admin/log`, behind the token as `/admin/load` is.

use crate::fixture::{Answer, Fixture, TOKEN, send, send_admin, with_token};
use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use serde_json::json;
use shardnode_rpc::{LogLevel, Node as _};

fn ask(node: &Fixture, method: Method, body: impl Into<Body>) -> Answer {
    send_admin(node, with_token(method, "/admin/log", TOKEN, body))
}

#[test]
fn the_level_is_set_and_told() {
    let node = Fixture::default();
    assert_eq!(ask(&node, Method::GET, "").json(), json!({"level": "info"}));
    for level in ["error", "warn", "info", "debug", "trace"] {
        let body = json!({"level": level});
        let answer = ask(&node, Method::PUT, body.to_string());
        assert_eq!(
            (answer.status, answer.json()),
            (StatusCode::OK, body.clone())
        );
        assert_eq!(ask(&node, Method::GET, "").json(), body);
    }
    assert_eq!(node.log_level(), LogLevel::Trace);
}

#[test]
fn wrong_bodies_name_what_is_wrong_and_change_nothing() {
    let node = Fixture::default();
    for (body, expected) in [
        (json!({}), "missing field `level`"),
        (
            json!({"level": "loud"}),
            "level: unknown variant `loud`, expected one of `error`, `warn`, `info`, `debug`, `trace`",
        ),
        (json!({"level": "Debug"}), "level: unknown variant `Debug`"),
        (
            json!({"level": "debug", "format": "json"}),
            "format: unknown field",
        ),
    ] {
        let answer = ask(&node, Method::PUT, body.to_string());
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        let error = answer.error();
        assert!(error.contains(expected), "{body}: {error}");
    }
    assert_eq!(node.log_level(), LogLevel::Info);
}

#[test]
fn a_level_that_did_not_take_is_an_error() {
    let node = Fixture {
        logs: false,
        ..Fixture::default()
    };
    let answer = ask(&node, Method::PUT, r#"{"level": "debug"}"#);
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.error(), "there is no log");
}

#[test]
fn nothing_is_told_or_changed_without_the_token_or_elsewhere() {
    let node = Fixture::default();
    for method in [Method::GET, Method::PUT] {
        let request =
            |token| with_token(method.clone(), "/admin/log", token, r#"{"level": "debug"}"#);
        let answer = send_admin(&node, request("wrong"));
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method}");
        let answer = send(&node, request(TOKEN));
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method}");
    }
    assert_eq!(node.log_level(), LogLevel::Info);
}
