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
//! header's committee by the members' places: the number of places (2), a bit
//! for each place, lowest bit of the first byte first, then the signatures of
//! those that are set. An endorsement on its way is what it signs and the
//! signature (64).

use crate::{
    ChunkHeader, Namespaces, ShardId,
    work::{self, Work},
};
use bytes::{BufMut, Bytes};
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
        work::count(Work::Signing, 1);
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
        work::count(Work::Signature, 1);
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
pub struct Endorsements {
    places: u16,
    /// A bit for each place, as it is encoded.
    set: Vec<u8>,
    /// Of the places whose bit is set.
    signatures: Vec<Signature>,
}

impl Endorsements {
    /// The fewest bytes of an encoding: no places.
    pub const MIN_SIZE: usize = 2;

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.signatures.len()
    }

    /// How many members the committee has.
    #[must_use]
    pub fn places(&self) -> usize {
        usize::from(self.places)
    }

    /// The signature of every place, or none.
    pub fn iter(&self) -> impl Iterator<Item = Option<&Signature>> {
        let mut signatures = self.signatures.iter();
        (0..self.places()).map(move |place| {
            is_set(&self.set, place)
                .then(|| signatures.next())
                .flatten()
        })
    }

    /// The largest encoding for a committee of `members`.
    #[must_use]
    pub const fn max_encode_size(members: usize) -> usize {
        Self::MIN_SIZE + members.div_ceil(8) + members * Signature::SIZE
    }
}

fn is_set(set: &[u8], place: usize) -> bool {
    set[place / 8] >> (place % 8) & 1 == 1
}

impl FromIterator<Option<Signature>> for Endorsements {
    /// Of what every member of a committee signed, by place.
    fn from_iter<I: IntoIterator<Item = Option<Signature>>>(members: I) -> Self {
        let mut endorsements = Self::default();
        for (place, signature) in members.into_iter().enumerate() {
            if place % 8 == 0 {
                endorsements.set.push(0);
            }
            if let Some(signature) = signature {
                endorsements.set[place / 8] |= 1 << (place % 8);
                endorsements.signatures.push(signature);
            }
            endorsements.places += 1;
        }
        endorsements
    }
}

impl Write for Endorsements {
    fn write(&self, buf: &mut impl BufMut) {
        self.places.write(buf);
        buf.put_slice(&self.set);
        for signature in &self.signatures {
            signature.write(buf);
        }
    }
}

impl EncodeSize for Endorsements {
    fn encode_size(&self) -> usize {
        Self::MIN_SIZE + self.set.len() + self.count() * Signature::SIZE
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
        let bytes = usize::from(places).div_ceil(8);
        let set: Bytes = buf.try_take_owned(bytes).map_err(|_| Error::EndOfBuffer)?;
        if (usize::from(places)..8 * bytes).any(|place| is_set(&set, place)) {
            return Err(Error::Invalid(
                "Endorsements",
                "a bit beyond the last place",
            ));
        }
        let count: usize = set.iter().map(|byte| byte.count_ones() as usize).sum();
        if buf.remaining() / Signature::SIZE < count {
            return Err(Error::EndOfBuffer);
        }
        let mut signatures = Vec::with_capacity(count);
        for _ in 0..count {
            signatures.push(Signature::read(buf)?);
        }
        Ok(Self {
            places,
            set: set.to_vec(),
            signatures,
        })
    }
}
