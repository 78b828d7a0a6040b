// SPDX-License-Identifier: Apache-2.0
//! Blocks, chunk headers, endorsements and randomness.

use super::{LAG, Target};
use crate::{Decoder, documents};
use bytes::Bytes;
use commonware_cryptography::{Digestible as _, Signer as _};
use shardnode_blocks::validity::{Base, check_header};
use shardnode_primitives::{
    Block, BlockLimits, ChunkContent, ChunkHeader, DuePosition, Endorsement, Endorsements,
    ExecutionResult, Genesis, Namespaces, Randomness, ShardTotals, genesis::private_key,
    hash::ZERO, randomness::Reveal,
};

/// The most validators that genesis allows.
const VALIDATORS: u16 = 4_096;

/// The target.
#[must_use]
pub fn target() -> Target {
    let namespaces = Namespaces::new("fuzz", &ZERO);
    let (ours, theirs) = (namespaces.clone(), namespaces);
    let producer = private_key([1; 32]).public_key();
    let (validator, leader) = (producer.clone(), producer.clone());
    let genesis = documents::genesis();
    Target {
        name: "blocks",
        decoders: vec![
            Decoder::of::<ExecutionResult>((), drop),
            Decoder::of::<DuePosition>((), drop),
            Decoder::of::<ShardTotals>((), drop),
            Decoder::of::<ChunkContent>(LAG, drop),
            Decoder::of::<ChunkHeader>(LAG, move |header| {
                let _ = (header.hash(), header.verify(&producer, &ours));
                first_chunk(header, &genesis, &ours);
            }),
            Decoder::of::<Endorsement>((), move |endorsement| {
                let _ = endorsement.verify(&validator, &theirs);
            }),
            Decoder::of::<Endorsements>(VALIDATORS, |endorsements| {
                let _ = endorsements.count();
            }),
            Decoder::of::<Reveal>((), drop),
            Decoder::of::<Randomness>((), move |child| {
                let _ = Randomness::genesis(ZERO).check_child(&child, 1, 16, &leader);
            }),
            block(1),
            block(2),
            // Nothing that small is a block of the largest network, and it is
            // to be refused before room is made for so many headers.
            block(1_024),
            Decoder::new("where a block was proposed", |bytes| {
                let mut head = Bytes::copy_from_slice(bytes);
                Block::read_context(&mut head).is_ok()
            }),
        ],
    }
}

/// Checks the header as that of the first chunk of its shard, which it is made
/// to name.
fn first_chunk(mut header: ChunkHeader, genesis: &Genesis, namespaces: &Namespaces) {
    let content = &mut header.content;
    let Ok(previous) = ChunkHeader::genesis(content.shard, content.totals.clone()) else {
        return;
    };
    content.sequence = 1;
    content.previous = previous.hash();
    let base = Base {
        previous: &previous,
        height: content.height,
        anchor: content.anchor,
    };
    let _ = check_header(&header, base, genesis, namespaces);
}

fn block(shards: u16) -> Decoder {
    let limits = BlockLimits {
        shards,
        lag: LAG,
        validators: VALIDATORS,
    };
    Decoder::of::<Block>(limits, |block| {
        let _ = (block.digest(), block.missed_chunks());
        let _ = block.new_chunks().count();
    })
}
