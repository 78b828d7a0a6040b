// SPDX-License-Identifier: Apache-2.0
//! What an owner holds, as it travels; see the [crate] for its form.

use crate::code::{Code, Shard};
use bytes::{BufMut, Bytes};
use commonware_codec::{Buf, EncodeSize, Error, Read, ReadExt as _, Write};

/// What one owner holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// All of the bytes.
    Copy(Bytes),
    /// A shard of their coding, with its proof.
    Coded(Shard),
}

impl Share {
    /// Whether other shares are needed with it.
    #[must_use]
    pub const fn is_coded(&self) -> bool {
        matches!(self, Self::Coded(_))
    }
}

/// What bounds the decoding of a [`Share`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareLimits {
    /// The code.
    pub code: Code,
    /// How many bytes were divided: exactly of a copy, at most of a coding.
    pub length: usize,
}

impl Write for Share {
    fn write(&self, buf: &mut impl BufMut) {
        match self {
            Self::Copy(bytes) => buf.put_slice(bytes),
            Self::Coded(shard) => shard.write(buf),
        }
    }
}

impl EncodeSize for Share {
    fn encode_size(&self) -> usize {
        match self {
            Self::Copy(bytes) => bytes.len(),
            Self::Coded(shard) => shard.encode_size(),
        }
    }
}

impl Read for Share {
    type Cfg = ShareLimits;
    fn read_cfg(buf: &mut impl Buf, limits: &ShareLimits) -> Result<Self, Error> {
        match limits.code.config() {
            Some(config) => Shard::read_cfg(buf, &(config, limits.length)).map(Self::Coded),
            None => buf
                .try_take_owned(limits.length)
                .map(Self::Copy)
                .map_err(|_| Error::EndOfBuffer),
        }
    }
}

/// A share and the place of its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The owner's place.
    pub index: u16,
    /// What it holds.
    pub share: Share,
}

impl Part {
    /// No part has fewer bytes.
    pub const MIN_SIZE: usize = 2;
}

impl Write for Part {
    fn write(&self, buf: &mut impl BufMut) {
        self.index.write(buf);
        self.share.write(buf);
    }
}

impl EncodeSize for Part {
    fn encode_size(&self) -> usize {
        2 + self.share.encode_size()
    }
}

impl Read for Part {
    type Cfg = ShareLimits;
    fn read_cfg(buf: &mut impl Buf, limits: &ShareLimits) -> Result<Self, Error> {
        let index = u16::read(buf)?;
        if index >= limits.code.owners().get() {
            return Err(Error::Invalid("Part", "index beyond the owners"));
        }
        let share = Share::read_cfg(buf, limits)?;
        Ok(Self { index, share })
    }
}
