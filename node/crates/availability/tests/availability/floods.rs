// SPDX-License-Identifier: Apache-2.0
//! Peers that send as much as they like on one channel.

use crate::{
    fixture::{Fixture, HEIGHT, run},
    peers::{Sent, genesis},
};
use futures::FutureExt as _;
use shardnode_network::chunk_requests::Key;
use shardnode_primitives::{ShardId, hash::ZERO};

/// Messages that are there before the actor looks for the first time.
const FLOOD: usize = 10_000;

/// A header that came too late to be of use, over and over.
fn late_headers(fixture: &Fixture) -> impl Iterator<Item = Sent> {
    std::iter::repeat_n(fixture.sent(&fixture.header_at(0, 0)), FLOOD)
}

/// The place of a leader that tracks the second of two shards.
const LEADER: usize = 4;

#[test]
fn endorsements_and_what_they_lead_to_come_through_a_flood_of_chunk_messages() {
    run(genesis(2, 4, 32), LEADER, |mut fixture| async move {
        let header = fixture.header(0);
        let endorsed = fixture.endorsed(&header, &fixture.committees());
        let needed = endorsed.len();
        fixture.endorsements.send(endorsed);
        fixture.chunks.send([fixture.sent(&header)]);
        fixture.chunks.send(late_headers(&fixture));

        let mut collected = fixture.lead(1);
        fixture.chunks.watch(move || {
            let collected = (&mut collected).now_or_never();
            collected.is_some_and(|collected| collected[0].is_ok())
        });
        fixture.start();
        fixture.settle().await;
        assert_eq!(fixture.chunks.unread(), 0);
        let after = fixture.chunks.happened_after();
        assert!(
            after.is_some_and(|after| after <= 2 * needed + 2),
            "the leader had its endorsements after {after:?} of {FLOOD} messages"
        );
    });
}

#[test]
fn a_header_comes_through_a_flood_of_endorsements() {
    run(genesis(2, 4, 32), LEADER, |mut fixture| async move {
        let header = fixture.header(0);
        let endorsed = fixture.endorsed(&header, &fixture.committees());
        let needed = endorsed.len();
        let late = fixture.endorsed(&fixture.header_at(0, 0), &fixture.committees());
        fixture.endorsements.send(endorsed);
        let flood = std::iter::repeat_n(late[0].clone(), FLOOD);
        fixture.endorsements.send(flood);
        fixture.chunks.send([fixture.sent(&header)]);

        let mut collected = fixture.lead(1);
        fixture.endorsements.watch(move || {
            let collected = (&mut collected).now_or_never();
            collected.is_some_and(|collected| collected[0].is_ok())
        });
        fixture.start();
        fixture.settle().await;
        assert_eq!(fixture.endorsements.unread(), 0);
        let after = fixture.endorsements.happened_after();
        assert!(
            after.is_some_and(|after| after <= needed + 2),
            "the leader had the header after {after:?} of {FLOOD} messages"
        );
    });
}

#[test]
fn questions_come_through_a_flood_of_chunk_messages() {
    run(genesis(2, 4, 32), LEADER, |mut fixture| async move {
        fixture.chunks.send(late_headers(&fixture));
        // What this node has credited, and its ledger is asked for.
        let asked = fixture.mailbox.serve(Key::Bucket {
            source: ShardId(0),
            height: HEIGHT,
            destination: ShardId(1),
            root: ZERO,
        });
        let mut ledger = fixture.ledger.take().unwrap();
        fixture
            .chunks
            .watch(move || ledger.receipts.try_recv().is_ok());
        fixture.start();
        fixture.settle().await;
        assert_eq!(fixture.chunks.unread(), 0);
        let after = fixture.chunks.happened_after();
        assert!(
            after.is_some_and(|after| after <= 3),
            "the question was looked at after {after:?} of {FLOOD} messages"
        );
        drop(asked);
    });
}
