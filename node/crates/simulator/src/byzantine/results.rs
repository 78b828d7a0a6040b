// SPDX-License-Identifier: Apache-2.0
//! A producer whose headers commit to what its execution did not come to.

use super::StandIns;
use crate::lies::{Behaviour, Liar, Outgoing};
use commonware_codec::Encode as _;
use rand_core::Rng as _;
use shardnode_network::{channels, chunk_messages::ChunkMessage};
use shardnode_primitives::{ChunkContent, ChunkHeader, Digest};

/// What a false header is false about. All of them keep the rules that can be
/// checked without the shard's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// The state.
    StateRoot,
    /// The receipts.
    ReceiptsRoot,
    /// What became of the transactions.
    OutcomesRoot,
    /// Value that nobody sent.
    Minted,
    /// Transfers that nobody made.
    Counted,
    /// Receipts that it credited, as still to be credited.
    Postponed,
}

impl Lie {
    /// Every lie there is.
    pub const ALL: [Self; 6] = [
        Self::StateRoot,
        Self::ReceiptsRoot,
        Self::OutcomesRoot,
        Self::Minted,
        Self::Counted,
        Self::Postponed,
    ];

    /// What it counts as.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::StateRoot => "false states",
            Self::ReceiptsRoot => "false receipts",
            Self::OutcomesRoot => "false outcomes",
            Self::Minted => "minted value",
            Self::Counted => "false counts",
            Self::Postponed => "postponed receipts",
        }
    }

    /// The false content; `None` if `content` commits to no execution.
    #[must_use]
    pub fn about(self, content: &ChunkContent) -> Option<ChunkContent> {
        let mut content = content.clone();
        let result = content.results.last_mut()?;
        let other = |root: Digest| Digest(root.0.map(|byte| !byte));
        match self {
            Self::StateRoot => {
                result.state_root = other(result.state_root);
                content.totals.state_root = result.state_root;
            }
            Self::ReceiptsRoot => result.receipts_root = other(result.receipts_root),
            Self::OutcomesRoot => result.outcomes_root = other(result.outcomes_root),
            Self::Minted => {
                content.totals.received += 1_000;
                content.totals.balance += 1_000;
            }
            Self::Counted => {
                result.transfers += 1;
                content.totals.transfers += 1;
            }
            Self::Postponed => content.totals.next_due.block = content.totals.height,
        }
        Some(content)
    }
}

/// Commits to false results once in `once_in` chunks, and signs the header and
/// the witness's parts accordingly.
#[derive(Default)]
pub struct FalseResults {
    lies: Vec<Lie>,
    once_in: u64,
    instead: StandIns,
}

impl FalseResults {
    /// Tells these lies.
    #[must_use]
    pub fn new(lies: &[Lie], once_in: u64) -> Self {
        Self {
            lies: lies.to_vec(),
            once_in,
            instead: StandIns::default(),
        }
    }

    fn header(&mut self, liar: &mut Liar<'_>, header: &ChunkHeader) -> Option<ChunkHeader> {
        let Self {
            lies,
            once_in,
            instead,
        } = self;
        instead.of(header, || {
            if !liar.once_in(*once_in) {
                return None;
            }
            let lie = liar.rng.next_u64() % lies.len() as u64;
            let lie = lies.get(usize::try_from(lie).ok()?)?;
            let content = lie.about(&header.content)?;
            liar.shared.count(lie.kind());
            let identity = liar.identity;
            Some(ChunkHeader::sign(
                content,
                &identity.key,
                &identity.namespaces,
            ))
        })
    }
}

impl Behaviour for FalseResults {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        if message.channel == channels::WITNESSES {
            return self.instead.part(message, liar);
        }
        let told = liar.chunk_message(message)?;
        let own = told.header()?.clone();
        let false_one = self.header(liar, &own);
        let mut out = self.instead.released(&own, liar);
        let told = match (told, false_one) {
            (told, None) => told,
            (ChunkMessage::Chunk(_, body), Some(header)) => ChunkMessage::Chunk(header, body),
            (ChunkMessage::Part(_, share), Some(header)) => ChunkMessage::Part(header, share),
            (_, Some(header)) => ChunkMessage::Header(header),
        };
        out.push(message.with(told.encode()));
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shardnode_primitives::{DuePosition, ExecutionResult, ShardId, ShardTotals, hash::ZERO};

    #[test]
    fn every_lie_is_another_header() {
        let totals = ShardTotals {
            height: 1,
            next_due: DuePosition::at(2),
            ..ShardTotals::genesis(ZERO, 0)
        };
        let mut content = ChunkContent {
            shard: ShardId(0),
            height: 2,
            sequence: 2,
            anchor: ZERO,
            previous: ZERO,
            body_hash: ZERO,
            parts_root: ZERO,
            body_len: 0,
            transactions: 0,
            results: Vec::new(),
            uncommitted: vec![2],
            totals,
        };
        assert!(Lie::StateRoot.about(&content).is_none());
        content.results.push(ExecutionResult {
            height: 1,
            state_root: ZERO,
            outcomes_root: ZERO,
            receipts_root: ZERO,
            transfers: 0,
            credits: 0,
        });
        for lie in Lie::ALL {
            assert_ne!(lie.about(&content), Some(content.clone()), "{lie:?}");
        }
    }
}
