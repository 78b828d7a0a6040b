// SPDX-License-Identifier: Apache-2.0
//! Who endorsed what, and how many byzantine members committees had.

use super::{Promise, Violation};
use crate::{network::Network, plan::Plan, shape::Shape};
use commonware_cryptography::{Signer as _, Verifier as _, ed25519::PublicKey};
use shardnode_mandates::{
    Committee, Mandates,
    security::{EqualStakes, computed},
};
use shardnode_primitives::{Block, Genesis, Namespaces, endorsement};
use std::collections::{BTreeMap, BTreeSet};

/// How many committees a run had, and how many of them byzantine members
/// could have abused.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// All.
    pub dealt: u64,
    /// More than two thirds byzantine.
    pub corrupted: u64,
    /// As many of them as the odds make expect.
    pub corrupted_expected: f64,
    /// A third byzantine or more.
    pub stalled: u64,
    /// As many of them as the odds make expect.
    pub stalled_expected: f64,
}

impl Counted {
    /// Adds another run's.
    pub fn add(&mut self, other: &Self) {
        self.dealt += other.dealt;
        self.corrupted += other.corrupted;
        self.corrupted_expected += other.corrupted_expected;
        self.stalled += other.stalled;
        self.stalled_expected += other.stalled_expected;
    }
}

/// The committees of a run.
pub struct Committees {
    mandates: Option<Mandates<PublicKey>>,
    namespaces: Namespaces,
    byzantine: BTreeSet<PublicKey>,
    odds: (f64, f64),
    counted: Counted,
    duties: BTreeMap<PublicKey, u64>,
}

impl Committees {
    /// Of a network that has not started.
    #[must_use]
    pub fn new(genesis: &Genesis, plan: &Plan) -> Self {
        let stakes = genesis.stakes().map(|(key, stake)| (key.clone(), stake));
        let shards = genesis.layout.shards();
        let mandates = Mandates::new(stakes, shards, genesis.protocol.mandates_per_shard).ok();
        let byzantine = plan.byzantine();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let odds = EqualStakes::new(
            count(plan.shape.validators()),
            count(byzantine.len()),
            shards,
            plan.shape.mandates,
        );
        let odds = odds.map_or((0.0, 0.0), |network| {
            let odds = computed(&network);
            (odds.corrupted.one_shard, odds.stalled.one_shard)
        });
        let keys = byzantine.into_iter().map(Shape::key);
        Self {
            mandates,
            namespaces: Namespaces::new(&genesis.network, &genesis.hash()),
            byzantine: keys.map(|key| key.public_key()).collect(),
            odds,
            counted: Counted::default(),
            duties: BTreeMap::new(),
        }
    }

    /// What was counted.
    #[must_use]
    pub const fn counted(&self) -> Counted {
        self.counted
    }

    /// The committees that the new headers of `block` need, by shard.
    #[must_use]
    pub fn of(&self, block: &Block) -> Vec<Committee<PublicKey>> {
        let mandates = self.mandates.as_ref();
        mandates.map_or_else(Vec::new, |mandates| {
            mandates.deal(block.randomness.seed.0, block.height)
        })
    }

    /// Every new header is endorsed by a quorum of its committee's stake, and
    /// by nobody else.
    pub(super) fn check(&mut self, block: &Block) -> Vec<Violation> {
        let committees = self.of(block);
        let mut violations = Vec::new();
        let headers = block.chunks.iter().zip(&block.endorsements);
        for ((header, endorsements), committee) in headers.zip(&committees) {
            self.count(committee);
            for member in committee.members() {
                *self.duties.entry(member.validator.clone()).or_default() += 1;
            }
            if header.content.height != block.height {
                continue;
            }
            let content = &header.content;
            let message = endorsement::message(content.shard, content.height, &header.hash());
            let mut stake = 0;
            let places = committee.members().iter().zip(endorsements.iter());
            for (member, signature) in places {
                let Some(signature) = signature else { continue };
                let namespace = &self.namespaces.endorsement;
                if member.validator.verify(namespace, &message, signature) {
                    stake += member.stake;
                }
            }
            let places = committee.members().len() == endorsements.places();
            if !places || stake < committee.quorum() {
                violations.push(Violation::new(
                    Promise::Committees,
                    format!(
                        "chunk of shard {} at height {} is endorsed by {stake} of {}",
                        content.shard,
                        content.height,
                        committee.stake()
                    ),
                ));
            }
        }
        violations
    }

    fn count(&mut self, committee: &Committee<PublicKey>) {
        let byzantine = |key: &PublicKey| self.byzantine.contains(key);
        let (corrupted, stalled) = (
            committee.is_endorsed_by(byzantine),
            committee.is_stalled_by(byzantine),
        );
        self.counted.add(&Counted {
            dealt: 1,
            corrupted: corrupted.into(),
            corrupted_expected: self.odds.0,
            stalled: stalled.into(),
            stalled_expected: self.odds.1,
        });
    }

    /// Nobody re-executed more than what its committees had to check. A
    /// producer that signs two chunks makes its committee check both; a node
    /// that lost its memory may check one again; and what is not in a block
    /// yet is not known here.
    pub(super) fn check_work(&self, network: &Network, plan: &Plan) -> Vec<Violation> {
        let chunks = if plan.liars.is_empty() { 1 } else { 2 };
        let again = 2 * u64::from(plan.shape.shards);
        let mut violations = Vec::new();
        if !plan.keeps_memory() {
            return violations;
        }
        for (index, member) in network.members.iter().enumerate() {
            let key = member.identity.key.public_key();
            let duties = self.duties.get(&key).copied().unwrap_or_default();
            let validated = member.validated();
            if validated > duties * chunks + again {
                violations.push(Violation::new(
                    Promise::Committees,
                    format!("n{index} re-executed {validated} chunks, its committees had {duties}"),
                ));
            }
        }
        violations
    }
}
