// SPDX-License-Identifier: Apache-2.0
//! Puts a node together: storage, consensus, and the actors of all crates.
//!
//! ```text
//!            votes, certificates            blocks                chunks, receipts        parts of witnesses
//!                   │                          │                   endorsements                   │
//!               simplex ◄──── Application   marshal                     │                         │
//!                                  │           │ finalised              ▼                         ▼
//!                                  │           │                   availability ◄──────── witness_validator
//!                                  │           ▼                        │  ▲
//!                                  └──────► ledger ◄──────────────── bodies └── producer ──► witness_maker
//!                                              │                                ▲
//!                                              └── ChainView ──► clients ──► pool ◄── generator
//! ```
//!
//! An archive also has the [`shardnode_archive`] of all shards' states, beside the
//! ledger of a node that tracks none. Availability also keeps the own parts of
//! other shards' bodies, in parts. Who waits for whom is specified in
//! [`shardnode_mailboxes`].

use crate::{
    application::{Application, leader_timeout},
    error::ChainError,
    floors,
    metrics::Metrics,
    offences::Lenient,
    rounds::{Certificates, Rounds},
    settings::Settings,
    settling::Settling,
};
use bytes::Bytes;
use commonware_broadcast::buffered;
use commonware_consensus::{
    Reporters,
    marshal::{self, Start, core, resolver::p2p as block_resolver, standard::Inline},
    simplex::{
        self,
        config::{Floor, ForwardPolicy, SkipBudget, SkipPolicy},
        elector::RoundRobin,
        scheme::ed25519::Scheme,
    },
    types::{Epoch, FixedEpocher, ViewDelta},
};
use commonware_cryptography::{
    Digested, Signer as _, certificate::ConstantProvider, certificate::Verifier as _,
    ed25519::PublicKey,
};
use commonware_p2p::{Blocker, Provider, Receiver, Sender};
use commonware_resolver::{Consumer, p2p as resolver};
use commonware_runtime::{Handle, buffer::paged::CacheRef};
use commonware_storage::{archive::prunable, translator::EightCap};
use commonware_utils::{NZDuration, NZU16, NZU64, NZUsize, channel::watch};
use shardnode_archive::{self as archive, Standing};
use shardnode_availability::{self as availability, bodies, held_parts, serving};
use shardnode_blocks::{ChainView, GenesisState, History, Marshal, kept::Kept};
use shardnode_clients as clients;
use shardnode_ledger as ledger;
use shardnode_load::generator::Generator;
use shardnode_mailboxes::{
    self as mailboxes, Runtime,
    ledger::{CLOSE, Lack, PENDING_ACKS, Tracked},
    snapshots::Shelves,
    state_sync::Progress,
};
use shardnode_network::{
    Channels, Identity, Limits,
    answering::{Terms, answering},
    new_blocks::NewBlocks,
};
use shardnode_production::{
    generator::{self, Control},
    pool, producer, witness_maker,
};
use shardnode_state_sync as state_sync;
use shardnode_storage::{BodyStore, BodyStoreConfig, Log, LogConfig};
use shardnode_traces::Recorder;
use shardnode_validation as validation;
use std::{
    num::{NonZeroU64, NonZeroUsize},
    sync::Arc,
    time::Duration,
};

/// Page size of everything stored: 4,096 with the 12 bytes of checksums.
/// Another size cannot read what this one wrote.
const PAGE: u16 = 4_084;
/// Cached pages for all of consensus.
const PAGES: usize = 4_096;
const BUFFER: NonZeroUsize = NZUsize!(1 << 20);
const MAILBOX: NonZeroUsize = NZUsize!(1_024);
/// Blocks of other validators that are kept before they are asked for.
const BLOCKS_PER_PEER: usize = 16;
/// Views whose artefacts are kept.
const VIEWS: ViewDelta = ViewDelta::new(64);
/// Blocks that are fetched side by side to catch up.
const REPAIR: NonZeroUsize = NZUsize!(32);
/// One epoch for the life of a network.
const EPOCH_LENGTH: u64 = u64::MAX / 2;

/// What a running node can be asked.
#[derive(Clone)]
pub struct Node {
    /// Who it is.
    pub identity: Arc<Identity>,
    /// The chain as of the last finalised block it processed.
    pub view: watch::Receiver<Arc<ChainView>>,
    /// Serves clients.
    pub client: clients::Client,
    /// Where the own shard's state stands; `None` for a node that tracks none.
    pub tracked: watch::Receiver<Option<Tracked>>,
    /// What its copy of the shard lacked when it processed the last block; see
    /// [`Node::lacks`].
    copy: watch::Receiver<Vec<Lack>>,
    /// Knows the finalised tip.
    ledger: mailboxes::ledger::Mailbox,
    /// How far a node is that fetches a state to go on from; `None` for one
    /// that executes.
    pub syncing: watch::Receiver<Option<Progress>>,
    /// What is archived of each shard; of none by a node that is no archive.
    pub archived: watch::Receiver<Vec<Standing>>,
    /// Finalised blocks.
    pub marshal: Marshal,
    /// The generator; only a producer has one.
    pub load: Option<Control>,
    /// What it measures.
    pub metrics: Arc<Metrics>,
}

impl Node {
    /// What keeps this node's copy of its shard from being
    /// [complete](shardnode_ledger#copies); `None` for a node that tracks no
    /// shard.
    #[must_use]
    pub fn lacks(&self) -> Option<Vec<Lack>> {
        self.identity.tracked()?;
        let mut lacks = self.copy.borrow().clone();
        let (processed, tip) = (self.view.borrow().height(), self.ledger.tip());
        if processed.saturating_add(CLOSE) < tip || self.syncing.borrow().is_some() {
            lacks.insert(0, Lack::Execution { processed, tip });
        }
        Some(lacks)
    }

    /// Returns when the ledger has answered a question, whatever the answer.
    pub async fn ledger_answers(&self) {
        let _ = self.ledger.outcome(shardnode_primitives::hash::ZERO).await;
    }

    /// Returns when the store of finalised blocks has answered a question.
    pub async fn marshal_answers(&self) {
        let _ = self.marshal.get_processed().await;
    }
}

/// What a node is made of.
pub struct Parts<S, R, P, B>
where
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
{
    /// Who it is.
    pub identity: Arc<Identity>,
    /// Its own settings.
    pub settings: Settings,
    /// The state at height 0.
    pub genesis: Arc<GenesisState>,
    /// The generator of a producer.
    pub generator: Option<Generator>,
    /// What it measures.
    pub metrics: Arc<Metrics>,
    /// Prefix of everything it stores.
    pub partition: String,
    /// Its connections.
    pub channels: Channels<S, R>,
    /// Who it is connected to.
    pub peers: P,
    /// Cuts misbehaving peers off.
    pub blocker: B,
    /// Takes the spans of its actors.
    pub traces: Recorder,
}

/// A started node: what it can be asked, and the tasks it consists of, each of
/// which ends only if the node cannot go on.
pub struct Started {
    /// What it can be asked.
    pub node: Node,
    /// Its tasks.
    pub tasks: Vec<Handle<Result<(), ChainError>>>,
}

/// Starts a node. It runs as a child of `context` until one of its tasks ends.
pub async fn start<E, S, R, P, B>(
    context: E,
    parts: Parts<S, R, P, B>,
) -> Result<Started, ChainError>
where
    E: Runtime,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    P: Provider<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
{
    let Parts {
        identity,
        settings,
        genesis,
        generator,
        metrics,
        partition,
        channels,
        peers,
        blocker,
        traces,
    } = parts;
    let me = identity.key.public_key();
    let channels = channels.bounded(&Limits::of(&identity), &blocker);
    let answering = |channel, terms, name: &'static str| {
        let clock = context.child("answering").with_attribute("channel", name);
        answering(
            channel,
            terms,
            blocker.clone(),
            clock,
            metrics.requests(name),
        )
    };
    let strategy = context.strategy(settings.cpu_threads);
    let client_signatures = clients::Signatures::new(
        strategy.clone(),
        settings.cpu_threads,
        context.child("signatures"),
    );
    let pages = CacheRef::new(NZU16!(PAGE), NZUsize!(PAGES));
    let storage_error = |source| ChainError::Storage {
        shard: identity
            .tracked()
            .unwrap_or(shardnode_primitives::ShardId(0)),
        source,
    };
    let mut tasks = Vec::new();

    // Bodies of the own shard.
    let store = BodyStore::open(
        context.child("bodies"),
        BodyStoreConfig {
            partition: format!("{partition}-bodies"),
            page_cache: pages.clone(),
        },
    )
    .await
    .map_err(storage_error)?;
    let (bodies_actor, bodies) = bodies::Actor::new(
        identity.clone(),
        settings.signature_batch,
        strategy.clone(),
        store,
    );
    let handle = bodies_actor.start(context.child("bodies_actor"));
    tasks.push(watch_task(&context, "bodies", handle, {
        let shard = identity
            .tracked()
            .unwrap_or(shardnode_primitives::ShardId(0));
        move |source| ChainError::Storage { shard, source }
    }));

    // Parts of the bodies of other shards.
    let store = match identity.tracked() {
        Some(_) if settings.save_parts => {
            let config = BodyStoreConfig {
                partition: format!("{partition}-parts"),
                page_cache: pages.clone(),
            };
            let store = BodyStore::open(context.child("parts"), config).await;
            Some(store.map_err(storage_error)?)
        }
        _ => None,
    };
    let (parts_actor, own_parts) =
        held_parts::Actor::new(store, settings.retention, metrics.availability.clone());
    let handle = parts_actor.start(context.child("parts_actor"));
    tasks.push(watch_task(&context, "parts", handle, {
        let shard = identity
            .tracked()
            .unwrap_or(shardnode_primitives::ShardId(0));
        move |source| ChainError::Storage { shard, source }
    }));

    // Chunks in flight.
    let (validator, validator_inbox) = mailboxes::witness_validator::mailbox();
    let (ledger, inbox) = mailboxes::ledger::mailbox();
    let (availability_actor, availability) = availability::Actor::new(
        context.child("availability"),
        availability::Parts {
            identity: identity.clone(),
            bodies: bodies.clone(),
            ledger: ledger.clone(),
            parts: own_parts,
            network: channels.chunks,
            endorsements: channels.endorsements,
            blocker: blocker.clone(),
            validator: validator.clone(),
            metrics: metrics.availability.clone(),
            strategy: strategy.clone(),
            traces: traces.clone(),
        },
    );
    let (chunk_engine, fetcher) = resolver::Engine::new(
        context.child("chunk_resolver"),
        resolver_config(
            &peers,
            &blocker,
            &me,
            serving::Answers(availability.clone()),
            serving::Server {
                bodies: bodies.clone(),
                ledger: ledger.clone(),
                availability: availability.clone(),
                tracked: identity.tracked(),
            },
        ),
    );
    tasks.push(plain_task(
        &context,
        "chunk resolver",
        chunk_engine.start(answering(
            channels.chunk_requests,
            Terms::chunks(&identity),
            "chunks",
        )),
    ));
    tasks.push(plain_task(
        &context,
        "availability",
        availability_actor.start(fetcher),
    ));

    // States, for producers that have none or an old one, and for archives.
    let archives = identity.is_archive(&me);
    let (state_sync, state_sync_inbox) = mailboxes::state_sync::mailbox();
    let shelves = Shelves::of(
        identity
            .genesis
            .layout
            .iter()
            .filter(|shard| archives || identity.tracked() == Some(*shard)),
    );
    let (state_engine, state_fetcher) = resolver::Engine::new(
        context.child("state_resolver"),
        resolver_config(
            &peers,
            &blocker,
            &me,
            state_sync.clone(),
            state_sync::Server {
                identity: identity.clone(),
                shelves: shelves.clone(),
                metrics: metrics.state_sync.clone(),
            },
        ),
    );
    tasks.push(plain_task(
        &context,
        "state resolver",
        state_engine.start(answering(
            channels.state_requests,
            Terms::states(&identity),
            "states",
        )),
    ));

    // Chunk production.
    let mut pool_mailbox = None;
    let mut producer_mailbox = None;
    let mut load = None;
    if let Some(me) = identity.producer.clone() {
        let (actor, witnesses) = witness_maker::Actor::new(
            identity.clone(),
            bodies.clone(),
            channels.witnesses.0.clone(),
            metrics.production.clone(),
            strategy.clone(),
            traces.clone(),
        );
        tasks.push(plain_task(
            &context,
            "witness maker",
            actor.start(context.child("witness_maker")),
        ));
        let (pool_actor, pool) = pool::Actor::new(
            settings.mempool,
            &identity.genesis,
            me.shard,
            metrics.rejections.clone(),
            metrics.production.clone(),
        );
        tasks.push(plain_task(
            &context,
            "pool",
            pool_actor.start(context.child("pool")),
        ));
        let (actor, mailbox) = producer::Actor::new(
            context.child("producer"),
            format!("{partition}-produced"),
            producer::Parts {
                identity: identity.clone(),
                me,
                adaptive_chunk_size: settings.adaptive_chunk_size,
                availability: availability.clone(),
                witnesses,
                bodies: bodies.clone(),
                pool: pool.clone(),
                metrics: metrics.production.clone(),
                genesis: genesis.digest,
                strategy: strategy.clone(),
                traces: traces.clone(),
            },
        )
        .await
        .map_err(ChainError::Producer)?;
        let handle = actor.start(context.child("producer_actor"), genesis.block.clone());
        tasks.push(watch_task(
            &context,
            "producer",
            handle,
            ChainError::Producer,
        ));
        if let Some(generator) = generator {
            let (actor, control) = generator::Actor::new(
                format!("{partition}-stock"),
                identity.clone(),
                generator,
                ledger.clone(),
                pool.clone(),
                strategy.clone(),
                metrics.production.clone(),
            );
            tasks.push(plain_task(
                &context,
                "generator",
                actor.start(context.child("generator")),
            ));
            load = Some(control);
        }
        producer_mailbox = Some(mailbox);
        pool_mailbox = Some(pool);
    }

    // Blocks: stored, ordered, fetched.
    let participants = identity.participants();
    let scheme = match Scheme::signer(
        &identity.namespaces.consensus,
        participants.clone(),
        identity.key.clone(),
    ) {
        Some(scheme) => scheme,
        None => Scheme::verifier(&identity.namespaces.consensus, participants),
    };
    let epocher = FixedEpocher::new(NZU64!(EPOCH_LENGTH));
    let finalizations = prunable::Archive::init(
        context.child("finalizations"),
        archive_config(
            &format!("{partition}-finalizations"),
            &pages,
            settings.block_section,
            Scheme::certificate_codec_config_unbounded(),
        ),
    )
    .await
    .map_err(ChainError::Archive)?;
    let blocks = prunable::Archive::init(
        context.child("blocks"),
        archive_config(
            &format!("{partition}-blocks"),
            &pages,
            settings.block_section,
            identity.block_limits(),
        ),
    )
    .await
    .map_err(ChainError::Archive)?;
    let (marshal_actor, marshal, _) = core::Actor::init(
        context.child("marshal"),
        finalizations,
        blocks,
        marshal::Config {
            provider: ConstantProvider::new(scheme.clone()),
            epocher: epocher.clone(),
            start: Start::Genesis(Digested::precomputed(genesis.block.clone(), genesis.digest)),
            partition_prefix: format!("{partition}-marshal"),
            mailbox_size: MAILBOX,
            view_retention: VIEWS,
            prunable_items_per_section: NZU64!(1_024),
            page_cache: pages.clone(),
            replay_buffer: BUFFER,
            key_write_buffer: BUFFER,
            value_write_buffer: BUFFER,
            block_codec_config: identity.block_limits(),
            max_repair: REPAIR,
            max_pending_acks: NZUsize!(PENDING_ACKS),
            strategy: strategy.clone(),
        },
    )
    .await;
    let (block_engine, buffer) = buffered::Engine::new(
        context.child("broadcast"),
        buffered::Config {
            public_key: me.clone(),
            mailbox_size: MAILBOX,
            deque_size: BLOCKS_PER_PEER,
            priority: true,
            codec_config: identity.block_limits(),
            peer_provider: peers.clone(),
            strategy: strategy.clone(),
        },
    );
    let blocks = NewBlocks::new(
        channels.blocks.1,
        identity.clone(),
        context.child("new_blocks"),
        blocker.clone(),
    );
    tasks.push(plain_task(
        &context,
        "block broadcast",
        block_engine.start((channels.blocks.0, blocks)),
    ));
    let resolver = block_resolver::init(
        context.child("block_resolver"),
        block_resolver::Config {
            public_key: me,
            peer_provider: peers.clone(),
            blocker: blocker.clone(),
            mailbox_size: MAILBOX,
            fetch_timeout: NZDuration!(Duration::from_secs(2)),
            fetch_retry_delay: Duration::from_millis(200),
            priority_requests: false,
            priority_responses: false,
        },
        answering(channels.block_requests, Terms::blocks(&identity), "blocks"),
    );

    // The own shard's state.
    let storage = match identity.tracked() {
        Some(_) => Some(
            Log::open(
                context.child("log"),
                LogConfig {
                    partition: format!("{partition}-state"),
                    page_cache: pages.clone(),
                },
            )
            .await
            .map_err(storage_error)?,
        ),
        None => None,
    };
    let first = ChainView::new(&identity.genesis, genesis.block.clone(), genesis.digest);
    let (view_sender, view) = watch::channel(Arc::new(first));
    let (tracked_sender, tracked) = watch::channel(None);
    let (lacks_sender, lacks) = watch::channel(vec![Lack::Following]);
    let signature_batch = settings.signature_batch;
    let ledger_actor = ledger::Actor::new(
        context.child("ledger"),
        ledger::Parts {
            identity: identity.clone(),
            snapshot_interval: settings.snapshot_interval,
            retention: settings.retention,
            genesis: genesis.clone(),
            availability: availability.clone(),
            bodies: bodies.clone(),
            marshal: marshal.clone(),
            storage,
            validator,
            producer: producer_mailbox,
            view: view_sender,
            tracked: tracked_sender,
            lacks: lacks_sender,
            parts_durable: settings.save_parts,
            block_metrics: metrics.blocks.clone(),
            metrics: metrics.ledger.clone(),
            strategy: strategy.clone(),
            state_sync: state_sync.clone(),
            shelf: identity
                .tracked()
                .and_then(|shard| shelves.get(shard).cloned())
                .unwrap_or_default(),
            traces: traces.clone(),
        },
        inbox,
    )?;
    let (progress, fetching) = watch::channel(None);
    let state_sync_actor = state_sync::Actor::new(
        context.child("state_sync"),
        state_sync::Parts {
            identity: identity.clone(),
            marshal: marshal.clone(),
            fetcher: state_fetcher,
            progress,
            metrics: metrics.state_sync.clone(),
            strategy: strategy.clone(),
        },
        state_sync_inbox,
    );
    tasks.push(plain_task(&context, "state sync", state_sync_actor.start()));
    let (standings, archived) = watch::channel(Vec::new());
    // An archive that fetches a state lacks none.
    let syncing = if archives {
        let parts = archive::Parts {
            snapshot_interval: settings.snapshot_interval,
            retention: settings.retention,
            partition: format!("{partition}-archive"),
            page_cache: pages.clone(),
            view: view.clone(),
            state_sync,
            progress: fetching,
            shelves,
            standings,
            metrics: metrics.archive.clone(),
            strategy: strategy.clone(),
        };
        let shards = identity.genesis.layout.iter();
        let actor = archive::Actor::open(context.child("archive"), parts, shards).await?;
        let handle = actor.start();
        tasks.push(watch_task(&context, "archive", handle, ChainError::from));
        watch::channel(None).1
    } else {
        fetching
    };
    let handle = ledger_actor.start();
    tasks.push(watch_task(&context, "ledger", handle, ChainError::from));
    tasks.push(plain_task(
        &context,
        "marshal",
        marshal_actor.start(ledger.clone(), buffer, resolver),
    ));
    let floors_actor = floors::Actor::new(
        context.child("floors"),
        floors::Parts {
            marshal: marshal.clone(),
            ledger: ledger.clone(),
            others: identity.other_participants(),
            kept: kept(&identity, &settings),
        },
    );
    tasks.push(plain_task(&context, "floors", floors_actor.start()));

    // A committee member's work.
    let genesis_block = Digested::precomputed(genesis.block.clone(), genesis.digest);
    let validator_actor = validation::Actor::new(
        context.child("witness_validator"),
        validation::Parts {
            identity: identity.clone(),
            signature_batch,
            availability: availability.clone(),
            ledger: ledger.clone(),
            history: History::new(genesis_block, marshal.clone()),
            network: channels.witnesses,
            blocker: blocker.clone(),
            metrics: metrics.validation.clone(),
            strategy: strategy.clone(),
            traces: traces.clone(),
        },
        validator_inbox,
    );
    tasks.push(plain_task(
        &context,
        "witness validator",
        validator_actor.start(),
    ));

    // Consensus.
    // Who has no vote judges blocks as well, and nobody waits for that.
    let traces = match &identity.producer {
        Some(_) => traces,
        None => Recorder::OFF,
    };
    let rounds = Rounds::new(traces.clone());
    let application = Application::new(
        identity.clone(),
        genesis.clone(),
        (availability, ledger.clone()),
        metrics.blocks.clone(),
        strategy.clone(),
        (traces, rounds.clone()),
    );
    let certificates = Certificates::new(context.child("certificates"), rounds);
    let automaton = Inline::new(
        context.child("application"),
        application,
        marshal.clone(),
        epocher,
    );
    let leader_timeout = leader_timeout(&identity.genesis.protocol);
    let engine = simplex::Engine::new(
        context.child("simplex"),
        simplex::Config {
            scheme,
            elector: RoundRobin::<commonware_cryptography::Blake3>::default(),
            blocker: Lenient::new(blocker.clone()),
            automaton: Settling::new(context.child("settling"), automaton.clone()),
            relay: automaton.clone(),
            // First, so that a block is recorded as final before it is delivered.
            reporter: Reporters::from((
                certificates,
                Reporters::from((marshal.clone(), automaton)),
            )),
            track_historical_votes: false,
            strategy,
            partition: format!("{partition}-simplex"),
            mailbox_size: MAILBOX,
            epoch: Epoch::new(0),
            floor: Floor::Genesis(genesis.digest),
            replay_buffer: BUFFER,
            write_buffer: BUFFER,
            page_cache: pages,
            leader_timeout,
            certification_timeout: leader_timeout + Duration::from_secs(2),
            timeout_retry: Duration::from_secs(2),
            view_retention: VIEWS,
            skip: SkipPolicy::Enabled {
                timeout: leader_timeout * 4,
                budget: SkipBudget::Participants,
            },
            fetch_timeout: NZDuration!(Duration::from_secs(1)),
            fetch_retry_delay: Duration::from_millis(100),
            forward: ForwardPolicy::Disabled,
        },
    );
    tasks.push(plain_task(
        &context,
        "consensus",
        engine.start(
            channels.votes,
            channels.certificates,
            answering(
                channels.certificate_requests,
                Terms::certificates(&identity),
                "certificates",
            ),
        ),
    ));

    // Clients.
    let local = clients::Local {
        identity: identity.clone(),
        ledger: ledger.clone(),
        bodies,
        pool: pool_mailbox,
        rejections: metrics.rejections.clone(),
        signatures: client_signatures,
    };
    let (actor, client) = clients::Actor::new(
        context.child("requests"),
        local,
        view.clone(),
        marshal.clone(),
        channels.client_requests,
        blocker,
        metrics.clients.clone(),
    );
    tasks.push(plain_task(&context, "requests", actor.start()));
    let node = Node {
        identity,
        view,
        client,
        tracked,
        copy: lacks,
        ledger,
        syncing,
        archived,
        marshal,
        load,
        metrics,
    };
    Ok(Started { node, tasks })
}

/// How a resolver asks peers, and answers them.
fn resolver_config<D, B, C, Q>(
    peers: &D,
    blocker: &B,
    me: &PublicKey,
    consumer: C,
    producer: Q,
) -> resolver::Config<PublicKey, D, B, C::Key, C, Q>
where
    D: Provider<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
    C: Consumer<Value = Bytes>,
    Q: resolver::Producer<Key = C::Key>,
{
    resolver::Config {
        peer_provider: peers.clone(),
        blocker: blocker.clone(),
        consumer,
        producer,
        mailbox_size: MAILBOX,
        me: Some(me.clone()),
        fetch_timeout: NZDuration!(Duration::from_secs(2)),
        fetch_retry_delay: Duration::from_millis(200),
        priority_requests: false,
        priority_responses: false,
    }
}

/// An actor without an error of its own: that it ended is the error.
fn plain_task<E: Runtime>(
    context: &E,
    part: &'static str,
    handle: Handle<()>,
) -> Handle<Result<(), ChainError>> {
    context.child("watch").spawn(move |_| async move {
        let _ = handle.await;
        Err(ChainError::Ended { part })
    })
}

fn watch_task<E: Runtime, X: Send + 'static>(
    context: &E,
    part: &'static str,
    handle: Handle<Result<(), X>>,
    error: impl FnOnce(X) -> ChainError + Send + 'static,
) -> Handle<Result<(), ChainError>> {
    context.child("watch").spawn(move |_| async move {
        match handle.await {
            Ok(Err(source)) => Err(error(source)),
            Ok(Ok(())) | Err(_) => Err(ChainError::Ended { part }),
        }
    })
}

/// How long this node keeps blocks.
const fn kept(identity: &Identity, settings: &Settings) -> Kept {
    let kept = Kept::new(settings.retention, settings.snapshot_interval);
    if identity.has_archives() {
        kept.with_archives(identity.producer.is_some())
    } else {
        kept
    }
}

fn archive_config<C>(
    prefix: &str,
    pages: &CacheRef,
    section: NonZeroU64,
    codec: C,
) -> prunable::Config<EightCap, C> {
    prunable::Config {
        translator: EightCap,
        metadata_partition: format!("{prefix}-metadata"),
        key_partition: format!("{prefix}-key"),
        key_page_cache: pages.clone(),
        value_partition: format!("{prefix}-value"),
        compression: None,
        codec_config: codec,
        items_per_section: section,
        key_write_buffer: BUFFER,
        value_write_buffer: BUFFER,
        replay_buffer: BUFFER,
    }
}
