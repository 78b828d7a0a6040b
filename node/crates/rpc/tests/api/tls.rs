// SPDX-License-Identifier: Apache-2.0
//! Who a node proves to be, and what it signs for that.

use crate::fixture::key;
use bytes::Bytes;
use commonware_codec::DecodeExt as _;
use commonware_cryptography::{Signer as _, Verifier as _, ed25519};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct,
    Error, NamedGroup, ProtocolVersion, ServerConnection, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, ServerName, UnixTime},
    version::TLS13,
};
use shardnode_rpc::tls::server_config;
use std::sync::{Arc, Mutex};

/// What stands before the public key in a certificate (RFC 8410).
const KEY: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// Knows the public key, and keeps what it saw.
#[derive(Debug)]
struct Pinned {
    key: ed25519::PublicKey,
    certificate: Mutex<Vec<u8>>,
    signed: Mutex<Vec<u8>>,
}

impl Pinned {
    fn new(key: &ed25519::PrivateKey) -> Arc<Self> {
        Arc::new(Self {
            key: key.public_key(),
            certificate: Mutex::default(),
            signed: Mutex::default(),
        })
    }
}

/// The public key of a certificate.
fn shown(certificate: &[u8]) -> &[u8] {
    let at = certificate
        .windows(KEY.len())
        .position(|window| window == KEY)
        .unwrap();
    &certificate[at + KEY.len()..][..32]
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        assert!(intermediates.is_empty());
        *self.certificate.lock().unwrap() = certificate.to_vec();
        if shown(certificate) == self.key.as_ref() {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        unreachable!("TLS 1.2 is not spoken")
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        *self.signed.lock().unwrap() = message.to_vec();
        let provider = aws_lc_rs::default_provider();
        let algorithms = &provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

/// A handshake, both sides in memory.
fn handshake(
    node: &ed25519::PrivateKey,
    pinned: Arc<Pinned>,
) -> Result<(ClientConnection, ServerConnection), Error> {
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(pinned)
        .with_no_client_auth();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut server = ServerConnection::new(Arc::new(server_config(node).unwrap())).unwrap();
    while client.is_handshaking() || server.is_handshaking() {
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        server.read_tls(&mut bytes.as_slice()).unwrap();
        server.process_new_packets()?;
        bytes.clear();
        server.write_tls(&mut bytes).unwrap();
        client.read_tls(&mut bytes.as_slice()).unwrap();
        client.process_new_packets()?;
    }
    Ok((client, server))
}

#[test]
fn a_node_proves_its_key() {
    let pinned = Pinned::new(&key(1));
    let (client, _) = handshake(&key(1), pinned.clone()).unwrap();
    assert_eq!(client.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    assert_eq!(
        handshake(&key(2), pinned).unwrap_err(),
        Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)
    );
}

/// Callers that prefer the hybrid with ML-KEM agree on what can be unwound.
#[test]
fn keys_are_agreed_on_by_x25519_alone() {
    let (client, _) = handshake(&key(1), Pinned::new(&key(1))).unwrap();
    let agreed = client.negotiated_key_exchange_group().unwrap();
    assert_eq!(agreed.name(), NamedGroup::X25519);
}

/// The module's documentation says why this matters.
#[test]
fn what_is_signed_begins_as_no_message_of_the_chain() {
    let pinned = Pinned::new(&key(1));
    handshake(&key(1), pinned.clone()).unwrap();
    let handshake = pinned.signed.lock().unwrap();
    assert_eq!(handshake[..64], [b' '; 64]);

    // A certificate is a sequence of what is signed, 7 bytes that name the
    // algorithm, and a string of bits: 3 bytes and the signature.
    let certificate = pinned.certificate.lock().unwrap();
    let (signed, signature) = certificate.split_at(certificate.len() - 64);
    let signed = &signed[..signed.len() - 10];
    let header = 2 + usize::from(signed[1] & 0x7f);
    assert!(signed[1] > 0x80, "{}", signed[1]);
    let signed = &signed[header..];
    assert_eq!(signed[0], 0x30);
    assert!([0x81, 0x82].contains(&signed[1]), "{:#x}", signed[1]);

    // It is what is signed: the chain's signatures begin with the length of a
    // namespace, here of 48 bytes.
    let signature = ed25519::Signature::decode(Bytes::copy_from_slice(signature)).unwrap();
    let (namespace, message) = signed[1..].split_at(0x30);
    assert!(pinned.key.verify(namespace, message, &signature));
    assert!(std::str::from_utf8(&namespace[..1]).is_err());
}

/// A greeting that offers TLS 1.2 at most, as it does not name the versions.
#[test]
fn earlier_versions_are_refused() {
    let mut hello = vec![0x03, 0x03];
    hello.extend([7; 32]);
    // No session, one cipher suite, no compression.
    hello.extend([0, 0, 2, 0xc0, 0x2b, 1, 0]);
    // The signatures and groups that it knows.
    let extensions = [
        [0, 13, 0, 4, 0, 2, 8, 7].as_slice(),
        [0, 10, 0, 4, 0, 2, 0, 29].as_slice(),
    ]
    .concat();
    hello.extend(u16::try_from(extensions.len()).unwrap().to_be_bytes());
    hello.extend(extensions);
    let mut message = vec![1, 0];
    message.extend(u16::try_from(hello.len()).unwrap().to_be_bytes());
    message.extend(hello);
    let mut record = vec![22, 3, 1];
    record.extend(u16::try_from(message.len()).unwrap().to_be_bytes());
    record.extend(message);

    let config = server_config(&key(1)).unwrap();
    let mut server = ServerConnection::new(Arc::new(config)).unwrap();
    server.read_tls(&mut record.as_slice()).unwrap();
    let refused = server.process_new_packets().unwrap_err();
    assert!(
        matches!(refused, Error::PeerIncompatible(_)),
        "refused with {refused}"
    );
    let mut alert = Vec::new();
    server.write_tls(&mut alert).unwrap();
    let description = u8::from(AlertDescription::ProtocolVersion);
    assert_eq!(alert, [21, 3, 3, 0, 2, 2, description]);
}
