// SPDX-License-Identifier: Apache-2.0
//! Members of committees that endorse without looking.

use crate::wire::{Shared, Wire, lock};
use commonware_codec::Encode as _;
use shardnode_chain::channels;
use shardnode_primitives::{ChunkHeader, Digest, Endorsement};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

/// Validators that endorse every header that any producer sends, at once, with
/// their own keys. They hear of headers without a network: a stronger enemy
/// than one that has to talk.
#[derive(Default)]
pub struct Colluders(Mutex<State>);

#[derive(Default)]
struct State {
    wires: Vec<Arc<Wire>>,
    known: BTreeSet<Digest>,
}

impl Colluders {
    /// Lets the node of this wire collude.
    pub fn join(&self, wire: Arc<Wire>) {
        lock(&self.0).wires.push(wire);
    }

    /// From now on they are honest.
    pub fn disband(&self) {
        lock(&self.0).wires.clear();
    }

    /// Whether there are any.
    #[must_use]
    pub fn any(&self) -> bool {
        !lock(&self.0).wires.is_empty()
    }

    /// All of them endorse `header`, once.
    pub(crate) fn endorse(&self, header: &ChunkHeader, shared: &Shared) {
        let mut state = lock(&self.0);
        if !state.known.insert(header.hash()) {
            return;
        }
        for wire in &state.wires {
            let identity = wire.identity();
            let word = Endorsement::sign(header, &identity.key, &identity.namespaces);
            wire.send_all(channels::ENDORSEMENTS, word.encode());
            shared.count("blind endorsements");
        }
    }
}
