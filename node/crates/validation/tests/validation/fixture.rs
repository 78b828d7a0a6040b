// SPDX-License-Identifier: Apache-2.0
//! One actor at the genesis block, and the ends of all that it talks to.

use crate::peers::{Feed, Nowhere, Recorder, key};
use commonware_consensus::{
    marshal::{self, Start, core},
    simplex::scheme::ed25519::Scheme,
    types::{FixedEpocher, ViewDelta},
};
use commonware_cryptography::{
    Digested, Digestible as _,
    certificate::{ConstantProvider, Verifier as _},
    ed25519::PublicKey,
};
use commonware_parallel::{Rayon, Sequential};
use commonware_runtime::{
    Clock as _, Runner as _, Strategizer as _, Supervisor as _,
    buffer::paged::CacheRef,
    deterministic::{self, Context},
};
use commonware_storage::archive::immutable;
use commonware_utils::{NZU16, NZU64, NZUsize};
use prometheus_client::registry::Registry;
use shardnode_blocks::{GenesisState, History, Marshal};
use shardnode_execution::signatures::BatchSize;
use shardnode_mailboxes::{availability, ledger, witness_validator};
use shardnode_network::Identity;
use shardnode_primitives::{Block, ChunkHeader, Genesis, ShardId};
use shardnode_validation::{Actor, Metrics, Parts};
use shardnode_witness::{Subject, WitnessPart, make_parts};
use std::{
    any::Any,
    future::Future,
    num::{NonZeroU16, NonZeroUsize},
    sync::Arc,
    time::Duration,
};

/// The height of everything: the first after genesis.
pub(crate) const HEIGHT: u64 = 1;

/// An actor that was not started.
pub(crate) struct Fixture {
    pub(crate) context: Context,
    pub(crate) identity: Arc<Identity>,
    pub(crate) genesis: Block,
    pub(crate) mailbox: witness_validator::Mailbox,
    /// What peers sent on the channel of witness parts.
    pub(crate) parts: Feed,
    /// Who is cut off.
    pub(crate) blocker: Recorder,
    /// What availability is told.
    pub(crate) availability: Option<availability::Inbox>,
    actor: Option<Actor<Context, Nowhere, Feed, Recorder>>,
    _ledger: ledger::Inbox,
    _marshal: Box<dyn Any>,
}

/// Runs a test with an actor of the validator at this place.
pub(crate) fn run<F, Fut>(genesis: Genesis, me: usize, test: F)
where
    F: FnOnce(Fixture) -> Fut,
    Fut: Future<Output = ()>,
{
    let config = deterministic::Config::new().with_timeout(Some(Duration::from_secs(60)));
    deterministic::Runner::new(config).start(|context| async move {
        test(Box::pin(Fixture::new(context, genesis, me)).await).await;
    });
}

const BUFFER: NonZeroUsize = NZUsize!(1 << 12);

fn archive<C>(prefix: &str, pages: &CacheRef, codec: C) -> immutable::Config<C> {
    immutable::Config {
        metadata_partition: format!("{prefix}-metadata"),
        freezer_table_partition: format!("{prefix}-table"),
        freezer_table_initial_size: 64,
        freezer_table_resize_frequency: 4,
        freezer_table_resize_chunk_size: 16,
        freezer_key_partition: format!("{prefix}-key"),
        freezer_key_page_cache: pages.clone(),
        freezer_value_partition: format!("{prefix}-value"),
        freezer_value_target_size: 1 << 20,
        freezer_value_compression: None,
        ordinal_partition: format!("{prefix}-ordinal"),
        items_per_section: NZU64!(64),
        freezer_key_write_buffer: BUFFER,
        freezer_value_write_buffer: BUFFER,
        ordinal_write_buffer: BUFFER,
        replay_buffer: BUFFER,
        codec_config: codec,
    }
}

/// Where consensus would keep blocks. It does not run: it is never asked.
async fn marshal(
    context: &Context,
    identity: &Identity,
    genesis: Digested<Block>,
    strategy: Rayon,
) -> (Marshal, Box<dyn Any>) {
    let pages = CacheRef::new(NZU16!(1_024), NZUsize!(16));
    let namespace = &identity.namespaces.consensus;
    let scheme = Scheme::signer(namespace, identity.participants(), identity.key.clone());
    let certificates = Scheme::certificate_codec_config_unbounded();
    let certificates = archive("finalizations", &pages, certificates);
    let finalizations = immutable::Archive::init(context.child("finalizations"), certificates);
    let blocks = archive("blocks", &pages, identity.block_limits());
    let blocks = immutable::Archive::init(context.child("blocks"), blocks);
    let (actor, mailbox, _) = core::Actor::<_, _, _, _, _, _, _>::init(
        context.child("marshal"),
        finalizations.await.unwrap(),
        blocks.await.unwrap(),
        marshal::Config {
            provider: ConstantProvider::new(scheme.unwrap()),
            epocher: FixedEpocher::new(NZU64!(1_000)),
            start: Start::Genesis(genesis),
            partition_prefix: "marshal".into(),
            mailbox_size: NZUsize!(16),
            view_retention: ViewDelta::new(8),
            prunable_items_per_section: NZU64!(64),
            page_cache: pages,
            replay_buffer: BUFFER,
            key_write_buffer: BUFFER,
            value_write_buffer: BUFFER,
            block_codec_config: identity.block_limits(),
            max_repair: NZUsize!(1),
            max_pending_acks: NZUsize!(1),
            strategy,
        },
    )
    .await;
    (mailbox, Box::new(actor))
}

impl Fixture {
    async fn new(context: Context, genesis: Genesis, me: usize) -> Self {
        let identity = Arc::new(Identity::new(genesis, key(me)).unwrap());
        let state = GenesisState::new(&identity.genesis, []).unwrap();
        let genesis = Digested::precomputed(state.block.clone(), state.digest);
        let strategy = context.strategy(NZUsize!(1));
        let (blocks, running) = Box::pin(marshal(
            &context,
            &identity,
            genesis.clone(),
            strategy.clone(),
        ))
        .await;
        let (mailbox, inbox) = witness_validator::mailbox();
        let (ledger, ledger_inbox) = ledger::mailbox();
        let (availability, availability_inbox) = availability::mailbox();
        let parts = Feed::default();
        let blocker = Recorder::default();
        let actor = Actor::new(
            context.child("validation"),
            Parts {
                identity: identity.clone(),
                signature_batch: BatchSize::Whole,
                availability,
                ledger,
                history: History::new(genesis, blocks),
                network: (Nowhere, parts.clone()),
                blocker: blocker.clone(),
                metrics: Arc::new(Metrics::new(&mut Registry::default())),
                strategy,
                traces: shardnode_traces::Recorder::OFF,
            },
            inbox,
        );
        Self {
            context,
            identity,
            genesis: state.block,
            mailbox,
            parts,
            blocker,
            availability: Some(availability_inbox),
            actor: Some(actor),
            _ledger: ledger_inbox,
            _marshal: running,
        }
    }

    /// Starts the actor. It ends with the context.
    pub(crate) fn start(&mut self) {
        drop(self.actor.take().unwrap().start());
    }

    /// Returns when the actor waits for something that it was not sent.
    pub(crate) async fn settle(&self) {
        self.context.sleep(Duration::from_secs(1)).await;
    }

    /// The place of the producer of `shard` whose turn `height` is.
    pub(crate) fn producer(&self, shard: u16, height: u64) -> usize {
        let genesis = &self.identity.genesis;
        let producer = genesis.producer_at(ShardId(shard), height).unwrap();
        let mut producers = genesis.producers.iter();
        producers.position(|one| one == producer).unwrap()
    }

    /// Who needs the witness of a chunk, by their places.
    pub(crate) fn owners(&self, shard: u16, height: u64) -> Vec<PublicKey> {
        let seed = self.genesis.randomness.seed;
        let committees = self.identity.mandates.deal(seed.0, height);
        let committee = &committees[usize::from(shard)];
        self.identity.witness_owners(ShardId(shard), committee)
    }

    /// The header of the first chunk of `shard`, which has no transactions.
    pub(crate) fn header(&self, shard: u16) -> ChunkHeader {
        let previous = self.genesis.chunk(ShardId(shard)).unwrap();
        let mut content = previous.content.clone();
        content.height = HEIGHT;
        content.sequence += 1;
        content.previous = previous.hash();
        content.anchor = self.genesis.digest();
        content.uncommitted = vec![HEIGHT];
        let key = key(self.producer(shard, HEIGHT));
        ChunkHeader::sign(content, &key, &self.identity.namespaces)
    }

    /// The parts of a witness for `header`, for so many owners, by its
    /// producer.
    pub(crate) fn witness(&self, header: &ChunkHeader, owners: u16) -> Vec<WitnessPart> {
        self.witness_of(header, owners, &[7; 1_000])
    }

    /// [`Fixture::witness`], of these bytes.
    pub(crate) fn witness_of(
        &self,
        header: &ChunkHeader,
        owners: u16,
        bytes: &[u8],
    ) -> Vec<WitnessPart> {
        let producer = self.producer(header.content.shard.0, header.content.height);
        make_parts(
            &bytes.to_vec().into(),
            Subject::of(header),
            NonZeroU16::new(owners).unwrap(),
            &key(producer),
            &self.identity.namespaces,
            &Sequential,
        )
        .unwrap()
    }
}
