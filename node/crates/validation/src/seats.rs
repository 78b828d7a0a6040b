// SPDX-License-Identifier: Apache-2.0
//! This node's places in the committees of the next heights.
//!
//! Epochs are longer than parts are kept ahead, and the seed of the next one is
//! known: so the committees of all these heights are. They are dealt once for
//! each height.

use crate::actor::PARTS_HORIZON;
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use shardnode_network::{Committees, Identity};
use shardnode_primitives::{Block, ShardId};
use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

/// This node's part in a committee.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    /// Who needs the witness.
    pub(crate) owners: Vec<PublicKey>,
    /// This node's place among them; `None` if it tracks the shard.
    pub(crate) place: Option<u16>,
}

/// What was dealt for one height.
struct Dealt {
    committees: Committees,
    /// As far as somebody asked; `None` where this node is no member.
    seats: BTreeMap<ShardId, Option<Arc<Seat>>>,
}

/// This node's seats, as far as somebody asked for them.
pub(crate) struct Seats {
    identity: Arc<Identity>,
    /// For [`PARTS_HORIZON`] heights at most.
    heights: BTreeMap<u64, Dealt>,
}

impl Seats {
    pub(crate) const fn new(identity: Arc<Identity>) -> Self {
        Self {
            identity,
            heights: BTreeMap::new(),
        }
    }

    /// This node's part in the committee of `shard` at `height`, up to
    /// [`PARTS_HORIZON`] heights above the finalised block `tip`.
    pub(crate) fn get(&mut self, tip: &Block, height: u64, shard: ShardId) -> Option<Arc<Seat>> {
        if height <= tip.height || height > tip.height.saturating_add(PARTS_HORIZON) {
            return None;
        }
        let identity = &self.identity;
        let dealt = match self.heights.entry(height) {
            Entry::Occupied(dealt) => dealt.into_mut(),
            Entry::Vacant(place) => place.insert(Dealt {
                committees: identity.committees_ahead(tip, height)?,
                seats: BTreeMap::new(),
            }),
        };
        let committees = &dealt.committees;
        let seat = dealt.seats.entry(shard).or_insert_with(|| {
            let me = identity.key.public_key();
            let committee = committees.get(shard.index())?;
            if committee.stake_of(|who| *who == me) == 0 {
                return None;
            }
            let owners = identity.witness_owners(shard, committee);
            let place = owners.iter().position(|owner| *owner == me);
            let place = place.map(|place| place as u16);
            Some(Arc::new(Seat { owners, place }))
        });
        seat.clone()
    }

    /// Forgets the heights up to this one.
    pub(crate) fn finalized(&mut self, height: u64) {
        self.heights.retain(|at, _| *at > height);
    }
}
