// SPDX-License-Identifier: Apache-2.0
//! Verifying the signatures of a whole chunk.
//!
//! Verification follows ZIP-215, where batches and single checks always agree,
//! so nodes with different batch sizes reach the same verdict. Decoding a
//! public key costs a point decompression; [`KeyCache`] keeps decoded keys,
//! because the signers of a shard recur from chunk to chunk, and chunks that
//! are verified side by side share it.

use commonware_codec::DecodeExt as _;
use commonware_cryptography::{
    BatchEntry, BatchVerifier as _, Verifier as _,
    ed25519::{PublicKey, Signature},
};
use commonware_parallel::Strategy;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use shardnode_primitives::{
    AccountId, Transaction,
    work::{self, Work},
};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// Decoded public keys, at most a given number of them.
#[derive(Debug)]
pub struct KeyCache {
    keys: Mutex<BTreeMap<AccountId, PublicKey>>,
    capacity: usize,
}

impl KeyCache {
    /// A cache of at most `capacity` keys. When full it starts anew: a shard
    /// with more active signers than that gains little from a cache.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self {
            keys: Mutex::new(BTreeMap::new()),
            capacity,
        }
    }

    /// The keys of `ids`, in their order; `None` if one of them is no key.
    ///
    /// The lock ends here, before anything is verified: a thread that waits for
    /// others to do their share of a batch takes up another chunk meanwhile,
    /// and would wait for itself.
    fn get_all<'a>(&self, ids: impl Iterator<Item = &'a AccountId>) -> Option<Vec<PublicKey>> {
        let mut known = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        ids.map(|id| {
            if let Some(key) = known.get(id) {
                return Some(key.clone());
            }
            let key = PublicKey::decode(id.0.to_vec()).ok()?;
            if known.len() >= self.capacity {
                known.clear();
            }
            known.insert(*id, key.clone());
            Some(key)
        })
        .collect()
    }
}

/// How many signatures are verified together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchSize {
    /// The whole chunk in one batch.
    Whole,
    /// At most this many; 1 verifies one by one.
    AtMost(usize),
}

impl BatchSize {
    /// `0` means the whole chunk.
    #[must_use]
    pub const fn from_setting(size: usize) -> Self {
        match size {
            0 => Self::Whole,
            size => Self::AtMost(size),
        }
    }
}

struct Entry {
    key: PublicKey,
    message: Vec<u8>,
    signature: Signature,
}

/// Which of the transactions are signed by their signers.
///
/// If all are, this costs what [`verify_all`] does. Otherwise they are verified
/// one by one as well: halving until the bad ones are found would cost whoever
/// sends a list of bad ones less than it costs the node.
#[must_use]
pub fn verify_each(
    transactions: &[Transaction],
    namespace: &[u8],
    keys: &KeyCache,
    batch: BatchSize,
    seed: [u8; 32],
    strategy: &impl Strategy,
) -> Vec<bool> {
    // One by itself is not verified in a batch before: that costs more.
    if transactions.len() > 1 && verify_all(transactions, namespace, keys, batch, seed, strategy) {
        return vec![true; transactions.len()];
    }
    strategy.map_collect_vec(transactions.iter().collect::<Vec<_>>(), |transaction| {
        let key = keys.get_all([transaction.signer()].into_iter());
        let Some([key]) = key.as_deref() else {
            return false;
        };
        let (message, signature) = transaction.signed_message();
        work::count(Work::Signature, 1);
        key.verify(namespace, &message, signature)
    })
}

/// Whether every transaction is signed by its signer. True for none.
///
/// The random coefficients of a batch come from a generator seeded with
/// `seed`, which must be unpredictable to whoever made the signatures.
#[must_use]
pub fn verify_all(
    transactions: &[Transaction],
    namespace: &[u8],
    keys: &KeyCache,
    batch: BatchSize,
    seed: [u8; 32],
    strategy: &impl Strategy,
) -> bool {
    let Some(keys) = keys.get_all(transactions.iter().map(Transaction::signer)) else {
        return false;
    };
    work::count(Work::BatchedSignature, transactions.len());
    let entries: Vec<Entry> = transactions
        .iter()
        .zip(keys)
        .map(|(transaction, key)| {
            let (message, signature) = transaction.signed_message();
            Entry {
                key,
                message: message.to_vec(),
                signature: signature.clone(),
            }
        })
        .collect();
    let size = match batch {
        BatchSize::Whole => entries.len().max(1),
        BatchSize::AtMost(size) => size.max(1),
    };
    let mut rng = ChaCha20Rng::from_seed(seed);
    entries.chunks(size).all(|batch| {
        PublicKey::verify_batch(
            &mut rng,
            batch,
            |_, entry| BatchEntry {
                namespace,
                message: &entry.message,
                public_key: &entry.key,
                signature: &entry.signature,
            },
            strategy,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};

    #[test]
    fn a_full_cache_starts_anew() {
        let ids = [0, 1, 0, 2, 3, 3, 0]
            .map(|seed| AccountId::of(&PrivateKey::from_seed(seed).public_key()));
        let cache = KeyCache::new(3);
        let held = ids.map(|id| {
            assert!(cache.get_all([id].iter()).is_some());
            cache.keys.lock().unwrap().len()
        });
        assert_eq!(held, [1, 2, 2, 3, 1, 1, 2]);
    }
}
