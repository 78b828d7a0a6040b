// SPDX-License-Identifier: Apache-2.0
//! Other nodes of the network.

use crate::{document::PeerDocument, error::ConfigError, files::hex_32};
use commonware_codec::DecodeExt as _;
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Address, Ingress};
use commonware_utils::Hostname;
use shardnode_primitives::Genesis;
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

/// Another node.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Its identity.
    pub key: PublicKey,
    /// Its region, where that matters.
    pub region: Option<String>,
    /// Where it is dialled.
    pub ingress: Ingress,
    /// Whether it keeps the states of all shards.
    pub archive: bool,
}

impl Peer {
    /// Where the peer is dialled. Nobody knows where a peer with a name will
    /// dial from: its address says so with 0.0.0.0.
    #[must_use]
    pub fn address(&self) -> Address {
        match &self.ingress {
            Ingress::Socket(socket) => Address::Symmetric(*socket),
            Ingress::Dns { port, .. } => Address::Asymmetric {
                ingress: self.ingress.clone(),
                egress: SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), *port),
            },
        }
    }
}

/// All nodes of a network with an address, as one file names them.
pub(crate) struct Peers {
    file: PathBuf,
    peers: Vec<Peer>,
}

impl Peers {
    pub(crate) fn parse(file: &Path, documents: &[PeerDocument]) -> Result<Self, ConfigError> {
        let mut known = BTreeSet::new();
        let peers = documents
            .iter()
            .enumerate()
            .map(|(index, document)| {
                let wrong = |field: &str, reason: String| ConfigError {
                    file: file.into(),
                    field: Some(format!("peers[{index}].{field}")),
                    reason,
                };
                if document.name.is_empty() {
                    return Err(wrong("name", "must not be empty".into()));
                }
                let key = public_key(&document.public_key)
                    .map_err(|reason| wrong("publicKey", reason))?;
                if !known.insert(key.clone()) {
                    return Err(wrong("publicKey", "is used twice".into()));
                }
                let ingress =
                    ingress(&document.address).map_err(|reason| wrong("address", reason))?;
                if document.region.as_ref().is_some_and(String::is_empty) {
                    return Err(wrong("region", "must not be empty".into()));
                }
                let region = document.region.clone();
                Ok(Peer {
                    name: document.name.clone(),
                    key,
                    region,
                    ingress,
                    archive: document.archive,
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            file: file.into(),
            peers,
        })
    }

    /// Those of the node that has the key `own`.
    pub(crate) fn others(&self, own: &PublicKey) -> Vec<Peer> {
        let others = self.peers.iter().filter(|peer| peer.key != *own);
        others.cloned().collect()
    }

    /// The archives, in the order of the file: it is the same for all nodes.
    pub(crate) fn archives(&self) -> Vec<PublicKey> {
        let archives = self.peers.iter().filter(|peer| peer.archive);
        archives.map(|peer| peer.key.clone()).collect()
    }

    /// No validator is an archive, and the node that has the key `own` is one if
    /// its role says so.
    pub(crate) fn check_archives(
        &self,
        own: &PublicKey,
        own_is_archive: bool,
        genesis: &Genesis,
    ) -> Result<(), ConfigError> {
        let wrong = |field: String, reason: String| ConfigError {
            file: self.file.clone(),
            field: Some(field),
            reason,
        };
        let validator = |key: &PublicKey| {
            genesis.producer(key).is_some() || genesis.chunk_validator(key).is_some()
        };
        for (index, peer) in self.peers.iter().enumerate() {
            let reason = if peer.archive && validator(&peer.key) {
                format!("is true, but \"{}\" is a validator", peer.name)
            } else if peer.key == *own && peer.archive != own_is_archive {
                format!("is {}, unlike the role of this node", peer.archive)
            } else {
                continue;
            };
            return Err(wrong(format!("peers[{index}].archive"), reason));
        }
        if own_is_archive && !self.peers.iter().any(|peer| peer.key == *own) {
            let reason = "this node is missing: nobody would ask an archive that is not listed";
            return Err(wrong("peers".into(), reason.into()));
        }
        Ok(())
    }

    /// Every node has a region, as links are between regions.
    pub(crate) fn check_regions(&self) -> Result<(), ConfigError> {
        let missing = self.peers.iter().position(|peer| peer.region.is_none());
        missing.map_or(Ok(()), |index| {
            Err(ConfigError {
                file: self.file.clone(),
                field: Some(format!("peers[{index}].region")),
                reason: "is missing, and the configuration has links".into(),
            })
        })
    }

    /// Every validator but the one that has the key `own` has an address.
    pub(crate) fn check(&self, own: &PublicKey, genesis: &Genesis) -> Result<(), ConfigError> {
        let known: BTreeSet<&PublicKey> = self.peers.iter().map(|peer| &peer.key).collect();
        let producers = genesis.producers.iter();
        let producers = producers.map(|producer| (&producer.key, &producer.name));
        let others = genesis.chunk_validators.iter();
        let missing = producers
            .chain(others.map(|validator| (&validator.key, &validator.name)))
            .find(|(key, _)| *key != own && !known.contains(key));
        missing.map_or(Ok(()), |(_, name)| {
            Err(ConfigError {
                file: self.file.clone(),
                field: Some("peers".into()),
                reason: format!("validator \"{name}\" is missing"),
            })
        })
    }
}

fn public_key(text: &str) -> Result<PublicKey, String> {
    let bytes = hex_32(text).ok_or("must be 64 hex digits")?;
    PublicKey::decode(bytes.to_vec()).map_err(|_| "is not an ed25519 public key".into())
}

/// `host:port`: the host is a name, an IPv4 address, or an IPv6 address in
/// brackets.
fn ingress(text: &str) -> Result<Ingress, String> {
    let (host, port) = text
        .rsplit_once(':')
        .ok_or_else(|| format!("\"{text}\" is not host:port"))?;
    let port = port
        .parse()
        .ok()
        .filter(|_| port.bytes().all(|digit| digit.is_ascii_digit()))
        .filter(|port: &u16| *port > 0)
        .ok_or_else(|| format!("port \"{port}\" is not a number from 1 to 65535"))?;
    let bracketed = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let ip = match bracketed {
        Some(host) => {
            Some(IpAddr::V6(host.parse().map_err(|_| {
                format!("host \"{host}\" is not an IPv6 address")
            })?))
        }
        None => host.parse().ok().map(IpAddr::V4),
    };
    if let Some(ip) = ip {
        return Ok(Ingress::Socket(SocketAddr::new(ip, port)));
    }
    let numeric = host
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if numeric && !host.is_empty() {
        return Err(format!("host \"{host}\" is not an IPv4 address"));
    }
    let host =
        Hostname::new(host).map_err(|error| format!("host \"{host}\" cannot be used: {error}"))?;
    Ok(Ingress::Dns { host, port })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_or_addresses() {
        for text in ["10.0.0.7:26600", "[::1]:1"] {
            let socket: SocketAddr = text.parse().unwrap();
            assert_eq!(ingress(text).unwrap(), Ingress::Socket(socket));
        }
        let name = "net-s0-p1-0.net.chains.svc.cluster.local";
        assert_eq!(
            ingress(&format!("{name}:65535")).unwrap(),
            Ingress::Dns {
                host: Hostname::new(name).unwrap(),
                port: 65_535
            }
        );
    }

    #[test]
    fn everything_else_is_refused() {
        for (text, expected) in [
            ("", "\"\" is not host:port"),
            ("node", "\"node\" is not host:port"),
            ("node:", "port \"\" is not"),
            ("node:0", "port \"0\" is not"),
            ("node:+1", "port \"+1\" is not"),
            ("node:65536", "port \"65536\" is not"),
            ("node:http", "port \"http\" is not"),
            (":26600", "host \"\" cannot be used"),
            (
                "10.0.0.700:26600",
                "host \"10.0.0.700\" is not an IPv4 address",
            ),
            ("a_b:26600", "host \"a_b\" cannot be used"),
            ("a b:26600", "host \"a b\" cannot be used"),
            ("http://node:26600", "host \"http://node\" cannot be used"),
            ("::1:26600", "host \"::1\" cannot be used"),
            ("[::g]:26600", "host \"::g\" is not an IPv6 address"),
            (
                "[10.0.0.7]:26600",
                "host \"10.0.0.7\" is not an IPv6 address",
            ),
        ] {
            let reason = ingress(text).unwrap_err();
            assert!(reason.starts_with(expected), "{text}: {reason}");
        }
    }

    #[test]
    fn a_named_peer_is_dialled_by_name() {
        let peer = |address: &str| Peer {
            name: "node".into(),
            key: public_key(&format!("58{}", "66".repeat(31))).unwrap(),
            region: None,
            ingress: ingress(address).unwrap(),
            archive: false,
        };
        assert_eq!(
            peer("127.0.0.1:7").address(),
            Address::from(SocketAddr::from(([127, 0, 0, 1], 7)))
        );
        assert_eq!(
            peer("node:7").address().ingress(),
            ingress("node:7").unwrap()
        );
    }
}
