// SPDX-License-Identifier: Apache-2.0
//! How much of what peers send is kept.

use crate::{
    fixture::{Fixture, HEIGHT, run},
    peers::{Sent, genesis, key},
};
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_cryptography::Signer as _;
use shardnode_primitives::ChunkHeader;
use shardnode_witness::WitnessPart;
use std::sync::Arc;

/// The place of a member that tracks the second of two shards.
const MEMBER: usize = 4;
const OWNERS: u16 = 4;

/// The bytes of a message, of which `alive` says whether somebody has them.
struct Message {
    bytes: Vec<u8>,
    _alive: Arc<()>,
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn message(part: &WitnessPart, alive: &Arc<()>) -> Bytes {
    Bytes::from_owner(Message {
        bytes: part.encode().to_vec(),
        _alive: alive.clone(),
    })
}

/// The header of a chunk of this shard, and another one.
fn headers(fixture: &Fixture, shard: u16, height: u64) -> [ChunkHeader; 2] {
    let mut header = fixture.header(shard);
    header.content.height = height;
    let mut other = header.clone();
    other.content.sequence += 1;
    [header, other]
}

/// The parts of a witness of the first shard for so many owners, each from who
/// sends it to the member.
fn witness(fixture: &Fixture, header: &ChunkHeader, owners: u16, alive: &Arc<()>) -> Vec<Sent> {
    let height = header.content.height;
    let producer = key(fixture.producer(0, height)).public_key();
    let me = key(MEMBER).public_key();
    let parts = fixture.witness(header, owners);
    let senders = fixture.owners(0, height);
    assert_eq!(senders.len(), usize::from(OWNERS));
    let senders = senders
        .into_iter()
        .map(|owner| if owner == me { producer.clone() } else { owner });
    let parts = parts.iter().map(|part| message(part, alive));
    senders.zip(parts).collect()
}

#[test]
fn a_witness_is_kept_once_whatever_its_height() {
    for height in HEIGHT..HEIGHT + 4 {
        // Two of four parts give the witness; the own one is passed on.
        for (owners, most) in [(OWNERS, 3), (3, 0)] {
            run(genesis(2, 4, 32), MEMBER, |mut fixture| async move {
                let alive = Arc::new(());
                let [header, _] = headers(&fixture, 0, height);
                let sent = witness(&fixture, &header, owners, &alive);
                fixture.parts.send(sent);
                fixture.start();
                fixture.settle().await;
                assert_eq!(fixture.parts.unread(), 0);
                let kept = Arc::strong_count(&alive) - 1;
                assert!(kept <= most, "{kept} parts for {owners} owners at {height}");
                // Otherwise nothing could be checked.
                assert!(kept >= most.min(2), "{kept} parts at {height}");
            });
        }
    }
}

/// An honest producer makes one header.
#[test]
fn of_the_heights_after_the_next_one_witness_is_kept() {
    for height in HEIGHT..HEIGHT + 4 {
        run(genesis(2, 4, 32), MEMBER, |mut fixture| async move {
            let (one, other) = (Arc::new(()), Arc::new(()));
            let [header, second] = headers(&fixture, 0, height);
            fixture.parts.send(witness(&fixture, &header, OWNERS, &one));
            fixture
                .parts
                .send(witness(&fixture, &second, OWNERS, &other));
            fixture.start();
            fixture.settle().await;
            assert!(Arc::strong_count(&one) > 2, "height {height}");
            let kept = Arc::strong_count(&other) > 1;
            assert_eq!(kept, height == HEIGHT, "height {height}");
        });
    }
}

#[test]
fn nothing_is_kept_of_a_witness_that_is_for_others() {
    for height in HEIGHT..HEIGHT + 4 {
        run(genesis(2, 4, 32), MEMBER, |mut fixture| async move {
            let alive = Arc::new(());
            let [header, _] = headers(&fixture, 1, height);
            // Of the shard that the member tracks.
            let parts = fixture.witness(&header, OWNERS);
            let owners = fixture.owners(1, height).into_iter();
            let sent = owners.zip(parts.iter().map(|part| message(part, &alive)));
            fixture.parts.send(sent);
            fixture.start();
            fixture.settle().await;
            assert_eq!(Arc::strong_count(&alive), 1, "height {height}");
        });
    }
}
