// SPDX-License-Identifier: Apache-2.0
//! Members of committees that endorse without looking.

use crate::lock;
use bytes::Bytes;
use commonware_codec::Encode as _;
use shardnode_network::{Identity, channels};
use shardnode_primitives::{ChunkHeader, Digest, Endorsement};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

/// A node that can be made to endorse.
pub trait Endorser: Send + Sync {
    /// Who it is.
    fn identity(&self) -> &Identity;

    /// Sends to everybody, past the node's own code.
    fn send_all(&self, channel: u64, bytes: Bytes);
}

/// Validators that endorse every header that any producer sends, at once, with
/// their own keys. They hear of headers without a network: a stronger enemy
/// than one that has to talk.
#[derive(Default)]
pub struct Colluders(Mutex<State>);

#[derive(Default)]
struct State {
    nodes: Vec<Arc<dyn Endorser>>,
    known: BTreeSet<Digest>,
}

impl Colluders {
    /// Lets this node collude.
    pub fn join(&self, node: Arc<dyn Endorser>) {
        lock(&self.0).nodes.push(node);
    }

    /// From now on they are honest.
    pub fn disband(&self) {
        lock(&self.0).nodes.clear();
    }

    /// Whether there are any.
    #[must_use]
    pub fn any(&self) -> bool {
        !lock(&self.0).nodes.is_empty()
    }

    /// All of them endorse `header`, once; says how many did.
    pub(crate) fn endorse(&self, header: &ChunkHeader) -> usize {
        let mut state = lock(&self.0);
        if !state.known.insert(header.hash()) {
            return 0;
        }
        for node in &state.nodes {
            let identity = node.identity();
            let word = Endorsement::sign(header, &identity.key, &identity.namespaces);
            node.send_all(channels::ENDORSEMENTS, word.encode());
        }
        state.nodes.len()
    }
}
