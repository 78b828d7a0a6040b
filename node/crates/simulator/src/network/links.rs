// SPDX-License-Identifier: Apache-2.0
//! The links between all pairs of nodes.

use crate::{costs, plan::Plan, regions};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::simulated::{self, Link, Oracle};
use commonware_runtime::{Supervisor as _, deterministic::Context};
use commonware_utils::{NZUsize, Probability};
use std::{collections::BTreeSet, num::NonZeroUsize, time::Duration};

/// The largest message; networks under test have small chunks.
const LARGEST: u32 = 1 << 22;

/// The links of a network.
pub(super) struct Links {
    pub(super) oracle: Oracle<PublicKey, Context>,
    keys: Vec<PublicKey>,
    lost_per_mille: u64,
    jitter: Duration,
}

impl Links {
    #[expect(clippy::expect_used, reason = "scenarios are code, not input")]
    pub(super) async fn new(context: &Context, keys: Vec<PublicKey>, plan: &Plan) -> Self {
        let (network, oracle) = simulated::Network::new_with_peers(
            context.child("links"),
            simulated::Config {
                max_size: LARGEST,
                max_peers_per_set: NonZeroUsize::new(keys.len()).expect("a network has nodes"),
                disconnect_on_block: plan.blocking,
                tracked_peer_sets: NZUsize!(1),
            },
            keys.clone(),
        )
        .await;
        network.start();
        if plan.processors.is_some() {
            for key in &keys {
                let most = Some(costs::BYTES_PER_SECOND);
                oracle
                    .limit_bandwidth(key.clone(), most, most)
                    .await
                    .expect("links run as long as the run");
            }
        }
        let links = Self {
            oracle,
            keys,
            lost_per_mille: plan.lost_per_mille,
            jitter: plan.jitter,
        };
        links.heal().await;
        links
    }

    /// Connects those of whom `connected` says so, and no others.
    #[expect(clippy::expect_used, reason = "links run as long as the run")]
    async fn connect(&self, connected: impl Fn(usize, usize) -> bool) {
        let success = f64::from(u32::try_from(1_000 - self.lost_per_mille.min(1_000)).unwrap_or(0));
        let success_rate = Probability::try_from(success / 1_000.0).expect("a part of a thousand");
        for (a, from) in self.keys.iter().enumerate() {
            for (b, to) in self.keys.iter().enumerate() {
                if a == b {
                    continue;
                }
                // A link that is not there cannot be removed: nothing to do.
                let _ = self.oracle.remove_link(from.clone(), to.clone()).await;
                if !connected(a, b) {
                    continue;
                }
                let latency = regions::latency(a, b);
                let link = Link {
                    latency,
                    jitter: latency / 10 + self.jitter,
                    success_rate,
                };
                self.oracle
                    .add_link(from.clone(), to.clone(), link)
                    .await
                    .expect("nodes are registered");
            }
        }
    }

    pub(super) async fn partition(&self, side: &BTreeSet<usize>) {
        self.connect(|a, b| side.contains(&a) == side.contains(&b))
            .await;
    }

    pub(super) async fn cut(&self, from: usize, to: usize) {
        let (from, to) = (self.keys[from].clone(), self.keys[to].clone());
        // A link that is cut already stays so.
        let _ = self.oracle.remove_link(from, to).await;
    }

    pub(super) async fn heal(&self) {
        self.connect(|_, _| true).await;
    }

    /// Nothing is lost any more, and nobody is blocked any more.
    pub(super) async fn calm(&mut self) {
        self.lost_per_mille = 0;
        self.jitter = Duration::ZERO;
        self.heal().await;
        for (from, to) in self.oracle.blocked().await.unwrap_or_default() {
            // Blocks that ended by themselves need not be lifted.
            let _ = self.oracle.unblock(from, to).await;
        }
    }
}
