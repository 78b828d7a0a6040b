// SPDX-License-Identifier: Apache-2.0
//! What signatures are bound to.
//!
//! A signature made for one network and one purpose must mean nothing
//! elsewhere, so every signed message carries one of these prefixes.

/// The version of all that nodes send each other and keep on disk. Blocks and
/// witnesses also carry one of their own, because they are read on their own.
///
/// Nodes of different versions do not complete a handshake ([`Namespaces::p2p`]),
/// and a node refuses a data directory of another version.
pub const FORMATS: u16 = 5;

/// The signature namespaces of one network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespaces {
    /// Transactions: `<network>/<genesis hash>/transaction`.
    pub transaction: Vec<u8>,
    /// Chunk headers: `<network>/<genesis hash>/chunk`.
    pub chunk: Vec<u8>,
    /// Witness parts: `<network>/<genesis hash>/witness`.
    pub witness: Vec<u8>,
    /// Endorsements of chunk headers: `<network>/<genesis hash>/endorsement`.
    pub endorsement: Vec<u8>,
    /// Consensus votes: `<network>/<genesis hash>/consensus`.
    pub consensus: Vec<u8>,
    /// The p2p handshake: `<network>/<genesis hash>/p2p/<`[`FORMATS`]`>`.
    pub p2p: Vec<u8>,
}

impl Namespaces {
    /// The namespaces of the network with this name and genesis hash.
    #[must_use]
    pub fn new(network: &str, genesis: &commonware_cryptography::blake3::Digest) -> Self {
        let bound = |purpose: &str| format!("{network}/{genesis}/{purpose}").into_bytes();
        Self {
            transaction: bound("transaction"),
            chunk: bound("chunk"),
            witness: bound("witness"),
            endorsement: bound("endorsement"),
            consensus: bound("consensus"),
            p2p: bound(&format!("p2p/{FORMATS}")),
        }
    }
}
