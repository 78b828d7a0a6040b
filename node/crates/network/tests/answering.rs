// SPDX-License-Identifier: Apache-2.0
//! Peers that ask for more than they read, of a node that answers as nodes do, and
//! peers that say nothing to a node that asks as nodes do.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_cryptography::{
    Signer as _,
    ed25519::{PrivateKey, PublicKey},
};
use commonware_p2p::{
    Receiver, Recipients, Sender as _,
    simulated::{Config, Control, Link, Network, Oracle},
};
use commonware_resolver::{Consumer, Delivery, Fetch, TargetedResolver as _, p2p};
use commonware_runtime::{
    Clock as _, Runner as _, Spawner as _, Supervisor as _,
    deterministic::{self, Context},
};
use commonware_utils::{NZDuration, NZUsize, Probability, channel::oneshot, vec::NonEmptyVec};
use prometheus_client::metrics::counter::Counter;
use shardnode_network::{
    Identity, Limits,
    answering::{Counts, Terms, answering},
    channels,
    chunk_requests::Key,
};
use shardnode_primitives::{GenesisDocument, ShardId, hash::ZERO};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// What is answered, whatever is asked: the largest body.
const BODY: usize = 145 * 6_000;
const WITHIN: Duration = Duration::from_secs(2);

fn key(place: usize) -> PrivateKey {
    PrivateKey::from_seed(place as u64)
}

/// Two shards of two producers, and a node that tracks none.
fn identity(me: usize) -> Arc<Identity> {
    let validators: Vec<_> = (0..5)
        .map(|place| {
            let public = key(place).public_key().to_string();
            let (name, stake) = (format!("n{place}"), 1_000);
            if place == 4 {
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
            "executionLag": 1, "minBlockTimeMs": 1_000, "chunkWaitMs": 1000, "maxTransactionsPerChunk": 6_000,
            "mandatesPerShard": 8, "epochLength": 1000, "congestionControl": "Enabled",
            "transferFee": 1, "leastBalance": 1,
        },
        "validators": validators,
    }))
    .unwrap();
    Arc::new(Identity::new(document.check().unwrap(), key(me)).unwrap())
}

/// Answers everything with the largest body, and asks nothing.
#[derive(Clone)]
struct Bodies;

impl p2p::Producer for Bodies {
    type Key = Key;

    fn produce(&mut self, _: Key) -> oneshot::Receiver<Bytes> {
        let (reply, response) = oneshot::channel();
        assert!(reply.send(vec![7; BODY].into()).is_ok());
        response
    }
}

impl Consumer for Bodies {
    type Key = Key;
    type Value = Bytes;
    type Subscriber = ();
    type Outcome = bool;

    fn deliver(&mut self, _: Delivery<Key, ()>, _: Bytes) -> oneshot::Receiver<bool> {
        panic!("nothing was asked for");
    }
}

type Peer = Control<PublicKey, Context>;

async fn links(context: &Context) -> Oracle<PublicKey, Context> {
    let keys: Vec<PublicKey> = (0..5).map(|place| key(place).public_key()).collect();
    let config = Config {
        max_size: 1 << 24,
        max_peers_per_set: NZUsize!(5),
        disconnect_on_block: true,
        tracked_peer_sets: NZUsize!(1),
    };
    let (network, oracle) =
        Network::new_with_peers(context.child("links"), config, keys.clone()).await;
    network.start();
    for from in &keys {
        for to in keys.iter().filter(|to| *to != from) {
            let link = Link {
                latency: Duration::from_millis(5),
                jitter: Duration::ZERO,
                success_rate: Probability::try_from(1.0).unwrap(),
            };
            oracle
                .add_link(from.clone(), to.clone(), link)
                .await
                .unwrap();
        }
    }
    oracle
}

/// A node that answers, with or without a bound, and how many questions it
/// refused. It asks as long as the mailbox is there.
async fn answers(
    context: &Context,
    oracle: &Oracle<PublicKey, Context>,
    terms: Option<Terms>,
) -> (Counter, p2p::Mailbox<Key, PublicKey, ()>) {
    let identity = identity(0);
    let me = identity.key.public_key();
    let control = oracle.control(me.clone());
    let quota = Limits::of(&identity).quota(channels::CHUNK_REQUESTS);
    let channel = control
        .register(channels::CHUNK_REQUESTS, quota)
        .await
        .unwrap();
    let (engine, mailbox) = p2p::Engine::new(
        context.child("engine"),
        p2p::Config {
            peer_provider: oracle.manager(),
            blocker: control.clone(),
            consumer: Bodies,
            producer: Bodies,
            mailbox_size: NZUsize!(16),
            me: Some(me),
            fetch_timeout: NZDuration!(Duration::from_secs(2)),
            fetch_retry_delay: Duration::from_millis(200),
            priority_requests: false,
            priority_responses: false,
        },
    );
    let counts = Counts::default();
    match terms {
        Some(terms) => {
            let clock = context.child("answering");
            drop(engine.start(answering(channel, terms, control, clock, counts.clone())));
        }
        None => drop(engine.start(channel)),
    }
    (counts.refused, mailbox)
}

/// Bytes that a peer is sent which asks so many times every 50 ms.
async fn asks(context: &Context, control: &Peer, question: Key, times: usize) -> usize {
    let quota = Limits::of(&identity(0)).quota(channels::CHUNK_REQUESTS);
    let channel = control.register(channels::CHUNK_REQUESTS, quota);
    let (mut sender, mut receiver) = channel.await.unwrap();
    let received = Arc::new(AtomicUsize::new(0));
    let reader = context.child("reader").spawn({
        let received = received.clone();
        move |_| async move {
            while let Ok((_, answer)) = receiver.recv().await {
                received.fetch_add(answer.as_ref().len(), Ordering::Relaxed);
            }
        }
    });
    let to = Recipients::One(key(0).public_key());
    let ends = context.current() + WITHIN;
    let mut number = 0u64;
    while context.current() < ends {
        for _ in 0..times {
            let mut message = number.to_be_bytes().to_vec();
            message.push(0);
            message.extend(question.encode());
            sender.send(to.clone(), message, false);
            number += 1;
        }
        context.sleep(Duration::from_millis(50)).await;
    }
    reader.abort();
    received.load(Ordering::Relaxed)
}

fn body(shard: u16) -> Key {
    Key::Body {
        shard: ShardId(shard),
        height: 5,
        hash: ZERO,
    }
}

fn received(terms: Option<Terms>, asker: usize, question: Key, times: usize) -> (usize, u64) {
    let config = deterministic::Config::new().with_cycle(Duration::from_micros(10));
    deterministic::Runner::new(config).start(|context| async move {
        let oracle = links(&context).await;
        let (refused, _asks) = answers(&context, &oracle, terms).await;
        let control = oracle.control(key(asker).public_key());
        let received = asks(&context, &control, question, times).await;
        (received, refused.get())
    })
}

#[test]
fn a_peer_is_answered_what_it_is_allowed_and_no_more() {
    let terms = Terms::chunks(&identity(0));
    let allowance = terms.allowance();
    let allowed = allowance.bytes + allowance.rate * WITHIN.as_secs();
    let allowed = usize::try_from(allowed).unwrap();
    let (unbounded, _) = received(None, 1, body(0), 20);
    assert!(
        unbounded > 10 * allowed,
        "{unbounded} bytes, {allowed} allowed"
    );
    let (bounded, refused) = received(Some(terms), 1, body(0), 20);
    assert!(bounded <= allowed, "{bounded} bytes, {allowed} allowed");
    assert!(bounded > allowed / 2, "{bounded} bytes, {allowed} allowed");
    assert!(refused > 0);
}

#[test]
fn a_peer_without_a_use_for_an_answer_has_none() {
    let part = Key::Part {
        shard: ShardId(0),
        height: 5,
        index: 0,
        root: ZERO,
    };
    let receipts = |destination| Key::Bucket {
        source: ShardId(1),
        height: 5,
        destination: ShardId(destination),
        root: ZERO,
    };
    for (name, asker, question, answered) in [
        ("a body of the own shard", 1, body(0), true),
        ("a body of another shard", 2, body(0), false),
        ("a body, by who tracks no shard", 4, body(0), false),
        ("a part, by who votes", 2, part, true),
        ("a part, by who does not", 4, part, false),
        ("receipts for the own shard", 1, receipts(0), true),
        ("receipts for another shard", 2, receipts(0), false),
    ] {
        let (bytes, refused) = received(Some(Terms::chunks(&identity(0))), asker, question, 1);
        assert_eq!(bytes >= BODY, answered, "{name}: {bytes} bytes");
        assert_eq!(refused == 0, answered, "{name}");
    }
}

/// What a node does about one message of a peer: how many peers it has cut off.
fn cut_off(message: &[u8]) -> usize {
    let config = deterministic::Config::new().with_cycle(Duration::from_micros(10));
    deterministic::Runner::new(config).start(|context| async move {
        let oracle = links(&context).await;
        let terms = Some(Terms::chunks(&identity(0)));
        let (_, _asks) = answers(&context, &oracle, terms).await;
        let control = oracle.control(key(1).public_key());
        let quota = Limits::of(&identity(0)).quota(channels::CHUNK_REQUESTS);
        let channel = control.register(channels::CHUNK_REQUESTS, quota);
        let (mut sender, _receiver) = channel.await.unwrap();
        let to = Recipients::One(key(0).public_key());
        sender.send(to, message.to_vec(), false);
        context.sleep(Duration::from_secs(1)).await;
        oracle.blocked().await.unwrap().len()
    })
}

#[test]
fn who_sends_what_is_no_message_is_cut_off() {
    let question = [&[0; 9][..], &body(0).encode()[..]].concat();
    assert_eq!(cut_off(&question), 0);
    let nothing = [&[0; 8][..], &[2]].concat();
    assert_eq!(cut_off(&nothing), 0, "an answer that nobody waits for");
    let longer = [&question[..], &[0]].concat();
    for (name, message) in [
        ("no number", &question[..7]),
        ("neither question nor answer", &[3; 9]),
        ("no key", &question[..9]),
        ("a short key", &question[..20]),
        ("a long key", &longer),
    ] {
        assert_eq!(cut_off(message), 1, "{name}");
    }
}

/// Answers at once until it falls silent, and takes every answer.
#[derive(Clone, Default)]
struct Moody {
    silent: Arc<AtomicBool>,
    unanswered: Arc<Mutex<Vec<oneshot::Sender<Bytes>>>>,
    answered: Arc<AtomicUsize>,
    counts: Counts,
}

impl p2p::Producer for Moody {
    type Key = Key;

    fn produce(&mut self, _: Key) -> oneshot::Receiver<Bytes> {
        let (reply, response) = oneshot::channel();
        if self.silent.load(Ordering::Relaxed) {
            self.unanswered.lock().unwrap().push(reply);
        } else {
            assert!(reply.send(vec![7; 1_000].into()).is_ok());
        }
        response
    }
}

impl Consumer for Moody {
    type Key = Key;
    type Value = Bytes;
    type Subscriber = ();
    type Outcome = bool;

    fn deliver(&mut self, _: Delivery<Key, ()>, _: Bytes) -> oneshot::Receiver<bool> {
        self.answered.fetch_add(1, Ordering::Relaxed);
        let (reply, response) = oneshot::channel();
        assert!(reply.send(true).is_ok());
        response
    }
}

/// A node that asks and answers, and what it leaves without an answer.
async fn moody(
    context: &Context,
    oracle: &Oracle<PublicKey, Context>,
    place: usize,
) -> (Moody, p2p::Mailbox<Key, PublicKey, ()>) {
    let identity = identity(place);
    let me = identity.key.public_key();
    let control = oracle.control(me.clone());
    let quota = Limits::of(&identity).quota(channels::CHUNK_REQUESTS);
    let channel = control.register(channels::CHUNK_REQUESTS, quota);
    let channel = channel.await.unwrap();
    let moody = Moody::default();
    let context = context.child("moody").with_attribute("place", place);
    let (engine, mailbox) = p2p::Engine::new(
        context.child("engine"),
        p2p::Config {
            peer_provider: oracle.manager(),
            blocker: control.clone(),
            consumer: moody.clone(),
            producer: moody.clone(),
            mailbox_size: NZUsize!(16),
            me: Some(me),
            fetch_timeout: NZDuration!(Duration::from_secs(2)),
            fetch_retry_delay: Duration::from_millis(200),
            priority_requests: false,
            priority_responses: false,
        },
    );
    let terms = Terms::chunks(&identity);
    let clock = context.child("answering");
    let channel = answering(channel, terms, control, clock, moody.counts.clone());
    drop(engine.start(channel));
    (moody, mailbox)
}

/// How long the first thing is waited for that one peer keeps silent about and
/// another one gives.
fn waits(seed: u64) -> Duration {
    let config = deterministic::Config::new().with_seed(seed);
    deterministic::Runner::new(config).start(|context| async move {
        let oracle = links(&context).await;
        let (asker, mut fetcher) = moody(&context, &oracle, 0).await;
        let (silent, _kept) = moody(&context, &oracle, 2).await;
        let _other = moody(&context, &oracle, 3).await;
        silent.silent.store(true, Ordering::Relaxed);
        let wanted = Key::Bucket {
            source: ShardId(1),
            height: 5,
            destination: ShardId(0),
            root: ZERO,
        };
        let holders = [2, 3].map(|place| key(place).public_key()).to_vec();
        let began = context.current();
        let holders = NonEmptyVec::try_from(holders).unwrap();
        fetcher.fetch_targeted(Fetch::from(wanted), holders);
        while asker.answered.load(Ordering::Relaxed) == 0 {
            context.sleep(Duration::from_millis(1)).await;
        }
        context.current().duration_since(began).unwrap()
    })
}

/// A silent peer costs one time-out, and never two for one thing.
#[test]
fn who_says_nothing_is_not_asked_for_the_same_again() {
    let waits: Vec<_> = (0..32).map(waits).collect();
    let silent = |waited: &&Duration| **waited > Duration::from_secs(2);
    assert!(waits.iter().any(|waited| !silent(&waited)), "{waits:?}");
    assert!(waits.iter().any(|waited| silent(&waited)), "{waits:?}");
    let longest = waits.iter().max().unwrap();
    assert!(*longest < Duration::from_millis(2_300), "{waits:?}");
}

/// Two nodes that ask each other for much leave nothing without an answer: each asks
/// as fast as the other one can answer beside its own questions.
#[test]
fn who_asks_much_is_answered_or_told_that_there_is_nothing() {
    const MUCH: u64 = 600;
    let config = deterministic::Config::new().with_cycle(Duration::from_micros(10));
    deterministic::Runner::new(config).start(|context| async move {
        let oracle = links(&context).await;
        // Of each shard one.
        let (nodes, shards) = ([0, 2], [ShardId(0), ShardId(1)]);
        let mut asking = Vec::new();
        for place in nodes {
            asking.push(moody(&context, &oracle, place).await);
        }
        for height in 0..MUCH {
            for (place, (_, fetcher)) in asking.iter_mut().enumerate() {
                let wanted = Key::Bucket {
                    source: shards[1 - place],
                    height,
                    destination: shards[place],
                    root: ZERO,
                };
                let holder = key(nodes[1 - place]).public_key();
                let holder = NonEmptyVec::try_from(vec![holder]).unwrap();
                fetcher.fetch_targeted(Fetch::from(wanted), holder);
            }
            context.sleep(Duration::from_micros(100)).await;
        }
        let began = context.current();
        let done = |moody: &Moody| moody.answered.load(Ordering::Relaxed) as u64 == MUCH;
        while !asking.iter().all(|(moody, _)| done(moody)) {
            context.sleep(Duration::from_millis(10)).await;
            let waited = context.current().duration_since(began).unwrap();
            assert!(waited < Duration::from_secs(10));
        }
        for (moody, _) in &asking {
            assert_eq!(moody.counts.unanswered.get(), 0);
        }
    });
}
