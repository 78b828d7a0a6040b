// SPDX-License-Identifier: Apache-2.0
//! Peers that send as many witness parts as they like.

use crate::{
    fixture::{Fixture, run},
    peers::{Sent, genesis, key},
};
use commonware_codec::Encode as _;
use commonware_cryptography::Signer as _;
use shardnode_mailboxes::availability::Message;

/// Messages that are there before the actor looks for the first time.
const FLOOD: usize = 10_000;

/// The place of a member that tracks the second of two shards.
const MEMBER: usize = 4;

/// A part that came too late to be of use, over and over.
fn late_parts(fixture: &Fixture) -> impl Iterator<Item = Sent> {
    let mut late = fixture.header(0);
    late.content.height = 0;
    let part = fixture.witness(&late, 3)[0].encode();
    let producer = key(fixture.producer(0, 0)).public_key();
    std::iter::repeat_n((producer, part), FLOOD)
}

#[test]
fn an_endorsement_comes_through_a_flood_of_parts() {
    run(genesis(2, 4, 32), MEMBER, |mut fixture| async move {
        fixture.parts.send(late_parts(&fixture));
        fixture.mailbox.header(fixture.header(0));
        let mut availability = fixture.availability.take().unwrap();
        fixture.parts.watch(move || {
            let told = availability.messages.try_recv();
            matches!(told, Ok(Message::Endorsed(_)))
        });
        fixture.start();
        fixture.settle().await;
        assert_eq!(fixture.parts.unread(), 0);
        let after = fixture.parts.happened_after();
        assert!(
            after.is_some_and(|after| after <= 2),
            "the header was endorsed after {after:?} of {FLOOD} parts"
        );
    });
}
