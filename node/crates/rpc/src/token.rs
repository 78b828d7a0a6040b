// SPDX-License-Identifier: Apache-2.0
//! The token that opens the admin endpoints.

use std::fmt;

/// Why a text is no bearer token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one or more visible ASCII characters")]
pub struct InvalidToken;

/// The bearer token of the admin endpoints.
///
/// Only its hash is kept: comparing hashes takes the same time whatever was
/// presented, of whatever length.
#[derive(Clone)]
pub struct AdminToken(blake3::Hash);

impl AdminToken {
    /// The token with this text.
    pub fn new(text: &str) -> Result<Self, InvalidToken> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || !visible {
            return Err(InvalidToken);
        }
        Ok(Self(blake3::hash(text.as_bytes())))
    }

    /// Whether `presented` is this token.
    #[must_use]
    pub fn matches(&self, presented: &[u8]) -> bool {
        blake3::hash(presented) == self.0
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken(..)")
    }
}
