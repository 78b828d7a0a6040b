// SPDX-License-Identifier: Apache-2.0
//! Peers that send blocks, and what looks like blocks.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use bytes::Bytes;
use commonware_actor::Feedback;
use commonware_codec::Encode as _;
use commonware_consensus::{
    simplex::types::Context,
    types::{Epoch, Round, View},
};
use commonware_cryptography::{
    Signer as _,
    ed25519::{PrivateKey, PublicKey},
};
use commonware_p2p::{BlockedSubscription, Blocker, Message, Receiver};
use commonware_runtime::{Clock as _, Runner as _, Supervisor as _, deterministic};
use commonware_utils::{NZUsize, channel::ring};
use shardnode_network::{
    Identity, Pace,
    new_blocks::{NewBlocks, pace},
};
use shardnode_primitives::{
    Block, ChunkHeader, Endorsements, GenesisDocument, Randomness, ShardId, ShardTotals, hash::ZERO,
};
use std::{
    collections::VecDeque,
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex},
    time::Duration,
};

/// Where who votes ends.
const VOTERS: usize = 4;

fn key(place: usize) -> PrivateKey {
    PrivateKey::from_seed(place as u64)
}

fn public(place: usize) -> PublicKey {
    key(place).public_key()
}

/// Two shards of two producers, and a node that tracks none.
fn identity() -> Arc<Identity> {
    let validators: Vec<_> = (0..=VOTERS)
        .map(|place| {
            let (name, stake) = (format!("n{place}"), 1_000);
            let public = public(place).to_string();
            if place == VOTERS {
                return serde_json::json!({
                    "name": name, "publicKey": public, "role": "chunkValidator", "stake": stake,
                });
            }
            serde_json::json!({
                "name": name, "publicKey": public, "role": "producer", "stake": stake,
                "shard": place / 2, "slot": place % 2,
            })
        })
        .collect();
    let document: GenesisDocument = serde_json::from_value(serde_json::json!({
        "network": "test", "createdAtMs": 0, "seed": "11".repeat(32), "shards": 2,
        "accounts": {"perShard": 10, "initialBalance": 1_000},
        "protocol": {
            "executionLag": 1, "minBlockTimeMs": 100, "chunkWaitMs": 1_000,
            "maxTransactionsPerChunk": 200, "mandatesPerShard": 8, "epochLength": 1000,
            "congestionControl": "Enabled", "transferFee": 1, "leastBalance": 1,
        },
        "validators": validators,
    }))
    .unwrap();
    Arc::new(Identity::new(document.check().unwrap(), key(0)).unwrap())
}

/// A block that the leader at this place proposes in a view.
fn block(leader: usize, view: u64) -> Bytes {
    let header = |shard| {
        let mut header = ChunkHeader::genesis(ShardId(shard), ShardTotals::genesis(ZERO, 0));
        header.as_mut().unwrap().content.shard = ShardId(shard);
        header.unwrap()
    };
    let block = Block {
        context: Context {
            round: Round::new(Epoch::zero(), View::new(view)),
            leader: public(leader),
            parent: (View::zero(), ZERO),
        },
        height: 1,
        timestamp_ms: 1,
        randomness: Randomness::default(),
        chunks: vec![header(0), header(1)],
        endorsements: vec![Endorsements::default(); 2],
    };
    block.encode()
}

/// What peers sent; the channel ends after it.
#[derive(Clone, Debug, Default)]
struct Feed(Arc<Mutex<VecDeque<(PublicKey, Bytes)>>>);

impl Receiver for Feed {
    type Error = fmt::Error;
    type PublicKey = PublicKey;

    async fn recv(&mut self) -> Result<Message<PublicKey>, fmt::Error> {
        let next = self.0.lock().unwrap().pop_front();
        let (peer, bytes) = next.ok_or(fmt::Error)?;
        Ok((peer, bytes.into()))
    }

    fn capacity(&self) -> NonZeroUsize {
        NonZeroUsize::MIN
    }
}

/// Notes who is cut off.
#[derive(Clone, Debug, Default)]
struct CutOff(Arc<Mutex<Vec<PublicKey>>>);

impl Blocker for CutOff {
    type PublicKey = PublicKey;

    fn block(&mut self, peer: PublicKey) -> Feedback {
        self.0.lock().unwrap().push(peer);
        Feedback::Ok
    }

    fn blocked(&mut self) -> BlockedSubscription<PublicKey> {
        let (_, nothing) = ring::channel(NZUsize!(1));
        nothing
    }
}

/// Runs a test on the channel of a node, with what peers send on it and who is cut
/// off.
fn run<F>(test: F)
where
    F: AsyncFnOnce(
        deterministic::Context,
        NewBlocks<Feed, deterministic::Context, CutOff>,
        Feed,
        CutOff,
    ),
{
    deterministic::Runner::default().start(|context| async move {
        let (feed, cut_off) = (Feed::default(), CutOff::default());
        let clock = context.child("clock");
        let blocks = NewBlocks::new(feed.clone(), identity(), clock, cut_off.clone());
        test(context, blocks, feed, cut_off).await;
    });
}

/// How many blocks are let through of what was sent.
async fn through<R: Receiver>(blocks: &mut R) -> usize {
    let mut count = 0;
    while blocks.recv().await.is_ok() {
        count += 1;
    }
    count
}

#[test]
fn whoever_sends_what_no_leader_sends_is_cut_off() {
    let own = |place| block(place, 7);
    let version = |bytes: Bytes| {
        let mut bytes = bytes.to_vec();
        bytes[0] ^= 1;
        Bytes::from(bytes)
    };
    let cases = [
        ("a leader's block", 1, own(1), false),
        ("another leader's block", 1, own(2), true),
        ("a chunk validator's block", VOTERS, own(VOTERS), true),
        ("a stranger's block", 9, own(9), true),
        ("a block from a chunk validator", VOTERS, own(1), true),
        ("nothing", 1, Bytes::new(), true),
        ("a head", 1, own(1).slice(..90), true),
        ("another version", 1, version(own(1)), true),
        (
            "less than a block",
            1,
            own(1).slice(..own(1).len() - 1),
            true,
        ),
        (
            "more than a block",
            1,
            [own(1), own(1)].concat().into(),
            true,
        ),
    ];
    for (name, peer, bytes, cut) in cases {
        run(async |_, mut blocks, feed, cut_off| {
            feed.0.lock().unwrap().push_back((public(peer), bytes));
            assert_eq!(through(&mut blocks).await, usize::from(!cut), "{name}");
            let expected: Vec<_> = cut.then(|| public(peer)).into_iter().collect();
            assert_eq!(*cut_off.0.lock().unwrap(), expected, "{name}");
        });
    }
}

#[test]
fn one_leaders_blocks_leave_room_for_those_of_others() {
    run(async |context, mut blocks, feed, cut_off| {
        let pace = pace(4, 100);
        let burst = pace.burst as usize;
        let many = (0..1_000).map(|view| (public(1), block(1, view)));
        feed.0.lock().unwrap().extend(many);
        feed.0.lock().unwrap().push_back((public(2), block(2, 8)));
        assert_eq!(through(&mut blocks).await, burst + 1);
        // With time there is room for more.
        context.sleep(pace.interval * 3).await;
        let many = (0..1_000).map(|view| (public(1), block(1, view)));
        feed.0.lock().unwrap().extend(many);
        assert_eq!(through(&mut blocks).await, 3);
        assert!(cut_off.0.lock().unwrap().is_empty());
    });
}

#[test]
fn a_leaders_turns_are_within_its_pace() {
    for (voters, time, interval, burst) in [
        (1, 100, 16, 32),
        (4, 100, 64, 32),
        (4, 20, 15, 32),
        (4, 1_000, 64, 32),
        (140, 10, 235, 4),
        (140, 300, 2_240, 4),
        (140, 1_000, 2_240, 4),
    ] {
        let pace = pace(voters, time);
        let expected = Pace {
            interval: Duration::from_millis(interval),
            burst,
        };
        assert_eq!(pace, expected, "{voters} voters, {time} ms");
        // A third of the leaders is down, and the others' blocks are as fast as they
        // can be.
        let honest = voters - (voters - 1) / 3;
        assert!(interval <= honest * time);
        // All of the other third together.
        let byzantine = (voters - 1) / 3;
        assert!(byzantine * 1_000 / interval <= 200);
    }
}
