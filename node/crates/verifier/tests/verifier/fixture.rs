// SPDX-License-Identifier: Apache-2.0
//! A network of two shards and four voters, with two final blocks.

use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_consensus::{
    simplex::types::{Context, Finalization, Proposal},
    types::{Epoch, Round, View},
};
use commonware_cryptography::{
    Digestible as _, Signer as _,
    certificate::Signers,
    ed25519::{PrivateKey, certificate::Certificate},
};
use commonware_utils::{Participant, ordered::Set};
use serde_json::{Value, json};
use shardnode_primitives::{
    AccountId, Block, ChunkContent, ChunkHeader, Digest, DuePosition, Endorsements,
    ExecutionResult, Genesis, GenesisDocument, Namespaces, Randomness, ShardId, ShardTotals,
    genesis::private_key,
    hash::{Domain, ZERO, hash},
    merkle, outcome,
};
use shardnode_state::{Account, AccountProof, Changes, StateTree};
use shardnode_verifier::{FinalizedBlock, ProvenAccount, ProvenOutcome};

/// The height of the block that proofs are against.
pub(crate) const BLOCK: u64 = 7;
/// The height of the newest execution that it commits to, and of the one before.
pub(crate) const NEW: u64 = 5;
pub(crate) const OLD: u64 = 4;

pub(crate) const FINALIZE: &str = "_FINALIZE";
pub(crate) const VOTERS: u8 = 4;

pub(crate) fn document() -> Value {
    let validator = |number: u8| {
        let key = private_key([number; 32]).public_key().to_string();
        let name = format!("n{number}");
        if number > VOTERS {
            return json!({"name": name, "publicKey": key, "role": "chunkValidator", "stake": 500});
        }
        let (shard, slot) = ((number - 1) / 2, (number - 1) % 2);
        json!({"name": name, "publicKey": key, "role": "producer", "shard": shard, "slot": slot, "stake": 1_000})
    };
    json!({
        "network": "verified",
        "createdAtMs": 1_790_000_000_000_u64,
        "seed": "5e".repeat(32),
        "shards": 2,
        "accounts": {"perShard": 4, "initialBalance": 1_000},
        "protocol": {"executionLag": 2, "minBlockTimeMs": 250, "chunkWaitMs": 1000, "maxTransactionsPerChunk": 2_000,
            "mandatesPerShard": 8, "epochLength": 1_000, "congestionControl": "Enabled",
            "transferFee": 2, "leastBalance": 3},
        "validators": (1..=VOTERS + 1).map(validator).collect::<Vec<_>>(),
    })
}

pub(crate) fn genesis() -> Genesis {
    let document: GenesisDocument = serde_json::from_value(document()).unwrap();
    document.check().unwrap()
}

pub(crate) struct Fixture {
    pub(crate) genesis: Genesis,
    /// By shard, the state after [`NEW`].
    pub(crate) states: [StateTree; 2],
    /// Of shard 0, the state after [`OLD`].
    pub(crate) old: StateTree,
    /// Blocks of heights [`BLOCK`] and the next.
    pub(crate) blocks: [Block; 2],
    /// Ids of accounts of shard 0, in order.
    pub(crate) ids: Vec<AccountId>,
    /// Of shard 0 as well, and no account.
    pub(crate) nobody: AccountId,
    pub(crate) transfers: [(Digest, u8); 3],
}

fn account(number: u64) -> Account {
    Account {
        balance: 1_000 + number,
        nonce: number,
    }
}

fn digest(number: u8) -> Digest {
    hash(Domain::ListLeaf, &[&[number]])
}

fn totals(height: u64, state_root: Digest) -> ShardTotals {
    ShardTotals {
        height,
        state_root,
        transfers: 100,
        cross_shard: 40,
        credits: 90,
        balance: 5_000,
        burnt: 6,
        sent: 50,
        received: 30,
        next_due: DuePosition::at(height),
    }
}

fn result(height: u64, state_root: Digest, outcomes_root: Digest) -> ExecutionResult {
    ExecutionResult {
        height,
        state_root,
        outcomes_root,
        receipts_root: digest(3),
        transfers: 2,
        credits: 1,
    }
}

fn header(shard: u16, results: Vec<ExecutionResult>, genesis: &Genesis) -> ChunkHeader {
    let last = results.last().unwrap();
    let content = ChunkContent {
        shard: ShardId(shard),
        height: BLOCK,
        sequence: BLOCK - 1,
        anchor: digest(4),
        previous: digest(5),
        body_hash: digest(6),
        parts_root: digest(7),
        body_len: 306,
        transactions: 2,
        totals: totals(last.height, last.state_root),
        results,
        uncommitted: vec![BLOCK - 1, BLOCK],
    };
    let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
    ChunkHeader::sign(content, &private_key([1; 32]), &namespaces)
}

fn block(height: u64, parent: Digest, chunks: Vec<ChunkHeader>) -> Block {
    let endorsed = Some(chunks[0].signature.clone());
    let endorsements = [None, endorsed].into_iter().collect();
    Block {
        context: Context {
            round: Round::new(Epoch::zero(), View::new(300 + height)),
            leader: private_key([1; 32]).public_key(),
            parent: (View::new(299 + height), parent),
        },
        height,
        timestamp_ms: 1_790_000_000_000 + 250 * height,
        randomness: Randomness::genesis(ZERO),
        chunks,
        endorsements: vec![endorsements, Endorsements::default()],
    }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let genesis = genesis();
        let shard_of = |id: &AccountId| usize::from(genesis.layout.shard_of(id).0);
        let mut accounts = [Vec::new(), Vec::new()];
        for index in 0..16 {
            let id = genesis.account(index).id;
            accounts[shard_of(&id)].push((id, account(index.into())));
        }
        accounts[0].sort_by_key(|(id, _)| *id);
        let ids: Vec<_> = accounts[0].iter().map(|(id, _)| *id).collect();
        let nobody = (16..)
            .map(|index| genesis.account(index).id)
            .find(|id| shard_of(id) == 0)
            .unwrap();
        let old = StateTree::genesis(accounts[0].clone()).unwrap();
        let mut new = old.clone();
        new.apply(&Changes::from([(ids[1], Some(account(77)))]))
            .unwrap();
        let states = [new, StateTree::genesis(accounts[1].clone()).unwrap()];

        let transfers = [(digest(10), 0), (digest(11), 2), (digest(12), 0)];
        let leaves = transfers.map(|(hash, code)| outcome::leaf(&hash, code));
        let outcomes = merkle::root(leaves.to_vec());
        let chunks = vec![
            header(
                0,
                vec![
                    result(OLD, old.root(), digest(8)),
                    result(NEW, states[0].root(), outcomes),
                ],
                &genesis,
            ),
            header(1, vec![result(NEW, states[1].root(), digest(9))], &genesis),
        ];
        let first = block(BLOCK, digest(1), chunks.clone());
        let second = block(BLOCK + 1, first.digest(), chunks);
        Self {
            genesis,
            states,
            old,
            blocks: [first, second],
            ids,
            nobody,
            transfers,
        }
    }

    /// What these voters say of a block, by their places among all that there are,
    /// when they vote under a namespace that ends so.
    pub(crate) fn finalization(
        genesis: &Genesis,
        block: &Block,
        all: u8,
        voting: &[u32],
        suffix: &str,
    ) -> Finalization<commonware_consensus::simplex::scheme::ed25519::Scheme, Digest> {
        let round = block.context.round;
        let proposal = Proposal::new(round, block.context.parent.0, block.digest());
        let mut keys: Vec<PrivateKey> = (1..=all).map(|number| private_key([number; 32])).collect();
        keys.sort_by_key(PrivateKey::public_key);
        let voters = Set::from_iter_dedup(keys.iter().map(PrivateKey::public_key));
        assert!(
            voters
                .iter()
                .eq(&keys.iter().map(PrivateKey::public_key).collect::<Vec<_>>())
        );
        let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
        let namespace = [&namespaces.consensus, suffix.as_bytes()].concat();
        let signers = voting.iter().copied().map(Participant::new);
        let signatures = voting
            .iter()
            .map(|voter| keys[*voter as usize].sign(&namespace, &proposal.encode()));
        let certificate = Certificate {
            signers: Signers::new(all.into(), signers).unwrap(),
            signatures: signatures.map(Into::into).collect(),
        };
        Finalization {
            proposal,
            certificate,
        }
    }

    /// The block that proofs are against, final by three votes.
    pub(crate) fn finalized(&self) -> FinalizedBlock {
        let block = &self.blocks[0];
        FinalizedBlock {
            finalization: Self::finalization(&self.genesis, block, VOTERS, &[0, 1, 3], FINALIZE),
            blocks: vec![block.clone()],
        }
    }

    /// The same block, final by a vote for the next one.
    pub(crate) fn finalized_by_next(&self) -> FinalizedBlock {
        let [first, second] = &self.blocks;
        FinalizedBlock {
            finalization: Self::finalization(
                &self.genesis,
                second,
                VOTERS,
                &[0, 1, 2, 3],
                FINALIZE,
            ),
            blocks: vec![second.clone(), first.clone()],
        }
    }

    pub(crate) fn account(&self, height: u64, proof: AccountProof) -> ProvenAccount {
        ProvenAccount {
            finalized: self.finalized(),
            height,
            proof,
        }
    }

    pub(crate) fn outcome(&self, place: usize) -> ProvenOutcome {
        let leaves = self
            .transfers
            .map(|(hash, code)| outcome::leaf(&hash, code));
        ProvenOutcome {
            finalized: self.finalized(),
            height: NEW,
            outcome: self.transfers[place].1,
            proof: merkle::Proof::of(&leaves, place).unwrap(),
        }
    }
}

/// The bytes with another one at a place, counted from the end.
pub(crate) fn with(bytes: &Bytes, from_end: usize, byte: u8) -> Bytes {
    let mut bytes = bytes.to_vec();
    let place = bytes.len() - from_end;
    bytes[place] = byte;
    bytes.into()
}
