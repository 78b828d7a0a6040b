// SPDX-License-Identifier: Apache-2.0
//! The envelope of `/rpc`.

use crate::fixture::{Fixture, HEIGHT, post, send, transaction};
use axum::{
    body::Body,
    http::{Request, StatusCode, header::CONTENT_TYPE},
};
use commonware_codec::Encode as _;
use serde_json::{Value, json};

/// Answers with an error: its code, message and id.
fn refused(body: &str) -> (i64, String, Value) {
    let answer = post(&Fixture::default(), body.to_string());
    assert_eq!(answer.status, StatusCode::OK, "{body}");
    let response = answer.json();
    assert_eq!(response["jsonrpc"], "2.0");
    assert!(response.get("result").is_none());
    let error = &response["error"];
    (
        error["code"].as_i64().unwrap(),
        error["message"].as_str().unwrap().into(),
        response["id"].clone(),
    )
}

#[test]
fn ids_come_back_as_they_are() {
    for id in [
        json!(1),
        json!(-7),
        json!(u64::MAX),
        json!("a"),
        json!(null),
    ] {
        let body = json!({
            "jsonrpc": "2.0", "id": id, "method": "block_get", "params": {"height": HEIGHT},
        });
        let response = post(&Fixture::default(), body.to_string()).json();
        assert_eq!(response["id"], id);
        assert_eq!(response["result"]["height"], HEIGHT);
        assert!(response.get("error").is_none());
    }
}

#[test]
fn what_is_not_json() {
    for body in ["", "{", "{]", r#"{"jsonrpc": "2.0"} 1"#, "\u{feff}{}"] {
        let (code, _, id) = refused(body);
        assert_eq!((code, id), (-32_700, Value::Null), "{body}");
    }
    let answer = post(&Fixture::default(), vec![0xff, 0xfe]);
    assert_eq!(answer.json()["error"]["code"], -32_700);
}

#[test]
fn what_is_not_a_request() {
    let null = Value::Null;
    for (body, expected, expected_id) in [
        ("1", "a request must be an object", &null),
        ("[]", "batches are not served", &null),
        (
            r#"[{"jsonrpc": "2.0", "id": 1, "method": "block_get"}]"#,
            "batches are not served",
            &null,
        ),
        (
            r#"{"id": 3, "method": "block_get"}"#,
            "missing field `jsonrpc`",
            &json!(3),
        ),
        (
            r#"{"jsonrpc": "1.0", "id": 3, "method": "block_get"}"#,
            "jsonrpc: unknown variant `1.0`",
            &json!(3),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": "x"}"#,
            "missing field `method`",
            &json!("x"),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 3, "method": 4}"#,
            "method: invalid type",
            &json!(3),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 3, "method": "block_get", "parameters": {}}"#,
            "parameters: unknown field `parameters`",
            &json!(3),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1.5, "method": "block_get"}"#,
            "id: must be a string, an integer or null",
            &null,
        ),
        (
            r#"{"jsonrpc": "2.0", "id": [1], "method": "block_get"}"#,
            "id: must be a string, an integer or null",
            &null,
        ),
    ] {
        let (code, message, id) = refused(body);
        assert_eq!(code, -32_600, "{body}");
        assert!(message.contains(expected), "{body}: {message}");
        assert_eq!(id, *expected_id, "{body}");
    }
}

#[test]
fn unknown_methods() {
    for method in ["", "transfer_Submit", "status"] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method});
        let (code, message, _) = refused(&body.to_string());
        assert_eq!(code, -32_601);
        assert_eq!(message, format!("no such method: {method}"));
    }
}

#[test]
fn a_request_without_id_is_carried_out_and_not_answered() {
    let node = Fixture::default();
    let body = json!({
        "jsonrpc": "2.0", "method": "transfer_submit",
        "params": {"transaction": commonware_formatting::hex(&transaction(1).encode())},
    });
    let answer = post(&node, body.to_string());
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    assert!(answer.body.is_empty());
    assert_eq!(node.submissions(), 1);
}

#[test]
fn bodies_must_be_json_and_small() {
    let node = Fixture::default();
    for content_type in [None, Some("text/plain"), Some("application/jsonx")] {
        let mut request = Request::post("/rpc").body(Body::from("{}")).unwrap();
        if let Some(content_type) = content_type {
            let value = content_type.parse().unwrap();
            request.headers_mut().insert(CONTENT_TYPE, value);
        }
        let answer = send(&node, request);
        assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert_eq!(answer.error(), "content type must be application/json");
    }
    let answer = post(&node, vec![b' '; 64 * 1024 + 1]);
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(answer.error(), "body must have at most 65536 bytes");
}
