// SPDX-License-Identifier: Apache-2.0
//! Serves the admin API over TLS.
//!
//! Anybody who reaches the port may connect, so whoever has not shown the token
//! takes little, and for a short time: every connection carries one request, and
//! [`Bounds`] ends it. One that finds too many others waits its turn, which comes
//! because each of them ends.

use axum::Router;
use commonware_runtime::Clock;
use futures::{StreamExt as _, stream::FuturesUnordered};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use std::{io, pin::pin, time::Duration};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

/// What callers may take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Connections at a time.
    pub connections: usize,
    /// The handshake of TLS.
    pub handshake: Duration,
    /// From then on, all headers of the request.
    pub headers: Duration,
    /// From the handshake on, the whole request and its answer.
    pub request: Duration,
    /// How long no connection is accepted after the system refused one, as it
    /// does when too many files are open.
    pub pause: Duration,
}

impl Bounds {
    /// Those of a node.
    pub const NODE: Self = Self {
        connections: 16,
        handshake: Duration::from_secs(5),
        headers: Duration::from_secs(5),
        request: Duration::from_secs(10),
        pause: Duration::from_secs(1),
    };
}

/// Where connections come from.
pub trait Incoming: Send + Sync {
    /// The next one.
    fn next(&self) -> impl Future<Output = io::Result<TcpStream>> + Send;
}

impl Incoming for TcpListener {
    async fn next(&self) -> io::Result<TcpStream> {
        self.accept().await.map(|(stream, _)| stream)
    }
}

/// Serves for ever. All connections share the caller's task: there are few, and
/// none computes for long.
pub async fn serve<E: Clock>(
    context: E,
    incoming: impl Incoming,
    tls: TlsAcceptor,
    router: Router,
    bounds: Bounds,
) {
    let mut connections = FuturesUnordered::new();
    let accept = || accept(&context, &incoming, bounds.pause, "admin API");
    // It keeps its pause, whatever else ends meanwhile.
    let mut next = pin!(accept());
    loop {
        tokio::select! {
            stream = &mut next, if connections.len() < bounds.connections => {
                let exchange = exchange(&context, stream, tls.clone(), router.clone(), bounds);
                connections.push(Box::pin(exchange));
                next.set(accept());
            }
            Some(()) = connections.next(), if !connections.is_empty() => {}
        }
    }
}

/// The next connection. While the system refuses them there is a pause after
/// each attempt.
pub(crate) async fn accept(
    context: &impl Clock,
    incoming: &impl Incoming,
    pause: Duration,
    api: &str,
) -> TcpStream {
    loop {
        match incoming.next().await {
            Ok(stream) => return stream,
            Err(error) => {
                warn!(%error, "{api} cannot accept a connection");
                context.sleep(pause).await;
            }
        }
    }
}

/// One request and its answer.
async fn exchange(
    context: &impl Clock,
    stream: TcpStream,
    tls: TlsAcceptor,
    router: Router,
    bounds: Bounds,
) {
    let stream = match context.timeout(bounds.handshake, tls.accept(stream)).await {
        Ok(Ok(stream)) => TokioIo::new(stream),
        Ok(Err(error)) => return debug!(%error, "admin API: handshake failed"),
        Err(_) => return debug!("admin API: handshake took too long"),
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.headers)
        .keep_alive(false)
        .serve_connection(stream, TowerToHyperService::new(router));
    match context.timeout(bounds.request, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "admin API: connection failed"),
        Err(_) => debug!("admin API: request took too long"),
    }
}
