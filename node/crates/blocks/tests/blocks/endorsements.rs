// SPDX-License-Identifier: Apache-2.0
//! What a block says beside its headers, and who endorsed them.

use crate::chain::{HEIGHT, Pair, digest, key};
use commonware_parallel::Sequential;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use shardnode_blocks::validity::{Violation, endorsed_stake, endorsements_hold};
use shardnode_primitives::{Endorsements, ShardId};

fn refused(change: impl FnOnce(&mut Pair)) -> Violation {
    let mut pair = Pair::new();
    change(&mut pair);
    pair.check().unwrap_err()
}

const fn broken(shard: u16, rule: &'static str) -> Violation {
    Violation::Header {
        shard: ShardId(shard),
        rule,
    }
}

#[test]
fn a_block_follows_its_parent() {
    let pair = Pair::new();
    assert_eq!(pair.check(), Ok(()));
    for got in [HEIGHT - 1, HEIGHT + 1] {
        let parent = HEIGHT - 1;
        assert_eq!(
            refused(|pair| pair.block.height = got),
            Violation::Height { got, parent }
        );
    }
    let (got, parent, min) = (5_099, 5_000, 100);
    assert_eq!(
        refused(|pair| pair.block.timestamp_ms = got),
        Violation::Timestamp { got, parent, min }
    );
    assert!(matches!(
        refused(|pair| pair.block.randomness.mix = digest(1)),
        Violation::Randomness(_)
    ));
    assert!(matches!(
        refused(|pair| {
            let parent = &pair.parent.randomness;
            pair.block.randomness = parent.child(HEIGHT, 16, &key(1)).unwrap();
        }),
        Violation::Randomness(_)
    ));
    assert_eq!(
        refused(|pair| pair.following.anchor = digest(1)),
        broken(0, "anchor is the block executionLag before")
    );
}

#[test]
fn new_headers_and_no_others_are_endorsed() {
    assert_eq!(
        refused(|pair| pair.block.endorsements.swap(0, 1)),
        broken(
            0,
            "endorsements have one place for each member of the committee"
        )
    );
    assert_eq!(
        refused(|pair| pair.block.endorsements[1] = pair.block.endorsements[0].clone()),
        broken(1, "only a new header has endorsements")
    );
    assert_eq!(
        refused(|pair| {
            let missing = pair.block.endorsements[0].iter().skip(1);
            pair.block.endorsements[0] = missing.map(Option::<&_>::cloned).collect();
        }),
        broken(
            0,
            "endorsements have one place for each member of the committee"
        )
    );
}

#[test]
fn more_than_two_thirds_of_the_stake_endorse() {
    let mut pair = Pair::new();
    let committee = pair.committees[0].clone();
    let members = committee.members().len();
    let mut exactly = false;
    for chosen in 0u32..1 << members {
        let selects = |place: usize| chosen >> place & 1 == 1;
        pair.endorse(selects);
        let stake: u64 = committee
            .members()
            .iter()
            .enumerate()
            .filter(|(place, _)| selects(*place))
            .map(|(_, member)| member.stake)
            .sum();
        let endorsements = &pair.block.endorsements[0];
        assert_eq!(endorsed_stake(endorsements, &committee), stake);
        let verdict = if stake >= committee.quorum() {
            Ok(())
        } else {
            let rule = "endorsed by more than two thirds of the mandated stake";
            Err(broken(0, rule))
        };
        assert_eq!(pair.check(), verdict, "{chosen:b}");
        assert!(hold(&pair), "{chosen:b}");
        exactly |= stake == committee.quorum();
    }
    assert!(exactly);
}

/// Whether the endorsements are signed by those whose places they have.
fn hold(pair: &Pair) -> bool {
    endorsements_hold(
        &pair.block,
        &pair.committees,
        &pair.following.identity.namespaces,
        &mut ChaCha20Rng::from_seed([7; 32]),
        &Sequential,
    )
}

#[test]
fn an_endorsement_is_signed_by_the_member_at_its_place() {
    let pair = Pair::new();
    assert!(hold(&pair));
    let mut turned = pair.clone();
    let mut signatures: Vec<_> = pair.block.endorsements[0]
        .iter()
        .map(Option::<&_>::cloned)
        .collect();
    signatures.rotate_left(1);
    turned.block.endorsements[0] = signatures.into_iter().collect();
    assert!(!hold(&turned));
    // Of another header.
    let mut other = pair.clone();
    other.block.chunks[0].content.body_hash = digest(1);
    assert!(!hold(&other));
    let mut none = pair;
    none.block.endorsements[0] = Endorsements::default();
    assert!(hold(&none));
}
