// SPDX-License-Identifier: Apache-2.0
//! The parts in which a witness travels; see the [crate] for their form.

use bytes::{BufMut, Bytes};
use commonware_codec::{Buf, Encode as _, EncodeSize, Error, FixedSize, Read, ReadExt as _, Write};
use commonware_coding::{Config, ReedSolomon, Scheme};
use commonware_cryptography::{
    Signer as _, Verifier as _,
    blake3::Blake3,
    ed25519::{PrivateKey, PublicKey, Signature},
};
use commonware_parallel::Strategy;
use shardnode_primitives::{ChunkHeader, Digest, Namespaces, ShardId, merkle};
use std::num::NonZeroU16;

pub(crate) type Coding = ReedSolomon<Blake3>;
pub(crate) type Shard = <Coding as Scheme>::Shard;

/// Fewer owners than these get the whole witness each.
const CODED_FROM: u16 = 3;

/// How a witness for so many owners is coded; `None` if it is not.
pub(crate) fn coding(owners: NonZeroU16) -> Option<Config> {
    let owners = owners.get();
    if owners < CODED_FROM {
        return None;
    }
    // floor(3n / 5) without overflow.
    let data = 3 * (owners / 5) + 3 * (owners % 5) / 5;
    Some(Config {
        minimum_shards: NonZeroU16::new(data)?,
        extra_shards: NonZeroU16::new(owners - data)?,
    })
}

/// The header that a witness is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its shard.
    pub shard: ShardId,
    /// Its height.
    pub height: u64,
    /// Its hash.
    pub header_hash: Digest,
}

impl Subject {
    /// Of this header.
    #[must_use]
    pub fn of(header: &ChunkHeader) -> Self {
        Self {
            shard: header.content.shard,
            height: header.content.height,
            header_hash: header.hash(),
        }
    }
}

/// What the producer signs of a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The header that the witness is for.
    pub subject: Subject,
    /// How many parts there are.
    pub owners: NonZeroU16,
    /// The length of the encoded witness.
    pub length: u32,
    /// What all parts are under.
    pub commitment: Digest,
}

impl Manifest {
    /// How many parts give the witness.
    #[must_use]
    pub fn needed(&self) -> usize {
        coding(self.owners).map_or(1, |config| usize::from(config.minimum_shards.get()))
    }
}

impl Write for Manifest {
    fn write(&self, buf: &mut impl BufMut) {
        self.subject.shard.write(buf);
        self.subject.height.write(buf);
        self.subject.header_hash.write(buf);
        self.owners.write(buf);
        self.length.write(buf);
        self.commitment.write(buf);
    }
}

impl FixedSize for Manifest {
    const SIZE: usize = ShardId::SIZE + 8 + Digest::SIZE + 2 + 4 + Digest::SIZE;
}

impl Read for Manifest {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            subject: Subject {
                shard: ShardId::read(buf)?,
                height: u64::read(buf)?,
                header_hash: Digest::read(buf)?,
            },
            owners: NonZeroU16::read(buf)?,
            length: u32::read(buf)?,
            commitment: Digest::read(buf)?,
        })
    }
}

/// What an owner holds of the witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    Whole(Bytes),
    Coded(Shard),
}

/// One owner's part of a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessPart {
    pub(crate) manifest: Manifest,
    pub(crate) signature: Signature,
    pub(crate) index: u16,
    pub(crate) share: Share,
}

/// Why parts are refused or give nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartsError {
    /// The producer did not sign the manifest.
    #[error("part {index} is not signed by the producer")]
    Signature {
        /// The part's place.
        index: u16,
    },
    /// The part is of another witness than those that are here.
    #[error("part {index} is of another witness")]
    Foreign {
        /// The part's place.
        index: u16,
    },
    /// The share is not under the commitment at the part's place.
    #[error("part {index} is not under the commitment: {reason}")]
    Share {
        /// The part's place.
        index: u16,
        /// What does not fit.
        reason: String,
    },
    /// There are too few parts.
    #[error("{got} parts of {needed} that are needed")]
    Missing {
        /// How many are here.
        got: usize,
        /// How many give the witness.
        needed: usize,
    },
    /// The producer committed to something that is no encoding of anything,
    /// or is not as long as it says.
    #[error("the parts do not give a witness: {0}")]
    Inconsistent(String),
    /// The witness is longer than can be encoded for so many owners.
    #[error("{length} bytes cannot be divided among {owners} owners: {reason}")]
    Encoding {
        /// The length of the encoded witness.
        length: usize,
        /// How many parts there were to be.
        owners: u16,
        /// What does not fit.
        reason: String,
    },
}

/// The parts of an encoded witness, one for each of `owners`, signed by the
/// producer.
pub fn make_parts(
    witness: &Bytes,
    subject: Subject,
    owners: NonZeroU16,
    key: &PrivateKey,
    namespaces: &Namespaces,
    strategy: &impl Strategy,
) -> Result<Vec<WitnessPart>, PartsError> {
    let failed = |reason: String| PartsError::Encoding {
        length: witness.len(),
        owners: owners.get(),
        reason,
    };
    let length = u32::try_from(witness.len()).map_err(|error| failed(error.to_string()))?;
    let (commitment, shares) = match coding(owners) {
        Some(config) => {
            let (commitment, shards) = Coding::encode(&config, witness.clone(), strategy)
                .map_err(|error| failed(error.to_string()))?;
            (commitment, shards.into_iter().map(Share::Coded).collect())
        }
        None => {
            let share = Share::Whole(witness.clone());
            (whole(witness), vec![share; usize::from(owners.get())])
        }
    };
    let manifest = Manifest {
        subject,
        owners,
        length,
        commitment,
    };
    let signature = key.sign(&namespaces.witness, &manifest.encode());
    let parts = (0..).zip(shares).map(|(index, share)| WitnessPart {
        manifest,
        signature: signature.clone(),
        index,
        share,
    });
    Ok(parts.collect())
}

/// The commitment to a witness that is not coded.
pub(crate) fn whole(witness: &[u8]) -> Digest {
    merkle::root(vec![merkle::leaf(witness)])
}

impl WitnessPart {
    /// What it is a part of.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The place of its owner.
    #[must_use]
    pub const fn index(&self) -> u16 {
        self.index
    }

    /// The shard of the header that the witness is for.
    #[must_use]
    pub const fn shard(&self) -> ShardId {
        self.manifest.subject.shard
    }

    /// The height of the header that the witness is for.
    #[must_use]
    pub const fn height(&self) -> u64 {
        self.manifest.subject.height
    }

    /// The hash of the header that the witness is for.
    #[must_use]
    pub const fn header_hash(&self) -> Digest {
        self.manifest.subject.header_hash
    }

    /// Whether other parts are needed with it.
    #[must_use]
    pub const fn is_coded(&self) -> bool {
        matches!(self.share, Share::Coded(_))
    }

    /// Whether `producer` signed the manifest.
    #[must_use]
    pub fn is_signed_by(&self, producer: &PublicKey, namespaces: &Namespaces) -> bool {
        producer.verify(
            &namespaces.witness,
            &self.manifest.encode(),
            &self.signature,
        )
    }
}

impl Write for WitnessPart {
    fn write(&self, buf: &mut impl BufMut) {
        self.manifest.write(buf);
        self.signature.write(buf);
        self.index.write(buf);
        match &self.share {
            Share::Whole(witness) => buf.put_slice(witness),
            Share::Coded(shard) => shard.write(buf),
        }
    }
}

impl EncodeSize for WitnessPart {
    fn encode_size(&self) -> usize {
        let share = match &self.share {
            Share::Whole(witness) => witness.len(),
            Share::Coded(shard) => shard.encode_size(),
        };
        Manifest::SIZE + Signature::SIZE + 2 + share
    }
}

/// What bounds the decoding of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartLimits {
    /// The most bytes of an encoded witness.
    pub length: u32,
    /// The most owners of parts.
    pub owners: u16,
}

impl Read for WitnessPart {
    type Cfg = PartLimits;
    fn read_cfg(buf: &mut impl Buf, limits: &PartLimits) -> Result<Self, Error> {
        const TYPE: &str = "WitnessPart";
        let manifest = Manifest::read(buf)?;
        if manifest.owners.get() > limits.owners {
            return Err(Error::Invalid(TYPE, "too many owners"));
        }
        if manifest.length > limits.length {
            return Err(Error::Invalid(TYPE, "witness too long"));
        }
        let signature = Signature::read(buf)?;
        let index = u16::read(buf)?;
        if index >= manifest.owners.get() {
            return Err(Error::Invalid(TYPE, "index beyond the owners"));
        }
        let length = manifest.length as usize;
        let share = match coding(manifest.owners) {
            Some(config) => Share::Coded(Shard::read_cfg(buf, &(config, length))?),
            None => {
                let bytes = buf.try_take_owned(length).map_err(|_| Error::EndOfBuffer)?;
                Share::Whole(bytes)
            }
        };
        Ok(Self {
            manifest,
            signature,
            index,
            share,
        })
    }
}
