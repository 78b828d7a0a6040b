// SPDX-License-Identifier: Apache-2.0
//! Encodings and hashes against the layouts that the documentation gives,
//! written out byte by byte.

use crate::{arbitrary, genesis::two_shards};
use commonware_codec::Encode as _;
use proptest::{collection::vec, prelude::*};
use shardnode_primitives::{
    AccountId, ChunkBody, Digest, Transaction, genesis::private_key, merkle,
};

fn blake3(parts: &[&[u8]]) -> Digest {
    Digest(*blake3::hash(&parts.concat()).as_bytes())
}

proptest! {
    #[test]
    fn transaction(transaction in arbitrary::transaction()) {
        let Transaction::Transfer(signed) = &transaction;
        let bytes = [
            &[1],
            &signed.transfer.signer.0[..],
            &signed.transfer.receiver.0,
            &signed.transfer.amount.to_be_bytes(),
            &signed.transfer.nonce.to_be_bytes(),
            &signed.transfer.expires_at.to_be_bytes(),
            signed.signature.as_ref(),
        ].concat();
        prop_assert_eq!(&transaction.encode()[..], &bytes[..]);
        prop_assert_eq!(bytes.len(), 153);
        prop_assert_eq!(transaction.hash(), blake3(&[&bytes]));
        prop_assert_eq!(&transaction.signed_message().0[..], &bytes[..89]);
    }

    #[test]
    fn chunk_body(transactions in vec(arbitrary::transaction(), 0..4)) {
        let bytes: Vec<u8> = transactions.iter().flat_map(|one| one.encode().to_vec()).collect();
        let body = ChunkBody::of(&transactions);
        prop_assert_eq!(&body.0[..], &bytes[..]);
        prop_assert_eq!(body.hash(), blake3(&[&[0x21], &bytes]));
    }

    #[test]
    fn receipt_bucket(bucket in arbitrary::bucket()) {
        let count = u8::try_from(bucket.receipts.len()).unwrap();
        let mut bytes = [
            &bucket.source.0.to_be_bytes()[..],
            &bucket.height.to_be_bytes(),
            &bucket.destination.0.to_be_bytes(),
            &[count],
        ].concat();
        for receipt in &bucket.receipts {
            bytes.extend(receipt.sender.0);
            bytes.extend(receipt.nonce.to_be_bytes());
            bytes.extend(receipt.receiver.0);
            bytes.extend(receipt.amount.to_be_bytes());
        }
        prop_assert_eq!(&bucket.encode()[..], &bytes[..]);
        prop_assert_eq!(bucket.commitment(), blake3(&[&[0x30], &bytes]));
    }

    #[test]
    fn chunk_header(header in arbitrary::header()) {
        let content = &header.content;
        let totals = &content.totals;
        let mut bytes = [
            &content.shard.0.to_be_bytes()[..],
            &content.height.to_be_bytes(),
            &content.sequence.to_be_bytes(),
            &content.anchor.0,
            &content.previous.0,
            &content.body_hash.0,
            &content.parts_root.0,
            &content.body_len.to_be_bytes(),
            &content.transactions.to_be_bytes(),
            &[u8::try_from(content.results.len()).unwrap()],
        ].concat();
        for result in &content.results {
            bytes.extend(result.height.to_be_bytes());
            bytes.extend(result.state_root.0);
            bytes.extend(result.outcomes_root.0);
            bytes.extend(result.receipts_root.0);
            bytes.extend(result.transfers.to_be_bytes());
            bytes.extend(result.credits.to_be_bytes());
        }
        bytes.push(u8::try_from(content.uncommitted.len()).unwrap());
        for height in &content.uncommitted {
            bytes.extend(height.to_be_bytes());
        }
        bytes.extend(totals.height.to_be_bytes());
        bytes.extend(totals.state_root.0);
        for total in [
            totals.transfers,
            totals.cross_shard,
            totals.credits,
            totals.balance,
            totals.burnt,
        ] {
            bytes.extend(total.to_be_bytes());
        }
        bytes.extend(totals.sent.to_be_bytes());
        bytes.extend(totals.received.to_be_bytes());
        bytes.extend(totals.next_due.block.to_be_bytes());
        bytes.extend(totals.next_due.source.0.to_be_bytes());
        bytes.extend_from_slice(header.signature.as_ref());
        prop_assert_eq!(&header.encode()[..], &bytes[..]);
        prop_assert_eq!(header.hash(), blake3(&[&[0x20], &bytes]));
    }

    #[test]
    fn list_of_three(contents in any::<[[u8; 5]; 3]>()) {
        let leaf = |index: usize| blake3(&[&[0x00], &contents[index]]);
        let node = |left: Digest, right: Digest| blake3(&[&[0x01], &left.0, &right.0]);
        // The third has no neighbour and moves up unchanged.
        let top = node(node(leaf(0), leaf(1)), leaf(2));
        let leaves = contents.iter().map(|content| merkle::leaf(content)).collect();
        prop_assert_eq!(merkle::root(leaves), blake3(&[&[0x02], &3u32.to_be_bytes(), &top.0]));
    }
}

#[test]
fn empty_list() {
    let root = blake3(&[&[0x02], &[0; 4], &[0; 32]]);
    assert_eq!(merkle::root(Vec::new()), root);
}

#[test]
fn genesis_account() {
    let genesis = two_shards().check().unwrap();
    let seed = blake3(&[&[0x24], &[0x5e; 32], &7u32.to_be_bytes()]);
    let key = commonware_cryptography::Signer::public_key(&private_key(seed.0));
    assert_eq!(genesis.account(7).id, AccountId::of(&key));
}
