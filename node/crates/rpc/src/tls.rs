// SPDX-License-Identifier: Apache-2.0
//! Proves to callers of the admin API which node they talk to.
//!
//! The node's certificate is of the key that the genesis document names it by,
//! and signed with that key. Whoever calls knows the key, accepts it alone, and
//! takes no notice of the names and dates that a certificate must have.
//!
//! The key also signs what the chain is made of, and no signature can be taken
//! for one of the other kind, because no two of what is signed begin alike:
//!
//! | signature | what is signed |
//! |---|---|
//! | TLS 1.3, CertificateVerify | 64 spaces (`0x20`), a text, `0x00`, a hash of the handshake |
//! | the certificate | DER of more than 127 bytes: `0x30`, then `0x81` or `0x82`, … |
//! | the chain's | the length of a namespace, the namespace, a message |
//! | the handshake of p2p | `0x00`, the length of no namespace, and 32 bytes |
//!
//! Read as one of the chain's, the first would need a namespace of 32 spaces,
//! and every namespace ends in its purpose. The second would need one of 48
//! bytes that begins with a byte which begins no text, and every namespace is
//! text. The VRF signs with a nonce that it derives from the key and 32 bytes;
//! neither of the first two is that short, so none of their nonces is its.
//!
//! Keys are agreed on by X25519 alone. The hybrid with ML-KEM, which the library
//! prefers, runs four Keccak permutations at once in assembler whose stack cannot
//! be unwound, so a sample of a CPU profile in one of them would end the node.

use commonware_codec::Encode as _;
use commonware_cryptography::ed25519::PrivateKey;
use rcgen::{CertificateParams, DnType, KeyPair, PKCS_ED25519};
use rustls::{
    ServerConfig,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    server::NoServerSessionStorage,
    version::TLS13,
};
use std::sync::Arc;

/// What stands before the seed of an ed25519 key in PKCS #8 (RFC 8410).
const PKCS8: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// Why a node cannot prove who it is.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificate cannot be made.
    #[error("certificate cannot be made")]
    Certificate(#[source] rcgen::Error),
    /// TLS does not take the key or its certificate.
    #[error("TLS cannot use the certificate")]
    Config(#[source] rustls::Error),
}

/// How the node with this key speaks TLS: version 1.3 alone.
pub fn server_config(key: &PrivateKey) -> Result<ServerConfig, TlsError> {
    let pkcs8 = PrivatePkcs8KeyDer::from([&PKCS8, key.encode().as_ref()].concat());
    let signer = KeyPair::from_pkcs8_der_and_sign_algo(&pkcs8, &PKCS_ED25519)
        .map_err(TlsError::Certificate)?;
    let mut certificate = CertificateParams::default();
    certificate
        .distinguished_name
        .push(DnType::CommonName, "shardnode");
    let certificate = certificate
        .self_signed(&signer)
        .map_err(TlsError::Certificate)?;
    let provider = CryptoProvider {
        kx_groups: vec![aws_lc_rs::kx_group::X25519],
        ..aws_lc_rs::default_provider()
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])
        .map_err(TlsError::Config)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.into()], PrivateKeyDer::Pkcs8(pkcs8))
        .map_err(TlsError::Config)?;
    // The key is proven at every handshake: none is resumed from an earlier one.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}
