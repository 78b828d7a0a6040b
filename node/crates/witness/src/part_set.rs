// SPDX-License-Identifier: Apache-2.0
//! Parts of one witness, until there are enough of them.

use crate::parts::{Manifest, PartsError, WitnessPart, code};
use bytes::Bytes;
use commonware_cryptography::ed25519::{PublicKey, Signature};
use commonware_parallel::Strategy;
use shardnode_coding::{CheckedShare, CodeError};
use shardnode_primitives::Namespaces;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
struct Checked {
    part: WitnessPart,
    share: CheckedShare,
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
        let index = part.index();
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
        let share = code(part.manifest.owners)
            .check(&part.manifest.commitment, index, &part.part.share)
            .map_err(|source| PartsError::Share { index, source })?;
        self.signed
            .get_or_insert_with(|| (part.manifest, part.signature.clone()));
        self.parts.insert(index, Checked { part, share });
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
        let Some(manifest) = self.manifest() else {
            return Err(CodeError::Missing { got: 0, needed: 1 }.into());
        };
        let shares = self.parts.values().map(|checked| &checked.share);
        let witness = code(manifest.owners).rebuild(&manifest.commitment, shares, strategy)?;
        if witness.len() != manifest.length as usize {
            return Err(PartsError::Length {
                got: witness.len(),
                want: manifest.length,
            });
        }
        Ok(witness)
    }
}
