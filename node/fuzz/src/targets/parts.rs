// SPDX-License-Identifier: Apache-2.0
//! Parts of witnesses and bodies, one by one and together.

use super::{CODE, Target, make_tables};
use crate::Decoder;
use commonware_codec::{Decode as _, Encode as _, FixedSize as _};
use commonware_cryptography::{
    Signer as _,
    ed25519::{PrivateKey, Signature},
};
use commonware_parallel::Sequential;
use shardnode_coding::{Part, Share, ShareLimits};
use shardnode_primitives::{Namespaces, Transaction, genesis::private_key, hash::ZERO};
use shardnode_witness::{Manifest, PartLimits, PartSet, WitnessPart};

/// The most bytes of a witness and the most owners that a network can have.
const LIMITS: PartLimits = PartLimits {
    length: 64 << 20,
    owners: 4_096,
};

/// A body of four transactions.
const SHARE: ShareLimits = ShareLimits {
    code: CODE,
    length: 4 * Transaction::SIZE,
};

/// The target.
#[must_use]
pub fn target() -> Target {
    let namespaces = Namespaces::new("fuzz", &ZERO);
    let key = private_key([1; 32]);
    make_tables();
    Target {
        name: "parts",
        decoders: vec![
            Decoder::of::<Manifest>((), |manifest| {
                assert!(manifest.needed() <= usize::from(manifest.owners.get()));
            }),
            Decoder::of::<Share>(SHARE, |share| {
                let checked = CODE.check(&ZERO, 0, &share);
                assert!(checked.is_err(), "a share is under the root of zeroes");
            }),
            Decoder::of::<Part>(SHARE, |part| {
                assert!(part.index < CODE.owners().get());
            }),
            Decoder::of::<WitnessPart>(LIMITS, move |part| rebuild(&part, &key, &namespaces)),
        ],
    }
}

/// Takes the part in as one that the producer signed, and rebuilds from it.
fn rebuild(part: &WitnessPart, key: &PrivateKey, namespaces: &Namespaces) {
    let producer = key.public_key();
    let mut parts = PartSet::default();
    let unsigned = parts.insert(part.clone(), &producer, namespaces);
    assert!(unsigned.is_err(), "a part that nobody signed is taken in");

    let signed = sign(part, key, namespaces);
    if parts.insert(signed.clone(), &producer, namespaces) == Ok(true) {
        assert_eq!(parts.insert(signed, &producer, namespaces), Ok(false));
        let _ = parts.rebuild(&Sequential);
    }
}

/// The part as its producer would sign it.
fn sign(part: &WitnessPart, key: &PrivateKey, namespaces: &Namespaces) -> WitnessPart {
    let mut bytes = part.encode().to_vec();
    let (manifest, rest) = bytes.split_at_mut(Manifest::SIZE);
    let signature = key.sign(&namespaces.witness, manifest);
    rest[..Signature::SIZE].copy_from_slice(signature.as_ref());
    match WitnessPart::decode_cfg(bytes, &LIMITS) {
        Ok(signed) => signed,
        Err(error) => unreachable!("another signature makes a part undecodable: {error}"),
    }
}
