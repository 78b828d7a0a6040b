// SPDX-License-Identifier: Apache-2.0
//! Receipts for peers, and executions for clients that want proofs.
//!
//! What is in memory no more is in the records of executions, and a record takes
//! longer to read than all else that is asked. So it is decided before whether
//! the answer is in it, by its root, and one record at a time is read and decoded
//! beside the actor. Whoever needs one meanwhile waits, [`WAITING`] at most, and
//! what is in memory is answered at once. What executes and needs storage waits for
//! that one read.
//!
//! Nobody's question ends the node: what cannot be read is told and not given.
//! It is an error only where this node needs it itself.

use super::Actor;
use crate::{
    error::LedgerError,
    records::{Known, Stored, credited},
    shard::decode_record,
};
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_consensus::types::Height;
use commonware_parallel::Strategy as _;
use commonware_utils::channel::{fallible::OneshotExt as _, mpsc, oneshot};
use shardnode_blocks::Marshal;
use shardnode_execution::{Outcome, record::Executed};
use shardnode_mailboxes::{
    Runtime,
    ledger::{OutcomeAmong, Question, ReceiptsAsked},
    turns::Turns,
};
use shardnode_primitives::{Digest, ShardId};
use shardnode_storage::{Engine, ExecutionRecord, StorageError};
use std::{pin::pin, sync::Arc};
use tracing::warn;

/// Blocks in which a header is looked for that commits to an execution, from the
/// first on that can have one.
const COMMITTED_WITHIN: u64 = 16;

/// Those who wait for a record; there is none for whoever comes then.
pub(super) const WAITING: usize = 256;

/// What somebody asks.
pub(super) enum Asked {
    Question(Question),
    Proof(OutcomeAmong),
    Receipts(ReceiptsAsked),
}

/// What is asked next, each kind in its turn. `None` if nobody can ask any more.
pub(super) async fn asked(
    turns: &mut Turns,
    questions: &mut mpsc::Receiver<Question>,
    proofs: &mut mpsc::Receiver<OutcomeAmong>,
    receipts: &mut mpsc::Receiver<ReceiptsAsked>,
) -> Option<Asked> {
    let questions = pin!(async { questions.recv().await.map(Asked::Question) });
    let proofs = pin!(async { proofs.recv().await.map(Asked::Proof) });
    let receipts = pin!(async { receipts.recv().await.map(Asked::Receipts) });
    turns.next([questions, proofs, receipts]).await
}

/// What is wanted of a record.
enum Wanted {
    Sent {
        destination: ShardId,
        root: Digest,
        reply: oneshot::Sender<Bytes>,
    },
    Credited {
        from: (ShardId, u64),
        reply: oneshot::Sender<Bytes>,
    },
    Execution {
        outcome: Outcome,
        reply: oneshot::Sender<Option<(Outcome, Arc<Executed>)>>,
    },
}

impl Wanted {
    /// Answers from the record.
    fn answer(self, stored: &Stored) {
        match self {
            Self::Sent {
                destination,
                root,
                reply,
            } => give_sent(&stored.executed, destination, &root, reply),
            Self::Credited { from, reply } => {
                if let Some(bucket) = stored.credited(from) {
                    reply.send_lossy(bucket.encode());
                }
            }
            Self::Execution { outcome, reply } => {
                reply.send_lossy(Some((outcome, stored.executed.clone())));
            }
        }
    }

    /// Answers that there is no record.
    fn refuse(self) {
        if let Self::Execution { reply, .. } = self {
            reply.send_lossy(None);
        }
    }
}

fn give_sent(
    executed: &Executed,
    destination: ShardId,
    root: &Digest,
    reply: oneshot::Sender<Bytes>,
) {
    if executed.result.receipts_root == *root
        && let Some(bucket) = executed.buckets.get(destination.index())
    {
        reply.send_lossy(bucket.encode());
    }
}

/// A record that is looked up, and for whom.
pub(super) struct Lookup {
    height: u64,
    wanted: Wanted,
}

/// How far looking it up has come.
pub(super) enum Looked<S> {
    /// What finalised headers say of it; `None` if they do not say.
    Committed(Option<Known>),
    /// It was read, and storage is here again.
    Read(S, Result<Option<ExecutionRecord>, StorageError>),
    Decoded(Result<Stored, LedgerError>),
    /// What read it ended.
    Ended,
}

impl<E: Runtime, S: Engine + 'static> Actor<E, S> {
    pub(super) fn on_receipts_asked(&mut self, asked: ReceiptsAsked) {
        let Some(shard) = self.shard.as_ref() else {
            return;
        };
        match asked {
            ReceiptsAsked::Serve {
                height,
                destination,
                root,
                reply,
            } => {
                if let Some(executed) = shard.recent.get(&height) {
                    give_sent(executed, destination, &root, reply);
                    return;
                }
                let wanted = Wanted::Sent {
                    destination,
                    root,
                    reply,
                };
                self.look_up(Lookup { height, wanted });
            }
            ReceiptsAsked::ServeCredited {
                source,
                height,
                root,
                reply,
            } => {
                let from = (source, height);
                let Some(place) = shard.credited.get(&from).filter(|place| place.root == root)
                else {
                    return;
                };
                let height = place.at;
                if let Some(evidence) = shard.evidence.get(&height) {
                    if let Some(bucket) = credited(&evidence.incoming, from) {
                        reply.send_lossy(bucket.encode());
                    }
                    return;
                }
                let wanted = Wanted::Credited { from, reply };
                self.look_up(Lookup { height, wanted });
            }
        }
    }

    pub(super) fn on_proof_asked(&mut self, OutcomeAmong { hash, reply }: OutcomeAmong) {
        let Some(shard) = self.shard.as_ref() else {
            return;
        };
        let Some((height, outcome)) = shard.outcome(&hash) else {
            reply.send_lossy(None);
            return;
        };
        if let Some(executed) = shard.recent.get(&height) {
            reply.send_lossy(Some((outcome, executed.clone())));
            return;
        }
        let wanted = Wanted::Execution { outcome, reply };
        self.look_up(Lookup { height, wanted });
    }

    /// Answers from the record, which is read if it is not in memory and can have
    /// what is wanted.
    fn look_up(&mut self, lookup: Lookup) {
        let Some(shard) = self.shard.as_mut() else {
            return;
        };
        let height = lookup.height;
        if let Some(stored) = shard.records.get(height) {
            lookup.wanted.answer(&stored);
            return;
        }
        let known = shard.records.known(height);
        let can_have = match (&lookup.wanted, known) {
            (_, Some(Known::Nothing)) => false,
            (Wanted::Sent { root, .. }, Some(Known::Root(of))) => of == *root,
            (Wanted::Sent { .. }, None) => {
                shard.records.gives_away(height) && height <= shard.height
            }
            _ => true,
        };
        if !can_have {
            lookup.wanted.refuse();
            return;
        }
        if self.lookup.is_some() {
            if self.waiting.len() == WAITING {
                lookup.wanted.refuse();
            } else if matches!(lookup.wanted, Wanted::Execution { .. }) {
                // Clients have few under way, and peers many.
                self.waiting.push_front(lookup);
            } else {
                self.waiting.push_back(lookup);
            }
            return;
        }
        let by_header = known.is_none() && matches!(lookup.wanted, Wanted::Sent { .. });
        self.lookup = Some(lookup);
        if by_header {
            self.look_at_headers(height);
        } else {
            self.read_record(height);
        }
    }

    /// Has the next ones looked up that wait, if none is.
    pub(super) fn look_up_next(&mut self) {
        while self.lookup.is_none() {
            let Some(next) = self.waiting.pop_front() else {
                return;
            };
            self.look_up(next);
        }
    }

    /// Whether the record of an execution before the start has the receipts that
    /// are wanted is said by the header that commits to it.
    fn look_at_headers(&mut self, height: u64) {
        let Some(shard) = self.identity.tracked() else {
            return;
        };
        let marshal = self.marshal.clone();
        let first = height.saturating_add(self.identity.genesis.protocol.execution_lag.into());
        self.looking
            .push(async move { Looked::Committed(committed(marshal, shard, height, first).await) });
    }

    fn read_record(&mut self, height: u64) {
        let storage = self.shard.as_mut().and_then(|shard| shard.storage.take());
        let Some(mut storage) = storage else {
            self.refuse();
            return;
        };
        let read = self.context.child("record").spawn(move |_| async move {
            let record = storage.record(height).await;
            (storage, record)
        });
        self.looking.push(async move {
            match read.await {
                Ok((storage, record)) => Looked::Read(storage, record),
                Err(_) => Looked::Ended,
            }
        });
    }

    pub(super) fn on_looked(&mut self, looked: Looked<S>) -> Result<(), LedgerError> {
        let (Some(shard), Some(lookup)) = (self.shard.as_mut(), self.lookup.as_ref()) else {
            return Ok(());
        };
        let (id, height) = (shard.id, lookup.height);
        match looked {
            Looked::Ended => return Err(LedgerError::Ended { part: "storage" }),
            Looked::Committed(known) => {
                if let Some(known) = known {
                    shard.records.learn(height, known);
                }
                let wanted = match &lookup.wanted {
                    Wanted::Sent { root, .. } => known.is_none_or(|of| of == Known::Root(*root)),
                    _ => true,
                };
                if wanted {
                    self.read_record(height);
                } else {
                    self.refuse();
                }
            }
            Looked::Read(storage, record) => {
                shard.storage = Some(storage);
                match record {
                    Ok(Some(record)) => {
                        let identity = self.identity.clone();
                        let decode = self.strategy.spawn(1, move |_| {
                            decode_record(&identity, id, &record).map(Stored::new)
                        });
                        self.looking
                            .push(async move { Looked::Decoded(decode.await) });
                    }
                    Ok(None) => self.forgo(height),
                    Err(error) => {
                        warn!(shard = %id, height, %error, "record cannot be read: not served");
                        self.forgo(height);
                    }
                }
            }
            Looked::Decoded(Ok(stored)) => {
                let stored = Arc::new(stored);
                shard.records.put(stored.clone());
                if let Some(lookup) = self.lookup.take() {
                    lookup.wanted.answer(&stored);
                }
            }
            Looked::Decoded(Err(error)) => {
                warn!(shard = %id, height, %error, "record cannot be read: not served");
                self.forgo(height);
            }
        }
        Ok(())
    }

    /// There is no record of `height` that can be read.
    fn forgo(&mut self, height: u64) {
        if let Some(shard) = self.shard.as_mut() {
            shard.records.learn(height, Known::Nothing);
        }
        self.refuse();
    }

    fn refuse(&mut self) {
        if let Some(lookup) = self.lookup.take() {
            lookup.wanted.refuse();
        }
    }

    /// Returns when no record is being read, so that storage is here.
    pub(super) async fn storage_back(&mut self) -> Result<(), LedgerError> {
        while self.lookup.is_some() && self.shard.as_ref().is_some_and(|of| of.storage.is_none()) {
            let looked = self.looking.next_completed().await;
            self.on_looked(looked)?;
        }
        Ok(())
    }
}

/// What finalised headers say of the receipts of the execution at `height`, which
/// none before the block at `first` commits to. The first that commits to that
/// height or a later one has the result, or the shard had no chunk there.
async fn committed(marshal: Marshal, shard: ShardId, height: u64, first: u64) -> Option<Known> {
    for at in first..first.saturating_add(COMMITTED_WITHIN) {
        let block = marshal.get_block(Height::new(at)).await?;
        let content = &block.inner().chunk(shard)?.content;
        if content.totals.height >= height {
            let mut results = content.results.iter();
            let result = results.find(|result| result.height == height);
            return Some(result.map_or(Known::Nothing, |one| Known::Root(one.receipts_root)));
        }
    }
    None
}
