// SPDX-License-Identifier: Apache-2.0
//! The own shard's state. An [`Actor`] owns it: it takes finalised blocks in
//! order, executes the own shard's chunks, makes each execution durable, and
//! only then acknowledges the block, so that a restarted node resumes where its
//! durable state ends.
//!
//! # What a chunk's execution is given
//!
//! The chunk at height `h` credits the receipts that any shard's headers in
//! the blocks up to `h` are the first to commit to, in this order: by block,
//! by source shard, by executed height. It starts where the chunk before it
//! stopped, and takes as much as
//! [`Crediting`](shardnode_execution::Crediting) wants; the rest waits for the
//! next one. Each bucket is checked against the committing header's
//! `receipts_root`. What block `h - 1` says of the shards decides to which of
//! them the chunk's transfers may send.
//!
//! # Recovery
//!
//! Snapshot, then the records after it, and the rebuilt root must be the last
//! record's. Blocks that are delivered again are not executed again.
//!
//! Damage can take the newest record away, or all of them, although its block was
//! acknowledged. So before a chunk is executed, and at the start, the state has to
//! be that after the chunk which the chain had before it. What lies between the
//! two is executed again, from archived blocks, bodies and receipts, or a later
//! state is fetched. A state after a chunk that the chain does not have ends the
//! node.
//!
//! # Catching up
//!
//! A block waits at the front until what executing it takes has come, or a
//! later state.
//!
//! A producer that starts with nothing, or was away, executes what it missed
//! from bodies and receipts that peers keep. These keep them for
//! `retentionBlocks`, and offer snapshots. If the next chunk to execute is
//! further below the finalised tip than `snapshotIntervalBlocks`, or if nobody
//! has answered for [`PATIENCE`](catching_up::PATIENCE), the ledger
//! [asks for a later state](shardnode_mailboxes::state_sync), and goes on
//! asking for bodies and receipts: whichever comes first counts.
//!
//! A state that was fetched is made durable in one step. Blocks up to it are
//! then acknowledged without being executed: a block is never acknowledged
//! before there is a durable state that has it.
//!
//! # Snapshots
//!
//! Each time the own shard has had another `snapshotIntervalBlocks` chunks, a
//! producer freezes the state after executing the last of them. Once a
//! finalised header states that state's totals, the snapshot is made durable
//! and [offered](shardnode_mailboxes::snapshots), and so is the one before it.
//! Where a header commits to several executions it states the totals of the
//! last only, so a frozen state is followed by others until one is stated. All
//! producers of a shard with the same interval offer the same snapshots.
//!
//! # What is given away
//!
//! Receipts that peers ask for are in the last executions, which are in memory, or
//! in their records: those that the own shard sent for `retentionBlocks`, those
//! that it credited since the oldest snapshot on offer. A record is read for
//! whoever names the root of the receipts in it, which is known of all executions
//! since the start; of older ones headers in archived blocks say it. So a question
//! for what there is not costs no read, and of the records that were read the last
//! few stay in memory. One is read at a time, beside the actor: an execution that
//! is ready waits for that one at most. A record that cannot be read is told once
//! and not given away, and ends the node only where it needs it itself.
//!
//! # Copies
//!
//! A producer's copy of its shard is *complete* if it alone is enough: should
//! the shard's other producers lose all that they hold, they get from it, and
//! from other shards' producers as long as these keep receipts that nobody has
//! credited, all that takes them to the finalised tip, and no other shard lacks
//! anything that only they had. So whoever replaces nodes waits for a complete
//! copy before the next one goes. It takes that
//!
//! - the node has processed all but the last
//!   [`CLOSE`](shardnode_mailboxes::ledger::CLOSE) finalised blocks, does not
//!   fetch a state, and follows the chain: it has processed a block whose
//!   timestamp says that it was made after the node came so close;
//! - it has bodies and credited receipts since genesis, or since a snapshot that
//!   it offers. That is always so: both are durable before their execution is,
//!   and receipts are served from the records of the executions that credited
//!   them, as far back as the oldest snapshot on offer needs;
//! - every other shard has credited what this one sent before the node's own
//!   records begin, by the totals in its header: nobody will ask for it;
//! - every other shard's header commits to the executions of all chunks up to
//!   that block. The node may hold no part of their bodies, which it loses in a
//!   restart unless they are durable, but whoever executed them has the bodies.
//!
//! [`Lack`](shardnode_mailboxes::ledger::Lack) names what is not so.

mod actor;
mod catching_up;
mod copy;
mod error;
mod execute;
mod inputs;
mod metrics;
mod records;
mod shard;
mod snapshots;

pub use actor::{Actor, Parts};
pub use error::LedgerError;
pub use metrics::Metrics;
pub use snapshots::{Origin, restore};
