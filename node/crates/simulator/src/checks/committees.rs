// SPDX-License-Identifier: Apache-2.0
//! Who endorsed what, and how many byzantine members committees had.

use super::{Promise, Violation};
use crate::{
    lies::Endorsed,
    network::{Member, Network},
    plan::{Fault, Plan},
    planted::Planted,
    shape::Shape,
};
use commonware_cryptography::{Signer as _, Verifier as _, ed25519::PublicKey};
use shardnode_mandates::{
    Committee, Mandates,
    security::{EqualStakes, computed},
};
use shardnode_primitives::{Block, Genesis, Namespaces, ShardId, endorsement};
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
    epoch_length: u64,
    dealt: BTreeMap<u64, Vec<Committee<PublicKey>>>,
    planted: Option<Planted>,
}

impl Committees {
    /// Of a network that has not started.
    #[must_use]
    pub fn new(genesis: &Genesis, plan: &Plan, planted: Option<Planted>) -> Self {
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
            epoch_length: genesis.protocol.epoch_length,
            dealt: BTreeMap::new(),
            planted,
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
        self.deal(block.randomness.seed.0, block.height)
    }

    /// The committees that the child of `block` needs, by shard.
    fn after(&self, block: &Block) -> Vec<Committee<PublicKey>> {
        let height = block.height + 1;
        let seed = block.randomness.seed_at(height, self.epoch_length);
        self.deal(seed.0, height)
    }

    fn deal(&self, seed: [u8; 32], height: u64) -> Vec<Committee<PublicKey>> {
        let other = self.planted == Some(Planted::OtherCommittees);
        let mandates = self.mandates.as_ref();
        mandates.map_or_else(Vec::new, |mandates| {
            mandates.deal(seed, height + u64::from(other))
        })
    }

    /// Whether the node that endorsed was in the committee. The newest block
    /// that was checked is `tip`, and it endorsed for a child of that at most.
    pub(super) fn seats(&self, endorsed: &Endorsed, tip: &Block) -> bool {
        let seats = |committees: &[Committee<PublicKey>]| {
            let committee = committees.get(endorsed.shard.index());
            committee.is_some_and(|one| one.stake_of(|key| *key == endorsed.validator) > 0)
        };
        self.dealt.get(&endorsed.height).map_or_else(
            || endorsed.height == tip.height + 1 && seats(&self.after(tip)),
            |dealt| seats(dealt),
        )
    }

    /// Every new header is endorsed by a quorum of its committee's stake, and
    /// by nobody else.
    pub(super) fn check(&mut self, block: &Block) -> Vec<Violation> {
        let committees = self.of(block);
        let mut violations = Vec::new();
        let headers = block.chunks.iter().zip(&block.endorsements);
        for ((header, endorsements), committee) in headers.zip(&committees) {
            self.count(committee);
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
        self.dealt.insert(block.height, committees);
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

    /// Nobody re-executed more than what its committees had to check, over all
    /// restarts. A producer that signs two chunks, or lost its disk and with it
    /// what it had signed, makes its committee check both. A node that was
    /// killed may check again what is for the height after the block that it
    /// comes back with.
    pub(super) fn check_work(&self, network: &Network, plan: &Plan, tip: &Block) -> Vec<Violation> {
        let lost = |fault: &Fault| matches!(fault, Fault::LoseDisk(_));
        let twice = !plan.liars.is_empty() || plan.faults.iter().any(|(_, fault)| lost(fault));
        let chunks = if twice { 2 } else { 1 };
        let next = self.after(tip);
        let mut violations = Vec::new();
        for (index, member) in network.members.iter().enumerate() {
            let heights = self.dealt.values().chain([&next]);
            let none = self.planted == Some(Planted::NoDuties);
            let heights = heights.filter(|_| !none);
            let duties: u64 = heights.map(|dealt| duties(dealt, member)).sum();
            let again = member.stops * u64::from(plan.shape.shards);
            let validated = member.validated();
            if validated > (duties + again) * chunks {
                violations.push(Violation::new(
                    Promise::Committees,
                    format!(
                        "n{index} re-executed {validated} chunks, its committees had {duties} and \
                         went down {} times",
                        member.stops
                    ),
                ));
            }
        }
        violations
    }
}

/// How many of these committees have chunks to re-execute for this node: it is
/// in them, and compares the chunks of the shard that it tracks with its own.
fn duties(dealt: &[Committee<PublicKey>], member: &Member) -> u64 {
    let own = member.identity.tracked();
    let all = (0u16..).map(ShardId).zip(dealt);
    let theirs = all.filter(|(shard, committee)| {
        Some(*shard) != own && committee.stake_of(|key| member.wire.is(key)) > 0
    });
    theirs.count() as u64
}
