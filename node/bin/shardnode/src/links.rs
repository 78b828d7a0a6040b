// SPDX-License-Identifier: Apache-2.0
//! What is between this node and its peers, as its configuration says.

use commonware_p2p::Ingress;
use shardnode_config::Config;
use shardnode_links::{Link, Metrics, Table};
use std::collections::BTreeMap;

/// Which peers are behind which links.
#[must_use]
pub fn table(config: &Config, metrics: &Metrics) -> Table {
    let mut table = Table::default();
    if config.links.is_empty() {
        return table;
    }
    let links: BTreeMap<_, _> = config
        .links
        .iter()
        .map(|(region, conditions)| (region, Link::new(region, *conditions, metrics)))
        .collect();
    for peer in &config.peers {
        let link = peer.region.as_ref().and_then(|region| links.get(region));
        match &peer.ingress {
            Ingress::Dns { host, port } => {
                table.insert_name(host.as_str(), *port, link.cloned());
            }
            Ingress::Socket(address) => {
                if let Some(link) = link {
                    table.insert_address(*address, link.clone());
                }
            }
        }
    }
    table
}
