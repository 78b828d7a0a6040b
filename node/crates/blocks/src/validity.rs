// SPDX-License-Identifier: Apache-2.0
//! What a block may say, given its parent: the part of validity that every
//! node can check without any shard's state.
//!
//! Trackers of a shard check more, namely that its results are their own and
//! that its body and receipts are at hand: the application of consensus, and
//! the validation of headers.

use bytes::Bytes;
use commonware_codec::FixedSize as _;
use commonware_consensus::simplex::types::Context;
use commonware_cryptography::{BatchEntry, BatchVerifier as _, ed25519::PublicKey};
use commonware_parallel::Strategy;
use rand_core::CryptoRng;
use shardnode_mandates::Committee;
use shardnode_network::{Committees, Identity};
use shardnode_primitives::{
    Block, ChunkBody, ChunkHeader, Digest, DuePosition, Endorsements, Genesis, Namespaces, ShardId,
    Transaction, endorsement,
    hash::ZERO,
    randomness::RandomnessError,
    work::{self, Work},
};

/// The first rule that a block or header breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A block says where consensus proposed it, and who leads there.
    #[error("block is of another round, leader or parent than its proposal")]
    Context,
    /// Heights are consecutive.
    #[error("block has height {got} on a parent of height {parent}")]
    Height {
        /// The block's.
        got: u64,
        /// Its parent's.
        parent: u64,
    },
    /// Blocks keep their distance.
    #[error("timestamp {got} ms is less than {min} ms after the parent's {parent} ms")]
    Timestamp {
        /// The block's.
        got: u64,
        /// Its parent's.
        parent: u64,
        /// `minBlockTimeMs`.
        min: u64,
    },
    /// The leader's reveal and the seeds.
    #[error("randomness: {0}")]
    Randomness(RandomnessError),
    /// A rule about one shard's header.
    #[error("shard {shard}: {rule}")]
    Header {
        /// The shard.
        shard: ShardId,
        /// The rule, as it should be.
        rule: &'static str,
    },
}

/// What a new header must build on.
#[derive(Clone, Copy, Debug)]
pub struct Base<'a> {
    /// The shard's header in the parent block.
    pub previous: &'a ChunkHeader,
    /// The new block's height.
    pub height: u64,
    /// The digest of the new block's ancestor at `height - executionLag`, or
    /// of the genesis block where there is none.
    pub anchor: Digest,
}

/// Checks everything about `header` that does not need the shard's state.
pub fn check_header(
    header: &ChunkHeader,
    base: Base<'_>,
    genesis: &Genesis,
    namespaces: &Namespaces,
) -> Result<(), Violation> {
    let new = &header.content;
    let old = &base.previous.content;
    let rule = |holds: bool, rule: &'static str| {
        if holds {
            Ok(())
        } else {
            Err(Violation::Header {
                shard: old.shard,
                rule,
            })
        }
    };
    rule(new.shard == old.shard, "header is for this shard")?;
    rule(new.height == base.height, "height is the block's")?;
    rule(
        new.sequence == old.sequence + 1,
        "sequence follows the previous header's",
    )?;
    rule(
        new.previous == base.previous.hash(),
        "previous names the header before",
    )?;
    rule(
        new.anchor == base.anchor,
        "anchor is the block executionLag before",
    )?;
    rule(
        new.transactions <= genesis.protocol.max_transactions_per_chunk,
        "at most maxTransactionsPerChunk transactions",
    )?;
    rule(
        u64::from(new.body_len) == u64::from(new.transactions) * Transaction::SIZE as u64,
        "body length fits the number of transactions",
    )?;

    rule(
        new.body_len > 0
            || (new.body_hash == ChunkBody(Bytes::new()).hash() && new.parts_root == ZERO),
        "without transactions the body is empty and in no parts",
    )?;

    let due = base
        .height
        .saturating_sub(u64::from(genesis.protocol.execution_lag));
    let heights = old.uncommitted.iter().copied().chain([base.height]);
    let (results, uncommitted): (Vec<u64>, Vec<u64>) = heights.partition(|height| *height <= due);
    rule(
        new.results.iter().map(|result| result.height).eq(results),
        "results are those of the executions that are due",
    )?;
    rule(
        new.uncommitted == uncommitted,
        "uncommitted lists the other executions",
    )?;

    let (was, is) = (&old.totals, &new.totals);
    let newest = new
        .results
        .last()
        .map_or((was.height, was.state_root), |result| {
            (result.height, result.state_root)
        });
    rule(
        (is.height, is.state_root) == newest,
        "totals are as of the newest result",
    )?;
    let added = |count: fn(&shardnode_primitives::ExecutionResult) -> u32| {
        new.results
            .iter()
            .map(|result| u64::from(count(result)))
            .sum::<u64>()
    };
    let sum = |total: u64, added: u64| total.checked_add(added);
    rule(
        Some(is.transfers) == sum(was.transfers, added(|result| result.transfers)),
        "transfers are the previous total and the results'",
    )?;
    rule(
        Some(is.credits) == sum(was.credits, added(|result| result.credits)),
        "credits are the previous total and the results'",
    )?;
    rule(
        is.cross_shard >= was.cross_shard
            && is.cross_shard - was.cross_shard <= is.transfers - was.transfers,
        "cross-shard transfers are among the new transfers",
    )?;
    rule(
        is.sent >= was.sent && is.received >= was.received && is.burnt >= was.burnt,
        "sent, received and burnt never fall",
    )?;
    rule(
        is.next_due >= was.next_due
            && is.next_due <= DuePosition::at(is.height.saturating_add(1))
            && (is.next_due == was.next_due || !new.results.is_empty()),
        "receipts are credited in the order in which they fell due",
    )?;
    let gone = u128::from(is.burnt - was.burnt).checked_add(is.sent - was.sent);
    let balance = u128::from(was.balance)
        .checked_add(is.received - was.received)
        .zip(gone)
        .and_then(|(balance, gone)| balance.checked_sub(gone));
    rule(
        balance == Some(is.balance.into()),
        "balance changes by what was received, sent and burnt",
    )?;
    let signer = genesis.producer_at(new.shard, new.height);
    rule(
        signer.is_some_and(|producer| header.verify(&producer.key, namespaces)),
        "signed by the producer whose turn it is",
    )
}

/// Checks everything about `block` that needs neither any shard's state nor
/// the signatures of its endorsements, which [`endorsements_hold`] checks.
///
/// `context` is that of the proposal: whose word the randomness must be is
/// judged by the leader that the block names. `anchor` is as in [`Base`].
pub fn check_block(
    block: &Block,
    context: &Context<Digest, PublicKey>,
    parent: &Block,
    anchor: Digest,
    identity: &Identity,
    committees: &Committees,
) -> Result<(), Violation> {
    let genesis = &identity.genesis;
    if block.context != *context {
        return Err(Violation::Context);
    }
    if parent.height.checked_add(1) != Some(block.height) {
        return Err(Violation::Height {
            got: block.height,
            parent: parent.height,
        });
    }
    let min = genesis.protocol.min_block_time_ms;
    if block.timestamp_ms < parent.timestamp_ms.saturating_add(min) {
        return Err(Violation::Timestamp {
            got: block.timestamp_ms,
            parent: parent.timestamp_ms,
            min,
        });
    }
    parent
        .randomness
        .check_child(
            &block.randomness,
            block.height,
            genesis.protocol.epoch_length,
            &block.context.leader,
        )
        .map_err(Violation::Randomness)?;
    let old = parent.chunks.iter().zip(committees.iter());
    let new = block.chunks.iter().zip(&block.endorsements);
    for ((header, endorsements), (previous, committee)) in new.zip(old) {
        if header == previous {
            no_endorsements(endorsements, previous.content.shard)?;
            continue;
        }
        let base = Base {
            previous,
            height: block.height,
            anchor,
        };
        check_header(header, base, genesis, &identity.namespaces)?;
        check_quorum(endorsements, committee, header.content.shard)?;
    }
    Ok(())
}

fn no_endorsements(endorsements: &Endorsements, shard: ShardId) -> Result<(), Violation> {
    if endorsements.places() == 0 {
        return Ok(());
    }
    Err(Violation::Header {
        shard,
        rule: "only a new header has endorsements",
    })
}

/// The endorsements have one place for each member of the committee, and the
/// stake of those that are there is a quorum.
fn check_quorum(
    endorsements: &Endorsements,
    committee: &Committee<PublicKey>,
    shard: ShardId,
) -> Result<(), Violation> {
    if endorsements.places() != committee.members().len() {
        return Err(Violation::Header {
            shard,
            rule: "endorsements have one place for each member of the committee",
        });
    }
    if endorsed_stake(endorsements, committee) < committee.quorum() {
        return Err(Violation::Header {
            shard,
            rule: "endorsed by more than two thirds of the mandated stake",
        });
    }
    Ok(())
}

/// The stake of the members whose endorsement is there.
#[must_use]
pub fn endorsed_stake(endorsements: &Endorsements, committee: &Committee<PublicKey>) -> u64 {
    let members = committee.members().iter().zip(endorsements.iter());
    members
        .filter(|(_, signature)| signature.is_some())
        .map(|(member, _)| member.stake)
        .sum()
}

/// Whether every endorsement in `block` was signed by the member at its place.
pub fn endorsements_hold(
    block: &Block,
    committees: &Committees,
    namespaces: &Namespaces,
    rng: &mut impl CryptoRng,
    strategy: &impl Strategy,
) -> bool {
    let mut entries = Vec::new();
    let placed = block.endorsements.iter().zip(committees.iter());
    for (header, (endorsements, committee)) in block.chunks.iter().zip(placed) {
        let content = &header.content;
        let mut hash = None;
        for (member, signature) in committee.members().iter().zip(endorsements.iter()) {
            if let Some(signature) = signature {
                let hash = hash.get_or_insert_with(|| header.hash());
                let message = endorsement::message(content.shard, content.height, hash);
                entries.push((&member.validator, message, signature));
            }
        }
    }
    work::count(Work::BatchedSignature, entries.len());
    entries.is_empty()
        || PublicKey::verify_batch(
            rng,
            &entries,
            |_, (validator, message, signature)| BatchEntry {
                namespace: &namespaces.endorsement,
                message,
                public_key: validator,
                signature,
            },
            strategy,
        )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use commonware_consensus::types::{Epoch, Round, View};
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use shardnode_primitives::{GenesisDocument, Randomness};

    const EPOCH: u64 = 16;

    fn identity() -> Identity {
        let key = PrivateKey::from_seed(0);
        let document: GenesisDocument = serde_json::from_value(serde_json::json!({
            "network": "test", "createdAtMs": 0, "seed": "11".repeat(32), "shards": 1,
            "accounts": {"perShard": 10, "initialBalance": 1_000},
            "protocol": {
                "executionLag": 1, "minBlockTimeMs": 100, "chunkWaitMs": 1000, "maxTransactionsPerChunk": 200,
                "mandatesPerShard": 8, "epochLength": EPOCH, "congestionControl": "Enabled", "transferFee": 2, "leastBalance": 3,
            },
            "validators": [{
                "name": "n0", "publicKey": key.public_key().to_string(), "role": "producer",
                "shard": 0, "slot": 0, "stake": 1_000,
            }],
        }))
        .unwrap();
        Identity::new(document.check().unwrap(), key).unwrap()
    }

    fn block(height: u64, randomness: Randomness, leader: &PrivateKey) -> Block {
        Block {
            context: Context {
                round: Round::new(Epoch::new(0), View::new(height)),
                leader: leader.public_key(),
                parent: (View::new(0), ZERO),
            },
            height,
            timestamp_ms: height * 1_000,
            randomness,
            chunks: Vec::new(),
            endorsements: Vec::new(),
        }
    }

    /// Else a leader could name a key that it chose for what it reveals.
    #[test]
    fn a_block_of_another_leader_than_its_proposal_is_refused() {
        let identity = identity();
        let (leader, chosen) = (PrivateKey::from_seed(0), PrivateKey::from_seed(77));
        let parent = block(0, Randomness::genesis(ZERO), &leader);
        let by = |key: &PrivateKey| {
            let randomness = parent.randomness.child(1, EPOCH, key).unwrap();
            block(1, randomness, key)
        };
        let proposed = by(&leader).context;
        let committees = Committees::from(Vec::new());
        let check =
            |block: &Block| check_block(block, &proposed, &parent, ZERO, &identity, &committees);
        assert_eq!(check(&by(&leader)), Ok(()));
        assert_eq!(check(&by(&chosen)), Err(Violation::Context));
    }
}
