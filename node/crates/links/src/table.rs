// SPDX-License-Identifier: Apache-2.0
//! Which way leads to an address.

use crate::line::Line;
use commonware_utils::sync::Mutex;
use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

/// A name's addresses of which it is remembered that they are its.
const ADDRESSES: usize = 16;

/// Which ways there are, and what they lead to.
#[derive(Debug, Default)]
pub struct Table {
    addresses: BTreeMap<SocketAddr, Arc<Line>>,
    /// Ports of each name.
    names: BTreeMap<String, BTreeMap<u16, Arc<Line>>>,
    resolved: Mutex<BTreeMap<SocketAddr, Resolved>>,
}

/// What an address was resolved from.
#[derive(Debug)]
struct Resolved {
    name: String,
    line: Arc<Line>,
}

impl Table {
    /// A way leads to an address.
    pub fn insert_address(&mut self, address: SocketAddr, line: Arc<Line>) {
        self.addresses.insert(address, line);
    }

    /// A way leads to a port of a name.
    pub fn insert_name(&mut self, name: &str, port: u16, line: Arc<Line>) {
        let ports = self.names.entry(name.to_owned()).or_default();
        ports.insert(port, line);
    }

    /// A name was resolved.
    pub(crate) fn resolved(&self, name: &str, addresses: &[IpAddr]) {
        let Some(ports) = self.names.get(name) else {
            return;
        };
        let mut resolved = self.resolved.lock();
        resolved.retain(|_, resolved| resolved.name != name);
        for ip in addresses.iter().take(ADDRESSES) {
            for (port, line) in ports {
                let origin = Resolved {
                    name: name.to_owned(),
                    line: line.clone(),
                };
                resolved.insert(SocketAddr::new(*ip, *port), origin);
            }
        }
    }

    /// The way that leads to an address.
    pub(crate) fn line(&self, address: SocketAddr) -> Option<Arc<Line>> {
        if let Some(line) = self.addresses.get(&address) {
            return Some(line.clone());
        }
        if self.names.is_empty() {
            return None;
        }
        let resolved = self.resolved.lock();
        resolved.get(&address).map(|found| found.line.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Arc<Line> {
        Line::new(None)
    }

    fn same(found: Option<&Arc<Line>>, expected: Option<&Arc<Line>>) -> bool {
        match (found, expected) {
            (Some(found), Some(expected)) => Arc::ptr_eq(found, expected),
            (found, expected) => found.is_none() && expected.is_none(),
        }
    }

    #[test]
    fn the_way_to_an_address_is_found() {
        let (mut table, south) = (Table::default(), line());
        let here: SocketAddr = "127.0.0.1:1".parse().unwrap();
        table.insert_address(here, south.clone());
        assert!(same(table.line(here).as_ref(), Some(&south)));
        assert!(table.line("127.0.0.1:2".parse().unwrap()).is_none());
        assert!(table.line("127.0.0.2:1".parse().unwrap()).is_none());
    }

    #[test]
    fn an_address_is_that_of_the_name_that_was_resolved_to_it_last() {
        let (mut table, south, west) = (Table::default(), line(), line());
        table.insert_name("south", 1, south.clone());
        table.insert_name("west", 1, west.clone());
        let [first, second] = ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse::<IpAddr>().unwrap());
        let at = |ip| table.line(SocketAddr::new(ip, 1));
        assert!(at(first).is_none());

        table.resolved("south", &[first]);
        assert!(same(at(first).as_ref(), Some(&south)));
        assert!(table.line(SocketAddr::new(first, 2)).is_none());
        // It moves, and another one comes to have its address.
        table.resolved("south", &[second]);
        assert!(at(first).is_none());
        assert!(same(at(second).as_ref(), Some(&south)));
        table.resolved("west", &[second]);
        assert!(same(at(second).as_ref(), Some(&west)));
        table.resolved("south", &[first]);
        assert!(same(at(second).as_ref(), Some(&west)));
        table.resolved("unknown", &[first]);
        assert!(same(at(first).as_ref(), Some(&south)));
    }
}
