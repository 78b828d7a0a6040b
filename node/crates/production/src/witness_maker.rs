// SPDX-License-Identifier: Apache-2.0
//! The actor that makes state witnesses of the own chunks and sends every
//! member of the committee that does not track the shard its part. A header
//! that commits to no results needs no witness.
//!
//! Only the newest chunk is worth a witness: a block that is already final
//! needs no endorsement of an older one.

use crate::{metrics::Metrics, planted::witness_delay};
use commonware_codec::{Encode as _, EncodeSize as _};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Recipients, Sender};
use commonware_parallel::{Rayon, Strategy as _};
use commonware_runtime::Handle;
use commonware_utils::channel::mpsc;
use shardnode_execution::record::Evidence;
use shardnode_mailboxes::{Runtime, bodies};
use shardnode_mandates::Committee;
use shardnode_network::Identity;
use shardnode_primitives::{ChunkHeader, witness_size::MAX_WITNESS};
use shardnode_traces::{Detail, Name, Place, Recorder};
use shardnode_witness::{
    PartsError, StateWitness, Subject, Transition, WitnessPart, encode, make_parts,
};
use std::{io, num::NonZeroU16, sync::Arc};
use tracing::{debug, warn};

struct Job {
    header: ChunkHeader,
    evidence: Vec<(u64, Arc<Evidence>)>,
    committee: Committee<PublicKey>,
}

/// Talks to the actor.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<Job>);

impl Mailbox {
    /// Makes the witness of what `header` commits to: the executions at the
    /// heights of `evidence`.
    pub fn make(
        &self,
        header: ChunkHeader,
        evidence: Vec<(u64, Arc<Evidence>)>,
        committee: Committee<PublicKey>,
    ) {
        let job = Job {
            header,
            evidence,
            committee,
        };
        if self.0.try_send(job).is_err() {
            debug!("witness making lags behind chunk production");
        }
    }
}

/// Why there is no witness.
#[derive(Debug, thiserror::Error)]
enum MakeError {
    /// It cannot be compressed.
    #[error("it cannot be compressed: {0}")]
    Compression(#[from] io::Error),
    /// It is larger than others accept.
    #[error("it has {bytes} bytes, others accept {MAX_WITNESS}")]
    TooLarge { bytes: usize },
    /// It cannot be divided.
    #[error(transparent)]
    Parts(#[from] PartsError),
}

/// The parts of the witness for `header`, and the size of what they are of.
fn make(
    identity: &Identity,
    header: &ChunkHeader,
    transitions: Vec<Transition>,
    owners: NonZeroU16,
    strategy: &impl commonware_parallel::Strategy,
) -> Result<(Vec<WitnessPart>, usize), MakeError> {
    let witness = StateWitness {
        shard: header.content.shard,
        height: header.content.height,
        transitions,
    };
    let bytes = witness.encode_size();
    if bytes > MAX_WITNESS {
        return Err(MakeError::TooLarge { bytes });
    }
    let encoded = encode(&witness)?;
    let length = encoded.len();
    let (key, namespaces) = (&identity.key, &identity.namespaces);
    let parts = make_parts(
        &encoded,
        Subject::of(header),
        owners,
        key,
        namespaces,
        strategy,
    )?;
    Ok((parts, length))
}

/// The actor.
pub struct Actor<S> {
    identity: Arc<Identity>,
    bodies: bodies::Mailbox,
    sender: S,
    metrics: Arc<Metrics>,
    strategy: Rayon,
    traces: Recorder,
    inbox: mpsc::Receiver<Job>,
}

impl<S: Sender<PublicKey = PublicKey>> Actor<S> {
    /// Creates the actor.
    pub fn new(
        identity: Arc<Identity>,
        bodies: bodies::Mailbox,
        sender: S,
        metrics: Arc<Metrics>,
        strategy: Rayon,
        traces: Recorder,
    ) -> (Self, Mailbox) {
        let (mailbox, inbox) = mpsc::channel(8);
        let actor = Self {
            identity,
            bodies,
            sender,
            metrics,
            strategy,
            traces,
            inbox,
        };
        (actor, Mailbox(mailbox))
    }

    /// Runs until nobody is left to talk to.
    pub fn start<E: Runtime>(self, context: E) -> Handle<()> {
        context.spawn(move |context| self.run(context))
    }

    async fn run<E: Runtime>(mut self, context: E) {
        while let Some(mut job) = self.inbox.recv().await {
            while let Ok(newer) = self.inbox.try_recv() {
                job = newer;
            }
            self.serve(&context, job).await;
        }
    }

    async fn serve<E: Runtime>(&mut self, context: &E, job: Job) {
        let shard = job.header.content.shard;
        let owners = self.identity.witness_owners(shard, &job.committee);
        // What commits to nothing new can be endorsed as it is.
        if owners.is_empty() || job.evidence.is_empty() {
            return;
        }
        let Some(count) = u16::try_from(owners.len()).ok().and_then(NonZeroU16::new) else {
            return;
        };
        let height = job.header.content.height;
        let place = Place::chunk(height, shard);
        let step = self
            .traces
            .begin(context, Name::WitnessMake, place, Detail::None);
        let Some(transitions) = self.transitions(job.evidence).await else {
            warn!(%shard, height, "no witness: the body of an executed chunk is not stored");
            return;
        };
        let started = context.current();
        let (identity, header) = (self.identity.clone(), job.header);
        let work = transitions.iter().map(|one| one.body.encode_size()).sum();
        let made = self
            .strategy
            .spawn(work, move |strategy| {
                make(&identity, &header, transitions, count, &strategy)
            })
            .await;
        let parts = match made {
            Ok((parts, bytes)) => {
                let elapsed = context.current().duration_since(started);
                let exemplar = self.traces.exemplar(context, height);
                self.metrics
                    .witness_made(bytes, elapsed.unwrap_or_default(), exemplar);
                parts
            }
            Err(error) => {
                warn!(%shard, height, %error, "no witness");
                return;
            }
        };
        let step = step.then(context, Name::WitnessDistribute);
        if let Some(delay) = witness_delay() {
            context.sleep(delay).await;
        }
        for (owner, part) in owners.into_iter().zip(parts) {
            self.sender
                .send(Recipients::One(owner), part.encode(), false);
        }
        step.end(context);
    }

    async fn transitions(&self, evidence: Vec<(u64, Arc<Evidence>)>) -> Option<Vec<Transition>> {
        let mut transitions = Vec::with_capacity(evidence.len());
        for (height, evidence) in evidence {
            let (body, root) = (evidence.body_hash, evidence.parts_root);
            let body = self.bodies.shown(height, body, root).await??;
            transitions.push(Transition {
                height,
                body,
                incoming: evidence.incoming.clone(),
                pre_state: evidence.pre_state.clone(),
            });
        }
        Some(transitions)
    }
}
