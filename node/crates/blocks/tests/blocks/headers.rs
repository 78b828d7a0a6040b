// SPDX-License-Identifier: Apache-2.0
//! Every rule about a header, and what is just within it.

use crate::chain::{BODY, Following, HEIGHT, MOST_TRANSACTIONS, digest};
use shardnode_blocks::validity::Violation;
use shardnode_primitives::{ChunkBody, DuePosition, ShardId, hash::ZERO};

type Change = fn(&mut Following);

fn changed(change: Change) -> Result<(), Violation> {
    let mut following = Following::new();
    change(&mut following);
    following.check()
}

fn refuse(rule: &'static str, changes: &[Change]) {
    for (index, change) in changes.iter().enumerate() {
        let shard = ShardId(0);
        let violation = Violation::Header { shard, rule };
        assert_eq!(changed(*change), Err(violation), "change {index}");
    }
}

fn accept(changes: &[Change]) {
    for (index, change) in changes.iter().enumerate() {
        assert_eq!(changed(*change), Ok(()), "change {index}");
    }
}

fn transactions(following: &mut Following, count: u32) {
    following.content.transactions = count;
    following.content.body_len = count * BODY;
}

fn without_body(following: &mut Following) {
    transactions(following, 0);
    following.content.body_hash = ChunkBody(bytes::Bytes::new()).hash();
    following.content.parts_root = ZERO;
}

/// A header to which nothing became due: the one before is the first for long.
fn without_results(following: &mut Following) {
    following.previous.content.uncommitted = vec![9];
    let totals = following.previous.content.totals.clone();
    let content = &mut following.content;
    (content.totals, content.previous) = (totals, following.previous.hash());
    content.results.clear();
}

#[test]
fn a_header_is_in_its_place() {
    accept(&[|_| ()]);
    refuse(
        "header is for this shard",
        &[|one| one.content.shard = ShardId(1)],
    );
    refuse(
        "height is the block's",
        &[
            |one| one.content.height = HEIGHT - 1,
            |one| one.content.height = HEIGHT + 1,
        ],
    );
    refuse(
        "sequence follows the previous header's",
        &[
            |one| one.content.sequence = 6,
            |one| one.content.sequence = 8,
        ],
    );
    refuse(
        "previous names the header before",
        &[|one| one.content.previous = one.previous.content.previous],
    );
    refuse(
        "anchor is the block executionLag before",
        &[|one| one.content.anchor = digest(1)],
    );
    refuse(
        "signed by the producer whose turn it is",
        &[|one| one.producer = 1, |one| one.producer = 2],
    );
}

#[test]
fn a_body_is_as_long_as_its_transactions() {
    accept(&[
        |one| transactions(one, 1),
        |one| transactions(one, MOST_TRANSACTIONS),
        without_body,
    ]);
    refuse(
        "at most maxTransactionsPerChunk transactions",
        &[|one| transactions(one, MOST_TRANSACTIONS + 1)],
    );
    refuse(
        "body length fits the number of transactions",
        &[
            |one| one.content.body_len += 1,
            |one| one.content.body_len -= 1,
            |one| one.content.transactions = 0,
        ],
    );
    refuse(
        "without transactions the body is empty and in no parts",
        &[
            |one| {
                without_body(one);
                one.content.body_hash = digest(12);
            },
            |one| {
                without_body(one);
                one.content.parts_root = digest(13);
            },
            |one| transactions(one, 0),
        ],
    );
}

#[test]
fn executions_are_committed_to_when_they_are_due() {
    accept(&[without_results]);
    refuse(
        "results are those of the executions that are due",
        &[
            |one| one.content.results.clear(),
            |one| one.content.results[0].height = 7,
            |one| {
                let mut early = one.content.results[0].clone();
                early.height = 9;
                one.content.results.push(early);
            },
        ],
    );
    refuse(
        "uncommitted lists the other executions",
        &[
            |one| one.content.uncommitted.truncate(1),
            |one| one.content.uncommitted.insert(0, 8),
            |one| one.content.uncommitted.push(11),
        ],
    );
    refuse(
        "totals are as of the newest result",
        &[
            |one| one.content.totals.height = 7,
            |one| one.content.totals.state_root = digest(7),
            |one| {
                without_results(one);
                one.content.totals.height = 8;
            },
        ],
    );
}

#[test]
fn what_is_counted_adds_up() {
    refuse(
        "transfers are the previous total and the results'",
        &[
            |one| one.content.totals.transfers -= 1,
            |one| one.content.totals.transfers += 1,
            |one| one.content.results[0].transfers = 0,
        ],
    );
    refuse(
        "credits are the previous total and the results'",
        &[
            |one| one.content.totals.credits -= 1,
            |one| one.content.totals.credits += 1,
            |one| one.content.results[0].credits = 0,
        ],
    );
    accept(&[
        |one| one.content.totals.cross_shard = 40,
        |one| one.content.totals.cross_shard = 40 + 5,
    ]);
    refuse(
        "cross-shard transfers are among the new transfers",
        &[
            |one| one.content.totals.cross_shard = 40 - 1,
            |one| one.content.totals.cross_shard = 40 + 6,
        ],
    );
}

#[test]
fn value_comes_from_somewhere_and_goes_somewhere() {
    accept(&[
        |one| {
            one.content.totals.sent -= 20;
            one.content.totals.balance += 20;
        },
        |one| {
            one.content.totals.received -= 30;
            one.content.totals.balance -= 30;
        },
        |one| {
            one.content.totals.burnt -= 7;
            one.content.totals.balance += 7;
        },
        // Everything that there is.
        |one| {
            one.content.totals.sent += 1_003;
            one.content.totals.balance = 0;
        },
    ]);
    refuse(
        "sent, received and burnt never fall",
        &[
            |one| one.content.totals.sent = 499,
            |one| one.content.totals.received = 399,
            |one| one.content.totals.burnt = 49,
        ],
    );
    refuse(
        "balance changes by what was received, sent and burnt",
        &[
            |one| one.content.totals.balance += 1,
            |one| one.content.totals.balance -= 1,
            |one| one.content.totals.sent += 1,
            |one| one.content.totals.received += 1,
            |one| one.content.totals.burnt += 1,
            |one| {
                one.content.totals.sent += 1_004;
                one.content.totals.balance = 0;
            },
            |one| one.content.totals.received = u128::MAX,
        ],
    );
}

#[test]
fn receipts_are_credited_in_their_order() {
    accept(&[
        |one| one.content.totals.next_due = DuePosition::at(6),
        |one| one.content.totals.next_due = DuePosition::after(7, ShardId(1)),
        |one| one.content.totals.next_due = DuePosition::at(9),
    ]);
    refuse(
        "receipts are credited in the order in which they fell due",
        &[
            |one| one.content.totals.next_due = DuePosition::at(5),
            |one| one.content.totals.next_due = DuePosition::after(9, ShardId(0)),
            |one| {
                without_results(one);
                one.content.totals.next_due = DuePosition::at(7);
            },
        ],
    );
}
