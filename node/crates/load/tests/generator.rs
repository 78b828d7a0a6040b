// SPDX-License-Identifier: Apache-2.0
//! The generator over a whole network's genesis accounts.

#![allow(clippy::unwrap_used)]

use shardnode_load::{
    Accounts, Generator, LoadError, Reach, Receivers, Senders, Share, Workload, WorkloadError,
    accounts::derive,
};
use shardnode_primitives::{
    AccountId, Genesis, GenesisDocument, Namespaces, ShardId, Transaction, Transfer,
};
use std::collections::{BTreeMap, BTreeSet};

const SHARDS: u16 = 3;
const PER_SHARD: u32 = 40;

fn genesis_of(shards: u16, per_shard: u32) -> Genesis {
    let key = |index: u16| {
        let key = shardnode_primitives::genesis::private_key([index.to_be_bytes()[1] + 1; 32]);
        AccountId::of(&commonware_cryptography::Signer::public_key(&key)).to_string()
    };
    let validators: Vec<_> = (0..shards)
        .map(|shard| {
            serde_json::json!({
                "name": format!("s{shard}-p0"), "publicKey": key(shard),
                "role": "producer", "shard": shard, "slot": 0, "stake": 1_000
            })
        })
        .collect();
    let document: GenesisDocument = serde_json::from_value(serde_json::json!({
        "network": "load", "createdAtMs": 0, "seed": "07".repeat(32), "shards": shards,
        "accounts": {"perShard": per_shard, "initialBalance": 1000},
        "protocol": {"executionLag": 1, "minBlockTimeMs": 10, "chunkWaitMs": 1000, "maxTransactionsPerChunk": 10, "mandatesPerShard": 8, "epochLength": 1000, "congestionControl": "Enabled", "transferFee": 2, "leastBalance": 3},
        "validators": validators,
    }))
    .unwrap();
    document.check().unwrap()
}

fn genesis() -> Genesis {
    genesis_of(SHARDS, PER_SHARD)
}

fn share(shard: u16, slot: u16, slots: u16) -> Share {
    Share {
        shard: ShardId(shard),
        slot,
        slots,
    }
}

fn generator(seed: u64) -> Generator {
    Generator::new(Accounts::new(&genesis(), share(1, 0, 2)), seed).unwrap()
}

fn drawn(generator: &mut Generator, count: u32) -> Vec<Transfer> {
    generator
        .draw(count)
        .iter()
        .map(|unsigned| unsigned.transfer)
        .collect()
}

#[test]
fn the_shares_of_a_network_divide_its_accounts() {
    let genesis = genesis();
    let all: BTreeSet<_> = derive(&genesis, 0..genesis.account_count())
        .iter()
        .map(|account| account.id)
        .collect();
    let mut seen = BTreeSet::new();
    for shard in 0..SHARDS {
        let in_shard: Vec<_> = all
            .iter()
            .filter(|id| genesis.layout.shard_of(id) == ShardId(shard))
            .collect();
        for slot in 0..2u16 {
            let accounts = Accounts::new(&genesis, share(shard, slot, 2));
            let generator = Generator::new(accounts, 1).unwrap();
            let own: Vec<_> = generator.own_accounts().collect();
            let expected: Vec<_> = in_shard
                .iter()
                .enumerate()
                .filter(|(j, _)| j % 2 == usize::from(slot))
                .map(|(_, id)| **id)
                .collect();
            assert_eq!(own, expected);
            seen.extend(own);
        }
    }
    assert_eq!(seen, all);
}

#[test]
fn parts_join_to_the_whole() {
    let genesis = genesis();
    let share = share(1, 0, 2);
    let parts =
        [0..7, 7..7, 7..100, 100..genesis.account_count()].map(|indices| derive(&genesis, indices));
    let accounts = Accounts::from_parts(&genesis, share, parts);
    let mut joined = Generator::new(accounts, 5).unwrap();
    assert_eq!(drawn(&mut joined, 50), drawn(&mut generator(5), 50));
}

#[test]
fn equal_seeds_draw_equally_and_others_do_not() {
    let of = |seed| drawn(&mut generator(seed), 100);
    assert_eq!(of(1), of(1));
    let receivers =
        |seed| -> Vec<_> { of(seed).iter().map(|transfer| transfer.receiver).collect() };
    assert_ne!(receivers(1), receivers(2));
}

#[test]
fn draws_pay_from_the_share_to_anybody_else() {
    let genesis = genesis();
    let mut generator = generator(3);
    let own: BTreeSet<_> = generator.own_accounts().collect();
    let mut shards = BTreeSet::new();
    for transfer in drawn(&mut generator, 2_000) {
        assert!(own.contains(&transfer.signer));
        assert_ne!(transfer.receiver, transfer.signer);
        assert_eq!(transfer.amount, 3);
        shards.insert(genesis.layout.shard_of(&transfer.receiver));
    }
    assert_eq!(shards.len(), usize::from(SHARDS));
}

#[test]
fn popularity_follows_id_order_for_senders_and_a_shuffle_for_receivers() {
    let mut generator = generator(3);
    let first = generator.own_accounts().next().unwrap();
    let (mut senders, mut receivers) = (BTreeMap::new(), BTreeMap::new());
    for transfer in drawn(&mut generator, 20_000) {
        *senders.entry(transfer.signer).or_insert(0u32) += 1;
        *receivers.entry(transfer.receiver).or_insert(0u32) += 1;
    }
    let top = |counts: &BTreeMap<AccountId, u32>| {
        counts
            .iter()
            .max_by_key(|(_, count)| **count)
            .map(|(id, count)| (*id, *count))
            .unwrap()
    };
    assert_eq!(top(&senders).0, first);
    let everybody = genesis();
    let lowest = derive(&everybody, 0..everybody.account_count())
        .iter()
        .map(|account| account.id)
        .min()
        .unwrap();
    assert_ne!(top(&receivers).0, lowest);
    // Of 120 ranks the first has 8.2 %; a uniform draw would give 0.8 %.
    assert!(
        (1_400..1_900).contains(&top(&receivers).1),
        "{:?}",
        top(&receivers)
    );
}

#[test]
fn nonces_of_an_account_rise_by_one() {
    let mut generator = generator(3);
    let mut last = BTreeMap::new();
    for transfer in drawn(&mut generator, 1_000) {
        let nonce = last.entry(transfer.signer).or_insert(0);
        *nonce += 1;
        assert_eq!(transfer.nonce, *nonce);
    }
}

#[test]
fn nonces_continue_after_the_chains() {
    let mut generator = generator(3);
    let accounts: Vec<_> = generator.own_accounts().collect();
    for account in &accounts {
        generator.set_nonce(account, 41);
        generator.set_nonce(account, 7);
    }
    let mut first = BTreeMap::new();
    for transfer in drawn(&mut generator, 1_000) {
        first.entry(transfer.signer).or_insert(transfer.nonce);
    }
    assert!(!first.is_empty());
    assert!(first.values().all(|nonce| *nonce == 42), "{first:?}");
}

#[test]
fn an_account_whose_nonces_are_used_up_does_not_stop_the_generator() {
    let mut generator = generator(3);
    let accounts: Vec<_> = generator.own_accounts().collect();
    for account in &accounts {
        generator.set_nonce(account, u64::MAX);
    }
    let transfers = drawn(&mut generator, 10);
    assert!(transfers.iter().all(|transfer| transfer.nonce == u64::MAX));
}

#[test]
fn signatures_hold_in_this_network_only() {
    let here = Namespaces::new("load", &genesis().hash());
    let elsewhere = Namespaces::new("other", &genesis().hash());
    let mut generator = generator(3);
    let unsigned = generator.draw(20);
    let signed = generator.signer().sign(&unsigned, &here);
    assert_eq!(signed.len(), unsigned.len());
    for (transaction, unsigned) in signed.iter().zip(&unsigned) {
        let Transaction::Transfer(signed) = transaction;
        assert_eq!(signed.transfer, unsigned.transfer);
        assert!(transaction.verify(&here));
        assert!(!transaction.verify(&elsewhere));
    }
    assert!(generator.next(&here).verify(&here));
}

#[test]
fn a_producer_without_accounts_has_nothing_to_generate() {
    let genesis = genesis_of(1, 1);
    let without = |slot| {
        Generator::new(Accounts::new(&genesis, share(0, slot, 2)), 1)
            .err()
            .unwrap()
    };
    assert_eq!(without(1), LoadError::NoSender);
    assert_eq!(without(0), LoadError::NoReceiver);
}

fn transfers(workload: Workload, count: u32) -> Vec<Transfer> {
    let mut generator = generator(5);
    generator.set_workload(workload).unwrap();
    drawn(&mut generator, count)
}

fn counted(ids: impl Iterator<Item = AccountId>) -> BTreeMap<AccountId, u32> {
    let mut counts = BTreeMap::new();
    for id in ids {
        *counts.entry(id).or_default() += 1;
    }
    counts
}

#[test]
fn uniform_senders_and_receivers_are_all_alike() {
    const DRAWS: u32 = 60_000;
    let drawn = transfers(
        Workload {
            senders: Senders::Uniform,
            receivers: Receivers::Uniform,
            within_shard_percent: None,
        },
        DRAWS,
    );
    let senders = counted(drawn.iter().map(|transfer| transfer.signer));
    let receivers = counted(drawn.iter().map(|transfer| transfer.receiver));
    assert_eq!(senders.len(), generator(5).own_accounts().len());
    assert_eq!(receivers.len(), genesis().account_count() as usize);
    // Six standard deviations of a binomial distribution.
    let alike = |counts: &BTreeMap<AccountId, u32>| {
        let accounts = u32::try_from(counts.len()).unwrap();
        let mean = f64::from(DRAWS) / f64::from(accounts);
        let near = |count: &u32| (f64::from(*count) - mean).abs() < 6.0 * mean.sqrt();
        counts.values().all(near)
    };
    assert!(alike(&senders), "{senders:?}");
    assert!(alike(&receivers), "{receivers:?}");
}

#[test]
fn a_hot_account_is_paid_by_all() {
    let genesis = genesis();
    let (hot, next) = (genesis.account(0).id, genesis.account(1).id);
    let workload = Workload {
        receivers: Receivers::HotAccount,
        ..Workload::default()
    };
    for shard in 0..SHARDS {
        let accounts = Accounts::new(&genesis, share(shard, 0, 1));
        let mut generator = Generator::new(accounts, 5).unwrap();
        generator.set_workload(workload).unwrap();
        for transfer in drawn(&mut generator, 2_000) {
            let expected = if transfer.signer == hot { next } else { hot };
            assert_eq!(transfer.receiver, expected);
        }
    }
}

#[test]
fn one_to_one_pairs_are_fixed_and_nobody_is_paid_by_two() {
    let genesis = genesis();
    let workload = Workload {
        senders: Senders::Uniform,
        receivers: Receivers::OneToOne,
        within_shard_percent: None,
    };
    let mut paid_by = BTreeMap::new();
    for shard in 0..SHARDS {
        for slot in 0..2 {
            let accounts = Accounts::new(&genesis, share(shard, slot, 2));
            let mut generator = Generator::new(accounts, 5).unwrap();
            generator.set_workload(workload).unwrap();
            for transfer in drawn(&mut generator, 2_000) {
                assert_ne!(transfer.signer, transfer.receiver);
                let before = paid_by.insert(transfer.receiver, transfer.signer);
                assert!(before.is_none_or(|before| before == transfer.signer));
            }
        }
    }
    assert_eq!(paid_by.len(), genesis.account_count() as usize);
}

#[test]
fn a_share_stays_within_the_shard() {
    let layout = genesis().layout;
    for percent in [0, 30, 100] {
        for receivers in [Receivers::ZipfMandelbrot, Receivers::Uniform] {
            let drawn = transfers(
                Workload {
                    receivers,
                    within_shard_percent: Some(percent),
                    ..Workload::default()
                },
                20_000,
            );
            let stays = |transfer: &&Transfer| {
                layout.shard_of(&transfer.receiver) == layout.shard_of(&transfer.signer)
            };
            let within = drawn.iter().filter(stays).count();
            assert!(
                within.abs_diff(usize::from(percent) * 200) < 400 && (percent > 0 || within == 0),
                "{within} of 20,000 are within the shard, want {percent}%"
            );
        }
    }
}

/// What is drawn by default is what was drawn before there was a choice.
#[test]
fn a_workload_can_be_taken_back() {
    let mut changed = generator(5);
    for receivers in [Receivers::HotAccount, Receivers::OneToOne] {
        let workload = Workload {
            receivers,
            ..Workload::default()
        };
        changed.set_workload(workload).unwrap();
    }
    changed.set_workload(Workload::default()).unwrap();
    assert_eq!(drawn(&mut changed, 100), drawn(&mut generator(5), 100));
}

#[test]
fn workloads_without_effect_are_refused() {
    let percent = |receivers, percent| Workload {
        receivers,
        within_shard_percent: Some(percent),
        ..Workload::default()
    };
    let one_shard = genesis_of(1, 40);
    let mut alone = Generator::new(Accounts::new(&one_shard, share(0, 0, 2)), 1).unwrap();
    let uniform = Receivers::Uniform;
    for (workload, expected) in [
        (percent(uniform, 100), Ok(())),
        (percent(uniform, 99), Err(WorkloadError::NoneOutside)),
        (percent(uniform, 101), Err(WorkloadError::Percent)),
        (
            percent(Receivers::HotAccount, 50),
            Err(WorkloadError::NoChoice),
        ),
        (
            percent(Receivers::OneToOne, 50),
            Err(WorkloadError::NoChoice),
        ),
    ] {
        assert_eq!(alone.set_workload(workload), expected, "{workload:?}");
    }
    let reach = Reach {
        within: 1,
        outside: 9,
    };
    assert_eq!(
        reach.check(&percent(uniform, 1)),
        Err(WorkloadError::NoneWithin)
    );
    assert_eq!(reach.check(&percent(uniform, 0)), Ok(()));
}
