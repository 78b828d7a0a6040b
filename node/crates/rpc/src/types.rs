// SPDX-License-Identifier: Apache-2.0
//! The JSON of answers about the node, its load and its accounts.

use commonware_cryptography::ed25519::PublicKey;
use serde::{Deserialize, Serialize, Serializer};
use shardnode_load::{Signing, Stock, Workload};
use shardnode_primitives::{AccountId, Digest, ShardId};
use std::{collections::BTreeSet, fmt::Display, num::NonZeroU32};

/// What a node does in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// Tracks one shard, produces its chunks and votes in consensus.
    Producer,
    /// Follows the chain, tracks no shard, endorses chunks.
    ChunkValidator,
    /// Follows the chain, tracks no shard, signs nothing.
    Rpc,
    /// As `Rpc`, and keeps the states of all shards.
    Archive,
}

/// The answer of `/status`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The network's name.
    pub network: String,
    /// This node's name.
    pub node: String,
    /// This node's region.
    pub region: String,
    /// What this node does.
    pub role: Role,
    /// The version of the node's binary.
    pub version: String,
    /// The version of all that the node sends its peers and keeps on disk.
    pub formats: u16,
    /// This node's identity.
    #[serde(serialize_with = "text")]
    pub public_key: PublicKey,
    /// Identifies the network.
    #[serde(serialize_with = "text")]
    pub genesis_hash: Digest,
    /// The highest block this node has verified or proposed.
    pub height: u64,
    /// The last finalised block this node has processed.
    pub finalized_height: u64,
    /// The first finalised block this node has processed since it started; 0 before.
    pub started_height: u64,
    /// The timestamp of the last one.
    pub finalized_time_ms: u64,
    /// Its hash.
    #[serde(serialize_with = "text")]
    pub block_hash: Digest,
    /// Mean difference of block timestamps over the window.
    pub block_time_ms: f64,
    /// Transfers committed by the window's headers, per second.
    pub tps: f64,
    /// Finalised blocks in the window.
    pub window_blocks: u64,
    /// Transfers executed since genesis, as committed by headers.
    pub transfers: u64,
    /// Those of them to another shard.
    pub cross_shard: u64,
    /// Chunks left out of finalised blocks since genesis.
    pub missed_chunks: u64,
    /// Connected peers.
    pub peers: u64,
    /// Peers the links to which have a fault.
    pub faulty_links: u64,
    /// What a fault makes of the disk, if there is one.
    pub disk_fault: Option<DiskCondition>,
    /// How far ahead of the right time a fault has the clock be.
    pub clock_offset_milliseconds: i64,
    /// Total supply by the headers of the finalised block.
    pub supply: SupplyStatus,
    /// What the finalised block's headers commit to, in shard order.
    pub shards: Vec<ShardStatus>,
    /// This node's own state; `None` for a node that tracks no shard.
    pub tracked: Option<TrackedStatus>,
    /// How far fetching a later state is; `None` for a node that executes.
    pub syncing: Option<SyncingStatus>,
    /// Whether its copy of its shard is complete; `None` for a node that is no
    /// producer.
    pub copy: Option<CopyStatus>,
    /// What it keeps of all shards; `None` for a node that is no archive.
    pub archive: Option<ArchiveStatus>,
    /// The transaction pool.
    pub pool: PoolStatus,
    /// The in-node generator; only a producer has one.
    pub load: Option<LoadStatus>,
    /// CPU time of the process since it started.
    pub cpu_seconds: f64,
    /// Memory of the process; `None` where the kernel does not tell it apart.
    pub memory: Option<MemoryStatus>,
    /// What the process had disks do; `None` where the kernel does not count it.
    pub disk: Option<DiskStatus>,
    /// What the machine's processors did; `None` where the kernel does not tell.
    pub machine: Option<MachineStatus>,
    /// What the kernel uses for the node's connections.
    pub tcp: TcpStatus,
}

/// Total supply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SupplyStatus {
    /// What genesis created.
    pub expected: u64,
    /// Sum of all balances.
    pub balances: u64,
    /// Debited in one shard and not yet credited in another.
    pub in_flight: u64,
    /// What is no more.
    pub burnt: u64,
    /// Whether `balances`, `in_flight` and `burnt` are `expected`.
    pub conserved: bool,
}

/// What the finalised block's header of one shard commits to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShardStatus {
    /// The shard.
    #[serde(serialize_with = "shard")]
    pub shard: ShardId,
    /// The height of its last chunk.
    pub chunk_height: u64,
    /// Its chunks left out of blocks since genesis.
    pub missed_chunks: u64,
    /// The height of its last committed execution.
    pub executed_height: u64,
    /// The state after that.
    #[serde(serialize_with = "text")]
    pub state_root: Digest,
    /// Transfers executed since genesis.
    pub transfers: u64,
    /// Credits applied since genesis.
    pub credits: u64,
    /// Transfers to other shards since genesis.
    pub cross_shard: u64,
    /// Sum of its balances.
    pub balance: u64,
    /// Value that was burnt in it since genesis.
    pub burnt: u64,
    /// Value that left for other shards since genesis.
    pub sent: u128,
    /// Value that came from other shards since genesis.
    pub received: u128,
    /// Blocks that it is behind with crediting what was sent to it.
    pub blocks_behind: u64,
    /// Stake that endorsed its last chunk; `None` before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endorsed_stake: Option<u64>,
    /// Stake of the committee of its last chunk; `None` before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mandated_stake: Option<u64>,
}

/// A state that is fetched because this node's cannot be executed on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncingStatus {
    /// The height that cannot be executed.
    pub needed_height: u64,
    /// The executed height of the state that is fetched, once one is found.
    pub snapshot_height: Option<u64>,
    /// Pages of it that have come.
    pub pages_fetched: u32,
    /// Pages that it has, once the first has come.
    pub pages: Option<u32>,
}

/// What an archive keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveStatus {
    /// Shards that could come back from it now.
    pub usable_shards: u64,
    /// Every shard, in order.
    pub shards: Vec<ArchivedStatus>,
}

/// What an archive keeps of one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchivedStatus {
    /// The shard.
    #[serde(serialize_with = "shard")]
    pub shard: ShardId,
    /// The executed height of the newest state that it keeps, once it has one.
    pub archived_height: Option<u64>,
    /// Heights from there, or from genesis, to what the shard's newest header
    /// states.
    pub behind_blocks: u64,
    /// Whether the shard could come back from it.
    pub usable: bool,
}

/// A node's own state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrackedStatus {
    /// The shard it tracks.
    #[serde(serialize_with = "shard")]
    pub shard: ShardId,
    /// The height of the last chunk it executed.
    pub executed_height: u64,
    /// The state after that.
    #[serde(serialize_with = "text")]
    pub state_root: Digest,
    /// Accounts in that state.
    pub accounts: u64,
}

/// A producer's copy of its shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CopyStatus {
    /// Whether it alone is enough, should the shard's other producers lose all
    /// that they hold.
    pub complete: bool,
    /// What it lacks for that.
    pub missing: Vec<String>,
}

/// The transaction pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolStatus {
    /// Transactions it holds.
    pub transactions: u64,
    /// Transactions it can hold.
    pub capacity: u64,
    /// Those that it holds because the receiver's shard is congested.
    pub waiting: u64,
}

/// What a fault makes of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkCondition {
    /// Nothing passes.
    Cut,
    /// Everything takes longer, and segments are lost.
    Worse,
}

/// A fault of the links to peers, for a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkFault {
    /// The peers.
    pub peers: BTreeSet<String>,
    /// What it makes of the links.
    pub condition: LinkCondition,
    /// How much longer everything takes, one way.
    pub delay_milliseconds: u64,
    /// How many of 10,000 segments are lost.
    pub loss_basis_points: u16,
    /// How long it lasts from now on.
    pub remaining_milliseconds: u64,
}

/// What a fault makes of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DiskCondition {
    /// Everything that writes takes longer.
    Slow,
    /// Nothing can be written.
    Full,
}

/// A fault of the disk, for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiskFault {
    /// What it makes of the disk.
    pub condition: DiskCondition,
    /// How much longer everything takes that writes.
    pub delay_milliseconds: u64,
    /// How long it lasts from now on.
    pub remaining_milliseconds: u64,
}

/// A fault of the clock, for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClockFault {
    /// How far ahead of the right time it is.
    pub offset_milliseconds: i64,
    /// How long it lasts from now on.
    pub remaining_milliseconds: u64,
}

/// What a fault makes of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProcessCondition {
    /// It stops as it is, and goes on afterwards.
    Paused,
    /// It is gone at once, and begins anew afterwards.
    Gone,
    /// It is gone at once, and begins anew afterwards. Meanwhile another program is in
    /// its place, with a copy of its data.
    Replaced,
}

/// A fault of the process, for a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessFault {
    /// What it makes of the process.
    pub condition: ProcessCondition,
    /// What is in its place: the name of a file beside the node's own program. Only
    /// one that is replaced has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// What comes before the arguments of a node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// How long it lasts.
    pub duration_milliseconds: u64,
}

/// What a profile says of functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProfileKind {
    /// The CPU time that they take.
    #[default]
    #[serde(rename = "CPU")]
    Cpu,
    /// What they allocate.
    Allocations,
}

/// What a profile is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProfileExtent {
    /// So many blocks, from the next one that is finalised on.
    Blocks(NonZeroU32),
    /// So many seconds from now on.
    Seconds(NonZeroU32),
}

/// How far a profile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ProfileStage {
    /// It begins with the next block.
    Waiting,
    /// It is taken.
    Sampling,
    /// Names of functions are looked up.
    Finishing,
    /// Its content can be had.
    Ready,
    /// It has no content.
    Failed,
}

/// A profile that is taken, or was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileStatus {
    /// How far it is.
    pub stage: ProfileStage,
    /// What it says of functions.
    pub kind: ProfileKind,
    /// What it was asked to be of.
    #[serde(flatten)]
    pub extent: ProfileExtent,
    /// Samples in a second of CPU time, of a profile of that.
    pub frequency_hertz: Option<u32>,
    /// Bytes allocated between two samples, in the mean, of a profile of allocations.
    pub interval_bytes: Option<u32>,
    /// The finalised block with which it began.
    pub first_height: Option<u64>,
    /// The finalised block with which it ended.
    pub last_height: Option<u64>,
    /// How many samples it has.
    pub samples: Option<u64>,
    /// Why it has no content, or ended early.
    pub reason: Option<String>,
}

/// How severe an event of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// What the node cannot go on with.
    Error,
    /// What somebody should look at.
    Warn,
    /// What happens rarely and matters.
    Info,
    /// What happens at every height.
    Debug,
    /// What happens for every message.
    Trace,
}

/// The in-node generator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadStatus {
    /// Its target.
    pub transfers_per_second: u32,
    /// Which transfers it signs.
    pub workload: Workload,
    /// When it signs them.
    pub signing: Signing,
    /// Transfers it signed since the node started, those of a stock once they were
    /// taken from it.
    pub signed: u64,
    /// Those of them that the pool refused.
    pub rejected: u64,
    /// Transfers that were due and that it did not sign, because the pool had no
    /// room.
    pub held_back: u64,
    /// Transfers that were due and that it was too late for.
    pub overdue: u64,
    /// Transfers that were due and that the stock did not have any more.
    pub exhausted: u64,
    /// The transfers that it signs before; `None` without any.
    pub stock: Option<Stock>,
}

/// What the kernel uses for the node's TCP connections; `None` where the node
/// cannot read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TcpStatus {
    /// `net.ipv4.tcp_congestion_control`.
    pub congestion_control: Option<String>,
    /// `net.ipv4.tcp_max_syn_backlog`.
    pub max_syn_backlog: Option<u64>,
    /// `net.ipv4.tcp_mtu_probing`.
    pub mtu_probing: Option<u64>,
    /// `net.ipv4.tcp_slow_start_after_idle`.
    pub slow_start_after_idle: Option<u64>,
    /// `net.ipv4.tcp_no_metrics_save`.
    pub no_metrics_save: Option<u64>,
    /// `net.core.somaxconn`.
    pub somaxconn: Option<u64>,
    /// `net.ipv4.tcp_rmem`: least, initial and most bytes to receive.
    pub rmem: Option<[u64; 3]>,
    /// `net.ipv4.tcp_wmem`: least, initial and most bytes to send.
    pub wmem: Option<[u64; 3]>,
}

/// Resident memory of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryStatus {
    /// What is not mapped from files.
    pub anonymous_bytes: u64,
    /// What is mapped from files, or shared with other processes.
    pub file_bytes: u64,
}

/// What the process had disks do since it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiskStatus {
    /// Read from disks, what the page cache had not.
    pub read_bytes: u64,
    /// Written to disks.
    pub written_bytes: u64,
}

/// What all processors of the machine did, for anybody, since it started.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineStatus {
    /// Time at work.
    pub busy_seconds: f64,
    /// Time in which they wanted to work and a hypervisor let others.
    pub stolen_seconds: f64,
}

/// The answer of `/readyz`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// Whether the node takes part.
    pub ready: bool,
    /// Why it does not.
    pub reasons: Vec<String>,
}

/// The answer of `transfer_submit`: a pool took the transaction. That of
/// `transfers_submit` says of each besides whether it was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Submitted {
    /// The transaction's hash.
    #[serde(serialize_with = "text")]
    pub hash: Digest,
    /// The signer's shard.
    #[serde(serialize_with = "shard")]
    pub shard: ShardId,
}

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum OutcomeStatus {
    /// The signer was debited.
    Executed,
    /// Nothing changed.
    Failed,
    /// No recent chunk of its shard has it.
    Unknown,
}

/// The answer of `transfer_outcome`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeReport {
    /// What became of it.
    pub status: OutcomeStatus,
    /// The height of its chunk; 0 if unknown.
    pub height: u64,
    /// Why it failed. Of one that is unknown `pending` if this node passed it on and
    /// sees to it that other producers have it too, and the reason of a refusal if a pool
    /// let go of it for that, or it was passed on until it had expired or all producers
    /// refused it; empty otherwise.
    pub reason: String,
}

/// The answer of `account_get`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountReport {
    /// The account.
    #[serde(serialize_with = "text")]
    pub id: AccountId,
    /// The shard that owns it.
    #[serde(serialize_with = "shard")]
    pub shard: ShardId,
    /// Whether its shard's state has it.
    pub exists: bool,
    /// Its balance; 0 if it does not exist.
    pub balance: u64,
    /// The last nonce that it used, or that it was made with; 0 for none.
    pub nonce: u64,
    /// The height of the execution this is the state after.
    pub height: u64,
}

/// The answer of `account_prove` or `transfer_prove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProofReport<T> {
    /// What is proven.
    #[serde(flatten)]
    pub proven: T,
    /// The height of the finalised block that the proof is against.
    pub block_height: u64,
    /// Its hash.
    #[serde(serialize_with = "text")]
    pub block_hash: Digest,
    /// The proof, as hex digits.
    pub proof: String,
}

/// Hashes, keys and accounts are written as their hex digits.
pub(crate) fn text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Shards are written as numbers.
pub(crate) fn shard<S: Serializer>(shard: &ShardId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(shard.0)
}
