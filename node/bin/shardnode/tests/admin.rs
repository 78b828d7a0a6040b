// SPDX-License-Identifier: Apache-2.0
//! What callers of the admin API may take.

#![allow(clippy::unwrap_used)]

use axum::{
    Router,
    body::Bytes,
    routing::{get, post},
};
use commonware_runtime::{
    Clock, Runner as _, Spawner as _, Supervisor as _,
    tokio::{Context, Runner},
};
use shardnode::admin::{Bounds, Incoming, serve};
use shardnode_primitives::genesis::private_key;
use shardnode_rpc::tls::server_config;
use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, SystemTime},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
        client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        crypto::aws_lc_rs,
        pki_types::{CertificateDer, ServerName, UnixTime},
        version::TLS13,
    },
};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bounds that whoever does its part keeps on any machine.
const PATIENT: Bounds = Bounds {
    connections: Bounds::NODE.connections,
    handshake: PATIENCE,
    headers: PATIENCE,
    request: PATIENCE,
    pause: Duration::from_millis(100),
};

/// Serves, and says where.
async fn start(
    context: &Context,
    bounds: Bounds,
    incoming: impl FnOnce(TcpListener) -> Refusing,
) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let tls = Arc::new(server_config(&private_key([1; 32])).unwrap());
    let router = Router::new()
        .route("/", get(|| async { "answer" }))
        .route("/", post(|_: Bytes| async { "taken" }));
    let incoming = incoming(listener);
    let serving = context
        .child("admin")
        .spawn(move |context| serve(context, incoming, tls.into(), router, bounds));
    drop(serving);
    address
}

/// A listener that fails a number of times first.
struct Refusing {
    listener: TcpListener,
    refusals: AtomicU32,
}

impl Incoming for Refusing {
    async fn next(&self) -> io::Result<TcpStream> {
        if self.refusals.load(Ordering::Relaxed) > 0 {
            self.refusals.fetch_sub(1, Ordering::Relaxed);
            return Err(io::Error::other("too many open files"));
        }
        self.listener.next().await
    }
}

const fn willing(listener: TcpListener) -> Refusing {
    Refusing {
        listener,
        refusals: AtomicU32::new(0),
    }
}

/// Accepts whoever answers: who that is others test.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

/// A connection after its handshake.
async fn connect(address: SocketAddr) -> io::Result<TlsStream<TcpStream>> {
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody))
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::from(address.ip());
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

/// What comes until the connection ends.
async fn rest(mut stream: TlsStream<TcpStream>) -> String {
    let mut answer = Vec::new();
    // One that is cut off ends without a goodbye.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

/// Sends text and gives what comes until the connection ends.
async fn send(address: SocketAddr, text: &'static str) -> String {
    let mut stream = connect(address).await.unwrap();
    // It may be cut off before it is done.
    let _ = stream.write_all(text.as_bytes()).await;
    rest(stream).await
}

fn since(context: &Context, began: SystemTime) -> Duration {
    context.current().duration_since(began).unwrap()
}

/// Runs a test, which must end.
fn run<F: Future<Output = ()> + Send + 'static>(test: impl FnOnce(Context) -> F + Send + 'static) {
    Runner::default().start(|context| async move {
        let patience = context.child("patience");
        assert!(patience.timeout(PATIENCE, test(context)).await.is_ok());
    });
}

#[test]
fn a_connection_carries_one_request() {
    run(|context| async move {
        let address = start(&context, PATIENT, willing).await;
        let two = "GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n";
        let answer = send(address, two).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert_eq!(answer.matches("answer").count(), 1, "{answer}");
    });
}

#[test]
fn a_request_without_tls_is_not_answered() {
    run(|context| async move {
        let address = start(&context, PATIENT, willing).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    });
}

/// Whoever only connects is cut off, and then it is the turn of the next.
#[test]
fn stalled_handshakes_keep_nobody_out() {
    run(|context| async move {
        // Long enough for the handshake of who is to be let in.
        let bounds = Bounds {
            handshake: Bounds::NODE.handshake,
            ..PATIENT
        };
        let address = start(&context, bounds, willing).await;
        let began = context.current();
        let mut stalled = Vec::new();
        for _ in 0..bounds.connections {
            stalled.push(TcpStream::connect(address).await.unwrap());
        }
        let answer = send(address, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
        assert!(answer.ends_with("answer"), "{answer}");
        // All that may be open were.
        assert!(since(&context, began) >= bounds.handshake);
        for mut stream in stalled {
            assert_eq!(stream.read(&mut [0]).await.unwrap_or_default(), 0);
        }
    });
}

#[test]
fn a_request_that_does_not_come_is_not_awaited() {
    run(|context| async move {
        let body = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{";
        let headers = Bounds {
            headers: Duration::from_millis(500),
            ..PATIENT
        };
        let request = Bounds {
            request: Duration::from_secs(1),
            ..PATIENT
        };
        for (bounds, least, part) in [
            (headers, headers.headers, ""),
            (headers, headers.headers, "GET / HTTP/1.1\r\nhost:"),
            (request, request.request, body),
        ] {
            let began = context.current();
            let address = start(&context, bounds, willing).await;
            assert_eq!(send(address, part).await, "", "{part:?}");
            assert!(since(&context, began) >= least);
        }
        let address = start(&context, PATIENT, willing).await;
        let whole = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\n{";
        assert!(send(address, whole).await.ends_with("taken"));
    });
}

#[test]
fn a_listener_that_fails_is_asked_again() {
    run(|context| async move {
        let began = context.current();
        let address = start(&context, PATIENT, |listener| Refusing {
            listener,
            refusals: AtomicU32::new(3),
        })
        .await;
        let answer = send(address, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
        assert!(answer.ends_with("answer"), "{answer}");
        assert!(since(&context, began) >= 3 * PATIENT.pause);
    });
}
