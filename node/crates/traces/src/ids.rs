// SPDX-License-Identifier: Apache-2.0
//! Ids that every node derives alike.
//!
//! An id is the first bytes of blake3 over these, one after another: a text
//! that says what it is of, the 32 bytes of the genesis hash, the height in 8
//! bytes, the shard in 2 (`ffff` for what is of a whole block; not for a trace),
//! and for a span other than `block` and `chunk`, its detail in 8 bytes (the view,
//! the executed height, the first bytes of the header's hash, or zeroes), its
//! name, a zero byte, and the name of the node that recorded it. Numbers are big
//! endian.

use crate::{name::Name, span::Place};
use shardnode_primitives::Digest;

/// The id of a trace.
pub type TraceId = [u8; 16];

/// The id of a span.
pub type SpanId = [u8; 8];

/// Stands for no shard: there are at most 1,024.
const NO_SHARD: u16 = u16::MAX;

/// The id of a height's trace.
#[must_use]
pub fn trace(genesis: &Digest, height: u64) -> TraceId {
    let mut hasher = started("shardyard trace", genesis, height);
    first(&mut hasher)
}

/// The id of the span `block` of a height, or of the span `chunk` of a height
/// and shard.
#[must_use]
pub fn chunk_or_block(genesis: &Digest, place: Place) -> SpanId {
    let mut hasher = started("shardyard parent", genesis, place.height);
    hasher.update(&shard(place));
    first(&mut hasher)
}

pub(crate) fn of_node(
    genesis: &Digest,
    place: Place,
    name: Name,
    node: &str,
    detail: [u8; 8],
) -> SpanId {
    let mut hasher = started("shardyard span", genesis, place.height);
    hasher.update(&shard(place));
    hasher.update(&detail);
    hasher.update(name.as_str().as_bytes());
    hasher.update(&[0]);
    hasher.update(node.as_bytes());
    first(&mut hasher)
}

/// A number that is the same on all nodes and evenly distributed over heights.
pub(crate) fn draw(genesis: &Digest, height: u64) -> u64 {
    let mut hasher = started("shardyard sample", genesis, height);
    u64::from_be_bytes(first(&mut hasher))
}

fn shard(place: Place) -> [u8; 2] {
    place.shard.map_or(NO_SHARD, |shard| shard.0).to_be_bytes()
}

fn started(what: &str, genesis: &Digest, height: u64) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(what.as_bytes());
    hasher.update(&genesis.0);
    hasher.update(&height.to_be_bytes());
    hasher
}

fn first<const BYTES: usize>(hasher: &mut blake3::Hasher) -> [u8; BYTES] {
    let mut id = [0; BYTES];
    hasher.finalize_xof().fill(&mut id);
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Detail, Span};
    use shardnode_primitives::ShardId;
    use std::{collections::BTreeSet, time::UNIX_EPOCH};

    const GENESIS: Digest = Digest([7; 32]);

    #[test]
    fn ids_are_of_what_they_name_alone() {
        let span = |name, place, detail| Span {
            name,
            place,
            detail,
            begin: UNIX_EPOCH,
            end: UNIX_EPOCH,
        };
        let chunk = Place::chunk(5, ShardId(1));
        let spans = [
            (span(Name::Chunk, chunk, Detail::Included(true)), "a"),
            (
                span(Name::Chunk, Place::chunk(5, ShardId(0)), Detail::None),
                "a",
            ),
            (span(Name::Block, Place::block(5), Detail::None), "a"),
            (span(Name::Block, Place::block(6), Detail::None), "a"),
            (span(Name::Take, chunk, Detail::None), "a"),
            (span(Name::Take, chunk, Detail::None), "b"),
            (span(Name::Divide, chunk, Detail::None), "a"),
            (span(Name::Verify, Place::block(5), Detail::View(9)), "a"),
            (span(Name::Verify, Place::block(5), Detail::View(10)), "a"),
        ];
        let ids: BTreeSet<_> = spans
            .iter()
            .map(|(span, node)| span.id(&GENESIS, node))
            .collect();
        assert_eq!(ids.len(), spans.len());
        // Whoever records a chunk or a block, it is what the others mean.
        let (chunk, block) = (&spans[0].0, &spans[2].0);
        assert_eq!(chunk.id(&GENESIS, "a"), chunk.id(&GENESIS, "b"));
        assert_eq!(spans[4].0.parent(&GENESIS), Some(chunk.id(&GENESIS, "")));
        assert_eq!(chunk.parent(&GENESIS), Some(block.id(&GENESIS, "")));
        assert_eq!(spans[7].0.parent(&GENESIS), Some(block.id(&GENESIS, "")));
        assert_eq!(block.parent(&GENESIS), None);
        assert_ne!(block.trace(&GENESIS), spans[3].0.trace(&GENESIS));
        assert_ne!(block.trace(&GENESIS), block.trace(&Digest([8; 32])));
    }
}
