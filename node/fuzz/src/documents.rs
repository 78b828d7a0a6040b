// SPDX-License-Identifier: Apache-2.0
//! The files of a node that starts, in memory: those of the planner's golden
//! files.

use shardnode_primitives::{Genesis, GenesisDocument};

/// A producer's configuration.
pub(crate) const CONFIG: &str = include_str!("../../../internal/nodeconfig/testdata/config.json");
/// Where its network's nodes are dialled.
pub(crate) const PEERS: &str = include_str!("../../../internal/nodeconfig/testdata/peers.json");
/// Its network.
pub(crate) const GENESIS: &str = include_str!("../../../internal/nodeconfig/testdata/genesis.json");
/// Its key.
pub(crate) const KEY: &str = "8641a870ea09c5a8dcfdb46cf5bc0b4bb1ec0056f3b459d93bf43f716edcb7cd\n";
/// What opens its admin endpoints.
pub(crate) const ADMIN_TOKEN: &str = "secret-token\n";

/// The network of [`GENESIS`].
#[allow(clippy::expect_used)]
pub(crate) fn genesis() -> Genesis {
    let document: GenesisDocument = serde_json::from_str(GENESIS).expect("a genesis document");
    document.check().expect("a genesis document that holds")
}
