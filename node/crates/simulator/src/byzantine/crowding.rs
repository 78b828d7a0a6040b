// SPDX-License-Identifier: Apache-2.0
//! A validator that fills the places of witnesses with junk.

use crate::lies::{Behaviour, Liar, Outgoing};
use bytes::Bytes;
use commonware_codec::{DecodeExt as _, Encode as _};
use commonware_cryptography::Signer as _;
use rand_core::Rng as _;
use shardnode_network::channels;
use shardnode_primitives::{Digest, Endorsement, ShardId};
use shardnode_witness::{Manifest, Subject};
use std::num::NonZeroU16;

/// Parts for each shard and height: as many as there are places, and one more.
const PARTS: usize = 3;

/// With each endorsement, sends everybody parts of witnesses for the heights
/// to come, of every shard, in the names of their producers, whose keys it does
/// not have.
#[derive(Default)]
pub struct CrowdedWitnesses {
    next: u64,
}

/// A whole witness of one byte, of a header that there is not.
fn part(liar: &mut Liar<'_>, shard: ShardId, height: u64) -> Bytes {
    let mut random = || {
        let mut bytes = [0; 32];
        liar.rng.fill_bytes(&mut bytes);
        Digest(bytes)
    };
    let manifest = Manifest {
        subject: Subject {
            shard,
            height,
            header_hash: random(),
        },
        owners: NonZeroU16::MIN,
        length: 1,
        commitment: random(),
    };
    let identity = liar.identity;
    let manifest = manifest.encode();
    let signature = identity.key.sign(&identity.namespaces.witness, &manifest);
    let share = [0u8; 3];
    [&manifest[..], &signature.encode(), &share].concat().into()
}

impl Behaviour for CrowdedWitnesses {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        if message.channel != channels::ENDORSEMENTS {
            return None;
        }
        let endorsed = Endorsement::decode(message.bytes.clone()).ok()?;
        let mut out = vec![message.clone()];
        for height in self.next.max(endorsed.height)..=endorsed.height + 4 {
            for shard in liar.identity.genesis.layout.iter() {
                for _ in 0..PARTS {
                    out.push(Outgoing {
                        channel: channels::WITNESSES,
                        to: liar.others.to_vec(),
                        bytes: part(liar, shard, height),
                        priority: true,
                    });
                    liar.shared.count("unsigned witness parts");
                }
            }
        }
        self.next = endorsed.height + 5;
        Some(out)
    }
}
