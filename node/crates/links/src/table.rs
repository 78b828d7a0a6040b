// SPDX-License-Identifier: Apache-2.0
//! Which link an address is behind.

use crate::{
    conditions::Conditions,
    metrics::{DirectionMetrics, Metrics},
};
use commonware_utils::sync::Mutex;
use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

/// A name's addresses of which it is remembered that they are its.
const ADDRESSES: usize = 16;

/// The link to a region.
#[derive(Debug)]
pub struct Link {
    conditions: Conditions,
    pub(crate) sent: DirectionMetrics,
    pub(crate) received: DirectionMetrics,
}

impl Link {
    /// The link to `peer_region`, and where it is measured.
    #[must_use]
    pub fn new(peer_region: &str, conditions: Conditions, metrics: &Metrics) -> Arc<Self> {
        Arc::new(Self {
            conditions,
            sent: metrics.sent(peer_region),
            received: metrics.received(peer_region),
        })
    }

    pub(crate) const fn conditions(&self) -> Conditions {
        self.conditions
    }
}

/// Which links there are, and what is behind them.
#[derive(Debug, Default)]
pub struct Table {
    addresses: BTreeMap<SocketAddr, Arc<Link>>,
    /// Ports of each name. Those without a link count as well: an address that
    /// was a peer's behind a link can become theirs.
    names: BTreeMap<String, BTreeMap<u16, Option<Arc<Link>>>>,
    resolved: Mutex<BTreeMap<SocketAddr, Resolved>>,
}

/// What an address was resolved from.
#[derive(Debug)]
struct Resolved {
    name: String,
    link: Option<Arc<Link>>,
}

impl Table {
    /// An address is behind a link.
    pub fn insert_address(&mut self, address: SocketAddr, link: Arc<Link>) {
        self.addresses.insert(address, link);
    }

    /// A port of a name is behind a link, or behind none.
    pub fn insert_name(&mut self, name: &str, port: u16, link: Option<Arc<Link>>) {
        let ports = self.names.entry(name.to_owned()).or_default();
        ports.insert(port, link);
    }

    /// A name was resolved.
    pub(crate) fn resolved(&self, name: &str, addresses: &[IpAddr]) {
        let Some(ports) = self.names.get(name) else {
            return;
        };
        let mut resolved = self.resolved.lock();
        resolved.retain(|_, resolved| resolved.name != name);
        for ip in addresses.iter().take(ADDRESSES) {
            for (port, link) in ports {
                let origin = Resolved {
                    name: name.to_owned(),
                    link: link.clone(),
                };
                resolved.insert(SocketAddr::new(*ip, *port), origin);
            }
        }
    }

    /// The link that an address is behind.
    pub(crate) fn link(&self, address: SocketAddr) -> Option<Arc<Link>> {
        if let Some(link) = self.addresses.get(&address) {
            return Some(link.clone());
        }
        if self.names.is_empty() {
            return None;
        }
        self.resolved.lock().get(&address)?.link.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::registry::Registry;

    fn link() -> Arc<Link> {
        let metrics = Metrics::new(&mut Registry::default());
        Link::new("south", Conditions::default(), &metrics)
    }

    fn same(found: Option<&Arc<Link>>, expected: Option<&Arc<Link>>) -> bool {
        match (found, expected) {
            (Some(found), Some(expected)) => Arc::ptr_eq(found, expected),
            (found, expected) => found.is_none() && expected.is_none(),
        }
    }

    #[test]
    fn an_address_is_behind_its_link() {
        let (mut table, south) = (Table::default(), link());
        let here: SocketAddr = "127.0.0.1:1".parse().unwrap();
        table.insert_address(here, south.clone());
        assert!(same(table.link(here).as_ref(), Some(&south)));
        assert!(table.link("127.0.0.1:2".parse().unwrap()).is_none());
        assert!(table.link("127.0.0.2:1".parse().unwrap()).is_none());
    }

    #[test]
    fn an_address_is_that_of_the_name_that_was_resolved_to_it_last() {
        let (mut table, south, west) = (Table::default(), link(), link());
        table.insert_name("south", 1, Some(south.clone()));
        table.insert_name("west", 1, Some(west.clone()));
        table.insert_name("near", 1, None);
        let [first, second] = ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse::<IpAddr>().unwrap());
        let at = |ip| table.link(SocketAddr::new(ip, 1));
        assert!(at(first).is_none());

        table.resolved("south", &[first]);
        assert!(same(at(first).as_ref(), Some(&south)));
        assert!(table.link(SocketAddr::new(first, 2)).is_none());
        // It moves, and another one comes to have its address.
        table.resolved("south", &[second]);
        assert!(at(first).is_none());
        assert!(same(at(second).as_ref(), Some(&south)));
        table.resolved("west", &[second]);
        assert!(same(at(second).as_ref(), Some(&west)));
        table.resolved("south", &[first]);
        assert!(same(at(second).as_ref(), Some(&west)));
        // One of the own region, too.
        table.resolved("near", &[second]);
        assert!(at(second).is_none());
        table.resolved("unknown", &[first]);
        assert!(same(at(first).as_ref(), Some(&south)));
    }
}
