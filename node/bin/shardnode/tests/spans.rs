// SPDX-License-Identifier: Apache-2.0
//! What the tracing endpoint is sent, and what becomes of spans while there is
//! none.

#![allow(clippy::unwrap_used)]

use axum::{Router, body::Bytes, extract::State, http::StatusCode, routing::post};
use commonware_runtime::{
    Clock as _, Runner as _, Spawner as _, Supervisor as _,
    tokio::{Context, Runner},
};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{AnyValue, KeyValue, any_value::Value},
    trace::v1::ResourceSpans,
};
use prometheus_client::{encoding::text::encode, registry::Registry};
use prost::Message as _;
use shardnode::spans::{Exporter, Identity, export};
use shardnode_primitives::{Digest, ShardId};
use shardnode_traces::{BasisPoints, Detail, Metrics, Name, Place, Recorder, Sampling, Span};
use std::{
    net::Ipv4Addr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};
use tokio::net::TcpListener;

const GENESIS: Digest = Digest([9; 32]);

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a collector has been sent.
#[derive(Clone, Default)]
struct Collector {
    received: Arc<Mutex<Vec<ResourceSpans>>>,
    refuses: Arc<AtomicBool>,
}

async fn collect(State(collector): State<Collector>, body: Bytes) -> StatusCode {
    if collector.refuses.load(Ordering::Relaxed) {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    collector
        .received
        .lock()
        .unwrap()
        .extend(request.resource_spans);
    StatusCode::OK
}

/// Serves a collector, and gives the recorder of a node that sends there.
async fn start(context: &Context, collector: Collector) -> (Recorder, Registry) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new()
        .route("/v1/traces", post(collect))
        .with_state(collector);
    let serve = context.child("collector").spawn(move |_| async move {
        axum::serve(listener, router).await.unwrap();
    });
    drop(serve);
    let mut registry = Registry::default();
    let metrics = Metrics::new(&mut registry);
    let identity = Identity {
        network: "net".into(),
        region: "north".into(),
        node: "n0".into(),
        genesis: GENESIS,
    };
    let exporter = Exporter::new(identity, &endpoint, metrics.clone()).unwrap();
    let sampling = Sampling::new(GENESIS, BasisPoints::ALL);
    let (recorder, spans) = Recorder::new(sampling, metrics);
    let export = |context| export(context, exporter, spans);
    drop(context.child("spans").spawn(export));
    (recorder, registry)
}

async fn until(context: &Context, what: &str, mut reached: impl FnMut() -> bool) {
    let deadline = context.current() + PATIENCE;
    while !reached() {
        assert!(context.current() < deadline, "{what}");
        context.sleep(Duration::from_millis(10)).await;
    }
}

fn counter(registry: &Registry, series: &str) -> u64 {
    let mut text = String::new();
    encode(&mut text, registry).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(series));
    line.unwrap().trim().parse().unwrap()
}

fn attributes(of: &[KeyValue]) -> Vec<(String, Value)> {
    let value = |value: &Option<AnyValue>| value.clone().unwrap().value.unwrap();
    of.iter()
        .map(|one| (one.key.clone(), value(&one.value)))
        .collect()
}

#[test]
fn a_span_arrives_as_it_was_recorded_and_as_this_nodes() {
    Runner::default().start(|context| async move {
        let collector = Collector::default();
        let (recorder, registry) = start(&context, collector.clone()).await;
        let begin = context.current();
        let place = Place::chunk(7, ShardId(3));
        let detail = Detail::Executed(6);
        recorder.end(&context, Name::Execute, place, detail, begin);
        until(&context, "no span came", || {
            !collector.received.lock().unwrap().is_empty()
        })
        .await;

        let received = collector.received.lock().unwrap().clone();
        let resource = attributes(&received[0].resource.clone().unwrap().attributes);
        for (key, value) in [
            ("service.name", "shardnode"),
            ("service.namespace", "net"),
            ("service.instance.id", "n0"),
            ("network", "net"),
            ("region", "north"),
            ("node", "n0"),
        ] {
            let wanted = (key.to_owned(), Value::StringValue(value.to_owned()));
            assert!(resource.contains(&wanted), "{wanted:?} in {resource:?}");
        }
        let span = &received[0].scope_spans[0].spans[0];
        let recorded = Span {
            name: Name::Execute,
            place,
            detail,
            begin,
            end: begin,
        };
        assert_eq!(span.name, "execute");
        assert_eq!(span.trace_id, recorded.trace(&GENESIS));
        assert_eq!(span.span_id, recorded.id(&GENESIS, "n0"));
        assert_eq!(span.parent_span_id, recorded.parent(&GENESIS).unwrap());
        let nanos = begin.duration_since(UNIX_EPOCH).unwrap().as_nanos();
        assert_eq!(u128::from(span.start_time_unix_nano), nanos);
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
        let numbers = [("height", 7), ("shard", 3), ("executed_height", 6)];
        let numbers = numbers.map(|(key, number)| (key.to_owned(), Value::IntValue(number)));
        assert_eq!(attributes(&span.attributes), numbers);
        until(&context, "not counted", || {
            counter(&registry, "spans_exported_total") == 1
        })
        .await;
    });
}

#[test]
fn what_is_refused_is_counted_and_later_spans_arrive() {
    Runner::default().start(|context| async move {
        let collector = Collector::default();
        collector.refuses.store(true, Ordering::Relaxed);
        let (recorder, registry) = start(&context, collector.clone()).await;
        let record = |height| {
            let (place, begin) = (Place::block(height), context.current());
            recorder.end(&context, Name::Verify, place, Detail::View(1), begin);
        };
        record(1);
        let dropped = "spans_dropped_total{cause=\"export\"}";
        until(&context, "nothing was dropped", || {
            counter(&registry, dropped) == 1
        })
        .await;
        collector.refuses.store(false, Ordering::Relaxed);
        record(2);
        until(&context, "no span came", || {
            counter(&registry, "spans_exported_total") == 1
        })
        .await;
        assert_eq!(counter(&registry, dropped), 1);
        assert_eq!(collector.received.lock().unwrap().len(), 1);
    });
}

#[test]
fn a_node_that_stops_sends_what_it_has_recorded() {
    let collector = Collector::default();
    let received = collector.received.clone();
    Runner::default().start(|context| async move {
        let (recorder, registry) = start(&context, collector).await;
        let record = |height| {
            let (place, begin) = (Place::block(height), context.current());
            recorder.end(&context, Name::Verify, place, Detail::View(1), begin);
        };
        record(1);
        until(&context, "no span came", || {
            counter(&registry, "spans_exported_total") == 1
        })
        .await;
        // Within the second in which spans wait for others.
        record(2);
        context.stop(0, Some(PATIENCE)).await.unwrap();
    });
    assert_eq!(received.lock().unwrap().len(), 2);
}
