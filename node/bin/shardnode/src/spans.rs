// SPDX-License-Identifier: Apache-2.0
//! Sends recorded spans to the tracing endpoint, as OTLP over HTTP.
//!
//! Spans of a second go together. Nobody waits for them to arrive: what cannot
//! be sent is dropped and counted.

use commonware_macros::select;
use commonware_runtime::{Clock as _, Spawner as _, tokio::Context};
use commonware_utils::channel::mpsc;
use opentelemetry::{
    InstrumentationScope, KeyValue,
    trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkError,
    trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks},
};
use shardnode_primitives::Digest;
use shardnode_traces::{Detail, Metrics, Span};
use std::{borrow::Cow, time::Duration};
use tracing::{info, warn};

/// How long spans wait for others to be sent with.
const TOGETHER: Duration = Duration::from_secs(1);

/// Spans that are sent together, at most: about a megabyte.
const MOST: usize = 4_096;

/// How long the endpoint may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why spans cannot be exported at all.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is no HTTP client.
    #[error("HTTP client cannot be made")]
    Client(#[from] reqwest::Error),
    /// The endpoint cannot be used.
    #[error("OTLP exporter cannot be made")]
    Exporter(#[from] ExporterBuildError),
}

/// Who recorded the spans.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The network's name.
    pub network: String,
    /// The node's region.
    pub region: String,
    /// The node's name.
    pub node: String,
    /// The hash of the genesis document.
    pub genesis: Digest,
}

/// Where spans are sent, and as whose.
#[derive(Debug)]
pub struct Exporter {
    otlp: opentelemetry_otlp::SpanExporter,
    endpoint: String,
    identity: Identity,
    metrics: Metrics,
    failing: bool,
}

impl Exporter {
    /// Sends to `endpoint`, a URL without `/v1/traces`.
    pub fn new(identity: Identity, endpoint: &str, metrics: Metrics) -> Result<Self, ExportError> {
        let client = reqwest::Client::builder()
            .no_proxy()
            .timeout(PATIENCE)
            .build()?;
        let mut otlp = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{endpoint}/v1/traces"))
            .with_timeout(PATIENCE)
            .build()?;
        let attributes = [
            ("service.name", "shardnode"),
            ("service.version", env!("CARGO_PKG_VERSION")),
            ("service.namespace", identity.network.as_str()),
            ("service.instance.id", &identity.node),
            ("network", &identity.network),
            ("region", &identity.region),
            ("node", &identity.node),
        ];
        let attributes = attributes.map(|(key, value)| KeyValue::new(key, value.to_owned()));
        otlp.set_resource(
            &Resource::builder_empty()
                .with_attributes(attributes)
                .build(),
        );
        Ok(Self {
            otlp,
            endpoint: endpoint.to_owned(),
            identity,
            metrics,
            failing: false,
        })
    }

    async fn send(&mut self, spans: &[Span]) {
        if spans.is_empty() {
            return;
        }
        let scope = InstrumentationScope::builder("shardnode").build();
        let batch = spans.iter().map(|span| self.data(span, &scope)).collect();
        match self.otlp.export(batch).await {
            Ok(()) => {
                self.metrics.exported(spans.len());
                if std::mem::take(&mut self.failing) {
                    info!(endpoint = self.endpoint, "spans are exported again");
                }
            }
            Err(error) => self.lost(spans.len(), &error),
        }
    }

    fn lost(&mut self, spans: usize, error: &OTelSdkError) {
        self.metrics.not_exported(spans);
        if !std::mem::replace(&mut self.failing, true) {
            warn!(endpoint = self.endpoint, %error, "spans cannot be exported, and are dropped");
        }
    }

    fn data(&self, span: &Span, scope: &InstrumentationScope) -> SpanData {
        let genesis = &self.identity.genesis;
        let (trace, id) = (span.trace(genesis), span.id(genesis, &self.identity.node));
        let parent = span.parent(genesis);
        SpanData {
            span_context: SpanContext::new(
                TraceId::from_bytes(trace),
                SpanId::from_bytes(id),
                TraceFlags::SAMPLED,
                false,
                TraceState::NONE,
            ),
            parent_span_id: parent.map_or(SpanId::INVALID, SpanId::from_bytes),
            parent_span_is_remote: true,
            span_kind: SpanKind::Internal,
            name: Cow::Borrowed(span.name.as_str()),
            start_time: span.begin,
            end_time: span.end,
            attributes: attributes(span),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: scope.clone(),
        }
    }
}

fn attributes(span: &Span) -> Vec<KeyValue> {
    // OTLP has no unsigned numbers.
    let number = |key, value: u64| KeyValue::new(key, i64::try_from(value).unwrap_or(i64::MAX));
    let mut attributes = vec![number("height", span.place.height)];
    if let Some(shard) = span.place.shard {
        attributes.push(number("shard", u64::from(shard.0)));
    }
    match span.detail {
        Detail::View(view) => attributes.push(number("view", view)),
        Detail::Executed(height) => attributes.push(number("executed_height", height)),
        Detail::Included(included) => attributes.push(KeyValue::new("included", included)),
        Detail::None | Detail::Header(_) => {}
    }
    attributes
}

/// Sends what is recorded until nobody records any more or the node stops, and
/// then the rest.
pub async fn export(context: Context, mut exporter: Exporter, mut spans: mpsc::Receiver<Span>) {
    let mut stopped = context.stopped();
    let mut batch = Vec::new();
    loop {
        let stops = select! {
            received = spans.recv_many(&mut batch, MOST) => received == 0,
            _ = &mut stopped => true,
        };
        if stops {
            break;
        }
        exporter.send(&batch).await;
        // Who has more to send does not wait.
        let wait = if batch.len() < MOST {
            TOGETHER
        } else {
            Duration::ZERO
        };
        batch.clear();
        let stops = select! {
            _ = context.sleep(wait) => false,
            _ = &mut stopped => true,
        };
        if stops {
            break;
        }
    }
    while let Ok(span) = spans.try_recv() {
        batch.push(span);
    }
    exporter.send(&batch).await;
}
