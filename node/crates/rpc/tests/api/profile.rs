// SPDX-License-Identifier: Apache-2.0
//! `/admin/profile`, behind the token as `/admin/load` is.

use crate::fixture::{Answer, Fixture, HEIGHT, TOKEN, send, send_admin, with_token};
use axum::{
    body::Body,
    http::{Method, StatusCode, header::CONTENT_TYPE},
};
use serde_json::{Value, json};
use shardnode_rpc::{Node as _, ProfileStage};

const PATH: &str = "/admin/profile";
const CONTENT: &str = "/admin/profile/content";

fn ask(node: &Fixture, method: Method, body: impl Into<Body>) -> Answer {
    send_admin(node, with_token(method, PATH, TOKEN, body))
}

fn content(node: &Fixture) -> Answer {
    send_admin(node, with_token(Method::GET, CONTENT, TOKEN, ""))
}

fn finish(node: &Fixture) {
    let mut profile = node.profile.lock().unwrap();
    let profile = profile.as_mut().unwrap();
    profile.stage = ProfileStage::Ready;
    profile.last_height = Some(HEIGHT + 1);
    profile.samples = Some(70);
}

#[test]
fn a_profile_is_taken_fetched_and_forgotten() {
    let node = Fixture::default();
    let none = json!({"profile": null});
    assert_eq!(ask(&node, Method::GET, "").json(), none);
    for (field, value) in [
        ("blocks", 1),
        ("blocks", 6_000),
        ("seconds", 1),
        ("seconds", 60),
    ] {
        let mut sampling = json!({"profile": {
            "stage": "Sampling", "kind": "CPU", "frequencyHertz": 250, "intervalBytes": null,
            "firstHeight": HEIGHT, "lastHeight": null, "samples": null, "reason": null,
        }});
        sampling["profile"][field] = value.into();
        let answer = ask(&node, Method::PUT, json!({field: value}).to_string());
        assert_eq!(
            (answer.status, answer.json()),
            (StatusCode::OK, sampling.clone())
        );
        assert_eq!(ask(&node, Method::GET, "").json(), sampling);
        assert_eq!(content(&node).status, StatusCode::NOT_FOUND);

        finish(&node);
        let ready = ask(&node, Method::GET, "").json();
        assert_eq!(ready["profile"]["stage"], "Ready");
        assert_eq!(ready["profile"]["lastHeight"], HEIGHT + 1);
        let answer = content(&node);
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.headers[CONTENT_TYPE], "application/octet-stream");
        assert_eq!(answer.body, [0x1f, 0x8b]);
    }
    let answer = ask(&node, Method::DELETE, "");
    assert_eq!((answer.status, answer.json()), (StatusCode::OK, none));
    assert_eq!(content(&node).status, StatusCode::NOT_FOUND);
}

#[test]
fn a_profile_is_of_the_kind_that_is_asked_for() {
    for (kind, frequency, interval) in [
        ("CPU", json!(250), Value::Null),
        ("Allocations", Value::Null, json!(524_288)),
    ] {
        let node = Fixture::default();
        let body = json!({"kind": kind, "seconds": 1}).to_string();
        let answer = ask(&node, Method::PUT, body);
        assert_eq!(answer.status, StatusCode::OK);
        let profile = &answer.json()["profile"];
        assert_eq!(profile["kind"], kind);
        assert_eq!(profile["frequencyHertz"], frequency);
        assert_eq!(profile["intervalBytes"], interval);
    }
}

#[test]
fn there_is_one_at_a_time() {
    let node = Fixture::default();
    ask(&node, Method::PUT, r#"{"blocks": 2}"#);
    let before = node.profile();
    for body in [
        r#"{"seconds": 1}"#,
        r#"{"kind": "Allocations", "blocks": 1}"#,
    ] {
        let answer = ask(&node, Method::PUT, body);
        assert_eq!(answer.status, StatusCode::CONFLICT);
        assert!(answer.error().contains("one at a time"));
        assert_eq!(node.profile(), before);
    }
}

#[test]
fn wrong_bodies_name_what_is_wrong_and_begin_nothing() {
    let node = Fixture::default();
    for (body, expected) in [
        (json!({}), "must have one of blocks and seconds"),
        (
            json!({"blocks": 1, "seconds": 1}),
            "must have one of blocks and seconds",
        ),
        (json!({"blocks": 0}), "blocks: must be 1 to 6000"),
        (json!({"blocks": 6_001}), "blocks: must be 1 to 6000"),
        (json!({"seconds": 0}), "seconds: must be 1 to 60"),
        (json!({"seconds": 61}), "seconds: must be 1 to 60"),
        (json!({"seconds": -1}), "seconds: invalid value"),
        (json!({"minutes": 1}), "minutes: unknown field"),
        (
            json!({"kind": "Heap", "seconds": 1}),
            "kind: unknown variant",
        ),
        (
            json!({"kind": "Allocations"}),
            "must have one of blocks and seconds",
        ),
        (Value::Null, "must be a JSON object"),
    ] {
        let answer = ask(&node, Method::PUT, body.to_string());
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        let error = answer.error();
        assert!(error.contains(expected), "{body}: {error}");
    }
    assert_eq!(node.profile(), None);
}

#[test]
fn nothing_is_told_or_begun_without_the_token_or_elsewhere() {
    let node = Fixture::default();
    ask(&node, Method::PUT, r#"{"blocks": 2}"#);
    finish(&node);
    let before = node.profile();
    for (method, path) in [
        (Method::GET, PATH),
        (Method::PUT, PATH),
        (Method::DELETE, PATH),
        (Method::GET, CONTENT),
    ] {
        let request = |token| with_token(method.clone(), path, token, r#"{"seconds": 1}"#);
        let answer = send_admin(&node, request("wrong"));
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {path}");
        let answer = send(&node, request(TOKEN));
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method} {path}");
    }
    assert_eq!(node.profile(), before);
}
