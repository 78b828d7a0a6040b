// SPDX-License-Identifier: Apache-2.0
//! What signatures are bound to.

use crate::arbitrary;
use commonware_cryptography::Signer as _;
use proptest::prelude::*;
use shardnode_primitives::{
    AccountId, ChunkHeader, Namespaces, Transaction, genesis::private_key, hash::ZERO,
};

proptest! {
    #[test]
    fn headers_verify_under_their_signer_and_network_only(
        content in arbitrary::content(),
        seed in any::<[u8; 32]>(),
    ) {
        let key = private_key(seed);
        let namespaces = Namespaces::new("one", &ZERO);
        let header = ChunkHeader::sign(content, &key, &namespaces);
        prop_assert!(header.verify(&key.public_key(), &namespaces));
        prop_assert!(!header.verify(&key.public_key(), &Namespaces::new("other", &ZERO)));
        let mut other = seed;
        other[0] ^= 1;
        prop_assert!(!header.verify(&private_key(other).public_key(), &namespaces));
        let mut changed = header.clone();
        changed.content.height ^= 1;
        prop_assert!(!changed.verify(&key.public_key(), &namespaces));
        prop_assert_ne!(changed.hash(), header.hash());
    }

    #[test]
    fn transactions_verify_under_their_network_only(
        mut transfer in arbitrary::transfer(),
        seed in any::<[u8; 32]>(),
    ) {
        let key = private_key(seed);
        transfer.signer = AccountId::of(&key.public_key());
        let namespaces = Namespaces::new("one", &ZERO);
        let transaction = transfer.sign(&key, &namespaces);
        prop_assert!(transaction.verify(&namespaces));
        prop_assert!(!transaction.verify(&Namespaces::new("other", &ZERO)));
        let Transaction::Transfer(mut changed) = transaction;
        changed.transfer.amount ^= 1;
        prop_assert!(!Transaction::Transfer(changed).verify(&namespaces));
    }
}
