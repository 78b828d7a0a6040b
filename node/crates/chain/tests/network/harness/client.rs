// SPDX-License-Identifier: Apache-2.0
//! A client of a network under test.

use super::{Network, SETTLE};
use commonware_codec::Encode as _;
use commonware_consensus::types::Height;
use commonware_cryptography::Digestible as _;
use commonware_runtime::Clock as _;
use futures::future::join_all;
use shardnode_clients::Fate;
use shardnode_execution::Outcome;
use shardnode_network::client_messages::Question;
use shardnode_primitives::{
    AccountId, Digest, Namespaces, Refusal, ShardId, Transaction, Transfer, genesis::GenesisAccount,
};
use shardnode_verifier::Verifier;
use std::time::Duration;

/// Signers of transfers that are sent together.
const SIGNERS: usize = 6;

/// Pays an account of another shard, submitting through a node that does not
/// track the signer's shard, and asks every node for what came of it.
pub(crate) async fn transfer_is_seen_everywhere(network: &Network) {
    let genesis = &network.genesis;
    let layout = genesis.layout;
    let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
    let signer = genesis.account(0);
    let shard = layout.shard_of(&signer.id);
    let receiver = (1..)
        .map(|index| genesis.account(index))
        .find(|account| layout.shard_of(&account.id) != shard)
        .unwrap();
    let elsewhere = (0..4)
        .find(|index| network.node(*index).identity.tracked() != Some(shard))
        .unwrap();
    let transfer = Transfer {
        signer: signer.id,
        receiver: receiver.id,
        amount: 5,
        nonce: 1,
        expires_at: 1_000_000,
    };
    let transaction = transfer.sign(&signer.key, &namespaces);
    let client = &network.node(elsewhere).client;

    let forged = transfer.sign(&receiver.key, &namespaces);
    assert_eq!(client.submit(forged).await, Err(Refusal::Signature));
    assert_eq!(client.submit(transaction.clone()).await, Ok(shard));
    let again = client.submit(transaction.clone()).await;
    assert!(
        matches!(again, Ok(_) | Err(Refusal::Duplicate | Refusal::Nonce)),
        "{again:?}"
    );

    for index in 0..4 {
        let client = &network.node(index).client;
        loop {
            match client.outcome(signer.id, transaction.hash()).await {
                Ok(Fate::Known(_, outcome)) => {
                    assert_eq!(outcome, Outcome::Executed);
                    break;
                }
                Ok(Fate::LetGo(refusal)) => panic!("{refusal}"),
                Ok(Fate::Unknown | Fate::Pending) | Err(_) => {
                    network.context.sleep(Duration::from_millis(50)).await;
                }
            }
        }
        let initial = genesis.accounts.initial_balance;
        loop {
            let (_, _, paid) = client.account(receiver.id).await.unwrap();
            if paid.unwrap().balance == initial + 5 {
                break;
            }
            network.context.sleep(Duration::from_millis(50)).await;
        }
        let (_, _, payer) = client.account(signer.id).await.unwrap();
        let fee = genesis.protocol.transfer_fee;
        assert_eq!(payer.unwrap().balance, initial - 5 - fee);
        assert_eq!(payer.unwrap().nonce, 1);
    }

    what_nodes_say_is_proven(network, [signer.id, receiver.id]).await;
    what_became_of_it_is_proven(network, signer.id, transaction.hash()).await;

    let broke = Transfer {
        amount: u64::MAX,
        nonce: 2,
        ..transfer
    };
    assert_eq!(
        client.submit(broke.sign(&signer.key, &namespaces)).await,
        Err(Refusal::Balance)
    );
    assert_eq!(client.submit(transaction).await, Err(Refusal::Nonce));
    nothing_for_nothing(network, elsewhere, transfer).await;
    lists_are_judged_one_by_one(network).await;
}

/// Transfers with these nonces of some signers of shard 0.
fn signed(network: &Network, nonce: u64, expires_at: u64) -> Vec<Transaction> {
    let genesis = &network.genesis;
    let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
    let accounts = (0..genesis.account_count()).map(|index| genesis.account(index));
    let own = |account: &GenesisAccount| genesis.layout.shard_of(&account.id) == ShardId(0);
    let sign = |signer: GenesisAccount| {
        let transfer = Transfer {
            signer: signer.id,
            receiver: signer.id,
            amount: genesis.protocol.least_balance,
            nonce,
            expires_at,
        };
        transfer.sign(&signer.key, &namespaces)
    };
    accounts.filter(own).take(SIGNERS).map(sign).collect()
}

/// Transfers of some signers of shard 0, alone and in a list, through a node that
/// does not track it: all are executed within so many blocks. Until then that node
/// says that they are pending.
pub(crate) async fn transfers_are_executed(network: &Network, through: usize, within: u64) {
    let client = &network.node(through).client;
    let alone = signed(network, 1, 0);
    let submitted = alone.iter().cloned().map(|one| client.submit(one));
    for result in join_all(submitted).await {
        result.unwrap();
    }
    let list = [signed(network, 2, 0), signed(network, 3, 0)].concat();
    for result in client.submit_all(list.clone()).await {
        result.unwrap();
    }
    let all = [alone, list].concat();
    let asked = all.iter().map(|one| (*one.signer(), one.hash()));
    let meanwhile = [Fate::Pending];
    are_executed(network, through, asked.collect(), within, &meanwhile).await;
}

/// Waits until a tracker of shard 0 says that these are executed. Whoever passed
/// them on says one of these of them until then.
async fn are_executed(
    network: &Network,
    through: usize,
    asked: Vec<(AccountId, Digest)>,
    within: u64,
    meanwhile: &[Fate],
) {
    let tracks = |index: &usize| network.node(*index).identity.tracked() == Some(ShardId(0));
    // The first one may be what this is about.
    let tracker = (0..3).rev().find(tracks).unwrap();
    let from = network.view(through).height();
    loop {
        let of = |index: usize| network.node(index).client.outcomes(asked.clone());
        let (passed_on, known) = (of(through).await, of(tracker).await.unwrap());
        let executed = |fate: &Fate| matches!(fate, Fate::Known(_, Outcome::Executed));
        if known.iter().all(executed) {
            return;
        }
        assert!(
            !known
                .iter()
                .any(|fate| matches!(fate, Fate::Known(..)) && !executed(fate))
        );
        let mut unknown = passed_on.iter().flatten().filter(|fate| !executed(fate));
        assert!(
            unknown.all(|fate| meanwhile.contains(fate)),
            "{passed_on:?}"
        );
        let height = network.view(through).height();
        assert!(height <= from + within, "at height {height}: {known:?}");
        network.context.sleep(Duration::from_millis(50)).await;
    }
}

/// The only producer of shard 0 takes transfers in while there are no blocks, and
/// loses its pool. The node that passed them on hands them over again.
pub(crate) async fn lost_transfers_are_executed(mut network: Network) {
    let (producer, through, another) = (0, 1, 2);
    // Of three voters all are needed. What is on its way arrives.
    network.kill(another).await;
    network.context.sleep(SETTLE).await;
    let client = &network.node(through).client;
    let lost = signed(&network, 1, 0);
    for transaction in lost.clone() {
        client.submit(transaction).await.unwrap();
    }
    network.kill(producer).await;
    network.start(another).await;
    network.start(producer).await;
    let asked = lost.iter().map(|one| (*one.signer(), one.hash())).collect();
    // What its only producer was handed again is not kept any more.
    let meanwhile = [Fate::Pending, Fate::Unknown];
    are_executed(&network, through, asked, 30, &meanwhile).await;
    // Whoever asks can tell which of the two was started again.
    assert_eq!(network.view(through).started(), 1);
    assert!(network.view(producer).started() > 1);
    let again = network.measured(through, "shardnode_forwarded_again_total");
    assert_eq!(again, SIGNERS as u64);
}

/// How many transfers an account that is emptied has in a pool.
const LEFT_BEHIND: u64 = 30;

/// One after the other, accounts of shard 0 spend all that they have at one of its two
/// producers, and have transfers in the pool of the other: of those, no chunk has any
/// that fails.
pub(crate) async fn emptied_accounts_fill_no_chunk(network: &Network) {
    let (emptied_at, pooled_at) = (0, 1);
    let genesis = &network.genesis;
    let (protocol, layout) = (genesis.protocol, genesis.layout);
    let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
    let accounts = (0..genesis.account_count()).map(|index| genesis.account(index));
    let own = |account: &GenesisAccount| layout.shard_of(&account.id) == ShardId(0);
    let mut left_behind = Vec::new();
    for signer in accounts.filter(own).take(SIGNERS) {
        let transfer = |amount, nonce| {
            let receiver = genesis.account(genesis.account_count()).id;
            let transfer = Transfer {
                signer: signer.id,
                receiver,
                amount,
                nonce,
                expires_at: 0,
            };
            transfer.sign(&signer.key, &namespaces)
        };
        let everything = genesis.accounts.initial_balance - protocol.transfer_fee;
        let last = network
            .node(emptied_at)
            .client
            .submit(transfer(everything, 1));
        assert_eq!(last.await, Ok(ShardId(0)));
        let list: Vec<_> = (2..2 + LEFT_BEHIND)
            .map(|nonce| transfer(protocol.least_balance, nonce))
            .collect();
        left_behind.extend(list.iter().map(|one| (signer.id, one.hash())));
        for submitted in network.node(pooled_at).client.submit_all(list).await {
            submitted.unwrap();
        }
        let next = network.view(0).height() + 7;
        network.wait_for_height(next).await;
    }
    network.drain().await;
    let fates = network.node(pooled_at).client.outcomes(left_behind).await;
    let fates = fates.unwrap();
    let failed = |fate: &&Fate| matches!(fate, Fate::Known(_, Outcome::Failed(_)));
    assert_eq!(fates.iter().filter(failed).count(), 0);
    // Whoever asks is told, but for what was executed before its signer had nothing left.
    for fate in fates {
        assert!(
            matches!(
                fate,
                Fate::Known(_, Outcome::Executed)
                    | Fate::LetGo(Refusal::NoAccount | Refusal::Funds)
            ),
            "{fate:?}"
        );
    }
    let refused = network.measured(pooled_at, "shardnode_pool_rejected_total");
    assert!(refused >= LEFT_BEHIND, "{refused} left the pool");
}

/// The same transfer, of more: its signer did not sign that.
fn forged(signed: &Transaction) -> Transaction {
    let Transaction::Transfer(mut one) = signed.clone();
    one.transfer.amount += 1;
    Transaction::Transfer(one)
}

/// What a peer can hand to a producer of shard 0, and whether that cuts it off.
pub(crate) fn submissions(network: &Network) -> Vec<(Question, bool)> {
    let list = signed(network, 1, 0);
    let forged = forged(&list[1]);
    let bad = [list[2..].to_vec(), vec![forged.clone()]].concat();
    vec![
        (Question::SubmitAll(list), false),
        (Question::Submit(forged), false),
        (Question::SubmitAll(bad), true),
    ]
}

/// What nobody puts into a chunk expires, and the node that passed it on says so.
pub(crate) async fn ignored_transfers_expire(network: &Network, through: usize) {
    let client = &network.node(through).client;
    let expires_at = network.view(through).height() + 6;
    let transaction = signed(network, 1, expires_at).remove(0);
    let (signer, hash) = (*transaction.signer(), transaction.hash());
    // Nobody waits for a block that will never be.
    let asked_at = network.context.current();
    assert!(client.account(signer).await.is_err());
    assert!(client.prove_account(signer).await.is_err());
    let waited = network.context.current().duration_since(asked_at);
    assert!(waited.unwrap() < Duration::from_secs(1));
    // Whoever takes everything in is not even asked.
    let refused = client.submit(forged(&transaction)).await;
    assert_eq!(refused, Err(Refusal::Signature));
    client.submit(transaction).await.unwrap();
    loop {
        match client.outcome(signer, hash).await {
            Ok(Fate::LetGo(Refusal::Expired)) => break,
            Ok(Fate::Pending) | Err(_) => {}
            other => panic!("{other:?}"),
        }
        network.context.sleep(Duration::from_millis(50)).await;
    }
    assert!(network.view(through).height() >= expires_at);
}

/// Every node proves what it says of accounts of every shard, and of one that does
/// not exist, to whoever has the genesis document.
async fn what_nodes_say_is_proven(network: &Network, ids: [AccountId; 2]) {
    let genesis = &network.genesis;
    let verifier = Verifier::new(genesis);
    let stranger = genesis.account(genesis.account_count()).id;
    for index in 0..4 {
        let client = &network.node(index).client;
        for id in ids.into_iter().chain([stranger]) {
            let (said, proven) = client.prove_account(id).await.unwrap();
            let shown = verifier.account(&id, proven.encode(), 1).unwrap();
            assert_eq!(shown.account, said);
            assert_eq!(said.is_none(), id == stranger);
            assert_eq!(shown.at.shard, genesis.layout.shard_of(&id));
            assert!(shown.at.height < shown.at.block);
            let block = network
                .node(index)
                .marshal
                .get_block(Height::new(shown.at.block));
            assert_eq!(block.await.unwrap().digest(), shown.at.digest);
        }
    }
}

/// Every node proves what became of a transfer; of one that there was not, none says
/// anything.
async fn what_became_of_it_is_proven(network: &Network, signer: AccountId, hash: Digest) {
    let verifier = Verifier::new(&network.genesis);
    for index in 0..4 {
        let client = &network.node(index).client;
        let proven = client.prove_outcome(signer, hash).await.unwrap();
        let (fate, proven) = proven.unwrap();
        let shown = verifier.outcome(&signer, &hash, proven.encode()).unwrap();
        assert_eq!(fate, Fate::Known(shown.at.height, Outcome::Executed));
        assert_eq!(shown.outcome, Outcome::Executed.code());
        let other = client.prove_outcome(signer, Digest([7; 32])).await;
        assert_eq!(other.unwrap(), None);
    }
}

/// Of transactions that come together, of all shards and through any node, each
/// that could be executed is, whatever the others are like.
async fn lists_are_judged_one_by_one(network: &Network) {
    let genesis = &network.genesis;
    let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
    let accounts: Vec<_> = (1..=8).map(|index| genesis.account(index)).collect();
    for node in 0..4 {
        let client = &network.node(node).client;
        let mut list = Vec::new();
        let mut expected = Vec::new();
        for (account, next) in accounts.iter().zip(accounts.iter().cycle().skip(1)) {
            let transfer = Transfer {
                signer: account.id,
                receiver: next.id,
                amount: genesis.protocol.least_balance.max(1),
                nonce: 1 + node as u64,
                expires_at: 0,
            };
            let stale = Transfer {
                nonce: 0,
                ..transfer
            };
            let shard = genesis.layout.shard_of(&account.id);
            list.push(transfer.sign(&next.key, &namespaces));
            expected.push(Err(Refusal::Signature));
            list.push(stale.sign(&account.key, &namespaces));
            expected.push(Err(Refusal::Nonce));
            list.push(transfer.sign(&account.key, &namespaces));
            expected.push(Ok(shard));
        }
        assert_eq!(client.submit_all(list.clone()).await, expected);

        let taken = list.iter().skip(2).step_by(3);
        let asked: Vec<_> = taken.map(|one| (*one.signer(), one.hash())).collect();
        loop {
            let fates = client.outcomes(asked.clone()).await;
            let known = |fate: &Fate| matches!(fate, Fate::Known(..));
            if fates.iter().flatten().all(known) && fates.is_ok() {
                let executed = |fate: &Fate| matches!(fate, Fate::Known(_, Outcome::Executed));
                assert!(fates.iter().flatten().all(executed), "{fates:?}");
                break;
            }
            network.context.sleep(Duration::from_millis(50)).await;
        }
    }
}

/// What nobody pays for, or is of another chain, is let into no pool, though
/// every signature holds.
async fn nothing_for_nothing(network: &Network, node: usize, transfer: Transfer) {
    let genesis = &network.genesis;
    let client = &network.node(node).client;
    let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
    let signer = genesis.account(0);
    let next = Transfer {
        nonce: 3,
        expires_at: 0,
        ..transfer
    };
    let cases = [
        (
            Transfer {
                amount: genesis.protocol.least_balance - 1,
                ..next
            },
            Refusal::Amount,
        ),
        (
            Transfer {
                nonce: u64::MAX,
                ..next
            },
            Refusal::HighNonce,
        ),
        (
            Transfer {
                expires_at: 1,
                ..next
            },
            Refusal::Expired,
        ),
    ];
    for (transfer, why) in cases {
        let submitted = client.submit(transfer.sign(&signer.key, &namespaces)).await;
        assert_eq!(submitted, Err(why));
    }
    let stranger = genesis.account(genesis.account_count());
    let free = Transfer {
        signer: stranger.id,
        ..next
    };
    let submitted = client.submit(free.sign(&stranger.key, &namespaces)).await;
    assert_eq!(submitted, Err(Refusal::NoAccount));
    // The same chain by name, with another genesis.
    let reset = Namespaces::new(&genesis.network, &Digest([7; 32]));
    let submitted = client.submit(next.sign(&signer.key, &reset)).await;
    assert_eq!(submitted, Err(Refusal::Signature));
}
