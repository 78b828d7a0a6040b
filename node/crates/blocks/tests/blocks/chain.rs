// SPDX-License-Identifier: Apache-2.0
//! A network of two shards with two producers each, a block in it, and one that
//! may follow.

use commonware_codec::FixedSize as _;
use commonware_consensus::{
    simplex::types::Context,
    types::{Epoch, Round, View},
};
use commonware_cryptography::{
    Signer as _,
    ed25519::{PrivateKey, Signature},
};
use shardnode_blocks::validity::{Base, Violation, check_block, check_header};
use shardnode_network::{Committees, Identity};
use shardnode_primitives::{
    Block, ChunkContent, ChunkHeader, Digest, DuePosition, Endorsements, ExecutionResult,
    GenesisDocument, Randomness, ShardId, ShardTotals, Transaction, endorsement, hash::ZERO,
};

/// That of the block that may follow.
pub(crate) const HEIGHT: u64 = 10;
/// Of the genesis document.
pub(crate) const MOST_TRANSACTIONS: u32 = 200;
const EPOCH: u64 = 16;
/// The length of a body with one transaction.
pub(crate) const BODY: u32 = Transaction::SIZE as u32;

/// Of a validator: 0 and 1 are of shard 0, 2 and 3 of shard 1.
pub(crate) fn key(number: u64) -> PrivateKey {
    PrivateKey::from_seed(number)
}

pub(crate) fn identity() -> Identity {
    let validators: Vec<_> = (0..4)
        .map(|number| {
            serde_json::json!({
                "name": format!("n{number}"), "publicKey": key(number).public_key().to_string(),
                "role": "producer", "shard": number / 2, "slot": number % 2, "stake": 4,
            })
        })
        .collect();
    let document: GenesisDocument = serde_json::from_value(serde_json::json!({
        "network": "test", "createdAtMs": 7, "seed": "11".repeat(32), "shards": 2,
        "accounts": {"perShard": 10, "initialBalance": 1_000},
        "protocol": {
            "executionLag": 2, "minBlockTimeMs": 100, "chunkWaitMs": 1000,
            "maxTransactionsPerChunk": MOST_TRANSACTIONS, "mandatesPerShard": 8, "epochLength": EPOCH,
            "congestionControl": "Enabled", "transferFee": 2, "leastBalance": 3,
        },
        "validators": validators,
    }))
    .unwrap();
    Identity::new(document.check().unwrap(), key(0)).unwrap()
}

pub(crate) fn digest(byte: u8) -> Digest {
    Digest([byte; 32])
}

/// The header of a shard at the height before, whose last execution is that of
/// the height 7.
fn previous(shard: u16) -> ChunkContent {
    ChunkContent {
        shard: ShardId(shard),
        height: HEIGHT - 1,
        sequence: 6,
        anchor: digest(1),
        previous: digest(2),
        body_hash: digest(3),
        parts_root: digest(4),
        body_len: BODY,
        transactions: 1,
        results: Vec::new(),
        uncommitted: vec![8, 9],
        totals: ShardTotals {
            height: 7,
            state_root: digest(7),
            transfers: 100,
            cross_shard: 40,
            credits: 90,
            balance: 1_000,
            burnt: 50,
            sent: 500,
            received: 400,
            next_due: DuePosition::at(6),
        },
    }
}

/// What may follow a header.
#[derive(Clone)]
pub(crate) struct Following {
    pub(crate) identity: Identity,
    pub(crate) previous: ChunkHeader,
    pub(crate) content: ChunkContent,
    pub(crate) anchor: Digest,
    pub(crate) producer: u64,
}

impl Following {
    /// With the result of the height 8, in which value came, left and was burnt.
    pub(crate) fn new() -> Self {
        let identity = identity();
        let previous = ChunkHeader::sign(previous(0), &key(1), &identity.namespaces);
        let old = &previous.content.totals;
        let result = ExecutionResult {
            height: 8,
            state_root: digest(8),
            outcomes_root: digest(9),
            receipts_root: digest(10),
            transfers: 5,
            credits: 4,
        };
        let content = ChunkContent {
            shard: ShardId(0),
            height: HEIGHT,
            sequence: 7,
            anchor: digest(11),
            previous: previous.hash(),
            body_hash: digest(12),
            parts_root: digest(13),
            body_len: 2 * BODY,
            transactions: 2,
            totals: ShardTotals {
                height: result.height,
                state_root: result.state_root,
                transfers: old.transfers + 5,
                cross_shard: old.cross_shard + 3,
                credits: old.credits + 4,
                balance: old.balance + 30 - 20 - 7,
                burnt: old.burnt + 7,
                sent: old.sent + 20,
                received: old.received + 30,
                next_due: DuePosition::at(8),
            },
            results: vec![result],
            uncommitted: vec![9, 10],
        };
        Self {
            identity,
            previous,
            content,
            anchor: digest(11),
            producer: 0,
        }
    }

    pub(crate) fn header(&self) -> ChunkHeader {
        let content = self.content.clone();
        ChunkHeader::sign(content, &key(self.producer), &self.identity.namespaces)
    }

    pub(crate) fn check(&self) -> Result<(), Violation> {
        let base = Base {
            previous: &self.previous,
            height: HEIGHT,
            anchor: self.anchor,
        };
        let identity = &self.identity;
        check_header(
            &self.header(),
            base,
            &identity.genesis,
            &identity.namespaces,
        )
    }
}

/// A block, and one that may follow, with a new header of shard 0 only.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) following: Following,
    pub(crate) parent: Block,
    pub(crate) block: Block,
    pub(crate) committees: Committees,
}

impl Pair {
    pub(crate) fn new() -> Self {
        let following = Following::new();
        let identity = &following.identity;
        let other = ChunkHeader::sign(previous(1), &key(3), &identity.namespaces);
        let context = |view: u64, leader: u64| Context {
            round: Round::new(Epoch::new(0), View::new(view)),
            leader: key(leader).public_key(),
            parent: (View::new(view - 1), ZERO),
        };
        let parent = Block {
            context: context(20, 2),
            height: HEIGHT - 1,
            timestamp_ms: 5_000,
            randomness: Randomness::genesis(ZERO),
            chunks: vec![following.previous.clone(), other.clone()],
            endorsements: vec![Endorsements::default(); 2],
        };
        let committees = identity.committees_after(&parent);
        let header = following.header();
        let block = Block {
            context: context(21, 3),
            height: HEIGHT,
            timestamp_ms: 5_100,
            randomness: parent.randomness.child(HEIGHT, EPOCH, &key(3)).unwrap(),
            endorsements: vec![
                endorsed(&following, &header, &committees, |_| true),
                Endorsements::default(),
            ],
            chunks: vec![header, other],
        };
        Self {
            following,
            parent,
            block,
            committees,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Violation> {
        let identity = &self.following.identity;
        let (block, parent) = (&self.block, &self.parent);
        let anchor = self.following.anchor;
        check_block(
            block,
            &block.context,
            parent,
            anchor,
            identity,
            &self.committees,
        )
    }

    /// With the endorsements of those places that are selected.
    pub(crate) fn endorse(&mut self, selects: impl Fn(usize) -> bool) {
        let header = &self.block.chunks[0];
        self.block.endorsements[0] = endorsed(&self.following, header, &self.committees, selects);
    }
}

/// What the members at these places of the committee of shard 0 sign.
fn endorsed(
    following: &Following,
    header: &ChunkHeader,
    committees: &Committees,
    selects: impl Fn(usize) -> bool,
) -> Endorsements {
    let message = endorsement::message(ShardId(0), HEIGHT, &header.hash());
    let members = committees[0].members().iter().enumerate();
    members
        .map(|(place, member)| {
            let signer = (0..4)
                .map(key)
                .find(|key| key.public_key() == member.validator)
                .unwrap();
            selects(place)
                .then(|| signer.sign(&following.identity.namespaces.endorsement, &message))
        })
        .collect::<Vec<Option<Signature>>>()
        .into_iter()
        .collect()
}
