// SPDX-License-Identifier: Apache-2.0
//! What nodes send each other about chunks, and on behalf of clients.

use super::{LAG, MOST, Target};
use crate::{Decoder, documents};
use bytes::Bytes;
use commonware_codec::{Decode as _, FixedSize as _};
use shardnode_network::{
    chunk_messages::{BucketHead, ChunkMessage, MessageLimits},
    chunk_requests::Key,
    client_messages::{Answer, ClientMessage},
    state_requests as state,
};
use shardnode_primitives::{AccountId, Transaction, hash::ZERO};

/// The target.
#[must_use]
pub fn target() -> Target {
    let mut genesis = documents::genesis();
    genesis.protocol.execution_lag = LAG;
    genesis.protocol.max_transactions_per_chunk = MOST;
    let body = MOST as usize * Transaction::SIZE;
    let limits = MessageLimits::of(&genesis);
    Target {
        name: "messages",
        decoders: vec![
            Decoder::of::<ChunkMessage>(limits, drop),
            Decoder::new("the head of receipts", move |bytes| {
                let bytes = Bytes::copy_from_slice(bytes);
                let head = BucketHead::of(&bytes);
                if let Ok(ChunkMessage::Bucket(proven)) = ChunkMessage::decode_cfg(bytes, &limits) {
                    let bucket = proven.bucket;
                    let whole = BucketHead {
                        source: bucket.source,
                        height: bucket.height,
                        destination: bucket.destination,
                    };
                    assert_eq!(
                        head,
                        Some(whole),
                        "the head is another than the message has"
                    );
                }
                head.is_some()
            }),
            Decoder::of::<Key>((), |key| drop(key.to_string())),
            Decoder::of::<state::Key>((), |key| drop(key.to_string())),
            Decoder::of::<state::Offer>((), drop),
            Decoder::of::<ClientMessage>(body, |message| {
                if let ClientMessage::Reply(_, Answer::Account(_, proof)) = message {
                    let _ = proof.verify(&AccountId(ZERO.0), &ZERO);
                }
            }),
        ],
    }
}
