// SPDX-License-Identifier: Apache-2.0
//! What callers of the HTTP API may take.

#![allow(clippy::unwrap_used)]

use axum::{Router, routing::get};
use commonware_runtime::{
    Clock as _, Runner as _, Spawner as _, Supervisor as _,
    tokio::{Context, Runner},
};
use prometheus_client::{encoding::text::encode, registry::Registry};
use shardnode::http::{Bounds, HttpMetrics, serve};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// Those of a node, smaller.
const BOUNDS: Bounds = Bounds {
    connections: 4,
    connections_per_address: 4,
    idle: Duration::from_secs(10),
    request: Duration::from_secs(1),
    sending: PATIENCE,
    sending_rate: 64 << 10,
    rate: 1_000,
    burst: 200,
    pause: Duration::from_millis(100),
};

/// So long that nothing ends by itself during a test.
const PATIENT: Bounds = Bounds {
    idle: PATIENCE,
    request: PATIENCE,
    ..BOUNDS
};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";

/// A server, and what it measures.
struct Server {
    address: SocketAddr,
    registry: Registry,
}

impl Server {
    async fn start(context: &Context, bounds: Bounds) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut registry = Registry::default();
        let metrics = Arc::new(HttpMetrics::new(&mut registry));
        let router = Router::new()
            .route("/", get(|| async { "answer" }))
            .route("/never", get(std::future::pending::<()>))
            .route("/large", get(|| async { "x".repeat(64 << 20) }));
        drop(
            context
                .child("http")
                .dedicated()
                .spawn(move |context| serve(context, listener, router, bounds, metrics)),
        );
        Self { address, registry }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// A connection that has been answered once.
    async fn connect_and_ask(&self) -> TcpStream {
        let mut stream = self.connect().await;
        assert!(ask(&mut stream).await);
        stream
    }

    /// The value of a metric.
    fn metric(&self, name: &str) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.unwrap().trim().into()
    }
}

/// Sends a request; whether it is answered.
async fn ask(stream: &mut TcpStream) -> bool {
    if stream.write_all(REQUEST).await.is_err() {
        return false;
    }
    let mut answer = Vec::new();
    while !answer.ends_with(b"answer") {
        match stream.read_buf(&mut answer).await {
            Ok(0) | Err(_) => return false,
            Ok(_) => {}
        }
    }
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"));
    true
}

/// What comes until the connection ends.
async fn rest(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

/// Runs a test, which must end.
fn run<F: Future<Output = ()> + Send + 'static>(test: impl FnOnce(Context) -> F + Send + 'static) {
    Runner::default().start(|context| async move {
        let patience = context.child("patience");
        assert!(patience.timeout(PATIENCE, test(context)).await.is_ok());
    });
}

fn since(context: &Context, began: SystemTime) -> Duration {
    context.current().duration_since(began).unwrap()
}

#[test]
fn a_connection_carries_many_requests() {
    run(|context| async move {
        let server = Server::start(&context, PATIENT).await;
        let mut stream = server.connect().await;
        for _ in 0..3 {
            assert!(ask(&mut stream).await);
        }
        assert_eq!(server.metric("http_requests_total"), "3");
        assert_eq!(server.metric("http_connections"), "1");
    });
}

#[test]
fn who_keeps_the_server_waiting_is_cut_off() {
    run(|context| async move {
        let bounds = Bounds {
            request: PATIENCE,
            ..BOUNDS
        };
        let server = Server::start(&context, bounds).await;
        let began = context.current();
        let asked = server.connect_and_ask().await;
        let mut half = server.connect().await;
        half.write_all(b"GET / HTTP/1.1\r\nhost:").await.unwrap();
        let mut bodiless = server.connect().await;
        let head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{";
        bodiless.write_all(head).await.unwrap();
        // It does not read more than fits into the buffers of the system.
        let mut deaf = server.connect().await;
        let large = b"GET /large HTTP/1.1\r\nhost: a\r\n\r\n";
        deaf.write_all(large).await.unwrap();
        for stream in [asked, half, bodiless] {
            assert_eq!(rest(stream).await, "");
        }
        assert!(since(&context, began) >= BOUNDS.idle);
        while server.metric("http_connections_shed_total{cause=\"idle\"}") != "4" {
            context.sleep(Duration::from_millis(10)).await;
        }
        assert!(rest(deaf).await.len() < 64 << 20);
    });
}

/// An answer takes memory until it is read.
#[test]
fn who_reads_a_little_now_and_then_is_cut_off() {
    run(|context| async move {
        let bounds = Bounds {
            sending: Duration::from_millis(500),
            sending_rate: 64 << 20,
            ..PATIENT
        };
        let server = Server::start(&context, bounds).await;
        let began = context.current();
        let mut slow = server.connect_and_ask().await;
        let mut kept = server.connect_and_ask().await;
        let large = b"GET /large HTTP/1.1\r\nhost: a\r\n\r\n";
        slow.write_all(large).await.unwrap();
        let (mut piece, mut read) = (vec![0; 64 << 10], 0);
        while let Ok(bytes @ 1..) = slow.read(&mut piece).await {
            read += bytes;
            context.sleep(Duration::from_millis(20)).await;
        }
        assert!(read < 64 << 20);
        assert!(since(&context, began) >= Duration::from_millis(1_500));
        // One whose answer is sent may stay for longer.
        assert!(ask(&mut kept).await);
    });
}

/// Whoever sends half a request only keeps a connection open.
#[test]
fn half_requests_keep_nobody_out() {
    run(|context| async move {
        let server = Server::start(&context, PATIENT).await;
        let mut halves = Vec::new();
        for _ in 0..PATIENT.connections {
            let mut stream = server.connect_and_ask().await;
            let head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{";
            stream.write_all(head).await.unwrap();
            halves.push(stream);
        }
        drop(server.connect_and_ask().await);
    });
}

#[test]
fn who_keeps_connections_open_keeps_nobody_out() {
    run(|context| async move {
        let server = Server::start(&context, PATIENT).await;
        let mut idle = Vec::new();
        for _ in 0..PATIENT.connections {
            idle.push(server.connect_and_ask().await);
        }
        // The first has been heard of last.
        assert!(ask(&mut idle[0]).await);
        let mut new = server.connect_and_ask().await;
        assert!(ask(&mut idle[0]).await);
        assert!(!ask(&mut idle[1]).await);
        assert!(ask(&mut idle[2]).await);
        assert!(ask(&mut new).await);
        let displaced = server.metric("http_connections_shed_total{cause=\"displaced\"}");
        assert_eq!(displaced, "1");
    });
}

#[test]
fn who_is_being_answered_goes_last() {
    run(|context| async move {
        let server = Server::start(&context, PATIENT).await;
        let mut asking = Vec::new();
        for _ in 0..PATIENT.connections {
            let mut stream = server.connect().await;
            let never = b"GET /never HTTP/1.1\r\nhost: a\r\n\r\n";
            stream.write_all(never).await.unwrap();
            asking.push(stream);
        }
        while server.metric("http_requests_total") != PATIENT.connections.to_string() {
            context.sleep(Duration::from_millis(10)).await;
        }
        // One makes room, and then who waits does.
        let mut first = server.connect_and_ask().await;
        let mut second = server.connect_and_ask().await;
        assert!(!ask(&mut first).await);
        assert!(ask(&mut second).await);
        let displaced = server.metric("http_connections_shed_total{cause=\"displaced\"}");
        assert_eq!(displaced, "2");
    });
}

#[test]
fn an_answer_that_does_not_come_is_not_awaited() {
    run(|context| async move {
        let server = Server::start(&context, BOUNDS).await;
        let began = context.current();
        let mut stream = server.connect().await;
        let never = b"GET /never HTTP/1.1\r\nhost: a\r\n\r\n";
        stream.write_all(never).await.unwrap();
        // It is sent in pieces, the last of which is empty.
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n0\r\n\r\n") {
            assert!(stream.read_buf(&mut answer).await.unwrap() > 0);
        }
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
        assert!(
            answer.contains("{\"error\":\"no answer in time\"}"),
            "{answer}"
        );
        assert!(since(&context, began) >= BOUNDS.request);
    });
}

#[test]
fn bodies_are_small() {
    run(|context| async move {
        let server = Server::start(&context, PATIENT).await;
        let mut stream = server.connect().await;
        let head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 65537\r\n\r\n";
        stream.write_all(head).await.unwrap();
        stream.write_all(&[0; 65_537]).await.unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).await.unwrap();
        assert_eq!(&start, b"HTTP/1.1 413");
    });
}

/// A head of twice the largest size is not answered as a request, one of half of it is.
#[test]
fn heads_are_small() {
    run(|context| async move {
        let server = Server::start(&context, PATIENT).await;
        let ask = async |bytes: usize| {
            let mut stream = server.connect().await;
            let start = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\na: ";
            let head = [&start[..], &vec![b'a'; bytes], b"\r\n\r\n"].concat();
            // It may be cut off before it is done.
            let _ = stream.write_all(&head).await;
            rest(stream).await
        };
        assert!(ask(8 << 10).await.starts_with("HTTP/1.1 200"));
        let answer = ask(32 << 10).await;
        assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    });
}

#[test]
fn requests_are_taken_up_at_a_rate() {
    const REQUESTS: u32 = 60;
    run(|context| async move {
        let bounds = Bounds {
            rate: 100,
            burst: 10,
            ..PATIENT
        };
        let server = Server::start(&context, bounds).await;
        let began = context.current();
        let mut stream = server.connect().await;
        for _ in 0..REQUESTS {
            assert!(ask(&mut stream).await);
        }
        let least = Duration::from_secs(1) * (REQUESTS - bounds.burst) / bounds.rate;
        assert!(since(&context, began) >= least);
    });
}
