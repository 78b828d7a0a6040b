// SPDX-License-Identifier: Apache-2.0
//! What a shard's committee says about a chunk header.
//!
//! An *endorsement* is a validator's word that it re-executed what the header
//! commits to and got the same results. It signs
//!
//! ```text
//! shard ‖ height ‖ header hash
//! ```
//!
//! A block carries, for each of its new headers, the endorsements of the
//! header's committee by the members' places: a bit for each place, lowest bit
//! of the first byte first, then the signatures of those that are set.

use crate::{ChunkHeader, Namespaces, ShardId};
use bytes::BufMut;
use commonware_codec::{Buf, EncodeSize, Error, FixedSize, Read, ReadExt as _, Write};
use commonware_cryptography::{
    Signer as _, Verifier as _,
    blake3::Digest,
    ed25519::{PrivateKey, PublicKey, Signature},
};

/// A validator's word for a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endorsement {
    /// The header's shard.
    pub shard: ShardId,
    /// The header's height.
    pub height: u64,
    /// The header's hash.
    pub header: Digest,
    /// The validator's.
    pub signature: Signature,
}

/// What an endorsement of this header signs.
#[must_use]
pub fn message(shard: ShardId, height: u64, header: &Digest) -> [u8; 42] {
    let mut bytes = [0; 42];
    bytes[..2].copy_from_slice(&shard.0.to_be_bytes());
    bytes[2..10].copy_from_slice(&height.to_be_bytes());
    bytes[10..].copy_from_slice(&header.0);
    bytes
}

impl Endorsement {
    /// Endorses `header`.
    #[must_use]
    pub fn sign(header: &ChunkHeader, key: &PrivateKey, namespaces: &Namespaces) -> Self {
        let (shard, height) = (header.content.shard, header.content.height);
        let hash = header.hash();
        Self {
            shard,
            height,
            header: hash,
            signature: key.sign(&namespaces.endorsement, &message(shard, height, &hash)),
        }
    }

    /// Whether `validator` signed it.
    #[must_use]
    pub fn verify(&self, validator: &PublicKey, namespaces: &Namespaces) -> bool {
        validator.verify(
            &namespaces.endorsement,
            &message(self.shard, self.height, &self.header),
            &self.signature,
        )
    }
}

impl Write for Endorsement {
    fn write(&self, buf: &mut impl BufMut) {
        self.shard.write(buf);
        self.height.write(buf);
        self.header.write(buf);
        self.signature.write(buf);
    }
}

impl Read for Endorsement {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            shard: ShardId::read(buf)?,
            height: u64::read(buf)?,
            header: Digest::read(buf)?,
            signature: Signature::read(buf)?,
        })
    }
}

impl FixedSize for Endorsement {
    const SIZE: usize = ShardId::SIZE + 8 + 32 + Signature::SIZE;
}

/// The endorsements of one header, by place in its committee.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endorsements(pub Vec<Option<Signature>>);

impl Endorsements {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.iter().flatten().count()
    }

    /// The largest encoding for a committee of `members`.
    #[must_use]
    pub const fn max_encode_size(members: usize) -> usize {
        2 + members.div_ceil(8) + members * Signature::SIZE
    }
}

impl Write for Endorsements {
    fn write(&self, buf: &mut impl BufMut) {
        (self.0.len() as u16).write(buf);
        for places in self.0.chunks(8) {
            let bits = places.iter().enumerate();
            let byte = bits.fold(0u8, |byte, (place, signature)| {
                byte | (u8::from(signature.is_some()) << place)
            });
            byte.write(buf);
        }
        for signature in self.0.iter().flatten() {
            signature.write(buf);
        }
    }
}

impl EncodeSize for Endorsements {
    fn encode_size(&self) -> usize {
        2 + self.0.len().div_ceil(8) + self.count() * Signature::SIZE
    }
}

impl Read for Endorsements {
    /// The most members of a committee.
    type Cfg = u16;
    fn read_cfg(buf: &mut impl Buf, most: &u16) -> Result<Self, Error> {
        let places = u16::read(buf)?;
        if places > *most {
            return Err(Error::InvalidLength(usize::from(places)));
        }
        let places = usize::from(places);
        let set = (0..places.div_ceil(8))
            .map(|_| u8::read(buf))
            .collect::<Result<Vec<u8>, Error>>()?;
        let is_set = |place: usize| set[place / 8] >> (place % 8) & 1 == 1;
        if (places..set.len() * 8).any(is_set) {
            return Err(Error::Invalid(
                "Endorsements",
                "a bit beyond the last place",
            ));
        }
        let mut signatures = Vec::new();
        for place in 0..places {
            let signature = if is_set(place) {
                Some(Signature::read(buf)?)
            } else {
                None
            };
            signatures.push(signature);
        }
        Ok(Self(signatures))
    }
}
