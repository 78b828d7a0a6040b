// SPDX-License-Identifier: Apache-2.0
//! Whether the body of a chunk is valid.
//!
//! A header names the body's hash and the root over its parts, one for each
//! participant of consensus ([`shardnode_coding`]). A body is *valid* if
//!
//! - it has that hash, and its coding has that root; no part is made of an
//!   empty body, whose root is all zeroes;
//! - it decodes, to as many transactions as the header says;
//! - every signature holds.
//!
//! Otherwise the chunk is invalid as a whole: it executes as a chunk without
//! transactions. Whoever executes must come to the same verdict, whichever way
//! the body came, so this is the only place that decides it. It is decided
//! from what shows it ([`Shown`]): the body, or as many parts as give a body.
//! Parts that give none, or one that is empty, or has another hash or more bytes
//! than the header says, show that no body is valid; so does a body whose coding
//! has another root. Shown one or the other, everybody comes to the same.
//!
//! ```text
//! shown = 0x00 ‖ varint ‖ body
//!       | 0x01 ‖ varint ‖ parts
//! ```

use bytes::{BufMut, Bytes};
use commonware_codec::{
    Buf, EncodeSize, Error, FixedSize as _, RangeCfg, Read, ReadExt as _, Write,
};
use commonware_parallel::Strategy;
use shardnode_coding::{CheckedShare, Code, CodeError, Part, Share, ShareLimits};
use shardnode_primitives::{
    ChunkBody, ChunkContent, Digest, Transaction, hash::ZERO, list::read_list,
};
use std::collections::BTreeMap;

/// What shows the body of a chunk, or that it has no valid one.
///
/// ```text
/// shown = 0x00 ‖ varint ‖ body
///       | 0x01 ‖ varint ‖ parts
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The bytes with the header's hash.
    Body(ChunkBody),
    /// Parts under the header's root, by owner.
    Parts(Vec<Part>),
}

impl Shown {
    /// The body, if it is known.
    #[must_use]
    pub const fn body(&self) -> Option<&ChunkBody> {
        match self {
            Self::Body(body) => Some(body),
            Self::Parts(_) => None,
        }
    }
}

/// Why something shows nothing of a chunk's body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unshown {
    /// It is another chunk's body.
    #[error("body has hash {got} instead of {want}")]
    Hash {
        /// The body's.
        got: Digest,
        /// The chunk's.
        want: Digest,
    },
    /// A part is not under the chunk's root.
    #[error("part {index} of the body: {why}")]
    Part {
        /// Its owner's place.
        index: u16,
        /// What does not fit.
        why: CodeError,
    },
    /// There are too few parts.
    #[error("parts of the body: {0}")]
    Parts(CodeError),
}

/// A body that was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What shows the verdict: the body as far as it is known.
    pub shown: Shown,
    /// The transactions; `None` if the chunk is invalid.
    pub transactions: Option<Vec<Transaction>>,
}

/// The root that a header commits to, and the participants' shares.
pub fn divide(
    body: &ChunkBody,
    code: &Code,
    strategy: &impl Strategy,
) -> Result<(Digest, Vec<Share>), CodeError> {
    if body.0.is_empty() {
        return Ok((ZERO, Vec::new()));
    }
    code.divide(&body.0, strategy)
}

/// Judges the body of `chunk`. `verify` says whether every signature holds.
pub fn check(
    shown: Shown,
    chunk: &ChunkContent,
    code: &Code,
    strategy: &impl Strategy,
    verify: impl FnOnce(&[Transaction]) -> bool,
) -> Result<Judged, Unshown> {
    let (body, coded) = match shown {
        Shown::Body(body) => {
            let got = body.hash();
            if got != chunk.body_hash {
                let want = chunk.body_hash;
                return Err(Unshown::Hash { got, want });
            }
            let divided = divide(&body, code, strategy);
            (
                body,
                divided.is_ok_and(|(root, _)| root == chunk.parts_root),
            )
        }
        Shown::Parts(parts) => match recover(&parts, chunk, code, strategy)? {
            // Rebuilding has compared the root.
            Some(body) => (body, true),
            None => {
                return Ok(Judged {
                    shown: Shown::Parts(parts),
                    transactions: None,
                });
            }
        },
    };
    let transactions = body
        .transactions()
        .ok()
        .filter(|_| coded)
        .filter(|transactions| transactions.len() == chunk.transactions as usize)
        .filter(|transactions| transactions.is_empty() || verify(transactions));
    Ok(Judged {
        shown: Shown::Body(body),
        transactions,
    })
}

/// The chunk's body from its parts; `None` if they show that there is none.
pub fn recover(
    parts: &[Part],
    chunk: &ChunkContent,
    code: &Code,
    strategy: &impl Strategy,
) -> Result<Option<ChunkBody>, Unshown> {
    let root = &chunk.parts_root;
    let mut checked: BTreeMap<u16, CheckedShare> = BTreeMap::new();
    for Part { index, share } in parts {
        let index = *index;
        let share = code
            .check(root, index, share)
            .map_err(|why| Unshown::Part { index, why })?;
        checked.insert(index, share);
    }
    // One that is longer could be too long for a witness, and no part is made
    // of an empty one.
    let fits = |body: &ChunkBody| {
        (1..=chunk.body_len as usize).contains(&body.0.len()) && body.hash() == chunk.body_hash
    };
    match code.rebuild(root, checked.values(), strategy) {
        Ok(bytes) => Ok(Some(ChunkBody(bytes)).filter(fits)),
        Err(missing @ CodeError::Missing { .. }) => Err(Unshown::Parts(missing)),
        Err(_) => Ok(None),
    }
}

/// What bounds the decoding of [`Shown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownLimits {
    /// How bodies are divided.
    pub code: Code,
    /// The most transactions of a chunk.
    pub transactions: u32,
}

impl Write for Shown {
    fn write(&self, buf: &mut impl BufMut) {
        match self {
            Self::Body(body) => {
                0u8.write(buf);
                body.0.write(buf);
            }
            Self::Parts(parts) => {
                1u8.write(buf);
                parts.write(buf);
            }
        }
    }
}

impl EncodeSize for Shown {
    fn encode_size(&self) -> usize {
        1 + match self {
            Self::Body(body) => body.0.encode_size(),
            Self::Parts(parts) => parts.encode_size(),
        }
    }
}

impl Read for Shown {
    type Cfg = ShownLimits;
    fn read_cfg(buf: &mut impl Buf, limits: &ShownLimits) -> Result<Self, Error> {
        let length = limits.transactions as usize * Transaction::SIZE;
        match u8::read(buf)? {
            0 => {
                let body = Bytes::read_cfg(buf, &RangeCfg::from(0..=length))?;
                Ok(Self::Body(ChunkBody(body)))
            }
            1 => {
                let code = limits.code;
                let needed = code.needed();
                let share = ShareLimits { code, length };
                let parts = read_list(buf, needed..=needed, &share, Part::MIN_SIZE)?;
                Ok(Self::Parts(parts))
            }
            kind => Err(Error::InvalidEnum(kind)),
        }
    }
}
