// SPDX-License-Identifier: Apache-2.0
//! What clients are answered, and the codes in which other nodes say it.

use shardnode_execution::Outcome;
use shardnode_network::client_messages::Answer;
use shardnode_primitives::{Refusal, ShardId};

/// No node of the shard answered with what could be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no node of shard {0} answered")]
pub struct Unavailable(pub ShardId);

/// The code of a transaction of which nothing is known; of all others it is
/// that of their [`Outcome`].
pub(crate) const UNKNOWN: u8 = u8::MAX;

/// The fate of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Not among the last executed chunks of its shard.
    Unknown,
    /// Not among them either, and this node passed it on and sees to it that other
    /// producers have it, too.
    Pending,
    /// Not among them either, and this node passed it on until no chunk could
    /// execute it any more.
    Expired,
    /// In the chunk at this height.
    Known(u64, Outcome),
}

/// The code of a transaction that was taken; of all others it is that of their
/// [`Refusal`].
const SUBMITTED: u8 = 0;

pub(crate) const fn submit_code(result: Result<(), Refusal>) -> u8 {
    match result {
        Ok(()) => SUBMITTED,
        Err(refusal) => refusal.code(),
    }
}

/// Whether this is the answer to a list with a transaction that its signer did not
/// sign. Every node verifies what it puts into a list.
pub(crate) fn lists_forged(answer: &Answer) -> bool {
    let forged = Refusal::Signature.code();
    matches!(answer, Answer::SubmittedAll(codes) if codes.contains(&forged))
}

pub(crate) fn submit_result(code: u8) -> Result<(), Refusal> {
    if code == SUBMITTED {
        return Ok(());
    }
    // Whatever that means, the transaction was not taken.
    Err(Refusal::from_code(code).unwrap_or(Refusal::Shard))
}

/// What a node says of a transaction, in one byte.
pub(crate) fn fate(height: u64, code: u8) -> Option<Fate> {
    if code == UNKNOWN {
        return Some(Fate::Unknown);
    }
    Outcome::from_code(code).map(|outcome| Fate::Known(height, outcome))
}
