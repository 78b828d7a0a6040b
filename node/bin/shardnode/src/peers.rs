// SPDX-License-Identifier: Apache-2.0
//! Who this node is connected to, as its p2p layer reports it.

use commonware_runtime::{Metrics as _, tokio::Context};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::gauge::ConstGauge,
};
use std::{fmt, sync::Arc};

/// The series that p2p has for each connected peer.
const CONNECTED: &str = "p2p_tracker_directory_connected{";

/// Counts connected peers in the runtime's own metrics.
pub(crate) fn connected(encoded: &str) -> u64 {
    encoded
        .lines()
        .filter(|line| line.starts_with(CONNECTED) && !line.ends_with(" 0"))
        .count() as u64
}

/// `shardnode_peers`.
pub(crate) struct PeerMetrics {
    context: Arc<Context>,
}

impl PeerMetrics {
    pub(crate) const fn new(context: Arc<Context>) -> Self {
        Self { context }
    }
}

impl fmt::Debug for PeerMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PeerMetrics")
    }
}

impl Collector for PeerMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let count = i64::try_from(connected(&self.context.encode())).unwrap_or(i64::MAX);
        let gauge = ConstGauge::new(count);
        let metric =
            encoder.encode_descriptor("peers", "Connected peers", None, gauge.metric_type())?;
        gauge.encode(metric)
    }
}
