// SPDX-License-Identifier: Apache-2.0
//! Verifying the signatures of a whole chunk.
//!
//! Verification follows ZIP-215, where batches and single checks always agree,
//! so nodes with different batch sizes reach the same verdict. Decoding a
//! public key costs a point decompression; [`KeyCache`] keeps decoded keys,
//! because the signers of a shard recur from chunk to chunk.

use commonware_codec::DecodeExt as _;
use commonware_cryptography::{
    BatchEntry, BatchVerifier as _,
    ed25519::{PublicKey, Signature},
};
use commonware_parallel::Strategy;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use shardnode_primitives::{AccountId, Transaction};
use std::collections::BTreeMap;

/// Decoded public keys, at most a given number of them.
#[derive(Clone, Debug)]
pub struct KeyCache {
    keys: BTreeMap<AccountId, PublicKey>,
    capacity: usize,
}

impl KeyCache {
    /// A cache of at most `capacity` keys. When full it starts anew: a shard
    /// with more active signers than that gains little from a cache.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self {
            keys: BTreeMap::new(),
            capacity,
        }
    }

    fn get(&mut self, id: &AccountId) -> Option<PublicKey> {
        if let Some(key) = self.keys.get(id) {
            return Some(key.clone());
        }
        let key = PublicKey::decode(id.0.to_vec()).ok()?;
        if self.keys.len() >= self.capacity {
            self.keys.clear();
        }
        self.keys.insert(*id, key.clone());
        Some(key)
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

/// Whether every transaction is signed by its signer. True for none.
///
/// The random coefficients of a batch come from a generator seeded with
/// `seed`, which must be unpredictable to whoever made the signatures.
#[must_use]
pub fn verify_all(
    transactions: &[Transaction],
    namespace: &[u8],
    keys: &mut KeyCache,
    batch: BatchSize,
    seed: [u8; 32],
    strategy: &impl Strategy,
) -> bool {
    let entries: Option<Vec<Entry>> = transactions
        .iter()
        .map(|transaction| {
            let (message, signature) = transaction.signed_message();
            Some(Entry {
                key: keys.get(transaction.signer())?,
                message: message.to_vec(),
                signature: signature.clone(),
            })
        })
        .collect();
    let Some(entries) = entries else {
        return false;
    };
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
