// SPDX-License-Identifier: Apache-2.0
//! Transactions that were taken in and are refused after all.

use shardnode_primitives::{Digest, Refusal};
use std::collections::BTreeMap;

/// How many are remembered, at most.
pub const REMEMBERED: usize = 65_536;

/// The last [`REMEMBERED`] of them, and why.
#[derive(Debug, Default)]
pub struct Refused {
    all: BTreeMap<Digest, (u64, Refusal)>,
    order: BTreeMap<u64, Digest>,
    places: u64,
}

impl Refused {
    /// Remembers a transaction, by its hash.
    pub fn note(&mut self, hash: Digest, refusal: Refusal) {
        self.forget(&hash);
        self.places += 1;
        self.all.insert(hash, (self.places, refusal));
        self.order.insert(self.places, hash);
        if self.order.len() > REMEMBERED
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.all.remove(&oldest);
        }
    }

    /// Forgets a transaction that is taken in again.
    pub fn forget(&mut self, hash: &Digest) {
        if let Some((place, _)) = self.all.remove(hash) {
            self.order.remove(&place);
        }
    }

    /// Why a transaction is refused.
    #[must_use]
    pub fn why(&self, hash: &Digest) -> Option<Refusal> {
        self.all.get(hash).map(|(_, refusal)| *refusal)
    }

    /// Whether none is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: usize) -> Digest {
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&number.to_be_bytes());
        Digest(hash)
    }

    #[test]
    fn so_many_are_remembered_from_when_they_were_refused_last() {
        let mut refused = Refused::default();
        assert!(refused.is_empty());
        for number in 0..REMEMBERED {
            refused.note(hash(number), Refusal::Funds);
        }
        refused.note(hash(0), Refusal::Nonce);
        refused.note(hash(REMEMBERED), Refusal::NoAccount);
        assert_eq!(refused.why(&hash(0)), Some(Refusal::Nonce));
        assert_eq!(refused.why(&hash(1)), None);
        assert_eq!(refused.why(&hash(2)), Some(Refusal::Funds));
        assert_eq!(refused.why(&hash(REMEMBERED)), Some(Refusal::NoAccount));
        refused.forget(&hash(0));
        assert_eq!(refused.why(&hash(0)), None);
        assert_eq!(refused.all.len(), REMEMBERED - 1);
        assert_eq!(refused.order.len(), REMEMBERED - 1);
    }
}
