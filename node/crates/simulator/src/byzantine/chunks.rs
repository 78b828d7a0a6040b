// SPDX-License-Identifier: Apache-2.0
//! A producer that signs two chunks for one height, or keeps their bodies or
//! parts to itself.

use super::StandIns;
use crate::lies::{Behaviour, Liar, Outgoing};
use commonware_codec::Encode as _;
use commonware_cryptography::ed25519::PublicKey;
use shardnode_network::{channels, chunk_messages::ChunkMessage};
use shardnode_primitives::{ChunkBody, ChunkHeader, hash::ZERO};

/// Signs two chunks for every height: the one that its node made, and one
/// without transactions. Each is right by itself. One half of the network is
/// told of the one first, the other half of the other.
#[derive(Default)]
pub struct DoubleSignedChunks {
    twins: StandIns,
}

impl DoubleSignedChunks {
    fn twin(&mut self, liar: &Liar<'_>, header: &ChunkHeader) -> Option<ChunkHeader> {
        self.twins.of(header, || {
            if header.content.transactions == 0 {
                return None;
            }
            let mut content = header.content.clone();
            content.transactions = 0;
            content.body_len = 0;
            content.body_hash = ChunkBody::of(&[]).hash();
            content.parts_root = ZERO;
            liar.shared.count("double-signed chunks");
            let identity = liar.identity;
            Some(ChunkHeader::sign(
                content,
                &identity.key,
                &identity.namespaces,
            ))
        })
    }
}

impl Behaviour for DoubleSignedChunks {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        if message.channel == channels::WITNESSES {
            let twins = self.twins.part(message, liar)?;
            // A part that waits for its header comes back later.
            let also = (!twins.is_empty()).then(|| message.clone());
            return Some(twins.into_iter().chain(also).collect());
        }
        let told = liar.chunk_message(message)?;
        let own = told.header()?;
        let twin = self.twin(liar, own);
        let early = self.twins.early.get(&own.hash()).cloned();
        let mut out = self.twins.released(own, liar);
        let Some(twin) = twin else {
            out.push(message.clone());
            return Some(out);
        };
        out.extend(early.into_iter().flatten());
        let twin = match &told {
            ChunkMessage::Chunk(..) => ChunkMessage::Chunk(twin, ChunkBody::of(&[])),
            _ => ChunkMessage::Header(twin),
        };
        let (one, other) = liar.halves(&message.to);
        let twin = message.with(twin.encode());
        out.extend([
            message.to(one.clone()),
            twin.to(other.clone()),
            message.to(other),
            twin.to(one),
        ]);
        Some(out)
    }
}

/// Sends no chunk to the shard's other producers, and answers no request.
#[derive(Default)]
pub struct WithheldBodies;

impl Behaviour for WithheldBodies {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        let withheld = message.channel == channels::CHUNK_REQUESTS
            || matches!(liar.chunk_message(message), Some(ChunkMessage::Chunk(..)));
        withheld.then(|| {
            liar.shared.count("withheld bodies");
            Vec::new()
        })
    }
}

/// Sends no chunk to the shard's other producers, one part in `keeps` to those
/// whose it is, and answers no request.
pub struct WithheldParts {
    keeps: u64,
}

impl WithheldParts {
    /// Sends one part in `keeps`.
    #[must_use]
    pub const fn new(keeps: u64) -> Self {
        Self { keeps }
    }
}

impl Behaviour for WithheldParts {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        let part = matches!(liar.chunk_message(message), Some(ChunkMessage::Part(..)));
        if !part || liar.once_in(self.keeps) {
            return WithheldBodies.lie(liar, message);
        }
        liar.shared.count("withheld parts");
        Some(Vec::new())
    }
}

/// Sends no chunk to the shard's other producers, their parts to one third of all
/// producers in the order of genesis, and answers no request: whoever of these
/// leads proposes the chunk, and the others cannot vote for it.
pub struct ParcelledParts {
    third: usize,
}

impl ParcelledParts {
    /// Sends parts to this third.
    #[must_use]
    pub const fn new(third: usize) -> Self {
        Self { third }
    }
}

impl Behaviour for ParcelledParts {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        let part = matches!(liar.chunk_message(message), Some(ChunkMessage::Part(..)));
        if !part {
            return WithheldBodies.lie(liar, message);
        }
        let producers = &liar.identity.genesis.producers;
        let third = producers
            .chunks(producers.len().div_ceil(3))
            .nth(self.third);
        let within = |owner: &PublicKey| {
            let mut third = third.into_iter().flatten();
            third.any(|producer| producer.key == *owner)
        };
        let to: Vec<_> = message.to.iter().filter(|to| within(to)).cloned().collect();
        if to.len() < message.to.len() {
            liar.shared.count("withheld parts");
        }
        Some(vec![message.to(to)])
    }
}
