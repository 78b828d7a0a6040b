// SPDX-License-Identifier: Apache-2.0
//! Parts of one witness, until there are enough of them.

use crate::parts::{Coding, Manifest, PartsError, Share, WitnessPart, coding, whole};
use bytes::Bytes;
use commonware_coding::Scheme;
use commonware_cryptography::ed25519::{PublicKey, Signature};
use commonware_parallel::{Sequential, Strategy};
use shardnode_primitives::Namespaces;
use std::collections::BTreeMap;

type CheckedShard = <Coding as Scheme>::CheckedShard;

/// A part whose share is under the commitment; `None` for a whole witness.
#[derive(Clone, Debug)]
struct Checked {
    part: WitnessPart,
    shard: Option<CheckedShard>,
}

impl Checked {
    fn whole(&self) -> Option<Bytes> {
        match &self.part.share {
            Share::Whole(witness) => Some(witness.clone()),
            Share::Coded(_) => None,
        }
    }
}

/// Checked parts of one witness. The first part that its producer signed says
/// of which.
#[derive(Clone, Debug, Default)]
pub struct PartSet {
    signed: Option<(Manifest, Signature)>,
    parts: BTreeMap<u16, Checked>,
}

impl PartSet {
    /// Takes in a part that `producer` made. Says whether it is new.
    pub fn insert(
        &mut self,
        part: WitnessPart,
        producer: &PublicKey,
        namespaces: &Namespaces,
    ) -> Result<bool, PartsError> {
        let index = part.index;
        match &self.signed {
            Some((manifest, _)) if *manifest != part.manifest => {
                return Err(PartsError::Foreign { index });
            }
            // A signature that was found good once stays good.
            Some((_, signature)) if *signature == part.signature => {}
            _ if !part.is_signed_by(producer, namespaces) => {
                return Err(PartsError::Signature { index });
            }
            _ => {}
        }
        if self.parts.contains_key(&index) {
            return Ok(false);
        }
        let shard = check(&part)?;
        self.signed
            .get_or_insert_with(|| (part.manifest, part.signature.clone()));
        self.parts.insert(index, Checked { part, shard });
        Ok(true)
    }

    /// The part of the owner at `index`.
    #[must_use]
    pub fn part(&self, index: u16) -> Option<&WitnessPart> {
        self.parts.get(&index).map(|checked| &checked.part)
    }

    /// How many parts are here.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// What the parts are of, once there is one.
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        self.signed.as_ref().map(|(manifest, _)| manifest)
    }

    /// Whether the parts give a witness that was made for so many owners.
    #[must_use]
    pub fn is_complete(&self, owners: usize) -> bool {
        self.manifest().is_some_and(|manifest| {
            usize::from(manifest.owners.get()) == owners && self.len() >= manifest.needed()
        })
    }

    /// The encoded witness.
    pub fn rebuild(&self, strategy: &impl Strategy) -> Result<Bytes, PartsError> {
        let needed = self.manifest().map_or(1, Manifest::needed);
        let missing = PartsError::Missing {
            got: self.len(),
            needed,
        };
        let Some(manifest) = self.manifest().filter(|_| self.len() >= needed) else {
            return Err(missing);
        };
        let Some(config) = coding(manifest.owners) else {
            return self.parts.values().find_map(Checked::whole).ok_or(missing);
        };
        let shards = self.parts.values().filter_map(|one| one.shard.as_ref());
        let witness = Coding::decode(&config, &manifest.commitment, shards, strategy)
            .map_err(|error| PartsError::Inconsistent(error.to_string()))?;
        if witness.len() != manifest.length as usize {
            return Err(PartsError::Inconsistent(format!(
                "{} bytes instead of {}",
                witness.len(),
                manifest.length
            )));
        }
        Ok(witness.into())
    }
}

/// The part's shard, checked; `None` if the part is the whole witness.
fn check(part: &WitnessPart) -> Result<Option<CheckedShard>, PartsError> {
    let refused = |reason: String| PartsError::Share {
        index: part.index,
        reason,
    };
    match (&part.share, coding(part.manifest.owners)) {
        (Share::Coded(shard), Some(config)) => {
            let commitment = &part.manifest.commitment;
            Coding::check(&config, commitment, part.index, shard, &Sequential)
                .map(Some)
                .map_err(|error| refused(error.to_string()))
        }
        (Share::Whole(witness), None) if whole(witness) == part.manifest.commitment => Ok(None),
        _ => Err(refused("another commitment".to_owned())),
    }
}
