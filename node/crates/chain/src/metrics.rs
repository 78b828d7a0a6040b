// SPDX-License-Identifier: Apache-2.0
//! What a node measures. Names, units and meanings are those of the node
//! contract; each crate says what it measures of its part.

use prometheus_client::{
    collector::Collector,
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};
use shardnode_mailboxes::pool::Rejections;
use shardnode_network::answering::Counts;
use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
};

/// The metrics of one node.
#[derive(Debug)]
pub struct Metrics {
    registry: Mutex<Registry>,
    /// Of blocks.
    pub blocks: Arc<shardnode_blocks::Metrics>,
    /// Of archiving.
    pub archive: Arc<shardnode_archive::Metrics>,
    /// Of bodies and their parts.
    pub availability: Arc<shardnode_availability::Metrics>,
    /// Of chunk production.
    pub production: Arc<shardnode_production::Metrics>,
    /// Of endorsing.
    pub validation: Arc<shardnode_validation::Metrics>,
    /// Of executions.
    pub ledger: Arc<shardnode_ledger::Metrics>,
    /// Of what is passed on for clients.
    pub clients: Arc<shardnode_clients::Metrics>,
    /// Of fetching and serving states.
    pub state_sync: Arc<shardnode_state_sync::Metrics>,
    /// Transactions that are kept out of the pool.
    pub rejections: Rejections,
    requests_refused: Family<ChannelLabel, Counter>,
    requests_unanswered: Family<ChannelLabel, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ChannelLabel {
    channel: &'static str,
}

impl Metrics {
    /// The metrics of a node with these labels on every series.
    #[must_use]
    pub fn new(network: &str, region: &str, node: &str) -> Self {
        let labels = [("network", network), ("region", region), ("node", node)];
        let labels = labels.map(|(key, value)| (Cow::Borrowed(key), Cow::Owned(value.to_owned())));
        let mut registry = Registry::with_prefix_and_labels("shardnode", labels.into_iter());
        let requests_refused = Family::default();
        registry.register(
            "requests_refused",
            "Requests of peers beyond what one of them is answered",
            requests_refused.clone(),
        );
        let requests_unanswered = Family::default();
        registry.register(
            "requests_unanswered",
            "Requests of this node that a peer left without an answer",
            requests_unanswered.clone(),
        );
        Self {
            blocks: Arc::new(shardnode_blocks::Metrics::new(&mut registry)),
            archive: Arc::new(shardnode_archive::Metrics::new(&mut registry)),
            availability: Arc::new(shardnode_availability::Metrics::new(&mut registry)),
            production: Arc::new(shardnode_production::Metrics::new(&mut registry)),
            validation: Arc::new(shardnode_validation::Metrics::new(&mut registry)),
            ledger: Arc::new(shardnode_ledger::Metrics::new(&mut registry)),
            clients: Arc::new(shardnode_clients::Metrics::new(&mut registry)),
            state_sync: Arc::new(shardnode_state_sync::Metrics::new(&mut registry)),
            rejections: Rejections::new(&mut registry),
            requests_refused,
            requests_unanswered,
            registry: Mutex::new(registry),
        }
    }

    /// Counts the requests on a channel.
    pub(crate) fn requests(&self, channel: &'static str) -> Counts {
        let label = ChannelLabel { channel };
        Counts {
            refused: self.requests_refused.get_or_create_owned(&label),
            unanswered: self.requests_unanswered.get_or_create_owned(&label),
        }
    }

    /// Adds metrics of what surrounds the chain.
    pub fn register<M>(&self, register: impl FnOnce(&mut Registry) -> M) -> M {
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        register(&mut registry)
    }

    /// Adds metrics that are read when they are asked for.
    pub fn collect(&self, collector: Box<dyn Collector>) {
        self.registry
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .register_collector(collector);
    }

    /// The metrics in the OpenMetrics text format.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &registry);
        text
    }
}
