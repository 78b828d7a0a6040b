// SPDX-License-Identifier: Apache-2.0
//! What the server needs of a node.

use crate::{
    AccountReport, ClockFault, DiskFault, LinkFault, LoadStatus, LogLevel, OutcomeReport,
    ProcessFault, ProfileExtent, ProfileKind, ProfileStatus, ProofReport, Readiness, Status,
    Submitted,
};
use axum::body::Bytes;
use shardnode_load::{Target, TargetError};
use shardnode_primitives::{
    AccountId, Block, ChunkBody, ChunkHeader, Digest, Refusal, ShardId, Transaction,
};
use std::time::SystemTime;

/// Nobody who could answer did.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// Nobody of this name is a peer of the node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no peer of this node")]
pub struct UnknownPeer(pub String);

/// A profile is being taken, and there is one at a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a profile of this node is being taken, and there is one at a time")]
pub struct ProfileOngoing;

/// A running node, as its HTTP API sees it. A clone is another handle of the
/// same node.
pub trait Node: Clone + Send + Sync + 'static {
    /// What the node knows of itself and of the chain.
    fn status(&self) -> Status;

    /// Whether the node takes part.
    fn readiness(&self) -> Readiness;

    /// Whether the node's actors answer, or else which does not.
    fn health(&self) -> Result<(), String>;

    /// The time on the node's clock.
    fn now(&self) -> SystemTime;

    /// All metrics, as OpenMetrics text.
    fn metrics(&self) -> String;

    /// The in-node generator, if the node has one.
    fn load(&self) -> Option<LoadStatus>;

    /// Tells the generator, if the node has one.
    fn set_load(&self, target: Target) -> Option<Result<LoadStatus, TargetError>>;

    /// The fault of the links to peers, if there is one.
    fn link_fault(&self) -> Option<LinkFault>;

    /// Begins a fault of the links to peers, in the place of one that goes on. It
    /// ends by itself.
    fn begin_link_fault(&self, fault: LinkFault) -> Result<(), UnknownPeer>;

    /// Ends the fault of the links to peers, if there is one.
    fn end_link_fault(&self);

    /// The fault of the disk, if there is one.
    fn disk_fault(&self) -> Option<DiskFault>;

    /// Begins a fault of the disk, in the place of one that goes on. It ends by
    /// itself. A node with a full disk ends, and keeps the fault until it is over.
    fn begin_disk_fault(&self, fault: DiskFault) -> Result<(), Unavailable>;

    /// Ends the fault of the disk, if there is one.
    fn end_disk_fault(&self);

    /// The fault of the clock, if there is one.
    fn clock_fault(&self) -> Option<ClockFault>;

    /// Begins a fault of the clock, in the place of one that goes on. It ends by
    /// itself.
    fn begin_clock_fault(&self, fault: ClockFault);

    /// Ends the fault of the clock, if there is one.
    fn end_clock_fault(&self);

    /// Begins a fault of the process, a moment after this was answered. It ends by
    /// itself.
    fn begin_process_fault(&self, fault: ProcessFault) -> Result<(), Unavailable>;

    /// The profile that is taken or was taken last, if there is one.
    fn profile(&self) -> Option<ProfileStatus>;

    /// Begins a profile, in the place of one that was taken. It ends by itself.
    fn begin_profile(&self, kind: ProfileKind, extent: ProfileExtent)
    -> Result<(), ProfileOngoing>;

    /// Ends the profile that is taken, and forgets it or the one that was taken.
    fn end_profile(&self);

    /// The file of the profile that was taken, if there is one.
    fn profile_content(&self) -> Option<Bytes>;

    /// The least severe events that are logged.
    fn log_level(&self) -> LogLevel;

    /// Sets the least severe events that are logged from now on.
    fn set_log_level(&self, level: LogLevel) -> Result<(), Unavailable>;

    /// Puts a transaction into a pool of its signer's shard.
    fn submit(
        &self,
        transaction: Transaction,
    ) -> impl Future<Output = Result<Submitted, Refusal>> + Send;

    /// Puts transactions into pools of their signers' shards, those of one signer
    /// in their order, and says of each what came of it.
    fn submit_all(
        &self,
        transactions: Vec<Transaction>,
    ) -> impl Future<Output = Vec<(Submitted, Option<Refusal>)>> + Send;

    /// What became of the signer's transaction with this hash.
    fn outcome(
        &self,
        signer: AccountId,
        hash: Digest,
    ) -> impl Future<Output = Result<OutcomeReport, Unavailable>> + Send;

    /// What became of signers' transactions.
    fn outcomes(
        &self,
        asked: Vec<(AccountId, Digest)>,
    ) -> impl Future<Output = Result<Vec<OutcomeReport>, Unavailable>> + Send;

    /// An account as of its shard's last execution.
    fn account(
        &self,
        id: AccountId,
    ) -> impl Future<Output = Result<AccountReport, Unavailable>> + Send;

    /// An account as a finalised block commits to it, and the proof.
    fn prove_account(
        &self,
        id: AccountId,
    ) -> impl Future<Output = Result<ProofReport<AccountReport>, Unavailable>> + Send;

    /// What became of the signer's transaction with this hash, as a finalised block
    /// commits to it, and the proof.
    fn prove_outcome(
        &self,
        signer: AccountId,
        hash: Digest,
    ) -> impl Future<Output = Result<ProofReport<OutcomeReport>, Unavailable>> + Send;

    /// The finalised block at `height`.
    fn block(&self, height: u64) -> impl Future<Output = Result<Block, Unavailable>> + Send;

    /// The chunk of `shard` in the finalised block at `height`; `None` if the
    /// shard has none there.
    fn chunk(
        &self,
        height: u64,
        shard: ShardId,
    ) -> impl Future<Output = Result<Option<(ChunkHeader, ChunkBody)>, Unavailable>> + Send;
}
