// SPDX-License-Identifier: Apache-2.0
//! A voter that says one thing to one half of the network and another thing to
//! the other.

use crate::lies::{Behaviour, Liar, Outgoing};
use commonware_codec::{Decode as _, DecodeExt as _, Encode as _};
use commonware_consensus::simplex::{
    scheme::ed25519::Scheme,
    types::{Finalize, Notarize, Proposal, Vote},
};
use commonware_cryptography::{Digestible as _, Signer as _};
use rand_core::Rng as _;
use shardnode_network::{Identity, channels};
use shardnode_primitives::{Block, Digest};
use std::collections::BTreeMap;

type Ballot = Vote<Scheme, Digest>;

fn ballot(message: &Outgoing) -> Option<Ballot> {
    (message.channel == channels::VOTES)
        .then(|| Ballot::decode(message.bytes.clone()).ok())
        .flatten()
}

fn scheme(identity: &Identity) -> Option<Scheme> {
    Scheme::signer(
        &identity.namespaces.consensus,
        identity.participants(),
        identity.key.clone(),
    )
}

/// The same vote for something else.
fn vote_for(ballot: &Ballot, payload: Digest, identity: &Identity) -> Option<Ballot> {
    let scheme = scheme(identity)?;
    let other = |proposal: &Proposal<Digest>| Proposal {
        payload,
        ..proposal.clone()
    };
    match ballot {
        Vote::Notarize(vote) => Notarize::sign(&scheme, other(&vote.proposal)).map(Vote::Notarize),
        Vote::Finalize(vote) => Finalize::sign(&scheme, other(&vote.proposal)).map(Vote::Finalize),
        Vote::Nullify(_) => None,
    }
}

/// A leader that proposes two blocks, both valid, each to one half.
#[derive(Default)]
pub struct EquivocatedBlocks {
    twins: BTreeMap<Digest, Digest>,
}

impl EquivocatedBlocks {
    fn block(&mut self, liar: &Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        let limits = liar.identity.block_limits();
        let mut block = Block::decode_cfg(message.bytes.clone(), &limits).ok()?;
        if block.context.leader != liar.identity.key.public_key() {
            return None;
        }
        let own = block.digest();
        block.timestamp_ms += 1;
        self.twins.insert(own, block.digest());
        liar.shared.count("equivocated blocks");
        let (one, other) = liar.halves(&message.to);
        let twin = message.with(block.encode());
        Some(vec![message.to(one), twin.to(other)])
    }

    fn vote(&self, liar: &Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        let ballot = ballot(message)?;
        let (Vote::Notarize(Notarize { proposal, .. }) | Vote::Finalize(Finalize { proposal, .. })) =
            &ballot
        else {
            return None;
        };
        let twin = *self.twins.get(&proposal.payload)?;
        let vote = vote_for(&ballot, twin, liar.identity)?;
        liar.shared.count("double votes");
        let (one, other) = liar.halves(&message.to);
        Some(vec![message.to(one), message.with(vote.encode()).to(other)])
    }
}

impl Behaviour for EquivocatedBlocks {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        match message.channel {
            channels::BLOCKS => self.block(liar, message),
            channels::VOTES => self.vote(liar, message),
            _ => None,
        }
    }
}

/// A voter that also votes for something that does not exist.
#[derive(Default)]
pub struct DoubleVotes;

impl Behaviour for DoubleVotes {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        let ballot = ballot(message)?;
        let mut payload = [0; 32];
        liar.rng.fill_bytes(&mut payload);
        let vote = vote_for(&ballot, Digest(payload), liar.identity)?;
        liar.shared.count("double votes");
        let (one, other) = liar.halves(&message.to);
        let vote = message.with(vote.encode());
        Some(vec![message.to(one), vote.to(other)])
    }
}
