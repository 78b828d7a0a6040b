// SPDX-License-Identifier: Apache-2.0
//! How many parts there are, and how many of them suffice.

use commonware_coding::{Config, ReedSolomon, Scheme};
use commonware_cryptography::blake3::Blake3;
use std::num::NonZeroU16;

pub(crate) type Coding = ReedSolomon<Blake3>;
pub(crate) type Shard = <Coding as Scheme>::Shard;

/// How bytes are divided among owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    owners: NonZeroU16,
    /// `None` if every owner gets all of the bytes.
    config: Option<Config>,
}

impl Code {
    /// Every owner gets all of the bytes.
    #[must_use]
    pub const fn copies(owners: NonZeroU16) -> Self {
        let config = None;
        Self { owners, config }
    }

    /// Any `needed` shares give the bytes. If that is all of them, there is
    /// nothing to be gained, and every owner gets a copy.
    #[must_use]
    pub const fn any(needed: NonZeroU16, owners: NonZeroU16) -> Self {
        let extra = owners.get().saturating_sub(needed.get());
        let config = match NonZeroU16::new(extra) {
            Some(extra_shards) => Some(Config {
                minimum_shards: needed,
                extra_shards,
            }),
            None => None,
        };
        Self { owners, config }
    }

    /// How many shares there are.
    #[must_use]
    pub const fn owners(&self) -> NonZeroU16 {
        self.owners
    }

    /// How many of them give the bytes.
    #[must_use]
    pub const fn needed(&self) -> usize {
        match self.config {
            Some(config) => config.minimum_shards.get() as usize,
            None => 1,
        }
    }

    pub(crate) const fn config(&self) -> Option<Config> {
        self.config
    }
}
