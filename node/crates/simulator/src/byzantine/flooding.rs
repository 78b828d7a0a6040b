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

/// What it said, and to which of the nodes that it sends to it says it again.
struct Said {
    bytes: Bytes,
    to: Vec<PublicKey>,
}

/// On each of some channels, sends its own last messages again and again, and asks for
/// what there is. Either it sends nothing but what is right: each message as it was, to
/// whom it sent it before, as the part of a witness that is one member's is a wrong one
/// for another. Or it sends them to all, as they were, with another signature or with a
/// byte changed, and bytes at random where it has said nothing yet.
pub struct Flood {
    channels: Vec<u64>,
    /// The places of the nodes that it sends to, among all others.
    to: Vec<usize>,
    /// Whether it sends what it sent before, and nothing else.
    right: bool,
    said: BTreeMap<u64, VecDeque<Said>>,
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

    fn targets(&self, liar: &Liar<'_>) -> Vec<PublicKey> {
        let places = self.to.iter();
        places
            .filter_map(|place| liar.others.get(*place).cloned())
            .collect()
    }

    fn keep(&mut self, channel: u64, bytes: Bytes, to: Vec<PublicKey>) {
        if to.is_empty() {
            return;
        }
        let said = self.said.entry(channel).or_default();
        said.push_back(Said { bytes, to });
        if said.len() > KEPT {
            said.pop_front();
        }
    }

    /// Questions about a chunk that everybody knows of.
    fn ask_for(&mut self, header: &ChunkHeader, targets: &[PublicKey]) {
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
            self.keep(channels::CHUNK_REQUESTS, question.into(), targets.to_vec());
        }
    }

    fn message(&self, liar: &mut Liar<'_>, channel: u64) -> Option<Said> {
        let number = liar.rng.next_u64();
        let said = self.said.get(&channel).filter(|said| !said.is_empty());
        let Some(said) = said else {
            if self.right {
                return None;
            }
            let mut bytes = vec![0; 256];
            liar.rng.fill_bytes(&mut bytes);
            let (bytes, to) = (bytes.into(), self.targets(liar));
            return Some(Said { bytes, to });
        };
        let place = number.checked_rem(said.len() as u64).unwrap_or_default();
        let Said { bytes, to } = &said[usize::try_from(place).unwrap_or_default()];
        let (mut bytes, to) = (bytes.to_vec(), to.clone());
        let from = match (number >> 32) % 4 {
            // In the head, or anywhere.
            1 if !self.right => 0,
            2.. if !self.right => bytes.len().saturating_sub(SIGNATURE),
            _ => {
                let bytes = bytes.into();
                return Some(Said { bytes, to });
            }
        };
        let span = (bytes.len() - from) as u64;
        let place = (number >> 34).checked_rem(span).unwrap_or_default();
        let place = from + usize::try_from(place).unwrap_or_default();
        if let Some(byte) = bytes.get_mut(place) {
            *byte ^= 1 << (number % 8);
        }
        let bytes = bytes.into();
        Some(Said { bytes, to })
    }
}

impl Behaviour for Flood {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        let targets = self.targets(liar);
        if let Some(ChunkMessage::Header(header)) = liar.chunk_message(message) {
            self.ask_for(&header, &targets);
        }
        let mut to = targets;
        to.retain(|target| !self.right || message.to.contains(target));
        self.keep(message.channel, message.bytes.clone(), to);
        None
    }

    fn tick(&mut self, liar: &mut Liar<'_>, send: &mut dyn FnMut(Outgoing) -> usize) {
        for channel in &self.channels {
            for _ in 0..TOGETHER {
                let Some(Said { bytes, to }) = self.message(liar, *channel) else {
                    break;
                };
                let sent = send(Outgoing {
                    channel: *channel,
                    to,
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
