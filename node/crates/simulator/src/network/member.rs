// SPDX-License-Identifier: Apache-2.0
//! One node of a run, while it is up and while it is down.

use crate::{machine::Faults, wire::Wire};
use commonware_runtime::Handle;
use commonware_utils::channel::oneshot;
use futures::FutureExt as _;
use shardnode_chain::Node;
use shardnode_network::Identity;
use shardnode_production::generator::Control;
use std::{error::Error, sync::Arc};

/// The count of the histogram of witnesses that a node re-executed from.
const VALIDATIONS: &str = "shardnode_witness_validation_seconds_count{";
/// The counter of states that a node fetched and went on from.
const INSTALLED: &str = "shardnode_snapshots_installed_total{";

struct Up {
    handle: Handle<String>,
    started: oneshot::Receiver<Node>,
    node: Option<Node>,
}

/// One node of a run.
pub struct Member {
    /// Who it is.
    pub identity: Arc<Identity>,
    /// What it sends through.
    pub wire: Arc<Wire>,
    /// What is wrong with its machine.
    pub faults: Arc<Faults>,
    /// How many disks it lost.
    pub disk: usize,
    /// How often it went down.
    pub stops: u64,
    /// Why it is not replaced yet.
    pub(crate) waits_for: Option<String>,
    up: Option<Up>,
    signed_before: u64,
    validated_before: u64,
    installed_before: u64,
}

/// An error and its causes in one line.
pub(super) fn describe(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        line.push_str(": ");
        line.push_str(&cause.to_string());
        source = cause.source();
    }
    line
}

impl Member {
    pub(super) const fn new(identity: Arc<Identity>, wire: Arc<Wire>, faults: Arc<Faults>) -> Self {
        Self {
            identity,
            wire,
            faults,
            disk: 0,
            stops: 0,
            waits_for: None,
            up: None,
            signed_before: 0,
            validated_before: 0,
            installed_before: 0,
        }
    }

    /// Whether it was started and not killed since.
    #[must_use]
    pub const fn is_up(&self) -> bool {
        self.up.is_some()
    }

    /// The node, once it has started.
    #[must_use]
    pub fn node(&self) -> Option<&Node> {
        self.up.as_ref()?.node.as_ref()
    }

    /// Its finalised height; 0 while it is down.
    #[must_use]
    pub fn height(&self) -> u64 {
        self.node().map_or(0, |node| node.view.borrow().height())
    }

    /// Its generator, if it has one and runs.
    #[must_use]
    pub fn load(&self) -> Option<&Control> {
        self.node()?.load.as_ref()
    }

    /// Transfers that its generator signed, over all restarts.
    #[must_use]
    pub fn signed(&self) -> u64 {
        self.signed_before + self.load().map_or(0, Control::signed)
    }

    /// Witnesses that it re-executed from, over all restarts.
    #[must_use]
    pub fn validated(&self) -> u64 {
        self.validated_before + self.measured(VALIDATIONS)
    }

    /// States of other producers that it went on from, over all restarts.
    #[must_use]
    pub fn installed(&self) -> u64 {
        self.installed_before + self.measured(INSTALLED)
    }

    /// The sample whose line starts like this; 0 while it is down.
    fn measured(&self, start: &str) -> u64 {
        self.node().map_or(0, |node| {
            let metrics = node.metrics.encode();
            let line = metrics.lines().find(|line| line.starts_with(start));
            line.and_then(|line| line.rsplit_once(' ')?.1.parse().ok())
                .unwrap_or(0)
        })
    }

    pub(super) fn up(&mut self, handle: Handle<String>, started: oneshot::Receiver<Node>) {
        self.up = Some(Up {
            handle,
            started,
            node: None,
        });
    }

    /// Whether it has come up just now.
    pub(super) fn greet(&mut self) -> bool {
        let Some(up) = &mut self.up else {
            return false;
        };
        if up.node.is_some() {
            return false;
        }
        up.node = up.started.try_recv().ok();
        up.node.is_some()
    }

    fn remember(&mut self) {
        self.stops += 1;
        self.signed_before = self.signed();
        self.validated_before = self.validated();
        self.installed_before = self.installed();
    }

    /// Kills it, and waits until its tasks are gone.
    pub(super) async fn down(&mut self) {
        self.remember();
        if let Some(up) = self.up.take() {
            up.handle.abort();
            let _ = up.handle.await;
        }
    }

    /// Why it ended, if it ended by itself just now.
    pub(super) fn ended(&mut self) -> Option<String> {
        let ended = (&mut self.up.as_mut()?.handle).now_or_never()?;
        self.remember();
        self.up = None;
        Some(ended.unwrap_or_else(|error| error.to_string()))
    }
}
