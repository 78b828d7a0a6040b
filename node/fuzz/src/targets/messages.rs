// SPDX-License-Identifier: Apache-2.0
//! What nodes send each other about chunks, and on behalf of clients.

use super::{LAG, MOST, Target};
use crate::{Decoder, documents};
use commonware_codec::FixedSize as _;
use shardnode_network::{
    chunk_messages::{ChunkMessage, MessageLimits},
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
    Target {
        name: "messages",
        decoders: vec![
            Decoder::of::<ChunkMessage>(MessageLimits::of(&genesis), drop),
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
