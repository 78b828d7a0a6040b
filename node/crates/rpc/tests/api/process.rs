// SPDX-License-Identifier: Apache-2.0
//! `/admin/process`, behind the token as `/admin/load` is.

use crate::fixture::{Answer, Fixture, TOKEN, send, send_admin, with_token};
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

fn put(node: &Fixture, body: &Value) -> Answer {
    send_admin(
        node,
        with_token(Method::PUT, "/admin/process", TOKEN, body.to_string()),
    )
}

fn begun(node: &Fixture) -> usize {
    node.process_faults.lock().unwrap().len()
}

#[test]
fn a_fault_begins_as_it_is_told() {
    let node = Fixture::default();
    let many = vec!["a".repeat(256); 16];
    for (i, fault) in [
        json!({"condition": "Paused", "durationMilliseconds": 1}),
        json!({"condition": "Gone", "durationMilliseconds": 3_600_000}),
        json!({"condition": "Replaced", "program": "node", "durationMilliseconds": 7}),
        json!({
            "condition": "Replaced", "program": "Another-node_2.1", "arguments": many,
            "durationMilliseconds": 7
        }),
    ]
    .iter()
    .enumerate()
    {
        let answer = put(&node, fault);
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.json(), json!({"fault": fault}));
        let faults = node.process_faults.lock().unwrap();
        assert_eq!(serde_json::to_value(&faults[i]).unwrap(), *fault);
    }
}

#[test]
fn wrong_bodies_name_what_is_wrong_and_begin_nothing() {
    let node = Fixture::default();
    let named = "program: must be the name of a file";
    for (change, expected) in [
        (
            json!({"condition": "Full"}),
            "condition: unknown variant `Full`",
        ),
        (
            json!({"condition": "Gone"}),
            "program: is for condition Replaced alone",
        ),
        (
            json!({"condition": "Paused", "program": null}),
            "arguments: are for condition Replaced alone",
        ),
        (json!({"program": null}), "program: is missing"),
        (json!({"program": ""}), named),
        (json!({"program": "/bin/node"}), named),
        (json!({"program": "../node"}), named),
        (json!({"program": ".."}), named),
        (json!({"program": "a\u{0}"}), named),
        (json!({"program": "a".repeat(256)}), named),
        (
            json!({"arguments": vec!["a"; 17]}),
            "arguments: must be 16 or fewer",
        ),
        (
            json!({"arguments": ["a", "a".repeat(257)]}),
            "arguments[1]: must have 256 bytes or fewer, none of them 0",
        ),
        (
            json!({"arguments": ["a\u{0}"]}),
            "arguments[0]: must have 256 bytes or fewer, none of them 0",
        ),
        (
            json!({"durationMilliseconds": 0}),
            "durationMilliseconds: must be 1 to 3600000",
        ),
        (
            json!({"durationMilliseconds": 3_600_001}),
            "durationMilliseconds: must be 1 to 3600000",
        ),
        (json!({"delayMilliseconds": 1}), "unknown field"),
    ] {
        let mut body = json!({
            "condition": "Replaced", "program": "node", "arguments": ["a"],
            "durationMilliseconds": 7
        });
        for (field, value) in change.as_object().unwrap() {
            body[field] = value.clone();
        }
        let answer = put(&node, &body);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{change}");
        let error = answer.error();
        assert!(error.contains(expected), "{change}: {error}");
    }
    assert_eq!(begun(&node), 0);
}

#[test]
fn a_node_that_cannot_have_a_fault_says_so() {
    let node = Fixture {
        connected: false,
        ..Fixture::default()
    };
    let fault = json!({"condition": "Replaced", "program": "node", "durationMilliseconds": 7});
    let answer = put(&node, &fault);
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.error(), "no node of shard 1 answered");
    assert_eq!(begun(&node), 0);
}

#[test]
fn nobody_begins_one_without_the_token() {
    let node = Fixture::default();
    let gone = json!({"condition": "Gone", "durationMilliseconds": 1}).to_string();
    for token in ["", "wrong", &TOKEN[1..]] {
        let answer = send_admin(
            &node,
            with_token(Method::PUT, "/admin/process", token, gone.clone()),
        );
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{token:?}");
    }
    let answer = send(
        &node,
        with_token(Method::PUT, "/admin/process", TOKEN, gone),
    );
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(begun(&node), 0);
}
