// SPDX-License-Identifier: Apache-2.0
//! Signatures of whole chunks, verified one after the other and side by side.

use commonware_codec::DecodeExt as _;
use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
use commonware_parallel::{Rayon, Sequential, Strategy};
use shardnode_execution::signatures::{BatchSize, KeyCache, verify_all, verify_each};
use shardnode_primitives::{
    AccountId, Namespaces, Transaction, Transfer,
    hash::ZERO,
    work::{self, Work},
};
use shardnode_reference_ledger::signatures as model;
use std::{
    num::NonZeroUsize,
    slice,
    sync::{Arc, mpsc},
    time::Duration,
};

const SIGNERS: u64 = 24;

fn namespaces() -> Namespaces {
    Namespaces::new("signatures-test", &ZERO)
}

/// `many` transfers, whose signers recur.
fn signed(many: u64) -> Vec<Transaction> {
    let keys: Vec<_> = (0..SIGNERS).map(PrivateKey::from_seed).collect();
    let transfers = keys.iter().cycle().zip(0..many);
    transfers
        .map(|(key, nonce)| {
            let signer = AccountId::of(&key.public_key());
            let transfer = Transfer {
                signer,
                receiver: signer,
                amount: 1,
                nonce,
                expires_at: 0,
            };
            transfer.sign(key, &namespaces())
        })
        .collect()
}

fn verify(
    transactions: &[Transaction],
    keys: &KeyCache,
    batch: usize,
    strategy: &impl Strategy,
) -> bool {
    let batch = BatchSize::from_setting(batch);
    let namespace = namespaces().transaction;
    verify_all(transactions, &namespace, keys, batch, [7; 32], strategy)
}

#[test]
fn one_wrong_signature_is_found_in_every_size_of_batch() {
    let right = signed(40);
    let mut forged = right.clone();
    let Transaction::Transfer(last) = &mut forged[39];
    last.transfer.amount += 1;
    // More signers than places for their keys.
    for capacity in [1, 10, 64] {
        let keys = KeyCache::new(capacity);
        for batch in [0, 1, 7, 100] {
            assert!(
                verify(&right, &keys, batch, &Sequential),
                "batches of {batch}"
            );
            assert!(
                !verify(&forged, &keys, batch, &Sequential),
                "batches of {batch}"
            );
        }
        assert!(verify(&[], &keys, 0, &Sequential));
    }
}

#[test]
fn an_identifier_that_is_no_key_has_signed_nothing() {
    // No point of the curve has this y.
    let mut nobody = [0; 32];
    nobody[0] = 2;
    let mut transactions = signed(2);
    let Transaction::Transfer(last) = &mut transactions[1];
    last.transfer.signer = AccountId(nobody);
    let keys = KeyCache::new(64);
    assert!(!verify(&transactions, &keys, 0, &Sequential));
    assert!(verify(&transactions[..1], &keys, 0, &Sequential));
}

/// A thread that waits for its share of a batch takes up another chunk
/// meanwhile: chunks that share their keys must not wait for each other then.
#[test]
fn chunks_are_verified_side_by_side_with_the_same_keys() {
    // So many signatures that a batch is always verified in parallel.
    const SIGNATURES: u64 = 1_000;
    const CHUNKS: usize = 100;
    let workers = NonZeroUsize::new(2).unwrap();
    let strategy = Rayon::new(workers).unwrap();
    let keys = Arc::new(KeyCache::new(64));
    let transactions = Arc::new(signed(SIGNATURES));
    let (verified, verdicts) = mpsc::channel();
    for chunk in 0..CHUNKS + workers.get() {
        // A thread that has nothing to do helps the other one with its batch,
        // before the next chunk comes.
        if chunk >= workers.get() {
            let verdict = verdicts.recv_timeout(Duration::from_secs(30));
            assert_eq!(verdict, Ok(true), "{chunk} chunks begun");
        }
        if chunk < CHUNKS {
            let (keys, transactions) = (keys.clone(), transactions.clone());
            let verified = verified.clone();
            drop(strategy.spawn(transactions.len(), move |strategy| {
                let _ = verified.send(verify(&transactions, &keys, 0, &strategy));
            }));
        }
    }
}

/// A list with bad ones falls back, and names them: one that another key signed,
/// and one whose signer is no key at all.
#[test]
fn those_that_do_not_hold_are_named() {
    let mut transactions = signed(40);
    let namespace = namespaces().transaction;
    let keys = KeyCache::new(100);
    let each = |transactions: &[Transaction]| {
        let batch = BatchSize::Whole;
        verify_each(transactions, &namespace, &keys, batch, [7; 32], &Sequential)
    };
    assert_eq!(each(&transactions), [true; 40]);
    assert!(each(&[]).is_empty());

    let Transaction::Transfer(forged) = &transactions[7];
    transactions[7] = forged
        .transfer
        .sign(&PrivateKey::from_seed(1_000), &namespaces());
    let Transaction::Transfer(keyless) = &mut transactions[31];
    // No point of the curve has this y.
    keyless.transfer.signer = AccountId([2; 32]);
    let mut expected = [true; 40];
    (expected[7], expected[31]) = (false, false);
    assert_eq!(each(&transactions), expected);
}

/// What all signed is verified in one batch and not again, and one by itself alone.
#[test]
fn nothing_is_verified_twice_unless_something_does_not_hold() {
    let mut transactions = signed(40);
    let namespace = namespaces().transaction;
    let keys = KeyCache::new(100);
    let costs = |transactions: &[Transaction]| {
        let batch = BatchSize::Whole;
        let each = verify_each(transactions, &namespace, &keys, batch, [7; 32], &Sequential);
        assert_eq!(each.len(), transactions.len());
        let done = work::take();
        (done.of(Work::BatchedSignature), done.of(Work::Signature))
    };
    assert_eq!(costs(&transactions), (40, 0));
    assert_eq!(costs(&transactions[..1]), (0, 1));
    let Transaction::Transfer(forged) = &mut transactions[7];
    forged.transfer.nonce += 1;
    assert_eq!(costs(&transactions), (40, 40));
}

/// All encodings of the eight points of small order that decoding accepts, canonical or
/// not. What such keys sign holds for any message, by ZIP-215, whoever verifies it and
/// with what beside it; verifiers that differ there would divide a chain.
const SMALL_ORDER: [&str; 14] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
];

/// Zero, one, and the order of the group, which is a zero that is not reduced.
const SCALARS: [&str; 3] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010",
];

fn bytes(hex: &str) -> [u8; 32] {
    let byte = |place: usize| u8::from_str_radix(&hex[2 * place..2 * place + 2], 16).unwrap();
    std::array::from_fn(byte)
}

#[test]
fn signatures_of_small_order_are_judged_alike_alone_and_together_and_by_the_model() {
    let rules = shardnode_reference_ledger::Rules {
        network: "signatures-test".to_owned(),
        genesis: ZERO.0,
        shards: 1,
        lag: 1,
        most_transactions: 1,
        congestion_control: false,
        fee: 0,
        least_balance: 0,
    };
    let (keys, honest) = (KeyCache::new(100), signed(3));
    let mut held = [0; SCALARS.len()];
    let points = SMALL_ORDER.map(bytes);
    let pairs = points
        .iter()
        .flat_map(|key| points.map(|point| (*key, point)));
    for (signer, point) in pairs {
        for (place, scalar) in SCALARS.iter().enumerate() {
            let signature = [point, bytes(scalar)].concat().try_into().unwrap();
            let transfer = shardnode_reference_ledger::Transfer {
                signer,
                receiver: [5; 32],
                amount: 1,
                nonce: 1,
                expires_at: 0,
                signature,
            };
            let by_model = model::holds(&rules, &transfer);
            let (mut alone, mut together) = (false, false);
            if let Ok(one) = Transaction::decode(model::encoded(&transfer)) {
                let others = [&honest[..2], slice::from_ref(&one), &honest[2..]].concat();
                alone = verify(slice::from_ref(&one), &keys, 1, &Sequential);
                together = verify(&others, &keys, 0, &Sequential);
            }
            assert_eq!((alone, together), (by_model, by_model), "{transfer:?}");
            held[place] += usize::from(by_model);
        }
    }
    let all = SMALL_ORDER.len() * SMALL_ORDER.len();
    assert_eq!(held, [all, 0, 0]);
}
