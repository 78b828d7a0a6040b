// SPDX-License-Identifier: Apache-2.0
//! The targets, one module each.

pub mod api;
pub mod blocks;
pub mod documents;
pub mod load;
pub mod messages;
pub mod parts;
pub mod proofs;
pub mod receipts;
pub mod records;
pub mod state;
pub mod transactions;
pub mod witness;

use crate::Decoder;
use bytes::Bytes;
use commonware_parallel::Sequential;
use shardnode_coding::Code;
use shardnode_execution::body;
use shardnode_primitives::{ChunkBody, ChunkHeader, ShardId, ShardTotals, hash::ZERO};
use std::num::NonZeroU16;

/// The most transactions of a chunk that genesis allows, and so the most
/// receipts of a bucket.
const MOST: u32 = 65_536;
/// The longest execution lag that genesis allows.
const LAG: u8 = 4;
/// How bodies are divided among four participants.
#[allow(clippy::unwrap_used)]
const CODE: Code = Code::any(NonZeroU16::new(2).unwrap(), NonZeroU16::new(4).unwrap());

/// Lets the coder make its tables, which it does once: no input has to account
/// for them.
fn make_tables() {
    let Ok((root, shares)) = CODE.divide(&Bytes::from_static(b"any"), &Sequential) else {
        unreachable!("three bytes cannot be divided");
    };
    // Without the first, which are the bytes themselves.
    let last = (0..).zip(&shares).skip(CODE.needed());
    let checked: Vec<_> = last
        .filter_map(|(index, share)| CODE.check(&root, index, share).ok())
        .collect();
    let rebuilt = CODE.rebuild(&root, checked.iter(), &Sequential);
    assert!(rebuilt.is_ok(), "shares do not give what was divided");
}

/// A header that commits to this body.
fn header_of(shard: ShardId, totals: &ShardTotals, body: &ChunkBody) -> ChunkHeader {
    let Ok(mut header) = ChunkHeader::genesis(shard, totals.clone()) else {
        unreachable!("64 zeroes are no signature");
    };
    let transactions = body.transactions().unwrap_or_default();
    let divided = body::divide(body, &CODE, &Sequential);
    header.content.body_hash = body.hash();
    header.content.parts_root = divided.map_or(ZERO, |(root, _)| root);
    header.content.transactions = u32::try_from(transactions.len()).unwrap_or(u32::MAX);
    header
}

/// Decoders of one subject, which share their inputs.
#[derive(Debug)]
pub struct Target {
    /// Names the target, and its folder in the corpus.
    pub name: &'static str,
    /// What every input goes through.
    pub decoders: Vec<Decoder>,
}

impl Target {
    /// Gives the bytes to every decoder, and says whether they were good for
    /// any.
    ///
    /// # Panics
    ///
    /// If something does not hold that should hold of any bytes.
    pub fn run(&self, bytes: &[u8]) -> bool {
        self.decoders
            .iter()
            .fold(false, |good, decoder| decoder.run(bytes) | good)
    }
}

/// All targets.
#[must_use]
pub fn targets() -> Vec<Target> {
    vec![
        api::target(),
        blocks::target(),
        documents::target(),
        load::target(),
        messages::target(),
        parts::target(),
        proofs::target(),
        receipts::target(),
        records::target(),
        state::target(),
        transactions::target(),
        witness::target(),
    ]
}
