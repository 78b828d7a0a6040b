// SPDX-License-Identifier: Apache-2.0
//! `/healthz`, `/readyz`, `/status`, `/metrics`.

use crate::fixture::{Answer, Fixture, answer, request, send};
use axum::http::{Method, StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};
use shardnode_rpc::{Readiness, Role, SyncingStatus, router};
use std::{collections::BTreeSet, sync::atomic::Ordering};

fn get(node: &Fixture, path: &str) -> Answer {
    send(node, request(Method::GET, path))
}

#[test]
fn health_follows_the_actors() {
    let mut node = Fixture::default();
    assert_eq!(get(&node, "/healthz").status, StatusCode::OK);
    node.ailing = Some("ledger has not answered for 31 s".into());
    let answer = get(&node, "/healthz");
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.error(), "ledger has not answered for 31 s");
}

#[test]
fn readiness_says_what_is_missing() {
    let mut node = Fixture::default();
    let answer = get(&node, "/readyz");
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.json(), json!({"ready": true, "reasons": []}));
    let reason = "connected to 1 peer, quorum needs 2";
    node.readiness = Readiness {
        ready: false,
        reasons: vec![reason.into()],
    };
    let answer = get(&node, "/readyz");
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.json(), json!({"ready": false, "reasons": [reason]}));
}

/// However many ask, an answer is made once in 200 ms.
#[test]
fn many_who_ask_get_one_answer() {
    for path in ["/readyz", "/status", "/metrics"] {
        let node = Fixture::default();
        let router = router(node.clone());
        let ask = |time_ms| {
            node.time_ms.store(time_ms, Ordering::Relaxed);
            for _ in 0..3 {
                let answer = answer(router.clone(), request(Method::GET, path));
                assert_eq!(answer.status, StatusCode::OK, "{path}");
            }
            node.made.load(Ordering::Relaxed)
        };
        assert_eq!(ask(1_000), 1, "{path}");
        assert_eq!(ask(1_199), 1, "{path}");
        assert_eq!(ask(1_200), 2, "{path}");
        // A clock that was set back keeps nobody waiting.
        assert_eq!(ask(500), 3, "{path}");
    }
}

#[test]
fn metrics_are_openmetrics() {
    let answer = get(&Fixture::default(), "/metrics");
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(
        answer.headers[CONTENT_TYPE],
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    assert_eq!(answer.body, b"# EOF\n");
}

#[test]
fn status_of_a_producer() {
    let answer = get(&Fixture::default(), "/status");
    assert_eq!(answer.status, StatusCode::OK);
    let status = answer.json();
    assert_eq!(status["role"], "producer");
    assert_eq!(status["genesisHash"], "01".repeat(32));
    assert_eq!(
        status["publicKey"],
        "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c"
    );
    assert_eq!(status["tps"], 4_012.5);
    assert_eq!(status["shards"][0]["shard"], 0);
    assert_eq!(status["shards"][0]["stateRoot"], "02".repeat(32));
    assert_eq!(status["tracked"]["accounts"], 1_002);
    assert_eq!(
        status["memory"],
        json!({"anonymousBytes": 104_857_600, "fileBytes": 12_582_912})
    );
    assert_eq!(
        status["disk"],
        json!({"readBytes": 4_096, "writtenBytes": 8_388_608})
    );
    assert_eq!(
        status["machine"],
        json!({"busySeconds": 90.5, "stolenSeconds": 0.25})
    );
    assert_eq!(status["tcp"]["congestionControl"], "bbr");
    assert_eq!(status["tcp"]["mtuProbing"], Value::Null);
    assert_eq!(status["tcp"]["rmem"], json!([10_240, 87_380, 134_217_728]));
}

#[test]
fn status_of_an_rpc_node_has_neither_state_nor_load() {
    let node = Fixture {
        role: Role::Rpc,
        ..Fixture::default()
    };
    let status = get(&node, "/status").json();
    assert_eq!(status["role"], "rpc");
    assert_eq!(status["tracked"], Value::Null);
    assert_eq!(status["load"], Value::Null);
}

#[test]
fn status_of_an_archive_says_what_it_keeps() {
    let node = Fixture {
        role: Role::Archive,
        ..Fixture::default()
    };
    let status = get(&node, "/status").json();
    assert_eq!(status["role"], "archive");
    assert_eq!(status["tracked"], Value::Null);
    let kept = json!({"shard": 3, "archivedHeight": 1_000, "behindBlocks": 7, "usable": true});
    assert_eq!(
        status["archive"],
        json!({"usableShards": 1, "shards": [kept]})
    );
    let producer = get(&Fixture::default(), "/status").json();
    assert_eq!(producer["archive"], Value::Null);
}

#[test]
fn status_says_how_far_fetching_a_state_is() {
    assert_eq!(
        get(&Fixture::default(), "/status").json()["syncing"],
        Value::Null
    );
    let cases = [
        (
            None,
            0,
            None,
            json!({"neededHeight": 7, "snapshotHeight": null, "pagesFetched": 0, "pages": null}),
        ),
        (
            Some(1_000),
            3,
            Some(14),
            json!({"neededHeight": 7, "snapshotHeight": 1_000, "pagesFetched": 3, "pages": 14}),
        ),
    ];
    for (snapshot_height, pages_fetched, pages, expected) in cases {
        let node = Fixture {
            syncing: Some(SyncingStatus {
                needed_height: 7,
                snapshot_height,
                pages_fetched,
                pages,
            }),
            ..Fixture::default()
        };
        assert_eq!(get(&node, "/status").json()["syncing"], expected);
    }
}

/// The paths of all fields; a list stands for its first element, an empty one
/// for itself.
fn fields(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                fields(value, &format!("{path}.{name}"), found);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            fields(&list[0], &format!("{path}[]"), found);
        }
        Value::Array(_) => {
            found.insert(format!("{path}[]"));
        }
        _ => {
            found.insert(path.into());
        }
    }
}

#[test]
fn status_has_the_fields_of_the_node_contract() {
    let contract = include_str!("../../../../../docs/node-contract.md");
    let (_, section) = contract.split_once("### `GET /status`").unwrap();
    let (_, section) = section.split_once("```json\n").unwrap();
    let (example, _) = section.split_once("```").unwrap();
    let (mut served, mut agreed) = (BTreeSet::new(), BTreeSet::new());
    fields(&get(&Fixture::default(), "/status").json(), "", &mut served);
    fields(&serde_json::from_str(example).unwrap(), "", &mut agreed);
    assert_eq!(served, agreed);
}

#[test]
fn other_paths_and_methods_are_errors() {
    let node = Fixture::default();
    let answer = get(&node, "/");
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(answer.error(), "no such endpoint");
    for (method, path) in [(Method::POST, "/status"), (Method::GET, "/rpc")] {
        let answer = send(&node, request(method, path));
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert_eq!(answer.error(), "endpoint does not have this method");
    }
}
