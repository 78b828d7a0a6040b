// SPDX-License-Identifier: Apache-2.0
//! What is between this node and its peers, as its configuration says, and the
//! faults that it can have.

use commonware_p2p::Ingress;
use shardnode_config::Config;
use shardnode_links::{Faults, Line, Link, Metrics, Table};
use std::collections::BTreeMap;

/// Which ways lead to which peers, and their faults.
#[must_use]
pub fn table(config: &Config, metrics: &Metrics) -> (Table, Faults) {
    let links: BTreeMap<_, _> = config
        .links
        .iter()
        .map(|(region, conditions)| (region, Link::new(region, *conditions, metrics)))
        .collect();
    let mut table = Table::default();
    let mut lines = BTreeMap::new();
    for peer in &config.peers {
        let link = peer.region.as_ref().and_then(|region| links.get(region));
        let line = Line::new(link.cloned());
        match &peer.ingress {
            Ingress::Dns { host, port } => {
                table.insert_name(host.as_str(), *port, line.clone());
            }
            Ingress::Socket(address) => table.insert_address(*address, line.clone()),
        }
        lines.insert(peer.name.clone(), line);
    }
    (table, Faults::new(lines))
}
