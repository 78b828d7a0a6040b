// SPDX-License-Identifier: Apache-2.0
//! Messages that have no business being sent: old ones, ones for other
//! heights, and no messages at all.

use super::part_for;
use crate::lies::{Behaviour, Liar, Outgoing};
use bytes::Bytes;
use commonware_codec::{DecodeExt as _, Encode as _};
use commonware_cryptography::Signer as _;
use rand_core::Rng as _;
use shardnode_network::{channels, chunk_messages::ChunkMessage};
use shardnode_primitives::{ChunkHeader, Digest, Endorsement, endorsement};

/// The longest garbage.
const GARBAGE: u64 = 2_048;

/// Some channel.
fn channel(liar: &mut Liar<'_>) -> u64 {
    liar.rng.next_u64() % channels::ALL.len() as u64
}

/// Sends bytes at random, and messages with a byte changed or cut off, on all
/// channels, once in `once_in` messages.
pub struct Garbage {
    once_in: u64,
}

impl Garbage {
    /// Once in so many messages.
    #[must_use]
    pub const fn new(once_in: u64) -> Self {
        Self { once_in }
    }
}

impl Behaviour for Garbage {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        if !liar.once_in(self.once_in) {
            return None;
        }
        let number = liar.rng.next_u64();
        let mut garbage = message.clone();
        garbage.bytes = match number % 3 {
            0 => {
                let length = liar.rng.next_u64() % GARBAGE;
                let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
                liar.rng.fill_bytes(&mut bytes);
                garbage.channel = channel(liar);
                bytes.into()
            }
            1 => {
                let mut bytes = message.bytes.to_vec();
                let place = liar.rng.next_u64().checked_rem(bytes.len() as u64)?;
                let byte = bytes.get_mut(usize::try_from(place).ok()?)?;
                *byte ^= 1 << (number % 8);
                bytes.into()
            }
            _ => {
                let length = liar
                    .rng
                    .next_u64()
                    .checked_rem(message.bytes.len() as u64)?;
                message.bytes.slice(..usize::try_from(length).ok()?)
            }
        };
        liar.shared.count("garbage");
        Some(vec![garbage, message.clone()])
    }
}

/// Sends again what anybody sent before, on its channel or another one, and
/// its own words signed for another height, once in `once_in` messages.
pub struct Replays {
    once_in: u64,
}

impl Replays {
    /// Once in so many messages.
    #[must_use]
    pub const fn new(once_in: u64) -> Self {
        Self { once_in }
    }
}

/// The node's own word, signed for another height.
fn elsewhere(liar: &mut Liar<'_>, message: &Outgoing) -> Option<Bytes> {
    let identity = liar.identity;
    let away = |height: u64, number: u64| (height + number % 7).saturating_sub(3);
    let number = liar.rng.next_u64();
    match message.channel {
        channels::ENDORSEMENTS => {
            let mut word = Endorsement::decode(message.bytes.clone()).ok()?;
            word.height = away(word.height, number);
            let signed = endorsement::message(word.shard, word.height, &word.header);
            word.signature = identity.key.sign(&identity.namespaces.endorsement, &signed);
            Some(word.encode())
        }
        channels::CHUNKS => {
            let ChunkMessage::Header(header) = liar.chunk_message(message)? else {
                return None;
            };
            let mut content = header.content;
            content.height = away(content.height, number);
            let header = ChunkHeader::sign(content, &identity.key, &identity.namespaces);
            Some(ChunkMessage::Header(header).encode())
        }
        channels::WITNESSES => {
            let mut header = [0; 32];
            liar.rng.fill_bytes(&mut header);
            part_for(&message.bytes, Digest(header), identity)
        }
        _ => None,
    }
}

impl Behaviour for Replays {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        if !liar.once_in(self.once_in) {
            return None;
        }
        let mut out = vec![message.clone()];
        if let Some(bytes) = elsewhere(liar, message) {
            liar.shared.count("messages for another height");
            out.push(message.with(bytes));
        }
        let number = liar.rng.next_u64();
        if let Some(mut old) = liar.shared.old_message(number) {
            old.to = liar.others.to_vec();
            if liar.once_in(8) {
                old.channel = channel(liar);
            }
            liar.shared.count("replayed messages");
            out.push(old);
        }
        Some(out)
    }
}
