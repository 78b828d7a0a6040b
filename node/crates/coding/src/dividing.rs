// SPDX-License-Identifier: Apache-2.0
//! Dividing, checking and rebuilding.

use crate::{
    code::{Code, Coding},
    share::Share,
};
use bytes::Bytes;
use commonware_coding::Scheme;
use commonware_parallel::{Sequential, Strategy};
use shardnode_primitives::{
    Digest, merkle,
    work::{self, Work},
};

/// Why bytes cannot be divided, or shares are refused or give nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// The bytes are more than can be encoded for so many owners.
    #[error("{length} bytes cannot be divided among {owners} owners: {reason}")]
    Undividable {
        /// How many bytes there are.
        length: usize,
        /// How many shares there were to be.
        owners: u16,
        /// What does not fit.
        reason: String,
    },
    /// The share is not under the root at its place.
    #[error("not under the root: {0}")]
    Share(String),
    /// There are too few shares.
    #[error("{got} shares of {needed} that are needed")]
    Missing {
        /// How many are here.
        got: usize,
        /// How many give the bytes.
        needed: usize,
    },
    /// Whoever made the root committed to something that is no coding of
    /// anything.
    #[error("the root is of no coding: {0}")]
    Inconsistent(String),
}

/// A share that stands at its place under a root.
#[derive(Clone, Debug)]
pub struct CheckedShare(Checked);

#[derive(Clone, Debug)]
enum Checked {
    Copy(Bytes),
    Coded(<Coding as Scheme>::CheckedShard),
}

impl Code {
    /// The root over the shares of `bytes`, and the shares, by owner.
    pub fn divide(
        &self,
        bytes: &Bytes,
        strategy: &impl Strategy,
    ) -> Result<(Digest, Vec<Share>), CodeError> {
        let Some(config) = self.config() else {
            let share = Share::Copy(bytes.clone());
            let shares = vec![share; usize::from(self.owners().get())];
            return Ok((copy_root(bytes), shares));
        };
        work::count(Work::CodedByte, bytes.len());
        let (root, shards) = Coding::encode(&config, bytes.clone(), strategy).map_err(|error| {
            CodeError::Undividable {
                length: bytes.len(),
                owners: self.owners().get(),
                reason: error.to_string(),
            }
        })?;
        Ok((root, shards.into_iter().map(Share::Coded).collect()))
    }

    /// Whether `share` is the one of the owner at `index` under `root`.
    pub fn check(
        &self,
        root: &Digest,
        index: u16,
        share: &Share,
    ) -> Result<CheckedShare, CodeError> {
        if index >= self.owners().get() {
            return Err(CodeError::Share(format!("no owner has place {index}")));
        }
        match (share, self.config()) {
            (Share::Coded(shard), Some(config)) => {
                Coding::check(&config, root, index, shard, &Sequential)
                    .map(|shard| CheckedShare(Checked::Coded(shard)))
                    .map_err(|error| CodeError::Share(error.to_string()))
            }
            (Share::Copy(bytes), None) if copy_root(bytes) == *root => {
                Ok(CheckedShare(Checked::Copy(bytes.clone())))
            }
            (Share::Copy(_), None) => Err(CodeError::Share("another root".to_owned())),
            _ => Err(CodeError::Share("another code".to_owned())),
        }
    }

    /// The bytes, from shares of different owners that were checked under
    /// `root`.
    pub fn rebuild<'a>(
        &self,
        root: &Digest,
        shares: impl Iterator<Item = &'a CheckedShare>,
        strategy: &impl Strategy,
    ) -> Result<Bytes, CodeError> {
        let (mut shards, mut copy) = (Vec::new(), None);
        for share in shares {
            match &share.0 {
                Checked::Coded(shard) => shards.push(shard),
                Checked::Copy(bytes) => copy = Some(bytes.clone()),
            }
        }
        let needed = self.needed();
        let Some(config) = self.config() else {
            return copy.ok_or(CodeError::Missing { got: 0, needed });
        };
        if shards.len() < needed {
            let got = shards.len();
            return Err(CodeError::Missing { got, needed });
        }
        Coding::decode(&config, root, shards.into_iter(), strategy)
            .map(Bytes::from)
            .inspect(|bytes| work::count(Work::CodedByte, bytes.len()))
            .map_err(|error| CodeError::Inconsistent(error.to_string()))
    }
}

/// The root over bytes that are not coded.
fn copy_root(bytes: &[u8]) -> Digest {
    merkle::root(vec![merkle::leaf(bytes)])
}
