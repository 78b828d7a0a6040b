// SPDX-License-Identifier: Apache-2.0
//! One actor, the ends of all that it talks to, and what its peers send.

use crate::peers::{Feed, Nowhere, Recorder, Sent, key};
use commonware_codec::Encode as _;
use commonware_cryptography::{
    Signer as _,
    ed25519::{PrivateKey, PublicKey},
};
use commonware_p2p::utils::StaticProvider;
use commonware_resolver::p2p as resolver;
use commonware_runtime::{
    Clock as _, Handle, Runner as _, Strategizer as _, Supervisor as _,
    deterministic::{self, Context},
};
use commonware_utils::{NZDuration, NZUsize, channel::mpsc};
use futures::FutureExt as _;
use prometheus_client::registry::Registry;
use shardnode_availability::{Actor, Metrics, Parts, held_parts, serving};
use shardnode_mailboxes::{
    availability::{self, Collected, Missing, Wanted},
    bodies, ledger, witness_validator,
};
use shardnode_network::{Committees, Identity, chunk_messages::ChunkMessage, chunk_requests::Key};
use shardnode_primitives::{ChunkHeader, Endorsement, Genesis, ShardId, ShardTotals, hash::ZERO};
use std::{
    pin::Pin,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

/// The height of everything.
pub(crate) const HEIGHT: u64 = 1;

type Engine = resolver::Engine<
    Context,
    PublicKey,
    StaticProvider<PublicKey>,
    Recorder,
    Key,
    serving::Answers,
    serving::Server,
>;

/// A leader that waits.
pub(crate) type Collecting = Pin<Box<dyn Future<Output = Vec<Result<Collected, Missing>>> + Send>>;

/// An actor that was not started, and the ends of all that it talks to: they
/// stay open.
pub(crate) struct Fixture {
    pub(crate) context: Context,
    pub(crate) identity: Arc<Identity>,
    pub(crate) mailbox: availability::Mailbox,
    /// What peers sent on the channel of chunks.
    pub(crate) chunks: Feed,
    /// What peers sent on the channel of endorsements.
    pub(crate) endorsements: Feed,
    /// Who is cut off.
    pub(crate) blocker: Recorder,
    /// What the ledger is asked.
    pub(crate) ledger: Option<ledger::Inbox>,
    actor: Option<Actor<Context, Nowhere, Feed, Recorder>>,
    fetcher: serving::Fetcher,
    /// What the actor of bodies is asked.
    pub(crate) bodies: Option<bodies::Inbox>,
    _validator: mpsc::Receiver<witness_validator::Message>,
    _engine: Engine,
    _parts: Handle<Result<(), shardnode_storage::StorageError>>,
}

/// Runs a test with an actor of the validator at this place.
pub(crate) fn run<F, Fut>(genesis: Genesis, me: usize, test: F)
where
    F: FnOnce(Fixture) -> Fut,
    Fut: Future<Output = ()>,
{
    let config = deterministic::Config::new().with_timeout(Some(Duration::from_secs(60)));
    deterministic::Runner::new(config).start(|context| async move {
        test(Fixture::new(context, genesis, me)).await;
    });
}

impl Fixture {
    fn new(context: Context, genesis: Genesis, me: usize) -> Self {
        let identity = Arc::new(Identity::new(genesis, key(me)).unwrap());
        let (bodies, bodies_inbox) = bodies::mailbox();
        let (ledger, ledger_inbox) = ledger::mailbox();
        let (validator, validator_inbox) = witness_validator::mailbox();
        let metrics = Arc::new(Metrics::new(&mut Registry::default()));
        let (parts_actor, parts) = held_parts::Actor::new(None, 10, metrics.clone());
        let (chunks, endorsements) = (Feed::default(), Feed::default());
        let blocker = Recorder::default();
        let (actor, mailbox) = Actor::new(
            context.child("availability"),
            Parts {
                identity: identity.clone(),
                bodies: bodies.clone(),
                ledger: ledger.clone(),
                parts,
                network: (Nowhere, chunks.clone()),
                endorsements: (Nowhere, endorsements.clone()),
                blocker: blocker.clone(),
                validator,
                metrics,
                strategy: context.strategy(NZUsize!(1)),
                traces: shardnode_traces::Recorder::OFF,
            },
        );
        let peers = identity.participants();
        let (engine, fetcher) = resolver::Engine::new(
            context.child("resolver"),
            resolver::Config {
                peer_provider: StaticProvider::new(0, peers),
                blocker: blocker.clone(),
                consumer: serving::Answers(mailbox.clone()),
                producer: serving::Server {
                    bodies,
                    ledger,
                    availability: mailbox.clone(),
                    tracked: identity.tracked(),
                },
                mailbox_size: NZUsize!(16),
                me: Some(identity.key.public_key()),
                fetch_timeout: NZDuration!(Duration::from_secs(2)),
                fetch_retry_delay: Duration::from_millis(200),
                priority_requests: false,
                priority_responses: false,
            },
        );
        Self {
            _parts: parts_actor.start(context.child("parts")),
            context,
            identity,
            mailbox,
            chunks,
            endorsements,
            blocker,
            ledger: Some(ledger_inbox),
            actor: Some(actor),
            fetcher,
            bodies: Some(bodies_inbox),
            _validator: validator_inbox,
            _engine: engine,
        }
    }

    /// Starts the actor. It ends with the context.
    pub(crate) fn start(&mut self) {
        drop(self.actor.take().unwrap().start(self.fetcher.clone()));
    }

    /// Returns when the actor waits for something that it was not sent.
    pub(crate) async fn settle(&self) {
        self.context.sleep(Duration::from_secs(1)).await;
    }

    /// The committees of [`HEIGHT`].
    pub(crate) fn committees(&self) -> Committees {
        Arc::new(self.identity.mandates.deal([7; 32], HEIGHT))
    }

    /// Asks for what a leader proposes for the first of so many shards, that has all
    /// the time there is.
    pub(crate) fn lead(&self, shards: u16) -> Collecting {
        self.lead_for(shards, Duration::from_secs(1_000_000))
    }

    /// [`Fixture::lead`], for so long after the start.
    pub(crate) fn lead_for(&self, shards: u16, patience: Duration) -> Collecting {
        let wanted = Wanted {
            height: HEIGHT,
            anchor: ZERO,
            previous: vec![ZERO; usize::from(shards)],
            committees: self.committees(),
            deadline: UNIX_EPOCH + patience,
        };
        let mailbox = self.mailbox.clone();
        let mut collecting = Box::pin(async move { mailbox.collect(wanted).await });
        assert!((&mut collecting).now_or_never().is_none());
        collecting
    }

    /// The place of the producer of `shard` whose turn it is.
    pub(crate) fn producer(&self, shard: u16) -> usize {
        let genesis = &self.identity.genesis;
        let producer = genesis.producer_at(ShardId(shard), HEIGHT).unwrap();
        let mut producers = genesis.producers.iter();
        producers.position(|one| one == producer).unwrap()
    }

    /// The header of a chunk without transactions, of whose turn it is.
    pub(crate) fn header(&self, shard: u16) -> ChunkHeader {
        self.header_at(shard, HEIGHT)
    }

    /// [`Fixture::header`], for another height.
    pub(crate) fn header_at(&self, shard: u16, height: u64) -> ChunkHeader {
        let totals = ShardTotals::genesis(ZERO, 0);
        let header = ChunkHeader::genesis(ShardId(shard), totals);
        let mut content = header.unwrap().content;
        content.height = height;
        let key = key(self.producer(shard));
        ChunkHeader::sign(content, &key, &self.identity.namespaces)
    }

    /// A header, as it is sent by its producer.
    pub(crate) fn sent(&self, header: &ChunkHeader) -> Sent {
        let producer = self.producer(header.content.shard.0);
        let message = ChunkMessage::Header(header.clone());
        (key(producer).public_key(), message.encode())
    }

    /// The endorsements of `header` by all members of its committee but this
    /// node.
    pub(crate) fn endorsed(&self, header: &ChunkHeader, committees: &Committees) -> Vec<Sent> {
        let validators = self.identity.genesis.producers.len();
        let keys: Vec<PrivateKey> = (0..validators).map(key).collect();
        let members = committees[header.content.shard.index()].members().iter();
        let others = members.filter(|member| member.validator != self.identity.key.public_key());
        let endorse = |member: &PublicKey| {
            let key = keys.iter().find(|key| key.public_key() == *member);
            let namespaces = &self.identity.namespaces;
            Endorsement::sign(header, key.unwrap(), namespaces).encode()
        };
        others
            .map(|member| (member.validator.clone(), endorse(&member.validator)))
            .collect()
    }
}
