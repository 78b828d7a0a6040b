// SPDX-License-Identifier: Apache-2.0
//! Serves the HTTP API to anybody who reaches it, at no cost to the chain.
//!
//! Everything runs in the caller's task, which has a thread of its own. Whoever
//! connects may take what [`Bounds`] say:
//!
//! - A connection that waits for its client is closed after [`Bounds::idle`]:
//!   one that sends no request, half of one, or reads nothing of its answer.
//! - An answer is handed over in pieces of [`PIECE`], and all but the last of them
//!   within [`Bounds::sending`], and a second more for each [`Bounds::sending_rate`]
//!   bytes of it, or its connection is closed: what it takes of memory is not kept by
//!   reading a little now and then.
//! - When there are too many connections, in all or of one address, the one that
//!   waits for its client for the longest makes room for the new one, or if all
//!   are being answered the one that is for the longest. So those who only keep
//!   connections open keep nobody out.
//! - A request that is whole is answered within [`Bounds::request`], or with 503.
//! - Requests and new connections are taken up at [`Bounds::rate`], whoever they
//!   are from, in the order in which they came: a connection has one request at
//!   a time, so nobody waits for longer than one for each connection takes.
//!
//! The time is what has passed, not what the clock shows: somebody may set it.

mod connections;
mod metrics;
mod pace;

pub use metrics::HttpMetrics;

use crate::admin::{Incoming, accept};
use axum::{
    Json, Router,
    body::{Body, to_bytes},
    http::{
        Request, Response, StatusCode,
        header::{CONTENT_LENGTH, RETRY_AFTER},
    },
    response::IntoResponse as _,
};
use commonware_runtime::Clock;
use connections::{Admitted, Connections, group};
use futures::{
    StreamExt as _,
    stream::{self, FuturesUnordered},
};
use http_body_util::BodyExt as _;
use hyper::{
    body::{Body as _, Incoming as Sent},
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use pace::Pace;
use serde_json::json;
use shardnode_rpc::{ClientAddress, MAX_BODY};
use std::{
    convert::Infallible,
    net::IpAddr,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{net::TcpStream, sync::oneshot, time::Instant};
use tracing::debug;

/// What callers may take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Connections at a time.
    pub connections: usize,
    /// Those of one address: of IPv6, of one /64.
    pub connections_per_address: usize,
    /// How long a connection may wait for its client.
    pub idle: Duration,
    /// From when a request is taken up, its answer.
    pub request: Duration,
    /// From when an answer is made until its last piece is handed over, besides what
    /// its length takes.
    pub sending: Duration,
    /// Bytes of an answer for which a client may take a second more.
    pub sending_rate: u64,
    /// Requests and new connections that are taken up in a second, over time.
    pub rate: u32,
    /// How many of them are taken up at once after a pause.
    pub burst: u32,
    /// How long no connection is accepted after the system refused one, as it
    /// does when too many files are open.
    pub pause: Duration,
}

impl Bounds {
    /// Those of a node that may have `files` open: a quarter of them are for
    /// connections.
    #[must_use]
    pub fn of_node(files: u64) -> Self {
        let connections = usize::try_from(files / 4)
            .unwrap_or(usize::MAX)
            .clamp(8, 256);
        Self {
            connections,
            connections_per_address: connections / 2,
            idle: Duration::from_secs(30),
            request: Duration::from_secs(20),
            sending: Duration::from_secs(10),
            sending_rate: 64 << 10,
            rate: 1_000,
            burst: 200,
            pause: Duration::from_secs(1),
        }
    }
}

/// How often it is looked at how long a connection may take, at the least.
const LOOK: Duration = Duration::from_secs(1);

/// The largest head of a request, and what of an answer lies in memory that was
/// made ready for sending.
const BUFFER: usize = 16 << 10;
/// What of an answer is handed over at once. What is handed over, the client may
/// read for as long as it goes on reading.
const PIECE: usize = 64 << 10;

/// What all connections of a server share.
struct Server<'a, E> {
    context: &'a E,
    router: Router,
    bounds: Bounds,
    metrics: &'a HttpMetrics,
    state: Arc<Mutex<State>>,
}

struct State {
    connections: Connections,
    pace: Pace,
}

/// Serves for ever.
pub async fn serve<E: Clock>(
    context: E,
    incoming: impl Incoming,
    router: Router,
    bounds: Bounds,
    metrics: Arc<HttpMetrics>,
) {
    let server = Server {
        context: &context,
        router,
        bounds,
        metrics: &metrics,
        state: Arc::new(Mutex::new(State {
            connections: Connections::new(bounds.connections, bounds.connections_per_address),
            pace: Pace::new(bounds.rate, bounds.burst, Instant::now()),
        })),
    };
    let mut exchanges = FuturesUnordered::new();
    // It keeps its turn, and its pause, whatever else ends meanwhile.
    let mut next = pin!(server.accept(&incoming));
    loop {
        tokio::select! {
            stream = &mut next => {
                if let Some(exchange) = server.admit(stream) {
                    exchanges.push(Box::pin(exchange));
                }
                next.set(server.accept(&incoming));
            }
            Some(()) = exchanges.next(), if !exchanges.is_empty() => {}
        }
        metrics.open(exchanges.len());
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<E: Clock> Server<'_, E> {
    /// The next connection, at its turn.
    async fn accept(&self, incoming: &impl Incoming) -> TcpStream {
        let turn = lock(&self.state).pace.next(Instant::now());
        self.sleep_until(turn).await;
        let stream = accept(self.context, incoming, self.bounds.pause, "HTTP API").await;
        lock(&self.state).pace.take(Instant::now());
        stream
    }

    /// Gives a connection its place.
    fn admit(&self, stream: TcpStream) -> Option<impl Future<Output = ()>> {
        // Whoever is gone already needs none.
        let address = stream.peer_addr().ok()?.ip();
        let (close, closed) = oneshot::channel();
        let now = Instant::now();
        let Admitted { place, displaced } =
            lock(&self.state)
                .connections
                .admit(group(address), now, close);
        if displaced {
            self.metrics.displaced();
        }
        Some(self.exchange(stream, group(address), place, closed))
    }

    /// All requests of one connection.
    async fn exchange(
        &self,
        stream: TcpStream,
        address: IpAddr,
        place: u64,
        closed: oneshot::Receiver<()>,
    ) {
        let answer = service_fn(|mut request: Request<Sent>| {
            request.extensions_mut().insert(ClientAddress(address));
            self.answer(place, request)
        });
        let connection = http1::Builder::new()
            .max_buf_size(BUFFER)
            // A connection's time is kept here, whatever it is waited for.
            .header_read_timeout(None)
            .serve_connection(TokioIo::new(stream), answer);
        let mut connection = pin!(connection);
        let mut closed = pin!(closed);
        loop {
            // An answer that begins meanwhile has another end.
            let end = self.end(place).min(Instant::now() + LOOK);
            tokio::select! {
                result = &mut connection => {
                    if let Err(error) = result {
                        debug!(%error, "HTTP connection failed");
                    }
                    break;
                }
                _ = &mut closed => break,
                () = self.sleep_until(end) => {
                    if self.end(place) <= Instant::now() {
                        self.metrics.idle();
                        break;
                    }
                }
            }
        }
        lock(&self.state).connections.remove(place);
    }

    /// When a connection has waited for its client for too long, as it looks
    /// now.
    fn end(&self, place: u64) -> Instant {
        let state = lock(&self.state);
        let waiting = state.connections.waiting_since(place);
        // One that is being answered does not wait before that is over.
        let idle = waiting.unwrap_or_else(Instant::now) + self.bounds.idle;
        let sent = state.connections.sent_by(place);
        sent.map_or(idle, |sent| sent.min(idle))
    }

    /// The runtime's clock is one that somebody may set, so it is told how long
    /// and not until when.
    async fn sleep_until(&self, end: Instant) {
        let left = end.saturating_duration_since(Instant::now());
        self.context.sleep(left).await;
    }

    /// Notes that a connection's client sent or read something.
    fn heard(&self, place: u64) {
        lock(&self.state).connections.heard(place, Instant::now());
    }

    /// One request.
    async fn answer(
        &self,
        place: u64,
        request: Request<Sent>,
    ) -> Result<Response<Body>, Infallible> {
        self.heard(place);
        let (head, body) = request.into_parts();
        let Ok(body) = to_bytes(Body::new(body), MAX_BODY).await else {
            let error = format!("body must have at most {MAX_BODY} bytes");
            return Ok(failure(StatusCode::PAYLOAD_TOO_LARGE, &error));
        };
        let now = Instant::now();
        let turn = {
            let mut state = lock(&self.state);
            state.connections.begin(place, now);
            state.pace.take(now)
        };
        if turn > now {
            self.sleep_until(turn).await;
        }
        self.metrics.request();
        let router = TowerToHyperService::new(self.router.clone());
        let request = Request::from_parts(head, Body::from(body));
        let answered = self
            .context
            .timeout(self.bounds.request, router.call(request))
            .await;
        self.heard(place);
        let response = answered.unwrap_or_else(|_| {
            let late = failure(StatusCode::SERVICE_UNAVAILABLE, "no answer in time");
            Ok(([(RETRY_AFTER, "1")], late).into_response())
        })?;
        let sending = Sending::begin(self.state.clone(), place, self.time_for(&response));
        let response = in_pieces(response);
        // The next piece is asked for when there is room for it.
        Ok(response.map(|body| {
            Body::new(body.map_frame(move |piece| {
                sending.heard();
                piece
            }))
        }))
    }

    /// How long a client may take to read an answer.
    fn time_for(&self, response: &Response<Body>) -> Duration {
        let length = response.headers().get(CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        let bytes: u64 = length.unwrap_or_else(|| response.body().size_hint().lower());
        self.bounds.sending + Duration::from_secs(bytes / self.bounds.sending_rate.max(1))
    }
}

/// An answer whose body is in pieces, of which each waits for those before it.
fn in_pieces(response: Response<Body>) -> Response<Body> {
    let length = response.body().size_hint().exact();
    let Some(length) = length.filter(|length| *length > PIECE as u64) else {
        return response;
    };
    let (mut head, body) = response.into_parts();
    head.headers.insert(CONTENT_LENGTH, length.into());
    let pieces = body.into_data_stream().flat_map(|whole| {
        stream::unfold(Some(whole), |rest| async move {
            match rest? {
                Ok(mut rest) if rest.len() > PIECE => {
                    let piece = rest.split_to(PIECE);
                    Some((Ok(piece), Some(Ok(rest))))
                }
                last => Some((last, None)),
            }
        })
    });
    Response::from_parts(head, Body::from_stream(pieces))
}

/// An answer that is being sent, until this is dropped with it.
struct Sending {
    state: Arc<Mutex<State>>,
    place: u64,
}

impl Sending {
    fn begin(state: Arc<Mutex<State>>, place: u64, within: Duration) -> Self {
        let end = Instant::now() + within;
        lock(&state).connections.send_by(place, Some(end));
        Self { state, place }
    }

    /// The client has read a piece.
    fn heard(&self) {
        let now = Instant::now();
        lock(&self.state).connections.heard(self.place, now);
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        lock(&self.state).connections.send_by(self.place, None);
    }
}

/// An error as the API has them.
fn failure(status: StatusCode, error: &str) -> Response<Body> {
    (status, Json(json!({"error": error}))).into_response()
}
