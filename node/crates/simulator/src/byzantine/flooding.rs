// SPDX-License-Identifier: Apache-2.0
//! A validator that sends some nodes as much as its links carry.

use crate::lies::{Behaviour, Liar, Outgoing};
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_cryptography::ed25519::PublicKey;
use rand_core::Rng as _;
use shardnode_network::{channels, chunk_messages::ChunkMessage, chunk_requests::Key};
use shardnode_primitives::ChunkHeader;
use std::collections::{BTreeMap, VecDeque};

/// Messages on each channel between two looks at the network, of which there are
/// fifty in a second: 100,000 messages, if they may be sent.
const TOGETHER: usize = 2_000;
/// Own messages of each channel that others are made of.
const KEPT: usize = 8;
/// Bytes of a signature, which most messages end with or have near their end.
const SIGNATURE: usize = 64;

/// What messages on a channel count as.
#[must_use]
pub const fn flooded(channel: u64) -> &'static str {
    match channel {
        channels::VOTES => "flooded votes",
        channels::CERTIFICATES => "flooded certificates",
        channels::CERTIFICATE_REQUESTS => "flooded certificate requests",
        channels::BLOCKS => "flooded blocks",
        channels::BLOCK_REQUESTS => "flooded block requests",
        channels::CHUNKS => "flooded chunks",
        channels::CHUNK_REQUESTS => "flooded chunk requests",
        channels::CLIENT_REQUESTS => "flooded client requests",
        channels::WITNESSES => "flooded witnesses",
        channels::ENDORSEMENTS => "flooded endorsements",
        _ => "flooded state requests",
    }
}

/// On each of some channels, sends its own last messages again and again: as they
/// were, and, unless it sends nothing but what is right, with another signature or a
/// byte changed; asks for what there is; and, unless so, sends bytes at random where
/// it has said nothing yet.
pub struct Flood {
    channels: Vec<u64>,
    /// The places of the nodes that it sends to, among all others.
    to: Vec<usize>,
    /// Whether it sends what it sent before, and nothing else.
    right: bool,
    said: BTreeMap<u64, VecDeque<Bytes>>,
    asked: u64,
}

impl Flood {
    /// On these channels, to the nodes at these places among all others; `right` says
    /// whether nothing but what is right.
    #[must_use]
    pub const fn new(channels: Vec<u64>, to: Vec<usize>, right: bool) -> Self {
        Self {
            channels,
            to,
            right,
            said: BTreeMap::new(),
            asked: 0,
        }
    }

    fn keep(&mut self, channel: u64, bytes: Bytes) {
        let said = self.said.entry(channel).or_default();
        said.push_back(bytes);
        if said.len() > KEPT {
            said.pop_front();
        }
    }

    /// Questions about a chunk that everybody knows of.
    fn ask_for(&mut self, header: &ChunkHeader) {
        let content = &header.content;
        let (shard, height) = (content.shard, content.height);
        let body = Key::Body {
            shard,
            height,
            hash: content.body_hash,
        };
        let part = Key::Part {
            shard,
            height,
            index: 0,
            root: content.parts_root,
        };
        for key in [body, part] {
            self.asked += 1;
            let question = [&self.asked.to_be_bytes()[..], &[0], &key.encode()[..]].concat();
            self.keep(channels::CHUNK_REQUESTS, question.into());
        }
    }

    fn message(&self, liar: &mut Liar<'_>, channel: u64) -> Option<Bytes> {
        let number = liar.rng.next_u64();
        let said = self.said.get(&channel).filter(|said| !said.is_empty());
        let Some(said) = said else {
            if self.right {
                return None;
            }
            let mut bytes = vec![0; 256];
            liar.rng.fill_bytes(&mut bytes);
            return Some(bytes.into());
        };
        let place = number.checked_rem(said.len() as u64).unwrap_or_default();
        let message = &said[usize::try_from(place).unwrap_or_default()];
        let mut bytes = message.to_vec();
        let from = match (number >> 32) % 4 {
            _ if self.right => return Some(message.clone()),
            0 => return Some(message.clone()),
            // In the head, or anywhere.
            1 => 0,
            _ => bytes.len().saturating_sub(SIGNATURE),
        };
        let span = (bytes.len() - from) as u64;
        let place = (number >> 34).checked_rem(span).unwrap_or_default();
        let place = from + usize::try_from(place).unwrap_or_default();
        if let Some(byte) = bytes.get_mut(place) {
            *byte ^= 1 << (number % 8);
        }
        Some(bytes.into())
    }
}

impl Behaviour for Flood {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        self.keep(message.channel, message.bytes.clone());
        if let Some(ChunkMessage::Header(header)) = liar.chunk_message(message) {
            self.ask_for(&header);
        }
        None
    }

    fn tick(&mut self, liar: &mut Liar<'_>, send: &mut dyn FnMut(Outgoing) -> usize) {
        let to: Vec<PublicKey> = self
            .to
            .iter()
            .filter_map(|place| liar.others.get(*place).cloned())
            .collect();
        for channel in &self.channels {
            for _ in 0..TOGETHER {
                let Some(bytes) = self.message(liar, *channel) else {
                    break;
                };
                let sent = send(Outgoing {
                    channel: *channel,
                    to: to.clone(),
                    bytes,
                    priority: false,
                });
                liar.shared.count_many(flooded(*channel), sent);
                // As much as may be sent by now.
                if sent == 0 {
                    break;
                }
            }
        }
    }
}
