// SPDX-License-Identifier: Apache-2.0
//! Peers that send parts which their owner must have checked, and honest ones.

use crate::{
    fixture::{Fixture, run},
    peers::{Sent, genesis, key},
};
use bytes::Bytes;
use commonware_codec::{Encode, FixedSize as _};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use shardnode_primitives::ChunkHeader;
use shardnode_witness::Manifest;

/// The place of a member that tracks the second of two shards.
const MEMBER: usize = 4;

/// What peers send, and whom it costs its connection.
type Case = (&'static str, Vec<Sent>, Option<PublicKey>);

/// The parts of a witness, and who sends which of them to the member.
struct Witness {
    parts: Vec<Bytes>,
    senders: Vec<PublicKey>,
    /// The places of the member and of two other owners.
    own: usize,
    one: usize,
    two: usize,
}

impl Witness {
    fn of(fixture: &Fixture, header: &ChunkHeader) -> Self {
        let (shard, height) = (header.content.shard.0, header.content.height);
        let owners = fixture.owners(shard, height);
        let me = key(MEMBER).public_key();
        let own = owners.iter().position(|owner| *owner == me).unwrap();
        let parts = fixture.witness(header, u16::try_from(owners.len()).unwrap());
        let mut senders = owners;
        senders[own] = key(fixture.producer(shard, height)).public_key();
        Self {
            parts: parts.iter().map(Encode::encode).collect(),
            one: usize::from(own == 0),
            two: if own <= 1 { 2 } else { 1 },
            own,
            senders,
        }
    }

    fn sent(&self, index: usize) -> Sent {
        (self.senders[index].clone(), self.parts[index].clone())
    }

    fn all(&self) -> Vec<Sent> {
        (0..self.parts.len())
            .map(|index| self.sent(index))
            .collect()
    }

    /// With another bit at this place.
    fn changed(&self, index: usize, at: usize) -> Sent {
        let (sender, bytes) = self.sent(index);
        (sender, changed(&bytes, at))
    }
}

fn changed(bytes: &Bytes, at: usize) -> Bytes {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1;
    bytes.into()
}

fn cases(fixture: &Fixture) -> Vec<Case> {
    let header = fixture.header(0);
    let witness = Witness::of(fixture, &header);
    let (own, one, two) = (witness.own, witness.one, witness.two);
    let who = |index: usize| Some(witness.senders[index].clone());
    let of_the_own_shard = {
        let part = fixture.witness(&fixture.header(1), 4)[0].encode();
        (witness.senders[one].clone(), changed(&part, Manifest::SIZE))
    };
    let of_another_witness = {
        let parts = fixture.witness_of(&header, 4, &[8; 900]);
        (witness.senders[two].clone(), parts[two].encode())
    };
    let early = |by: u64| {
        let mut header = header.clone();
        header.content.height += by;
        Witness::of(fixture, &header)
    };
    let (next, last, beyond) = (early(1), early(3), early(4));
    let for_three_owners = |header: &ChunkHeader, witness: &Witness| {
        let parts = fixture.witness(header, 3);
        (witness.senders[own].clone(), parts[0].encode())
    };
    let mut early_header = header.clone();
    early_header.content.height += 1;
    vec![
        ("parts", witness.all(), None),
        ("parts for the next height", next.all(), None),
        ("parts for the last height that is near", last.all(), None),
        (
            "a part that was passed on twice",
            vec![witness.sent(one), witness.sent(one)],
            None,
        ),
        (
            "a part that its producer did not sign",
            vec![witness.changed(one, Manifest::SIZE)],
            who(one),
        ),
        (
            "an early part that its producer did not sign",
            vec![next.changed(next.one, Manifest::SIZE)],
            Some(next.senders[next.one].clone()),
        ),
        (
            "a second part with another signature that does not hold",
            vec![witness.sent(one), witness.changed(two, Manifest::SIZE)],
            who(two),
        ),
        (
            "a part of a share that is not under the manifest",
            vec![witness.changed(one, witness.parts[one].len() - 1)],
            who(one),
        ),
        (
            "parts of two witnesses that the producer signed",
            vec![witness.sent(one), of_another_witness],
            None,
        ),
        (
            "another owner's part",
            vec![(witness.senders[one].clone(), witness.parts[two].clone())],
            who(one),
        ),
        (
            "an early part of another owner's",
            vec![(next.senders[next.one].clone(), next.parts[next.two].clone())],
            Some(next.senders[next.one].clone()),
        ),
        (
            "the member's own part from another owner",
            vec![(witness.senders[one].clone(), witness.parts[own].clone())],
            who(one),
        ),
        (
            "another owner's part from the producer",
            vec![(witness.senders[own].clone(), witness.parts[one].clone())],
            who(own),
        ),
        (
            "a part for another number of owners",
            vec![for_three_owners(&header, &witness)],
            who(own),
        ),
        (
            "an early part for another number of owners",
            vec![for_three_owners(&early_header, &next)],
            Some(next.senders[own].clone()),
        ),
        (
            "a part for a height too far ahead",
            // What is too early is not looked at.
            vec![beyond.changed(beyond.one, Manifest::SIZE)],
            None,
        ),
        // This member compares such headers with its own results.
        (
            "a part of its own shard that nobody signed",
            vec![of_the_own_shard],
            None,
        ),
        (
            "no part",
            vec![(witness.senders[one].clone(), Bytes::from_static(&[1, 2, 3]))],
            who(one),
        ),
    ]
}

#[test]
fn who_passes_on_what_it_must_have_checked_is_cut_off_and_nobody_else() {
    let mut number = 0;
    let mut last = false;
    while !last {
        run(genesis(2, 4, 32), MEMBER, |mut fixture| {
            let mut cases = cases(&fixture);
            last = number + 1 == cases.len();
            let (name, sent, cut_off) = cases.swap_remove(number);
            async move {
                let expected: Vec<_> = cut_off.into_iter().collect();
                fixture.parts.send(sent);
                fixture.start();
                fixture.settle().await;
                assert_eq!(fixture.blocker.cut_off(), expected, "{name}");
            }
        });
        number += 1;
    }
}
