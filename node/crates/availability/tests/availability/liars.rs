// SPDX-License-Identifier: Apache-2.0
//! Peers that send what no honest one sends, and honest ones.

use crate::{
    fixture::{Fixture, run},
    peers::{Sent, genesis, key},
};
use bytes::Bytes;
use commonware_codec::{DecodeExt as _, Encode as _};
use commonware_cryptography::{Signer as _, ed25519::Signature};
use commonware_parallel::Sequential;
use shardnode_coding::Share;
use shardnode_execution::body;
use shardnode_network::chunk_messages::ChunkMessage;
use shardnode_primitives::{ChunkBody, ChunkHeader, Endorsement};

/// A producer of the second of two shards, and another one of it.
const ME: usize = 4;
const OTHER: usize = 5;

/// What is sent on which channel, and whether it costs the sender its
/// connection.
struct Case {
    name: &'static str,
    chunks: Vec<Sent>,
    endorsements: Vec<Sent>,
    cut_off: bool,
}

fn chunks(name: &'static str, from: usize, message: &ChunkMessage, cut_off: bool) -> Case {
    Case {
        name,
        chunks: vec![(key(from).public_key(), message.encode())],
        endorsements: Vec::new(),
        cut_off,
    }
}

fn endorsements(name: &'static str, from: usize, bytes: Bytes, cut_off: bool) -> Case {
    Case {
        name,
        chunks: Vec::new(),
        endorsements: vec![(key(from).public_key(), bytes)],
        cut_off,
    }
}

/// Signed by nobody.
fn unsigned(mut header: ChunkHeader) -> ChunkHeader {
    header.signature = Signature::decode(vec![7; 64]).unwrap();
    header
}

/// A header of a chunk with this body, and the shares of the body.
fn with_body(fixture: &Fixture, shard: u16, body: &ChunkBody) -> (ChunkHeader, Vec<Share>) {
    let code = fixture.identity.body_code();
    let (root, shares) = body::divide(body, &code, &Sequential).unwrap();
    let mut content = fixture.header(shard).content;
    content.parts_root = root;
    content.body_hash = body.hash();
    content.body_len = u32::try_from(body.0.len()).unwrap();
    content.transactions = 1;
    let key = key(fixture.producer(shard));
    let header = ChunkHeader::sign(content, &key, &fixture.identity.namespaces);
    (header, shares)
}

fn cases(fixture: &Fixture) -> Vec<Case> {
    let header = fixture.header(0);
    let author = fixture.producer(0);
    let elsewhere = (0..4).find(|place| *place != author).unwrap();
    let body = ChunkBody(vec![1; 145].into());
    let (with_part, shares) = with_body(fixture, 0, &body);
    let (own, _) = with_body(fixture, 1, &body);
    let own_author = fixture.producer(1);
    let another = ChunkBody(vec![2; 145].into());
    let part = |place: usize| ChunkMessage::Part(with_part.clone(), shares[place].clone());
    let chunk = |body: &ChunkBody| ChunkMessage::Chunk(own.clone(), body.clone());
    let headers = |header: &ChunkHeader| ChunkMessage::Header(header.clone());
    let endorse = |header: &ChunkHeader, place: usize| {
        Endorsement::sign(header, &key(place), &fixture.identity.namespaces).encode()
    };
    // The others are a quorum without it.
    let mut forged = fixture.endorsed(&header, &fixture.committees());
    let (_, signature) = forged[1].clone();
    forged[0].1 = signature;
    vec![
        chunks("a header", author, &headers(&header), false),
        chunks(
            "a header that nobody signed",
            author,
            &headers(&unsigned(header.clone())),
            true,
        ),
        chunks(
            "a header of another producer that this one did not sign",
            elsewhere,
            &headers(&unsigned(header.clone())),
            true,
        ),
        chunks(
            "a header that is too late to look at",
            author,
            &headers(&unsigned(fixture.header_at(0, 0))),
            false,
        ),
        chunks(
            "a header that is too early to look at",
            author,
            &headers(&unsigned(fixture.header_at(0, 1_000))),
            false,
        ),
        chunks("the own part", author, &part(ME), false),
        chunks("the part of somebody else", author, &part(OTHER), true),
        chunks("a body", own_author, &chunk(&body), false),
        chunks(
            "another body than the header's",
            own_author,
            &chunk(&another),
            true,
        ),
        Case {
            name: "no chunk message",
            chunks: vec![(key(author).public_key(), Bytes::from_static(&[9, 9]))],
            endorsements: Vec::new(),
            cut_off: true,
        },
        endorsements("an endorsement", author, endorse(&header, author), false),
        endorsements(
            "an endorsement of an unknown header",
            author,
            endorse(&own, author),
            false,
        ),
        Case {
            name: "endorsements of whom one did not sign",
            chunks: vec![fixture.sent(&header)],
            endorsements: forged,
            cut_off: true,
        },
        endorsements("no endorsement", author, Bytes::from_static(&[9, 9]), true),
    ]
}

#[test]
fn who_sends_what_no_honest_peer_sends_is_cut_off_and_nobody_else() {
    let mut number = 0;
    let mut last = false;
    while !last {
        run(genesis(2, 4, 32), ME, |mut fixture| {
            let mut cases = cases(&fixture);
            last = number + 1 == cases.len();
            let case = cases.swap_remove(number);
            async move {
                let sender = case.endorsements.first().or(case.chunks.first()).unwrap();
                let expected: Vec<_> = case.cut_off.then(|| sender.0.clone()).into_iter().collect();
                fixture.chunks.send(case.chunks);
                fixture.endorsements.send(case.endorsements);
                let _leads = fixture.lead(1);
                fixture.start();
                fixture.settle().await;
                assert_eq!(fixture.blocker.cut_off(), expected, "{}", case.name);
            }
        });
        number += 1;
    }
}
