// SPDX-License-Identifier: Apache-2.0
//! What clients are answered, and the codes in which other nodes say it.

use shardnode_execution::Outcome;
use shardnode_network::client_messages::Answer;
use shardnode_primitives::{Refusal, ShardId};

/// No node of the shard answered with what could be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no node of shard {0} answered")]
pub struct Unavailable(pub ShardId);

/// The code of a transaction of which nothing is known. That of one that is in a
/// chunk is its [`Outcome`]'s.
const UNKNOWN: u8 = u8::MAX;
/// What is added to the code of the [`Refusal`] for which a pool let go of a transaction.
const LET_GO: u8 = 128;

/// The fate of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Not among the last executed chunks of its shard.
    Unknown,
    /// Not among them either, and this node passed it on and sees to it that other
    /// producers have it, too.
    Pending,
    /// Not among them either, and the pool that it was in let go of it for this; or this
    /// node passed it on until it had expired, or until all producers refused it.
    LetGo(Refusal),
    /// In the chunk at this height.
    Known(u64, Outcome),
}

impl Fate {
    /// What this node itself knows, or else what a producer says of a transaction that is
    /// in no chunk: while this node hands it on, it is not at an end.
    pub(crate) fn or(self, said: Self) -> Self {
        if self == Self::Unknown { said } else { self }
    }
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

/// The answer about a transaction, by the chunk that has it or else by what the pool
/// let go of it for.
pub(crate) fn fate_code(outcome: Option<(u64, Outcome)>, let_go: Option<Refusal>) -> (u64, u8) {
    match (outcome, let_go) {
        (Some((height, outcome)), _) => (height, outcome.code()),
        (None, Some(refusal)) => (0, LET_GO + refusal.code()),
        (None, None) => (0, UNKNOWN),
    }
}

/// What a node says of a transaction, in one byte.
pub(crate) fn fate(height: u64, code: u8) -> Option<Fate> {
    if code == UNKNOWN {
        return Some(Fate::Unknown);
    }
    match code.checked_sub(LET_GO) {
        Some(refusal) => Refusal::from_code(refusal).map(Fate::LetGo),
        None => Outcome::from_code(code).map(|outcome| Fate::Known(height, outcome)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fate_has_a_code_of_its_own() {
        for outcome in Outcome::ALL {
            let (height, code) = fate_code(Some((7, outcome)), Some(Refusal::Nonce));
            assert_eq!(fate(height, code), Some(Fate::Known(7, outcome)));
        }
        for refusal in Refusal::ALL {
            let (height, code) = fate_code(None, Some(refusal));
            assert_eq!(fate(height, code), Some(Fate::LetGo(refusal)));
        }
        let (height, code) = fate_code(None, None);
        assert_eq!(fate(height, code), Some(Fate::Unknown));
        assert_eq!(
            (fate(0, 127), fate(0, 128), fate(0, 254)),
            (None, None, None)
        );
    }
}
