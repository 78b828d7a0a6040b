// SPDX-License-Identifier: Apache-2.0
//! A span.

use crate::{
    ids::{SpanId, TraceId, chunk_or_block, of_node, trace},
    name::{Name, Parent},
};
use shardnode_primitives::{Digest, ShardId};
use std::time::SystemTime;

/// What a span is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The height of the trace.
    pub height: u64,
    /// The chunk's shard; `None` for what is of a whole block.
    pub shard: Option<ShardId>,
}

impl Place {
    /// What is of a block.
    #[must_use]
    pub const fn block(height: u64) -> Self {
        Self {
            height,
            shard: None,
        }
    }

    /// What is of a chunk.
    #[must_use]
    pub const fn chunk(height: u64, shard: ShardId) -> Self {
        Self {
            height,
            shard: Some(shard),
        }
    }
}

/// What else there is to say of a span. It tells spans apart that a node
/// records of one name and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Nothing.
    None,
    /// The view of consensus.
    View(u64),
    /// The chunk header's hash: its producer can sign several.
    Header(Digest),
    /// The height of the chunk that is executed.
    Executed(u64),
    /// Whether the chunk is in the block of its height.
    Included(bool),
}

impl Detail {
    fn word(&self) -> [u8; 8] {
        match self {
            Self::None | Self::Included(_) => [0; 8],
            Self::View(number) | Self::Executed(number) => number.to_be_bytes(),
            Self::Header(Digest(hash)) => {
                let mut word = [0; 8];
                word.copy_from_slice(&hash[..8]);
                word
            }
        }
    }
}

/// Something that a node did, from when to when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What was done.
    pub name: Name,
    /// What of.
    pub place: Place,
    /// What else there is to say.
    pub detail: Detail,
    /// When it began.
    pub begin: SystemTime,
    /// When it ended; not before it began.
    pub end: SystemTime,
}

impl Span {
    /// Its trace.
    #[must_use]
    pub fn trace(&self, genesis: &Digest) -> TraceId {
        trace(genesis, self.place.height)
    }

    /// Its id, if `node` recorded it.
    #[must_use]
    pub fn id(&self, genesis: &Digest, node: &str) -> SpanId {
        match self.name {
            Name::Block | Name::Chunk => chunk_or_block(genesis, self.place),
            _ => of_node(genesis, self.place, self.name, node, self.detail.word()),
        }
    }

    /// The id of its parent.
    #[must_use]
    pub fn parent(&self, genesis: &Digest) -> Option<SpanId> {
        let place = match self.name.parent() {
            Parent::None => return None,
            Parent::Block => Place::block(self.place.height),
            Parent::Chunk => self.place,
        };
        Some(chunk_or_block(genesis, place))
    }
}
