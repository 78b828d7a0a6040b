// SPDX-License-Identifier: Apache-2.0
//! What a peer may ask on each channel of requests, and what it may be sent.

use crate::{
    Identity, Pace, channels, chunk_requests,
    limits::{most_block, most_body, most_certificate, most_page, most_receipts, questions},
    state_requests,
};
use bytes::Bytes;
use commonware_codec::DecodeExt as _;
use commonware_cryptography::ed25519::PublicKey;
use shardnode_primitives::ShardId;
use std::{fmt, sync::Arc};

/// Bytes of answers that a peer may be sent at once, where the largest are small.
const BYTES: u64 = 32 << 20;
/// Bytes of answers that it may be sent in a second, over time, where blocks are
/// small.
const RATE: u64 = 4 << 20;
/// Pages of states are few, and whoever fetches one waits for all of them.
const PAGES: u64 = 32 << 20;
/// Answers of the largest size that fit into an allowance.
const LARGEST: u64 = 4;
/// How much faster than the chain grows a peer may catch up with it from this
/// node alone.
const FASTER: u64 = 4;

/// What a peer may be sent in answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes at once.
    pub bytes: u64,
    /// Bytes more with every second.
    pub rate: u64,
}

/// What a question is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Price {
    /// So many bytes, which the largest answer has.
    Bytes(u64),
    /// The peer has no use for an answer.
    OfNoUse,
    /// It is no question of this protocol.
    Unreadable,
}

/// What a peer's question is worth, by its key.
type Pricing = Arc<dyn Fn(&PublicKey, Bytes) -> Price + Send + Sync>;

/// What a peer may ask on a channel.
#[derive(Clone)]
pub struct Terms {
    allowance: Allowance,
    /// How fast one node asks another one.
    questions: Pace,
    price: Pricing,
}

impl fmt::Debug for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terms")
            .field("allowance", &self.allowance)
            .field("questions", &self.questions)
            .finish_non_exhaustive()
    }
}

impl Terms {
    /// What a peer may be sent.
    #[must_use]
    pub const fn allowance(&self) -> Allowance {
        self.allowance
    }

    /// How fast this node asks a peer, and a peer this node, if it keeps to that:
    /// the burst is what is under way at a time.
    pub(super) const fn questions(&self) -> Pace {
        self.questions
    }

    /// What a question of a peer is worth.
    pub(super) fn price(&self, peer: &PublicKey, key: Bytes) -> Price {
        (self.price)(peer, key)
    }

    /// Of a channel on which answers of at most `largest` bytes are given, of which
    /// so many become of use with every block.
    fn new(
        identity: &Identity,
        channel: u64,
        largest: usize,
        of_a_block: usize,
        price: impl Fn(&PublicKey, Bytes) -> Price + Send + Sync + 'static,
    ) -> Self {
        let blocks = 1_000u64.div_ceil(identity.genesis.protocol.min_block_time_ms.max(1));
        let growth = (of_a_block as u64).saturating_mul(blocks);
        Self {
            allowance: Allowance {
                bytes: BYTES.max(LARGEST.saturating_mul(largest as u64)),
                rate: RATE.max(FASTER.saturating_mul(growth)),
            },
            questions: questions(channel),
            price: Arc::new(price),
        }
    }

    /// Certificates, for everybody.
    #[must_use]
    pub fn certificates(identity: &Identity) -> Self {
        let most = most_certificate(identity);
        let price = Price::Bytes(most as u64);
        let channel = channels::CERTIFICATE_REQUESTS;
        Self::new(identity, channel, most, 2 * most, move |_, _| price)
    }

    /// Blocks, for everybody.
    #[must_use]
    pub fn blocks(identity: &Identity) -> Self {
        let most = most_block(identity);
        let price = Price::Bytes(most as u64);
        let channel = channels::BLOCK_REQUESTS;
        Self::new(identity, channel, most, most, move |_, _| price)
    }

    /// Bodies for those who track the shard, parts of bodies for those who vote,
    /// and receipts for those who track the shard that they are for.
    #[must_use]
    pub fn chunks(identity: &Arc<Identity>) -> Self {
        let (body, receipts) = (most_body(identity), most_receipts(identity));
        let part = most_receipts(identity).min(part(identity));
        let asker = Arc::clone(identity);
        let price = move |peer: &PublicKey, key: Bytes| {
            let tracks = |shard: ShardId| tracks(&asker, peer, shard);
            let Ok(key) = chunk_requests::Key::decode(key) else {
                return Price::Unreadable;
            };
            let (of_use, most) = match key {
                chunk_requests::Key::Body { shard, .. } => (tracks(shard), body),
                chunk_requests::Key::Bucket { destination, .. } => (tracks(destination), receipts),
                chunk_requests::Key::Part { .. } => (asker.genesis.producer(peer).is_some(), part),
            };
            worth(of_use, most)
        };
        // A node that is the only one to ask is asked for a body, the part of
        // every other one, and the receipts of all.
        let shards = usize::from(identity.genesis.layout.shards());
        let of_a_block = body
            .saturating_add(part.saturating_mul(shards))
            .saturating_add(receipts);
        let channel = channels::CHUNK_REQUESTS;
        Self::new(identity, channel, body.max(receipts), of_a_block, price)
    }

    /// States, for those who track the shard, and for archives.
    #[must_use]
    pub fn states(identity: &Arc<Identity>) -> Self {
        let most = most_page();
        let asker = Arc::clone(identity);
        let channel = channels::STATE_REQUESTS;
        let mut terms = Self::new(identity, channel, most, 0, move |peer, key| {
            let Ok(
                state_requests::Key::Newest { shard, .. } | state_requests::Key::Page { shard, .. },
            ) = state_requests::Key::decode(key)
            else {
                return Price::Unreadable;
            };
            let keeps = tracks(&asker, peer, shard) || asker.is_archive(peer);
            worth(keeps, most)
        });
        terms.allowance.rate = PAGES;
        terms
    }
}

const fn worth(of_use: bool, most: usize) -> Price {
    if of_use {
        Price::Bytes(most as u64)
    } else {
        Price::OfNoUse
    }
}

/// The largest part of a body.
fn part(identity: &Identity) -> usize {
    const PROOF: usize = 1_024;
    let needed = identity.body_code().needed().max(1);
    most_body(identity).div_ceil(needed).saturating_add(PROOF)
}

fn tracks(identity: &Identity, peer: &PublicKey, shard: ShardId) -> bool {
    let producer = identity.genesis.producer(peer);
    producer.is_some_and(|producer| producer.shard == shard)
}
