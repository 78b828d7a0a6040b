// SPDX-License-Identifier: Apache-2.0
//! A producer that sends receipts which its execution did not emit, or sends
//! receipts to few.

use crate::lies::{Behaviour, Liar, Outgoing};
use bytes::Bytes;
use commonware_codec::Encode as _;
use rand_core::Rng as _;
use shardnode_network::{channels, chunk_messages::ChunkMessage};
use shardnode_primitives::{ProvenBucket, ReceiptBucket};

/// Changes receipts or their proofs, in what it sends and in what it answers.
#[derive(Default)]
pub struct ForgedReceipts;

fn forge(proven: &mut ProvenBucket, liar: &mut Liar<'_>) {
    let ReceiptBucket {
        height, receipts, ..
    } = &mut proven.bucket;
    let Some(first) = receipts.first_mut() else {
        *height += 1;
        return;
    };
    match liar.rng.next_u64() % 4 {
        0 => first.amount += 1_000,
        1 => {
            let twice = *first;
            receipts.push(twice);
        }
        2 => receipts.clear(),
        // Under a proof of other receipts.
        _ => {
            *proven = ProvenBucket::prove_all(vec![proven.bucket.clone()])
                .1
                .remove(0);
        }
    }
}

impl Behaviour for ForgedReceipts {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        if message.channel == channels::CHUNK_REQUESTS {
            // The last byte of an answer is in its content; of a question, in
            // its hash.
            let mut bytes = message.bytes.to_vec();
            *bytes.last_mut()? ^= 1;
            liar.shared.count("forged answers");
            return Some(vec![message.with(Bytes::from(bytes))]);
        }
        let ChunkMessage::Bucket(mut proven) = liar.chunk_message(message)? else {
            return None;
        };
        forge(&mut proven, liar);
        liar.shared.count("forged receipts");
        Some(vec![message.with(ChunkMessage::Bucket(proven).encode())])
    }
}

/// Sends receipts to no more than one producer of the shard that they are for,
/// answers no request, and stops voting once the blocks with their headers are
/// final: those who lack the receipts cannot execute, and the others can.
pub struct PartialReceipts {
    votes: u64,
}

impl PartialReceipts {
    /// Sends so many votes.
    #[must_use]
    pub const fn new(votes: u64) -> Self {
        Self { votes }
    }
}

impl Behaviour for PartialReceipts {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        match message.channel {
            channels::CHUNK_REQUESTS => Some(Vec::new()),
            channels::VOTES if self.votes > 0 => {
                self.votes -= 1;
                None
            }
            channels::VOTES => {
                liar.shared.count("votes kept back");
                Some(Vec::new())
            }
            _ => {
                let ChunkMessage::Bucket(proven) = liar.chunk_message(message)? else {
                    return None;
                };
                let trackers = liar
                    .identity
                    .genesis
                    .producers_of(proven.bucket.destination);
                let first = trackers.map(|tracker| &tracker.key).min()?;
                liar.shared.count("receipts kept from some");
                Some(vec![message.to(vec![first.clone()])])
            }
        }
    }
}
