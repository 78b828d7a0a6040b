// SPDX-License-Identifier: Apache-2.0
//! What leaders reveal, and which seed an epoch has.

use shardnode_primitives::{
    Digest, Randomness,
    genesis::private_key,
    randomness::{RandomnessError, Reveal},
};

const EPOCH: u64 = 4;

/// The randomness of the blocks 0 to `last`, which two leaders propose in
/// turn.
fn chain(last: u64) -> Vec<Randomness> {
    let mut chain = vec![Randomness::genesis(Digest([7; 32]))];
    for height in 1..=last {
        let leader = private_key([u8::try_from(height % 2).unwrap(); 32]);
        let next = chain.last().unwrap().child(height, EPOCH, &leader).unwrap();
        chain.push(next);
    }
    chain
}

#[test]
fn an_epochs_seed_is_the_mix_at_the_end_of_the_epoch_before_the_last() {
    let chain = chain(19);
    for (height, randomness) in chain.iter().enumerate() {
        let epoch = height / 4;
        let expected = if epoch < 2 {
            Digest([7; 32])
        } else {
            chain[(epoch - 1) * 4 - 1].mix
        };
        assert_eq!(randomness.seed, expected, "height {height}");
        let parent = height.saturating_sub(1);
        let seed = chain[parent].seed_at(height as u64, EPOCH);
        assert_eq!(seed, expected, "height {height}, from its parent");
        for (before, randomness) in chain[..=height].iter().enumerate() {
            let seed = randomness.seed_ahead(before as u64, height as u64, EPOCH);
            let known = epoch <= before / 4 + 1;
            let expected = known.then_some(expected);
            assert_eq!(seed, expected, "height {height}, from {before}");
        }
    }
    assert_eq!(chain[8].seed_ahead(8, 7, EPOCH), None, "an epoch before");
    let mut mixes: Vec<Digest> = chain.iter().map(|randomness| randomness.mix).collect();
    mixes.sort();
    mixes.dedup();
    assert_eq!(mixes.len(), 20, "every block changes the mix");
}

#[test]
fn a_leader_has_no_choice_and_nobody_can_speak_for_it() {
    let chain = chain(5);
    let leader = private_key([1; 32]);
    let (parent, child) = (&chain[4], &chain[5]);
    assert_eq!(*child, parent.child(5, EPOCH, &leader).unwrap());
    let key = commonware_cryptography::Signer::public_key(&leader);
    let other = commonware_cryptography::Signer::public_key(&private_key([2; 32]));
    let check =
        |child: &Randomness, height, leader| parent.check_child(child, height, EPOCH, leader);
    assert_eq!(check(child, 5, &key), Ok(()));
    assert_eq!(check(child, 5, &other), Err(RandomnessError::Reveal));
    assert_eq!(check(child, 6, &key), Err(RandomnessError::Reveal));
    let none = Randomness {
        reveal: Reveal::NONE,
        ..child.clone()
    };
    assert_eq!(check(&none, 5, &key), Err(RandomnessError::Reveal));
    let changes: [fn(&mut Randomness); 3] = [
        |child| child.mix = Digest([1; 32]),
        |child| child.seed = Digest([1; 32]),
        |child| child.next = Digest([1; 32]),
    ];
    for change in changes {
        let mut changed = child.clone();
        change(&mut changed);
        assert_eq!(check(&changed, 5, &key), Err(RandomnessError::Sequel));
    }
}
