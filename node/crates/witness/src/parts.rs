// SPDX-License-Identifier: Apache-2.0
//! The parts in which a witness travels; see the [crate] for their form.

use bytes::{BufMut, Bytes};
use commonware_codec::{Buf, Encode as _, EncodeSize, Error, FixedSize, Read, ReadExt as _, Write};
use commonware_cryptography::{
    Signer as _, Verifier as _,
    ed25519::{PrivateKey, PublicKey, Signature},
};
use commonware_parallel::Strategy;
use shardnode_coding::{Code, CodeError, Part, ShareLimits};
use shardnode_primitives::{
    ChunkHeader, Digest, Namespaces, ShardId,
    work::{self, Work},
};
use std::num::NonZeroU16;

/// Fewer owners than these get the whole witness each.
const CODED_FROM: u16 = 3;

/// How a witness is divided among so many owners.
pub(crate) fn code(owners: NonZeroU16) -> Code {
    let count = owners.get();
    // floor(3n / 5) without overflow.
    let needed = 3 * (count / 5) + 3 * (count % 5) / 5;
    match NonZeroU16::new(needed) {
        Some(needed) if count >= CODED_FROM => Code::any(needed, owners),
        _ => Code::copies(owners),
    }
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
        code(self.owners).needed()
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

/// One owner's part of a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessPart {
    pub(crate) manifest: Manifest,
    pub(crate) signature: Signature,
    pub(crate) part: Part,
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
    #[error("part {index}: {source}")]
    Share {
        /// The part's place.
        index: u16,
        /// What does not fit.
        source: CodeError,
    },
    /// The witness is not as long as the producer says.
    #[error("the witness has {got} bytes instead of {want}")]
    Length {
        /// What it has.
        got: usize,
        /// What the manifest says.
        want: u32,
    },
    /// It cannot be divided, or the parts do not give it.
    #[error(transparent)]
    Code(#[from] CodeError),
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
    let length = u32::try_from(witness.len()).map_err(|error| CodeError::Undividable {
        length: witness.len(),
        owners: owners.get(),
        reason: error.to_string(),
    })?;
    let (commitment, shares) = code(owners).divide(witness, strategy)?;
    let manifest = Manifest {
        subject,
        owners,
        length,
        commitment,
    };
    work::count(Work::Signing, 1);
    let signature = key.sign(&namespaces.witness, &manifest.encode());
    let parts = (0..).zip(shares).map(|(index, share)| WitnessPart {
        manifest,
        signature: signature.clone(),
        part: Part { index, share },
    });
    Ok(parts.collect())
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
        self.part.index
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
        self.part.share.is_coded()
    }

    /// Whether `producer` signed the manifest.
    #[must_use]
    pub fn is_signed_by(&self, producer: &PublicKey, namespaces: &Namespaces) -> bool {
        work::count(Work::Signature, 1);
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
        self.part.write(buf);
    }
}

impl EncodeSize for WitnessPart {
    fn encode_size(&self) -> usize {
        Manifest::SIZE + Signature::SIZE + self.part.encode_size()
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
        let limits = ShareLimits {
            code: code(manifest.owners),
            length: manifest.length as usize,
        };
        let part = Part::read_cfg(buf, &limits)?;
        Ok(Self {
            manifest,
            signature,
            part,
        })
    }
}
