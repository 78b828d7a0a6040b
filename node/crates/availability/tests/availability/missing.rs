// SPDX-License-Identifier: Apache-2.0
//! What a leader is told of a shard that it has nothing to propose of.

use crate::{
    fixture::{Fixture, run},
    peers::{genesis, key},
};
use futures::FutureExt as _;
use shardnode_mailboxes::availability::Missing;
use shardnode_primitives::{ChunkHeader, Digest};
use std::time::Duration;

/// The place of a leader that tracks the second of two shards.
const LEADER: usize = 4;

/// What a leader of the first shard is told once it has waited, of a header of which so
/// many endorsements came.
fn told(
    header: impl FnOnce(&Fixture) -> Option<ChunkHeader> + Send + 'static,
    endorsements: usize,
    want: Missing,
) {
    run(genesis(2, 4, 32), LEADER, move |mut fixture| async move {
        if let Some(header) = header(&fixture) {
            let endorsed = fixture.endorsed(&header, &fixture.committees());
            fixture
                .endorsements
                .send(endorsed.into_iter().take(endorsements));
            fixture.chunks.send([fixture.sent(&header)]);
        }
        let mut collecting = fixture.lead_for(1, Duration::from_millis(500));
        fixture.start();
        fixture.settle().await;
        let collected = (&mut collecting).now_or_never().unwrap();
        assert_eq!(collected, [Err(want)]);
    });
}

/// A header of a chunk that has a body.
fn with_body(fixture: &Fixture) -> ChunkHeader {
    let mut content = fixture.header(0).content;
    (content.body_len, content.body_hash) = (200, Digest([1; 32]));
    ChunkHeader::sign(
        content,
        &key(fixture.producer(0)),
        &fixture.identity.namespaces,
    )
}

#[test]
fn a_leader_is_told_what_the_nearest_header_lacks() {
    told(|_| None, 0, Missing::Header);
    told(
        |fixture| {
            let mut content = fixture.header(0).content;
            content.anchor = Digest([9; 32]);
            Some(ChunkHeader::sign(
                content,
                &key(fixture.producer(0)),
                &fixture.identity.namespaces,
            ))
        },
        usize::MAX,
        Missing::Header,
    );
    told(|fixture| Some(fixture.header(0)), 1, Missing::Endorsements);
    told(
        |fixture| Some(with_body(fixture)),
        usize::MAX,
        Missing::Data,
    );
    told(|fixture| Some(with_body(fixture)), 1, Missing::Endorsements);
}
